// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
// gpu_conv for the default schedule.
#include <optional>
#include <vector>

#include <ashlar/schedules/gpu_conv.h>

#include <ashlar/ir/program.h>

namespace ashlar::schedules::detail {

// A convolution: the positions of its iteration variables among those of the stage, and the buffers that it reads.
struct ConvParts {
  std::size_t n = 0, o = 0, h = 0, w = 0;  // dimensions
  std::size_t c = 0, r = 0, s = 0;         // terms
  std::int64_t stride_h = 1, stride_w = 1, dilation_h = 1, dilation_w = 1;
  ir::Id image = 0, weights = 0;
  std::vector<std::size_t> image_dims;  // the dimensions of the image that are n, c, h and w
  enum : std::size_t { batch, channel, row, column };
  ir::Id rim = 0;  // the stage that the image is, with zeros around: 0 where the image is an argument
};
std::optional<ConvParts> conv_parts(const ir::Program& p, const ir::Stage& sum);

}  // namespace ashlar::schedules::detail
