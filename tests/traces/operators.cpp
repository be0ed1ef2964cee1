#include "cases.h"

#include "tests/support/atomic_gpu_operators.h"
#include "tests/support/gpu_operators.h"
#include "tests/support/mma_operators.h"
#include "tests/support/tuple_operators.h"
#include "tests/support/warp_operators.h"

namespace traces {
namespace {

template <class Operator, class... More>
Case of(const char* name, const char* target, More... more) {
  return {name, [=](const Use& use) {
            const Operator op(ashlar::Target::parse(target), more...);
            use(op.built, op.s);
          }};
}

}  // namespace

std::vector<Case> operators() {
  namespace gpu = gpu_operators;
  constexpr const char* cuda = "cuda-sm_90a";
  return {of<gpu::AddBias>("add_bias", "vulkan"),
          of<gpu::Transpose>("transpose", cuda),
          of<gpu::Product>("gpu_product", cuda),
          of<gpu::PipelinedProduct>("pipelined_product", cuda, 3, true, 2),
          of<gpu::Softmax>("softmax", cuda),
          of<gpu::SoftmaxTree>("softmax_tree", cuda),
          of<gpu::RowSums>("row_sums", cuda),
          of<gpu::SumTree>("sum_tree", cuda),
          of<gpu::Sum>("sum", "vulkan"),
          of<gpu::Conv3x3>("conv3x3", "vulkan"),
          of<gpu::Attention>("attention_by_blocks", cuda),
          of<mma_operators::Product>("mma_product", cuda),
          of<warp_operators::Reversed>("reversed", cuda),
          of<warp_operators::Turned>("turned", cuda),
          of<gpu_operators::ArgMax>("argmax_tuple", cuda),
          of<gpu_operators::ComplexProduct>("complex_product", cuda),
          of<gpu_operators::OnlineAttention>("online_attention", cuda)};
}

}  // namespace traces
