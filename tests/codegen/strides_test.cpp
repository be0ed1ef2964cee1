// Rows of a few elements, compiled: what a vector accesses is the same where rows lie without gaps and where the caller leaves
// some.
#include <cstring>
#include <vector>

#include <doctest/doctest.h>

#include <ashlar/codegen/jit.h>
#include <ashlar/interp/interpreter.h>
#include <ashlar/ir/print.h>
#include <ashlar/lang.h>
#include <ashlar/lang/build_program.h>
#include <ashlar/lower/explain.h>
#include <ashlar/runtime/runtime.h>
#include <ashlar/schedule/schedule.h>
#include <ashlar/schedule/step.h>

#include "tests/codegen/kernels.h"

using namespace ashlar;

namespace {

using Formula = std::function<Expr(const Tensor& x, Var i, Var c)>;
using Steps = std::function<void(const Stage&, int lanes)>;

// y[i, c] = f(x, i, c) of x[N + 2, C], for rows of x and y that lie 0 to 2 elements apart. Gives the kernel's text.
std::string same(std::int64_t channels, const Formula& f, const Steps& steps) {
  lang::DefinitionScope scope;
  const Symbol N{"N"};
  const Tensor x = lang::make_input("x", i32, {N + 2, channels}), y = lang::make_output("y", i32, {N, channels});
  const Tensor made = compute("made", {{"i", N}, {"c", channels}}, [&](Var i, Var c) { return f(x, i, c); });
  lang::bind(y, made);
  const lang::Built built = lang::build_program("rows", {x, y});
  std::string text;
  for (const Target& target : kernels::runnable({"x86-64", "x86-64-v3", "x86-64-v4"})) {
    Schedule s(built, target);
    steps(s[made], target.lanes(i32));
    const ir::Kernel kernel = lower(s.scheduled().program, options_for(target));
    text = ir::text(kernel);
    const codegen::Compiled code = codegen::compile(kernel, target);
    for (const std::int64_t n : {0, 1, 5, 16, 37})
      for (const std::int64_t gap_of_x : {0, 1, 2})
        for (const std::int64_t gap_of_y : {0, 1}) {
          CAPTURE(n);
          CAPTURE(gap_of_x);
          CAPTURE(gap_of_y);
          interp::Arguments meant{
              interp::Array::make(i32, {n + 2, channels}, [](auto at) { return static_cast<double>(at[0] * 7 - at[1] * 40); }),
              interp::Array::zeros(i32, {n, channels})};
          const std::int64_t of_x = channels + gap_of_x, of_y = channels + gap_of_y;
          constexpr std::int32_t untouched = 77;
          std::vector<std::int32_t> in(static_cast<std::size_t>((n + 2) * of_x), untouched),
              out(static_cast<std::size_t>(n * of_y) + 1, untouched), want = out;
          const auto* given = reinterpret_cast<const std::int32_t*>(meant[0].array.bytes.data());
          for (std::int64_t k = 0; k < (n + 2) * channels; ++k)
            in[static_cast<std::size_t>(k / channels * of_x + k % channels)] = given[k];
          std::int64_t shapes[2][2] = {{n + 2, channels}, {n, channels}}, strides[2][2] = {{of_x, 1}, {of_y, 1}};
          ashlar_tensor tensors[2] = {ashlar_dense(in.data(), ASHLAR_I32, 2, shapes[0]),
                                      ashlar_dense(out.data(), ASHLAR_I32, 2, shapes[1])};
          for (int k = 0; k < 2; ++k) tensors[k].strides = strides[k];
          const void* pointers[2] = {&tensors[0], &tensors[1]};
          REQUIRE(code.call(pointers) == ASHLAR_OK);
          interp::run_algorithm(built.program, meant);
          const auto* expected = reinterpret_cast<const std::int32_t*>(meant[1].array.bytes.data());
          for (std::int64_t k = 0; k < n * channels; ++k)
            want[static_cast<std::size_t>(k / channels * of_y + k % channels)] = expected[k];
          CHECK(out == want);
        }
  }
  return text;
}

bool has(const std::string& text, const char* what) { return text.find(what) != text.npos; }

}  // namespace

TEST_CASE("a vector of several rows of a few elements") {
  const auto whole_rows = [](const Stage& s, int lanes) {
    auto [i, c] = s.spatial<2>();
    s.vectorize(s.fuse(s.split(i, lanes, Tail::guard).inner, c));
  };
  const std::string text = same(3, [](const Tensor& x, Var i, Var c) { return x(i, c) + x(i + 2, c) * 2; }, whole_rows);
  CAPTURE(text);
  CHECK(has(text, "if x_stride0 == 3 && y_stride0 == 3"));
  CHECK(has(text, "x[ramp48("));
  same(2, [](const Tensor& x, Var i, Var c) { return x(i + 1, c) - x(i, 1 - c); }, whole_rows);
}

TEST_CASE("a vector along rows of a few elements") {
  const auto along = [](const Stage& s, int lanes) {
    auto [i, c] = s.spatial<2>();
    const Split split = s.split(i, lanes, Tail::guard);
    s.reorder(split.outer, c, split.inner);
    s.unroll(c), s.vectorize(split.inner);
  };
  const std::string text = same(3, [](const Tensor& x, Var i, Var c) { return x(i, c) + x(i + 1, 2 - c); }, along);
  CAPTURE(text);
  CHECK(has(text, "if x_stride0 == 3 && y_stride0 == 3"));
  // one element a row: neighbours, if there are no gaps
  CHECK(has(
      same(1, [](const Tensor& x, Var i, Var c) { return x(i + 1, c) * 3; }, along), "if x_stride0 == 1 && y_stride0 == 1"));
}

TEST_CASE("rows that no vector goes along have one version") {
  const std::string text = same(
      3, [](const Tensor& x, Var i, Var c) { return x(i, c) + 1; },
      [](const Stage& s, int) { s.vectorize(s.spatial<2>()[1]); });
  CHECK(!has(text, "if x_stride0"));
  const std::string longer = same(
      9, [](const Tensor& x, Var i, Var c) { return x(i, c) + 1; },
      [](const Stage& s, int lanes) {
        auto [i, c] = s.spatial<2>();
        const Split split = s.split(i, lanes, Tail::guard);
        s.reorder(split.outer, c, split.inner);
        s.vectorize(split.inner);
      });
  CHECK(!has(longer, "if x_stride0"));
}
