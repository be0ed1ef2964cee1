#pragma once
// Kernels that are bound by memory, each by a family of schedules.
#include <ashlar/generator/generator.h>
#include <ashlar/ops.h>
#include <ashlar/schedules.h>

namespace kernels {

using namespace ashlar;

class Softmax : public Generator {
 public:
  Param<bool> quick{"quick", false, "exp in its fast form"};
  Symbol M{"M"}, N{"N"};
  Input x{"x", f32, {M, N}};
  Output y{"y", f32, {M, N}};
  ops::Softmax rows;

  void algorithm() override {
    rows = ops::softmax(x);
    if (quick) {  // the same, except for the exponential
      const Axis k{"k", N};
      rows.exp = compute("exp", {M, N}, [&](Var i, Var j) { return fast(exp(x(i, j) - rows.maximum(i))); });
      rows.sum = compute("sum", {M}, [&](Var i) { return sum(rows.exp(i, k), k); });
      rows.result = compute("softmax", {M, N}, [&](Var i, Var j) { return rows.exp(i, j) * (1 / rows.sum(i)); });
    }
    y = rows.result;
  }
  void schedule(Schedule& s) override { schedules::rows(s, {s[rows.maximum], s[rows.exp], s[rows.sum], s[rows.result]}); }
};

class LayerNorm : public Generator {
 public:
  Symbol M{"M"}, N{"N"};
  Input x{"x", f32, {M, N}}, scale{"scale", f32, {N}}, shift{"shift", f32, {N}};
  Output y{"y", f32, {M, N}};
  ops::Normalized rows;

  void algorithm() override {
    rows = ops::layer_norm(x, scale, shift);
    y = rows.result;
  }
  void schedule(Schedule& s) override {
    schedules::rows(s, {s[rows.sum], s[rows.mean], s[rows.deviations], s[rows.inverse], s[rows.result]});
  }
};

class Gelu : public Generator {
 public:
  Param<bool> quick{"quick", false, "erf in its fast form"};
  Symbol N{"N"};
  Input x{"x", f32, {N}};
  Output y{"y", f32, {N}};
  Tensor result;

  void algorithm() override {
    y = result =
        !quick ? ops::gelu(x)
               : compute("gelu", {N}, [&](Var i) { return x(i) * 0.5f * (1 + fast(erf(x(i) * 0.70710678118654752440f))); });
  }
  void schedule(Schedule& s) override { schedules::elementwise(s, s[result]); }
};

class Sum : public Generator {
 public:
  Symbol N{"N"};
  Input x{"x", f32, {N}};
  Output y{"y", f32, {}};
  Tensor total;

  void algorithm() override { y = total = ops::reduce_sum(x).accumulated; }
  void schedule(Schedule& s) override { schedules::reduction(s, s[total]); }
};

class Transpose : public Generator {
 public:
  Param<bool> stream{"stream", false, "the result goes past the caches, where a vector fills a line of them"};
  Symbol M{"M"}, N{"N"};
  Input x{"x", f32, {M, N}};
  Output y{"y", f32, {N, M}};
  Tensor turned;

  void algorithm() override {
    y = turned = compute("turned", {N, M}, [&](Var i, Var j) { return x(j, i); });
  }
  void schedule(Schedule& s) override {
    schedules::transpose(s, s[turned], x, {.stream = stream && schedules::fills_lines(s.target())});
  }
};

// 3 x 3, stride 1, a rim of zeros, channels last.
class Depthwise : public Generator {
 public:
  Param<int> channels{"channels", 32, between(1, 4096), "of the picture"};
  Param<int> size{"size", 112, between(1, 1024), "rows and columns of the picture"};
  Param<int> together{"together", 0, between(0, 16), "pixels in registers; 0: by the registers there are"};
  Input x{"x", f32, {1, size, size, *channels}, {.order = ashlar::Layout::dense}};
  Input w{"w", f32, {3, 3, *channels, 1}, {.order = ashlar::Layout::dense}};
  Output y{"y", f32, {1, size, size, *channels}, {.order = ashlar::Layout::dense}};
  Tensor sum;

  void algorithm() override {
    y = sum = ops::depthwise_conv2d(x, w, {}, {.padding = {1, 1}, .layout = ops::Layout::channels_last}).sum;
  }
  void schedule(Schedule& s) override { schedules::stencil(s, s[sum], {.together = together, .channels_last = true}); }
};

// Of three neighbors across, then of three down, in 16 bits as they come.
class BoxBlur : public Generator {
 public:
  Param<int> strip{"strip", 16, "rows that one thread computes one after the other"};
  Param<int> columns{"columns", 0, "pixels of a row computed before the next row; 0: all"};
  Param<int> together{"together", 8, between(1, 16), "rows whose sums across are in registers, with two more"};
  Param<int> ahead{"ahead", 8, between(0, 64), "vectors that are asked for before they are read"};
  Param<bool> stream{"stream", false, "the result goes past the caches, where a vector fills a line of them"};
  Symbol H{"H", {.min = 2}}, W{"W", {.min = 8}};
  Input x{"x", u16, {H, W}};
  Output y{"y", u16, {H - 2, W - 8}};  // rows of a multiple of 8, as pictures usually have
  Tensor across, down;

  void algorithm() override {
    across = compute("across", [&](Var i, Var j) { return (x(i, j) + x(i, j + 1) + x(i, j + 2)) / 3; });
    y = down =
        compute("down", {H - 2, W - 8}, [&](Var i, Var j) { return (across(i, j) + across(i + 1, j) + across(i + 2, j)) / 3; });
  }
  void schedule(Schedule& s) override {
    schedules::stencil(s, s[down],
                       {.together = together,
                        .strip = strip,
                        .columns = columns,
                        .in_registers = {{s[across], 3}},
                        .prefetched = {x},
                        .ahead = ahead,
                        .stream = stream && schedules::fills_lines(s.target())});
  }
};

}  // namespace kernels
