// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Kernels for beside_torch.py that pack.py compiled.
#include <cstdlib>
#include <stdexcept>

#include <ashlar/runtime/cuda.h>

#include "bench/gpu/ahead/table.h"
#include "bench/gpu/library.h"

namespace {

// "matmul" is compiled for several numbers of multiprocessors, as "matmul 132": one block runs on each, so the largest of them
// fits that the device has.
const ahead_kernel* persistent(const std::string& target) {
  int here = 0;
  ashlar_error error = {};
  if (ashlar_cuda_multiprocessors(nullptr, &here, &error) != ASHLAR_OK)
    throw std::runtime_error("the number of multiprocessors is unknown");
  const ahead_kernel* best = nullptr;
  int most = 0;
  for (const ahead_kernel* k = ahead_kernels; k->name; ++k) {
    const std::string name = k->name;
    if (name.rfind("matmul ", 0) != 0 || target != k->target) continue;
    if (const int count = std::atoi(name.c_str() + 7); count <= here && count > most) best = k, most = count;
  }
  return best;
}

const ahead_kernel* find(const std::string& name, const std::string& target) {
  if (name == "matmul") return persistent(target);
  for (const ahead_kernel* k = ahead_kernels; k->name; ++k)
    if (name == k->name && target == k->target) return k;
  return nullptr;
}

}  // namespace

const ashlar_abi1_desc& gpu_bench::kernel_of(const std::string& name, const std::string& target) {
  const ahead_kernel* k = find(name, target);
  if (!k) k = find(name, "cuda-sm_80");  // its PTX runs on every later chip
  if (!k) throw std::runtime_error("this pack has no kernel " + name + " for " + target);
  return *k->desc;
}
