// Rows of a few elements, compiled: what a vector accesses is the same where rows lie without gaps and where the caller leaves
// some. Arrays lie between pages that nobody may touch, first at one, then at the other.
#include <cstring>

#include <doctest/doctest.h>

#include <ashlar/codegen/jit.h>
#include <ashlar/interp/interpreter.h>
#include <ashlar/ir/print.h>
#include <ashlar/lang.h>
#include <ashlar/lang/build_program.h>
#include <ashlar/lower/lower.h>
#include <ashlar/runtime/runtime.h>
#include <ashlar/schedule/schedule.h>
#include <ashlar/schedule/step.h>

#include "tests/codegen/kernels.h"
#include "tests/support/fenced.h"
#include "tests/support/text_parts.h"

using namespace ashlar;
using fenced::Fenced;

namespace {

using Formula = std::function<Expr(const Tensor& x, Var i, Var c, const Symbol& N)>;
using Steps = std::function<void(const Stage&, int lanes)>;

// Rows of `channels` elements, `gap` apart from each other, between pages.
struct Rows {
  std::int64_t rows, channels, stride;
  Fenced memory;
  Rows(std::int64_t n, std::int64_t c, std::int64_t gap, Fenced::Side side)
      : rows(n), channels(c), stride(c + gap), memory(static_cast<std::size_t>(n == 0 ? 0 : (n - 1) * stride + c) * 4, side) {}
  std::int32_t& at(std::int64_t r, std::int64_t c) { return reinterpret_cast<std::int32_t*>(memory.data())[r * stride + c]; }
};

// y[i, c] = f(x, i, c) of x[N + 2, C], or of planes x[C, N + 2], for rows that lie 0 to 2 elements apart. Gives the kernel's
// text.
std::string same(std::int64_t channels, const Formula& f, const Steps& steps, bool planes = false) {
  lang::DefinitionScope scope;
  const Symbol N{"N"};
  const Tensor x = planes ? lang::make_input("x", i32, {channels, N + 2}) : lang::make_input("x", i32, {N + 2, channels}),
               y = lang::make_output("y", i32, {N, channels});
  const Tensor made = compute("made", {{"i", N}, {"c", channels}}, [&](Var i, Var c) { return f(x, i, c, N); });
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
        for (const std::int64_t gap_of_y : {0, 1})
          for (const Fenced::Side side : {Fenced::at_begin, Fenced::at_end}) {
            CAPTURE(n);
            CAPTURE(gap_of_x);
            CAPTURE(gap_of_y);
            const std::int64_t rows = planes ? channels : n + 2, length = planes ? n + 2 : channels;
            interp::Arguments meant{
                interp::Array::make(i32, {rows, length}, [](auto at) { return static_cast<double>(at[0] * 7 - at[1] * 40); }),
                interp::Array::zeros(i32, {n, channels})};
            constexpr std::int32_t untouched = 77;
            Rows in(rows, length, gap_of_x, side), out(n, channels, gap_of_y, side);
            const auto* given = reinterpret_cast<const std::int32_t*>(meant[0].array.bytes.data());
            for (std::int64_t k = 0; k < rows * length; ++k) in.at(k / length, k % length) = given[k];
            for (std::int64_t r = 0; r < n; ++r)
              for (std::int64_t c = 0; c < (r + 1 < n ? out.stride : channels); ++c) out.at(r, c) = untouched;
            std::int64_t shapes[2][2] = {{rows, length}, {n, channels}}, strides[2][2] = {{in.stride, 1}, {out.stride, 1}};
            ashlar_tensor tensors[2] = {ashlar_dense(in.memory.data(), ASHLAR_I32, 2, shapes[0]),
                                        ashlar_dense(out.memory.data(), ASHLAR_I32, 2, shapes[1])};
            for (int k = 0; k < 2; ++k) tensors[k].strides = strides[k];
            const void* pointers[2] = {&tensors[0], &tensors[1]};
            REQUIRE(code.call(pointers) == ASHLAR_OK);
            interp::run_algorithm(built.program, meant);
            const auto* expected = reinterpret_cast<const std::int32_t*>(meant[1].array.bytes.data());
            int wrong = 0;
            for (std::int64_t r = 0; r < n; ++r)
              for (std::int64_t c = 0; c < (r + 1 < n ? out.stride : channels); ++c)
                wrong += out.at(r, c) != (c < channels ? expected[r * channels + c] : untouched);
            CHECK(wrong == 0);
          }
  }
  return text;
}

using text_parts::has;

}  // namespace

namespace {
void whole_rows(const Stage& s, int lanes) {
  auto [i, c] = s.spatial<2>();
  s.vectorize(s.fuse(s.split(i, lanes, Tail::guard).inner, c));
}
void along_rows(const Stage& s, int lanes) {
  auto [i, c] = s.spatial<2>();
  const Split split = s.split(i, lanes, Tail::guard);
  s.reorder(split.outer, c, split.inner);
  s.unroll(c), s.vectorize(split.inner);
}
}  // namespace

TEST_CASE("a vector of several rows of a few elements") {
  const std::string text = same(3, [](const Tensor& x, Var i, Var c, auto&) { return x(i, c) + x(i + 2, c) * 2; }, whole_rows);
  CAPTURE(text);
  CHECK(has(text, "if x_stride0 == 3 && y_stride0 == 3"));
  CHECK(has(text, "x[ramp48("));
  same(2, [](const Tensor& x, Var i, Var c, auto&) { return x(i + 1, c) - x(i, 1 - c); }, whole_rows);
  same(4, [](const Tensor& x, Var i, Var c, auto&) { return x(i, c) * x(i, 3) + x(i / 2, 3 - c); }, whole_rows);
}

TEST_CASE("a vector of several rows at a border that is repeated") {
  for (const std::int64_t by : {-3, 1, 20})
    same(
        3, [&](const Tensor& x, Var i, Var c, const Symbol& N) { return x(clamp(i + by, 0, N - 1), c) - x(i, c); }, whole_rows);
  same(2, [](const Tensor& x, Var i, Var c, auto&) { return x(max(i - 2, 0), c) + x(min(i + 1, 3), 1 - c); }, whole_rows);
  same(3, [](const Tensor& x, Var i, Var c, const Symbol& N) { return select(i + 4 < N, x(i + 4, c), 9); }, whole_rows);
}

TEST_CASE("a vector of several rows of what lies in planes") {
  same(3, [](const Tensor& x, Var i, Var c, auto&) { return x(c, i + 1) * 2 + x(2 - c, i); }, whole_rows, true);
  same(
      2, [](const Tensor& x, Var i, Var c, const Symbol& N) { return x(c, clamp(i - 1, 0, N - 1)) + x(1, i / 2); }, whole_rows,
      true);
  same(3, [](const Tensor& x, Var i, Var c, auto&) { return x(c, i) - 1; }, along_rows, true);
}

TEST_CASE("a vector along rows of a few elements") {
  const std::string text = same(3, [](const Tensor& x, Var i, Var c, auto&) { return x(i, c) + x(i + 1, 2 - c); }, along_rows);
  CAPTURE(text);
  CHECK(has(text, "if x_stride0 == 3 && y_stride0 == 3"));
  // one element a row: neighbors, if there are no gaps
  CHECK(has(same(
                1, [](const Tensor& x, Var i, Var c, auto&) { return x(i + 1, c) * 3; }, along_rows),
            "if x_stride0 == 1 && y_stride0 == 1"));
}

TEST_CASE("rows that no vector goes along have one version") {
  const auto plus_one = [](const Tensor& x, Var i, Var c, auto&) { return x(i, c) + 1; };
  CHECK(!has(same(3, plus_one, [](const Stage& s, int) { s.vectorize(s.spatial<2>()[1]); }), "if x_stride0"));
  CHECK(!has(same(9, plus_one, along_rows), "if x_stride0"));
}
