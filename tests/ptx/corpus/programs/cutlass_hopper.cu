// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A product of CUTLASS 3 for sm_90a: tensor maps, multicast in a cluster of two blocks, mbarriers, wgmma, warps that specialize.
// d = alpha a b + beta c: a [m, k] by rows, b [k, n] by columns, c and d [m, n] by rows. Pointers are the device's; 0 is success.
#include <cute/tensor.hpp>
#include <cutlass/cutlass.h>
#include <cutlass/epilogue/collective/collective_builder.hpp>
#include <cutlass/gemm/collective/collective_builder.hpp>
#include <cutlass/gemm/device/gemm_universal_adapter.h>
#include <cutlass/gemm/kernel/gemm_universal.hpp>
#include <cutlass/util/packed_stride.hpp>

using namespace cute;
using Brain = cutlass::bfloat16_t;
using Row = cutlass::layout::RowMajor;
using Column = cutlass::layout::ColumnMajor;

using BlockTile = Shape<_64, _128, _64>;
using Cluster = Shape<_2, _1, _1>;
using Epilogue = typename cutlass::epilogue::collective::CollectiveBuilder<cutlass::arch::Sm90, cutlass::arch::OpClassTensorOp, BlockTile, Cluster,
                                                                           cutlass::epilogue::collective::EpilogueTileAuto, float, float, float, Row, 4, float, Row, 4,
                                                                           cutlass::epilogue::collective::EpilogueScheduleAuto>::CollectiveOp;
using Mainloop =
    typename cutlass::gemm::collective::CollectiveBuilder<cutlass::arch::Sm90, cutlass::arch::OpClassTensorOp, Brain, Row, 8, Brain, Column, 8, float, BlockTile, Cluster,
                                                          cutlass::gemm::collective::StageCountAutoCarveout<static_cast<int>(sizeof(typename Epilogue::SharedStorage))>,
                                                          cutlass::gemm::collective::KernelScheduleAuto>::CollectiveOp;
using Kernel = cutlass::gemm::kernel::GemmUniversal<Shape<int, int, int>, Mainloop, Epilogue>;
using Gemm = cutlass::gemm::device::GemmUniversalAdapter<Kernel>;

extern "C" int cutlass_hopper(const Brain* a, const Brain* b, const float* c, float* d, int m, int n, int k) {
  const auto stride_a = cutlass::make_cute_packed_stride(typename Gemm::GemmKernel::StrideA{}, {m, k, 1});
  const auto stride_b = cutlass::make_cute_packed_stride(typename Gemm::GemmKernel::StrideB{}, {n, k, 1});
  const auto stride_c = cutlass::make_cute_packed_stride(typename Gemm::GemmKernel::StrideC{}, {m, n, 1});
  cutlass::KernelHardwareInfo hardware;
  hardware.device_id = 0;
  hardware.sm_count = 4;
  typename Gemm::Arguments arguments{cutlass::gemm::GemmUniversalMode::kGemm, {m, n, k}, {a, stride_a, b, stride_b}, {{1.5f, 0.5f}, c, stride_c, d, stride_c}, hardware};
  Gemm gemm;
  const cutlass::Status can = gemm.can_implement(arguments);
  if (can != cutlass::Status::kSuccess) return int(can);
  void* workspace = nullptr;
  const std::size_t bytes = Gemm::get_workspace_size(arguments);
  if (bytes > 0 && cudaMalloc(&workspace, bytes) != cudaSuccess) return -1;
  cutlass::Status s = gemm.initialize(arguments, workspace);
  if (s == cutlass::Status::kSuccess) s = gemm.run();
  const cudaError_t freed = workspace != nullptr ? cudaFree(workspace) : cudaSuccess;
  return s != cutlass::Status::kSuccess ? int(s) : int(freed);
}
