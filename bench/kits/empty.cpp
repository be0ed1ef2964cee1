// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Operators with the schemas of those in tests/kits that allocate their outputs and compute nothing, as one writes them with
// PyTorch's own C++ headers: what overhead.py measures against.
#include <torch/library.h>
#include <ATen/ATen.h>

namespace {

at::Tensor swish(const at::Tensor& x, double) { return at::empty(x.sizes(), x.options()); }
at::Tensor row_norm(const at::Tensor& x, const at::Tensor&) { return at::empty({x.size(0)}, x.options()); }
at::Tensor matmul_i8(const at::Tensor& a, const at::Tensor& b) {
  return at::empty({a.size(0), b.size(1)}, a.options().dtype(at::kInt));
}

}  // namespace

TORCH_LIBRARY(ashlar_empty, m) {
  m.def("swish(Tensor x, float beta) -> Tensor");
  m.def("row_norm(Tensor x, Tensor w) -> Tensor");
  m.def("matmul_i8(Tensor A, Tensor B) -> Tensor");
}
TORCH_LIBRARY_IMPL(ashlar_empty, CPU, m) {
  m.impl("swish", &swish);
  m.impl("row_norm", &row_norm);
  m.impl("matmul_i8", &matmul_i8);
}
