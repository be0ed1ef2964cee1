// Convolutions in blocks of channels: images of any width, strides, windows of one pixel, a rim.
#include <ashlar/schedules/conv.h>

#include "tests/schedules/scheduled.h"

using namespace schedules_test;

namespace {

// x [1, C, H, W, c], w [O, C, window, window, c, 16 or 32]
Steps layer(Maker& m, Extent H, Extent W, int window, int stride, int in_block, int block, const schedules::ConvOptions& o) {
  const Symbol C{"C"}, O{"O"};
  const Tensor x = m.in("x", f32, {1, C, H, W, in_block}), w = m.in("w", f32, {O, C, window, window, in_block, block});
  const int around = window / 2;
  const Tensor wide = around > 0 ? ops::pad(x, {0, 0, {around, around}, {around, around}, 0}) : x;
  const Tensor y = ops::conv2d(wide, w, {}, {.stride = {stride, stride}, .layout = ops::Layout::channels_blocked});
  m.out(y);
  return [=](Schedule& s) {
    if (around > 0) schedules::rim(s, s[wide], around, around);
    schedules::conv2d(s, s[y], w, o);
  };
}

// The same with the rows outside of the image left out.
Steps with_rows_left_out(Maker& m, Extent H, Extent W, int window, int stride, int block, const schedules::ConvOptions& o) {
  const Symbol C{"C"}, O{"O"};
  const Tensor x = m.in("x", f32, {1, C, H, W, 4}), w = m.in("w", f32, {O, C, window, window, 4, block});
  const auto y = ops::conv2d(x, w, {},
                             {.stride = {stride, stride},
                              .padding = {window / 2, window / 2},
                              .layout = ops::Layout::channels_blocked,
                              .leave_out_rows = true});
  m.out(y);
  return [=](Schedule& s) {
    schedules::rim(s, s[y.rim], window / 2, window / 2);
    schedules::conv2d(s, s[y.sum], w, o);
  };
}

std::vector<Dims> run(std::int64_t C, std::int64_t H, std::int64_t W, std::int64_t O, int window, int in_block, int block) {
  return {{1, C, H, W, in_block}, {O, C, window, window, in_block, block}};
}
std::function<std::vector<Dims>(const std::vector<Dims>&)> strided(std::int64_t by) {
  return [=](const std::vector<Dims>& in) {
    return std::vector<Dims>{{1, in[1][0], (in[0][2] + by - 1) / by, (in[0][3] + by - 1) / by, in[1][5]}};
  };
}

}  // namespace

TEST_CASE("3 x 3 with a rim, over images from nothing to several tiles") {
  check_scheduled("conv3x3",
                  [](Maker& m) {
                    const Symbol H{"H"}, W{"W"};
                    return layer(m, H, W, 3, 1, 4, 16, {.tile_w = 4});
                  },
                  {run(1, 3, 9, 2, 3, 4, 16), run(2, 2, 4, 1, 3, 4, 16), run(1, 1, 3, 1, 3, 4, 16), run(1, 2, 1, 1, 3, 4, 16),
                   run(0, 2, 2, 1, 3, 4, 16), run(1, 0, 5, 1, 3, 4, 16)},
                  {.relative = 1e-5, .absolute = 1e-5, .emulated = true, .results = strided(1)});
}

TEST_CASE("rows outside of the image left out") {
  check_scheduled("any image",
                  [](Maker& m) {
                    const Symbol H{"H", {.min = 1}}, W{"W"};
                    return with_rows_left_out(m, H, W, 3, 1, 16, {.tile_w = 4});
                  },
                  {run(1, 3, 9, 2, 3, 4, 16), run(2, 1, 4, 1, 3, 4, 16), run(1, 2, 1, 1, 3, 4, 16)},
                  {.relative = 1e-5, .absolute = 1e-5, .results = strided(1)});
  check_scheduled("7x7 by two", [](Maker& m) { return with_rows_left_out(m, 9, 20, 7, 2, 32, {.ahead = 3}); },
                  {run(1, 9, 20, 1, 7, 4, 32)}, {.relative = 1e-5, .absolute = 1e-5, .results = strided(2)});
  const std::string refused = refused_schedule([](Maker& m) { return with_rows_left_out(m, 5, 6, 3, 1, 16, {.tile_h = 2}); });
  CHECK(refused.find("conv_test.cpp: reorder: expected a loop inside those that bound it") == 0);
}

TEST_CASE("known widths, strides, one pixel, several rows in a tile") {
  const schedules_test::Beside one{.relative = 1e-5, .absolute = 1e-5, .results = strided(1)};
  check_scheduled("1x1", [](Maker& m) { return layer(m, 3, 7, 1, 1, 8, 32, {}); }, {run(2, 3, 7, 2, 1, 8, 32)}, one);
  check_scheduled(
      "rows", [](Maker& m) { return layer(m, 5, 6, 3, 1, 2, 16, {.tile_w = 3, .tile_h = 2, .ahead = 2}); },
      {run(1, 5, 6, 1, 3, 2, 16)}, one);
  check_scheduled("7x7 by two", [](Maker& m) { return layer(m, 9, 20, 7, 2, 3, 32, {}); }, {run(1, 9, 20, 1, 7, 3, 32)},
                  {.relative = 1e-5, .absolute = 1e-5, .results = strided(2)});
  check_scheduled("any width by two",
                  [](Maker& m) {
                    const Symbol W{"W", {.min = 1}};
                    return layer(m, 4, W, 3, 2, 3, 16, {.tile_w = 4});
                  },
                  {run(1, 4, 11, 1, 3, 3, 16), run(1, 4, 2, 1, 3, 3, 16)},
                  {.relative = 1e-5, .absolute = 1e-5, .results = strided(2)});
}

TEST_CASE("what is no convolution in blocks is refused at the line of the family") {
  CHECK(refused_schedule([](Maker& m) {
          const Symbol N{"N"};
          const Tensor x = m.in("x", f32, {N, N}), y = ops::relu(x);
          m.out(y);
          return [=](Schedule& s) { schedules::conv2d(s, s[y], x); };
        }).find("conv_test.cpp: conv2d: expected a sum over channels, window and channels of a block") == 0);
  CHECK(refused_schedule([](Maker& m) { return layer(m, 4, 4, 3, 1, 2, 12, {}); }) ==
        "conv_test.cpp: conv2d: expected blocks of outputs of a multiple of 8, found 12");
}
