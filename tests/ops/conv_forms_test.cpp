// Transposed convolutions beside loops that spread, im2col and Winograd's forms beside loops that gather.
#include "tests/ops/check.h"
#include "tests/ops/conv_loops.h"

using namespace ops_test;

namespace {

// Every element of x is spread over its window; what falls outside of y is lost. x: [N, C, image...], w: [C, O / groups, ...]
Nd spread(const Nd& x, const Nd& w, const Nd& bias, const Loops& l, const std::vector<int>& more) {
  const std::size_t n = x.shape.size() - 2;
  const std::int64_t per_group = w.n(1), ins = x.n(1) / l.groups;
  Dims shape{x.n(0), per_group * l.groups}, taps{per_group};
  for (std::size_t d = 0; d < n; ++d) {
    shape.push_back((x.shape[d + 2] - 1) * l.stride[d] - l.padding[d].before - l.padding[d].after +
                    l.dilation[d] * (w.shape[d + 2] - 1) + 1 + more[d]);
    taps.push_back(w.shape[d + 2]);
  }
  Nd y(shape);
  each(shape, [&](const Dims& i) { y.at(i) = bias[i[1]]; });
  each(x.shape, [&](const Dims& i) {
    each(taps, [&](const Dims& k) {
      Dims to{i[0], i[1] / ins * per_group + k[0]}, tap{i[1], k[0]};
      bool inside = true;
      for (std::size_t d = 0; d < n; ++d) {
        to.push_back(i[d + 2] * l.stride[d] + k[d + 1] * l.dilation[d] - l.padding[d].before);
        tap.push_back(k[d + 1]);
        inside = inside && to.back() >= 0 && to.back() < shape[d + 2];
      }
      if (inside) y.at(to) += x.at(i) * w.at(tap);
    });
  });
  return y;
}

}  // namespace

TEST_CASE("transposed convolutions of one, two and three dimensions") {
  check(
      "conv_transpose",
      [](Maker& m) {
        const Symbol N{"N"}, C{"C"}, O{"O"}, T{"T", {.min = 2}}, H{"H", {.min = 2}}, W{"W", {.min = 2}};
        const Tensor x = m.in("x", f32, {N, C, H, W}), w = m.in("w", f32, {C, O, 3, 4}), b = m.in("b", f32, {O});
        m.out(ops::conv_transpose2d(x, w, b));
        m.out(ops::conv_transpose2d(x, w, Tensor(),
                                    {.stride = {2, 3}, .padding = {1, ops::Pad(0, 2)}, .output_padding = {1, 2}}));
        m.out(ops::conv_transpose2d(x, w, Tensor(), {.stride = {2, 1}, .padding = {2, 3}, .dilation = {2, 3}}));
        const Tensor l = m.in("l", f32, {N, H, W, C}), k = m.in("k", f32, {2, 2, O, C});
        m.out(ops::conv_transpose2d(l, k, b, {.stride = {2, 2}, .layout = ops::Layout::channels_last}));
        const Tensor u = m.in("u", f32, {N, 4, T}), v = m.in("v", f32, {4, 3, 3});
        m.out(ops::conv_transpose1d(u, v, Tensor(), {.stride = {2}, .padding = {1}, .groups = 2}));
        const Tensor p = m.in("p", f32, {N, C, 2, H, 3}), q = m.in("q", f32, {C, O, 2, 2, 1});
        m.out(ops::conv_transpose3d(p, q, b, {.stride = {1, 2, 2}}));
      },
      {{{{2, 3, 4, 5}, {3, 2, 3, 4}, {2}, {2, 4, 5, 3}, {2, 2, 2, 3}, {2, 4, 6}, {4, 3, 3}, {2, 3, 2, 4, 3}, {3, 2, 2, 2, 1}}},
       {{{1, 0, 2, 2}, {0, 1, 3, 4}, {1}, {1, 2, 2, 0}, {2, 2, 1, 0}, {1, 4, 2}, {4, 3, 3}, {1, 0, 2, 2, 3}, {0, 1, 2, 2, 1}}}},
      [](const Inputs& in) {
        const Nd none({in[1].n(1)});
        const Nd last =
            spread(turned(in[3], {0, 3, 1, 2}), turned(in[4], {3, 2, 0, 1}), in[2], {{2, 2}, {0, 0}, {1, 1}, 1}, {0, 0});
        return Results{spread(in[0], in[1], in[2], {{1, 1}, {0, 0}, {1, 1}, 1}, {0, 0}),
                       spread(in[0], in[1], none, {{2, 3}, {1, {0, 2}}, {1, 1}, 1}, {1, 2}),
                       spread(in[0], in[1], none, {{2, 1}, {2, 3}, {2, 3}, 1}, {0, 0}),
                       turned(last, {0, 2, 3, 1}),
                       spread(in[5], in[6], Nd({6}), {{2}, {1}, {1}, 2}, {0}),
                       spread(in[7], in[8], in[2], {{1, 2, 2}, {0, 0, 0}, {1, 1, 1}, 1}, {0, 0, 0})};
      },
      {1e-6, 5e-6});
}

TEST_CASE("im2col") {
  check(
      "im2col",
      [](Maker& m) {
        const Symbol N{"N"}, C{"C"}, O{"O"}, H{"H"}, W{"W"};
        const Tensor x = m.in("x", f32, {N, C, H, W}), w = m.in("w", f32, {O, C, 3, 2}), b = m.in("b", f32, {O});
        m.out(ops::conv2d_im2col(x, w, b, {.stride = {2, 1}, .padding = {1, 1}, .dilation = {1, 2}}));
        m.out(ops::conv2d_im2col(x, w, Tensor(), {.padding = {2, 2}}));
      },
      {{{{2, 3, 5, 6}, {4, 3, 3, 2}, {4}}}, {{{1, 1, 1, 1}, {1, 1, 3, 2}, {1}}}, {{{1, 0, 4, 4}, {2, 0, 3, 2}, {2}}}},
      [](const Inputs& in) {
        return Results{convolution(in[0], in[1], in[2], {{2, 1}, {1, 1}, {1, 2}, 1}),
                       convolution(in[0], in[1], Nd({in[1].n(0)}), {{1, 1}, {2, 2}, {1, 1}, 1})};
      },
      {1e-6, 5e-6});
}

TEST_CASE("Winograd's forms, on images that their tiles do not divide") {
  check(
      "winograd",
      [](Maker& m) {
        const Symbol N{"N"}, C{"C"}, O{"O"}, H{"H", {.min = 1}}, W{"W", {.min = 1}};
        const Tensor x = m.in("x", f32, {N, C, H, W}), w = m.in("w", f32, {O, C, 3, 3}), b = m.in("b", f32, {O});
        m.out(ops::conv2d_winograd(x, w, b, {1, 1}));
        m.out(ops::conv2d_winograd(x, w, Tensor(), {1, 2}, ops::WinogradTile::two));
      },
      {{{{2, 2, 6, 7}, {3, 2, 3, 3}, {3}}},
       {{{1, 1, 1, 1}, {1, 1, 3, 3}, {1}}},
       {{{1, 0, 3, 2}, {1, 0, 3, 3}, {1}}},
       {{{0, 1, 4, 4}, {1, 1, 3, 3}, {1}}}},
      [](const Inputs& in) {
        return Results{convolution(in[0], in[1], in[2], {{1, 1}, {1, 1}, {1, 1}, 1}),
                       convolution(in[0], in[1], Nd({in[1].n(0)}), {{1, 1}, {1, 2}, {1, 1}, 1})};
      },
      {2e-5, 2e-5});
}
