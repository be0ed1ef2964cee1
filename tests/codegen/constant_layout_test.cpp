// Constants that pack_argument lays out when they are compiled: the same values, read in the order in which they lie.
#include <doctest/doctest.h>

#include <ashlar/analysis/packed.h>
#include <ashlar/lang.h>
#include <ashlar/lang/build_program.h>

#include <ashlar/codegen/jit.h>
#include <ashlar/generator/compile.h>
#include <ashlar/interp/interpreter.h>
#include <ashlar/ir/refusal.h>
#include <ashlar/lower/lower.h>
#include <ashlar/schedule/cpp_text.h>
#include <ashlar/schedule/step.h>

#include "tests/codegen/kernels.h"
#include "tests/uses/tensors.h"

using namespace ashlar;

namespace {

float weight(std::int64_t o, std::int64_t k) { return static_cast<float>((o * 31 + k * 17) % 23 - 11) / 4; }

// y(m, o) = sum over k of x(m, k) w(o, k): outputs are not neighbors in memory, as frameworks store weights.
struct Layer {
  lang::DefinitionScope scope;
  std::int64_t O, K;
  Symbol M{"M"};
  Tensor x, w, y;
  std::optional<Schedule> s;

  Layer(std::int64_t outputs, std::int64_t inputs, const char* target) : O(outputs), K(inputs) {
    std::vector<float> values;
    for (std::int64_t o = 0; o < O; ++o)
      for (std::int64_t k = 0; k < K; ++k) values.push_back(weight(o, k));
    w = constant("w", f32, {O, K}, values);
    x = lang::make_input("x", f32, {M, static_cast<int>(K)});
    y = lang::make_output("y", f32, {M, static_cast<int>(O)});
    const Axis k{"k", static_cast<int>(K)};
    lang::bind(y,
               compute("y", {{"m", M}, {"o", static_cast<int>(O)}}, [&](Var m, Var o) { return sum(x(m, k) * w(o, k), k); }));
    s.emplace(lang::build_program("layer", {x, y}), Target::parse(target));
  }
  void panels(int lanes) {
    s->pack_argument(w, [&](Var o, Var k) { return at(o / lanes, k, o % lanes); }, Pack::at_entry);
    auto [m, o] = (*s)[y].spatial<2>();
    auto [oo, oi] = (*s)[y].split(o, lanes);
    (*s)[y].reorder(m, oo, (*s)[y].reduction(), oi).vectorize(oi);
  }
  bool right(const codegen::Compiled& code, std::int64_t rows) const {
    Dense<float> in({rows, K}, [](std::size_t i) { return static_cast<float>(i * 7 % 13) - 6; });
    Dense<float> out({rows, O});
    const ashlar_tensor a = in.tensor(), b = out.tensor();
    if (code.call(std::vector<const void*>{&a, &b}) != ASHLAR_OK) return false;
    for (std::int64_t m = 0; m < rows; ++m)
      for (std::int64_t o = 0; o < O; ++o) {
        float sum = 0;  // exact: small multiples of a quarter
        for (std::int64_t k = 0; k < K; ++k) sum += in.data[static_cast<std::size_t>(m * K + k)] * weight(o, k);
        if (out.data[static_cast<std::size_t>(m * O + o)] != sum) return false;
      }
    return true;
  }
};

std::string refusal(const std::function<void()>& steps) {
  try {
    steps();
  } catch (const RefusalError& e) { return e.what(); }
  return "accepted";
}

}  // namespace

TEST_CASE("a constant lies in panels, whose last one is filled up, and is read as it lies") {
  for (const auto& [O, K] : {std::pair{16, 5}, {20, 7}, {3, 4}, {8, 1}}) {
    CAPTURE(O);
    Layer l(O, K, "x86-64-v3");
    l.panels(8);
    const ir::Kernel kernel = lower(l.s->scheduled().program, options_for(l.s->target()));
    std::size_t elements = 0;
    for (const auto& [id, b] : kernel.buffers)
      if (b.storage == ir::Storage::constant) elements = b.data->size() / 4;
    CHECK(elements == static_cast<std::size_t>((O < 8 ? O : (O + 7) / 8 * 8) * K));
    CHECK(ir::is_int(kernel.workspace_shared, std::int64_t{0}));  // nothing is packed in a call
    for (const Target& target : kernels::runnable({"x86-64", "x86-64-v3"})) {
      const codegen::Compiled code = codegen::compile(kernel, target);
      for (const std::int64_t rows : {0, 1, 4}) CHECK(l.right(code, rows));
    }
  }
}

TEST_CASE("the elements of a packed constant, and zeros between them") {
  Layer l(3, 2, "x86-64");
  l.s->pack_argument(l.w, [](Var o, Var k) { return at(o / 2, k, o % 2); }, Pack::at_entry);
  const ir::Program& p = l.s->scheduled().program;
  for (const auto& [id, b] : p.buffers) {
    if (b.role != ir::Role::constant) continue;
    const std::vector<std::byte> bytes = analysis::packed_data(b);
    std::vector<float> values(bytes.size() / 4);
    std::memcpy(values.data(), bytes.data(), bytes.size());
    CHECK(values ==
          std::vector<float>{weight(0, 0), weight(1, 0), weight(0, 1), weight(1, 1), weight(2, 0), 0, weight(2, 1), 0});
  }
}

TEST_CASE("the step of a packed constant is replayed, and written as C++") {
  Layer l(16, 3, "x86-64-v3"), again(16, 3, "x86-64-v3");
  l.panels(8);
  CHECK(l.s->to_cpp().find("s.pack_argument(w, [](Var c0, Var c1) { return at(c0 / 8, c1, c0 % 8); }, Pack::at_entry);") !=
        std::string::npos);
  again.s->replay(l.s->json());
  CHECK(again.s->text() == l.s->text());
  CHECK(again.s->trace_hash() == l.s->trace_hash());
}

TEST_CASE("what a layout of a constant is refused for") {
  Layer l(16, 3, "x86-64-v3");
  const auto says = [&](auto map, Pack pack, const std::string& text) {
    const std::string found = refusal([&] { l.s->pack_argument(l.w, map, pack); });
    CAPTURE(found);
    CHECK(found.find(text) != std::string::npos);
  };
  says([](Var o, Var k) { return at(k, o); }, Pack::by_caller,
       "pack_argument: expected an input (Pack::at_entry lays a constant out when it is compiled), found w, a constant, which "
       "no "
       "caller passes");
  says([](Var o, Var k) { return at(k, o % 4); }, Pack::at_entry,
       "expected a map that sends different elements of w to different places");
  says([](Var o, Var k) { return at(o * 1000, k); }, Pack::at_entry,
       "expected a layout with at most four places for each element of w, found 45003 places for 48 elements");
  CHECK(l.s->scheduled().trace.empty());
}
