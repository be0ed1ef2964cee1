#pragma once
// What the tests of CUDA share: the operators with GPU schedules, lowered for a CUDA device.
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include <ashlar/codegen/ptx.h>
#include <ashlar/lower/lower.h>
#include <ashlar/schedule/step.h>

#include "tests/support/atomic_gpu_operators.h"
#include "tests/support/gpu_operators.h"
#include "tests/support/recurrence_gpu_operators.h"
#include "tests/support/tuple_operators.h"
#include "tests/support/variant_operators.h"
#include "tests/support/warp_operators.h"

namespace cuda {

using namespace ashlar;

inline const std::vector<std::string>& targets() {
  static const std::vector<std::string> all = {"cuda-sm_80", "cuda-sm_90a", "cuda-sm_100a"};
  return all;
}

inline ir::Kernel lowered(const Schedule& s) {
  schedule::finish(s.scheduled(), s.target());
  return lower(s.scheduled().program, options_for(s.target()));
}

template <class Operator>
ir::Kernel kernel_of(const std::string& target) {
  Operator op{Target::parse(target)};
  return lowered(op.s);
}
inline ir::Kernel pipelined_product(const std::string& target) {
  gpu_operators::PipelinedProduct op{Target::parse(target), 3, true, 2};
  return lowered(op.s);
}

inline ir::Kernel ring_of_warps(const std::string& target) {
  warp_operators::Ring op{Target::parse(target), 3, true, false};
  return lowered(op.s);
}

template <gpu_operators::AtomicCounts::How how>
ir::Kernel atomic_counts(const std::string& target) {
  gpu_operators::AtomicCounts op{Target::parse(target), how};
  return lowered(op.s);
}
inline ir::Kernel atomic_rows(const std::string& target, Type type) {
  gpu_operators::AtomicRows op{Target::parse(target), type, [](const Expr& e, const Axis& k) { return sum(e, k); }};
  return lowered(op.s);
}
inline ir::Kernel atomic_least(const std::string& target, Type type) {
  gpu_operators::AtomicRows op{Target::parse(target), type, [](const Expr& e, const Axis& k) { return minimum(e, k); }};
  return lowered(op.s);
}

// Every operator of tests/support/gpu_operators.h and tuple_operators.h, and some of recurrence_gpu_operators.h and
// warp_operators.h, by name.
inline const std::vector<std::pair<std::string, ir::Kernel (*)(const std::string& target)>>& operators() {
  static const std::vector<std::pair<std::string, ir::Kernel (*)(const std::string&)>> all = {
      {"add_bias", kernel_of<gpu_operators::AddBias>},
      {"transpose", kernel_of<gpu_operators::Transpose>},
      {"product", kernel_of<gpu_operators::Product>},
      {"pipelined_product", pipelined_product},
      {"softmax", kernel_of<gpu_operators::Softmax>},
      {"softmax_tree", kernel_of<gpu_operators::SoftmaxTree>},
      {"row_sums", kernel_of<gpu_operators::RowSums>},
      {"sum_tree", kernel_of<gpu_operators::SumTree>},
      {"sum", kernel_of<gpu_operators::Sum>},
      {"conv3x3", kernel_of<gpu_operators::Conv3x3>},
      {"attention", kernel_of<gpu_operators::Attention>},
      {"argmax", kernel_of<gpu_operators::ArgMax>},
      {"complex_product", kernel_of<gpu_operators::ComplexProduct>},
      {"online_attention", kernel_of<gpu_operators::OnlineAttention>},
      {"recurrence_of_rows", kernel_of<gpu_operators::Rows>},
      {"recurrence_of_columns", kernel_of<gpu_operators::Columns>},
      {"scans_in_shared_memory", kernel_of<gpu_operators::SharedRows>},
      {"scans_in_blocks", kernel_of<gpu_operators::ScanInBlocks>},
      {"counts_of_blocks", atomic_counts<gpu_operators::AtomicCounts::How::blocks>},
      {"counts_in_shared_memory", atomic_counts<gpu_operators::AtomicCounts::How::shared>},
      {"differences_by_size", kernel_of<variant_operators::ByLaunches>},
      {"turned", kernel_of<warp_operators::Turned>},
      {"ring_of_warps", ring_of_warps}};
  return all;
}

}  // namespace cuda
