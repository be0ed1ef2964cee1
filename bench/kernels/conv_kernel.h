#pragma once
// Convolutions of the bench, by the library and its family of schedules: channels in blocks, one picture, weights packed
// beforehand.
#include <ashlar/generator/generator.h>
#include <ashlar/ops.h>
#include <ashlar/schedules/conv.h>

namespace kernels {

using namespace ashlar;

class Convolution : public Generator {
 public:
  Param<int> channels{"channels", 64, between(1, 4096), "of the picture"};
  Param<int> in_block{"in_block", 32, between(1, 64), "channels of the picture in a block"};
  Param<int> block{"block", 2 * target().lanes(f32), between(1, 64),
                   "channels of the result in a block; by default two registers of the target"};
  Param<int> window{"window", 3, between(1, 7), "rows and columns of a window"};
  Param<int> stride{"stride", 1, between(1, 2), "of the windows"};
  Param<int> tile_w{"tile_w", 0, between(0, 28), "pixels of a register tile; 0: as many as the registers hold"};
  Param<int> tile_h{"tile_h", 1, between(1, 4), "rows of pixels of a register tile"};
  Param<int> ahead{"ahead", 0, between(0, 256), "rows of weights asked for before they are needed"};
  Param<int> size{"size", 56, between(1, 1024), "rows and columns of the picture"};
  Symbol B{"B", {.min = 1}};
  Input x{"x", f32, {1, channels / in_block, size, size, *in_block}, {.order = ashlar::Layout::dense}};
  Input w{"w", f32, {B, channels / in_block, window, window, *in_block, *block}, {.order = ashlar::Layout::dense}};
  Output y{"y", f32, {1, B, (size - 1) / stride + 1, (size - 1) / stride + 1, *block}, {.order = ashlar::Layout::dense}};
  Tensor rim, sum;

  void algorithm() override {
    const ops::Convolution c = ops::conv2d(x, w, {},
                                           {.stride = {stride, stride},
                                            .padding = {window / 2, window / 2},
                                            .layout = ops::Layout::channels_blocked,
                                            .leave_out_rows = true});
    rim = c.rim;
    y = sum = c.sum;
  }
  void schedule(Schedule& s) override {
    if (window > 1) schedules::rim(s, s[rim], window / 2, window / 2);
    schedules::conv2d(s, s[sum], w, {.tile_w = tile_w, .tile_h = tile_h, .ahead = ahead});
  }
};

}  // namespace kernels
