// Extents that are chosen when the generator runs, values that do not go with each other, and what --list and -g NAME --help
// say of a generator.
#include <doctest/doctest.h>

#include <string>

#include <ashlar/ashlar.h>
#include <ashlar/ir/print.h>

#include "generator/frame.h"
#include "generator/tool.h"
#include "tests/support/refused.h"

using namespace ashlar;

namespace {

// What an extent is when `text` is asked for: itself as text, or what was expected of it.
std::string asked(const std::string& text, std::int64_t fallback, Symbol::Facts facts = {}) {
  lang::DefinitionScope scope;
  generator::GeneratorRecord record;
  record.asked = {{"N", text}};
  generator::Construction here(record);
  const ExtentParam n("N", fallback, facts);
  if (!record.rejected.empty()) return "expected " + record.params[0].range;
  CHECK(record.params[0].value == text);
  CHECK(n.number_or(-1) == (text.starts_with("d") ? -1 : std::stoll(text)));
  return ir::text(n);
}

class Rows : public Generator {  // sums of rows in blocks
 public:
  ExtentParam M{"M"}, N{"N", 8, {.min = 1, .multiple_of = 4}, "of a row"};
  Param<int> block{"block", 4};
  Input x{"x", f32, {M, N}};
  Scalar by{"by", f32};
  Output y{"y", f32, {M}};
  Rows() {
    if (block < 1 || N.number_or(block) % block != 0) reject("block", "a divisor of N");
  }
  void algorithm() override {
    Axis k{"k", N};
    y = compute("y", {M}, [&](Var i) { return sum(x(i, k) * by, k); });
  }
  void late() { reject("block", "nothing"); }
};
ASHLAR_GENERATOR(Rows, "rows_of_extents", "reductions", "y(i) = sum over k of x(i, k) by");

class AnyRank : public Generator {
 public:
  Param<int> rank{"rank", 3};
  std::vector<Extent> extents = std::vector<Extent>(static_cast<std::size_t>(*rank), Extent(2));
  Input x{"x", f32, Shape::of(extents)};
  Output y{"y", f32, Shape::of(extents)};
  void algorithm() override {
    y = compute("y", x.shape(), [&](Indices i) { return x(i) * 2; });
  }
};

}  // namespace

TEST_CASE("an extent is a number, a Symbol, or a Symbol of multiples") {
  CHECK(asked("64", -1) == "64");
  CHECK(asked("0", -1) == "0");
  CHECK(asked("dynamic", 64) == "N");
  CHECK(asked("dynamic%16", 64) == "N");
  CHECK(asked("8", 4, {.multiple_of = 4}) == "8");
  const std::string any = "expected a number of at least 0, dynamic, or dynamic%N for multiples of N";
  for (const char* text : {"", "-1", "x", "1.5", "dynamic%", "dynamic%0", "dynamics", "16%dynamic", "99999999999999"})
    CHECK(asked(text, 1) == any);
  CHECK(asked("6", 4, {.multiple_of = 4}) ==
        "expected a number of at least 0, a multiple of 4, dynamic, or dynamic%N for multiples of N");
  CHECK(asked("0", 4, {.min = 1, .max = 9}) == "expected a number from 1 to 9, dynamic, or dynamic%N for multiples of N");
}

TEST_CASE("facts and multiples of a dynamic extent are checked at entry, both") {
  const auto rows = instantiate<Rows>(Target::host(), {{"N", "dynamic%6"}, {"block", "2"}});
  const ir::Kernel& k = rows.kernel();
  std::string found;
  for (const auto& [id, s] : k.symbols)
    if (s.name == "N") found = std::to_string(s.min) + " " + std::to_string(s.multiple_of);
  CHECK(found == "1 12");
}

TEST_CASE("values that do not go with each other are refused by the name of one") {
  const auto r = generator::run_tool(std::vector<std::string>{"-g", "rows_of_extents", "N=12", "block=8", "-e", "header"});
  CHECK(r.code == 2);
  CHECK(r.err == "parameter block=8: expected a divisor of N\n");
  // a value that cannot be read comes first: the constructor saw the default in its place
  const auto unread = generator::run_tool(std::vector<std::string>{"-g", "rows_of_extents", "N=x", "block=3"});
  CHECK(unread.err ==
        "parameter N=x: expected a number of at least 1, a multiple of 4, dynamic, or dynamic%N for multiples of N\n");
  auto rows = instantiate<Rows>(Target::parse("aarch64"));
  CHECK(refused([&] { rows->late(); }) ==
        "(no line): Generator::reject: expected a call in the generator's constructor, found one afterwards");
}

TEST_CASE("arguments may have a rank that a parameter chooses") {
  CHECK(instantiate<AnyRank>(Target::parse("x86-64"), {{"rank", "4"}}).algorithm().buffers.begin()->second.rank == 4);
  CHECK(instantiate<AnyRank>(Target::parse("x86-64"), {{"rank", "0"}}).algorithm().buffers.begin()->second.rank == 0);
}

TEST_CASE("--list has generators under their groups") {
  const auto r = generator::run_tool(std::vector<std::string>{"--list"});
  CHECK(r.code == 0);
  CHECK(r.out.find("\nreductions:\n  rows_of_extents  y(i) = sum over k of x(i, k) by\n") != std::string::npos);
}

TEST_CASE("-g NAME --help has the arguments as they are for the values that are given") {
  const auto r = generator::run_tool(std::vector<std::string>{"-g", "rows_of_extents", "--help", "M=3", "N=dynamic"});
  CHECK(r.code == 0);
  CHECK(r.out == R"(rows_of_extents: y(i) = sum over k of x(i, k) by
   parameters:
      M=dynamic  extent  a number of at least 0, dynamic, or dynamic%N for multiples of N
      N=8        extent  a number of at least 1, a multiple of 4, dynamic, or dynamic%N for multiples of N; of a row
      block=4    i32
   arguments for these values:
      x   input   f32[3, N]
      by  scalar  f32
      y   output  f32[3]
)");
  const auto unknown = generator::run_tool(std::vector<std::string>{"-g", "rows", "--help"});
  CHECK(unknown.code == 2);
  CHECK(unknown.err.starts_with("unknown generator \"rows\"; valid: "));
}
