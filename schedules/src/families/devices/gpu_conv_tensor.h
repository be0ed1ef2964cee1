// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
// The part of gpu_conv that uses the tensor cores of NVIDIA devices: convolutions of one to three image dimensions.
#include <cstdint>
#include <optional>
#include <vector>

#include <ashlar/schedules/gpu_conv.h>

#include <ashlar/ir/program.h>

namespace ashlar::schedules::detail {

// The positions of its iteration variables among the dimensions and terms of the stage, and the buffers that it reads.
struct TensorConv {
  std::size_t n = 0, o = 0, c = 0;
  std::vector<std::size_t> image, window;  // outermost first
  std::vector<std::int64_t> strides, dilations;
  std::int64_t results_of_group = 0;  // that share their channels; 0: one group
  ir::Id x = 0, w = 0;
  ir::Id rim = 0;              // the stage that x is, with zeros around: 0 where x is an argument
  bool channels_last = false;  // x[n, image, c] and w[window, c, o]; otherwise x[n, c, image] and w[o, c, window]
  std::size_t rank() const { return image.size(); }
};
// What the stage is, if its form and its types are such a convolution. Empty: another.
std::optional<TensorConv> tensor_conv(const ir::Program& p, const ir::Stage& sum);

// The sizes of a block that the target can hold. Empty: the tensor cores do not take it.
struct ConvBlock {
  int rows = 8, o = 64, warp_rows = 4, warp_o = 32;  // rows of one column more; of one image dimension: groups of columns
};
std::optional<ConvBlock> conv_on_tensor_cores(const Schedule& s, const Stage& sum, const TensorConv& p, Where where);
// `sums` are those of `sum` in Scope::fragment.
void conv_by_tensor_cores(Schedule& s, const Stage& sums, const Stage& result, const TensorConv& p, const ConvBlock& block,
                          Where where);

}  // namespace ashlar::schedules::detail
