// Schedules with blocks and threads, lowered and run: launches, guards, as few barriers as will do, and no race.
#include <ashlar/schedule/step.h>

#include "check.h"
#include "tests/support/gpu_operators.h"

using namespace ashlar;
using handmade::Sizes;

namespace {

// `flat`: the kernel as it stands before functions become polynomials.
ir::Kernel lowered(const Schedule& s, std::string& flat) {
  schedule::finish(s.scheduled(), s.target());
  LowerOptions o;
  o.vector_bits = s.target().vector_bits();
  o.vector_registers = s.target().vector_registers();
  o.warp = s.target().device().warp;
  o.thread_registers = s.target().device().max_registers;
  o.observe = [&](std::string_view pass, const std::string& text) {
    if (pass == "guards") flat = text;
  };
  return lower(s.scheduled().program, o);
}

std::size_t count(const std::string& text, const std::string& what) {
  std::size_t n = 0;
  for (std::size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + 1)) ++n;
  return n;
}

// The program, the kernel (a golden file), the number of its barriers, and its results, in race mode.
template <class Operator>
void check(const std::string& name, std::size_t barriers, const std::vector<Sizes>& shapes) {
  Operator op{Target::parse("vulkan")};
  std::string text;
  const ir::Kernel k = lowered(op.s, text);
  handmade::golden("launch_" + name, op.s.text() + "\n" + text);
  CHECK(count(text, "barrier of the block") == barriers);
  for (const Sizes& shape : shapes) {
    std::string at;
    for (const auto& [s, n] : shape) at += s + " = " + std::to_string(n) + " ";
    CAPTURE(at);
    interp::Arguments expected = handmade::arguments_for(op.built.program, shape), scheduled = expected, found = expected;
    interp::run_algorithm(op.built.program, expected);
    REQUIRE_NOTHROW(interp::run(op.s.scheduled().program, scheduled));
    interp::Options options;
    options.races = true;
    REQUIRE_NOTHROW(interp::run(k, found, options));
    for (std::size_t n = 0; n < expected.size(); ++n) {
      CHECK(interp::difference(scheduled[n].array, expected[n].array, 1e-6, 1e-6) == "");
      CHECK(interp::difference(found[n].array, expected[n].array, 1e-6, 1e-6) == "");
    }
  }
}

}  // namespace

TEST_CASE("elementwise with broadcasting") {
  check<gpu_operators::AddBias>("add_bias", 0,
                                {{{"M", 3}, {"N", 64}}, {{"M", 2}, {"N", 130}}, {{"M", 1}, {"N", 1}}, {{"M", 0}, {"N", 5}}});
}

TEST_CASE("transposition through shared memory") {
  check<gpu_operators::Transpose>("transpose", 1, {{{"M", 32}, {"N", 64}}, {{"M", 33}, {"N", 40}}, {{"M", 1}, {"N", 1}}});
}

TEST_CASE("a product with shared tiles and register tiles") {
  check<gpu_operators::Product>(
      "product", 2, {{{"M", 32}, {"N", 32}, {"K", 32}}, {{"M", 33}, {"N", 35}, {"K", 17}}, {{"M", 1}, {"N", 2}, {"K", 3}}});
}

TEST_CASE("row softmax") {
  check<gpu_operators::Softmax>("softmax", 2, {{{"M", 2}, {"N", 64}}, {{"M", 3}, {"N", 100}}, {{"M", 1}, {"N", 1}}});
}

TEST_CASE("the sum of a vector, in two launches") {
  check<gpu_operators::Sum>("sum", 1, {{{"N", 9000}}, {{"N", 100}}, {{"N", 1}}});
}

TEST_CASE("3x3 convolution") {
  check<gpu_operators::Conv3x3>("conv3x3", 0,
                                {{{"H", 8}, {"W", 16}, {"C", 2}, {"D", 2}}, {{"H", 9}, {"W", 3}, {"C", 1}, {"D", 1}}});
}

TEST_CASE("attention, a query a block") {
  check<gpu_operators::Attention>(
      "attention", 2, {{{"H", 2}, {"M", 2}, {"N", 70}}, {{"H", 1}, {"M", 1}, {"N", 1}}, {{"H", 1}, {"M", 0}, {"N", 3}}});
}

TEST_CASE("a block of no whole warps is one on which nothing that needs warps may count") {
  gpu_operators::Sum op{Target::parse("cuda-sm_80")};
  std::string text;
  const ir::Kernel k = lowered(op.s, text);
  REQUIRE(k.body.size() == 2);
  CHECK(k.body[0].launch->threads == 128);
  CHECK(k.body[0].launch->warp == 32);
  CHECK(k.body[1].launch->threads == 1);
  CHECK(k.body[1].launch->warp == 1);
}
