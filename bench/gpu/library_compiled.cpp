// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <map>

#include "bench/gpu/kernels.h"
#include "bench/gpu/library.h"

using namespace ashlar;

const ashlar_abi1_desc& gpu_bench::kernel_of(const std::string& name, const std::string& target) {
  static std::map<std::string, codegen::Compiled> known;
  auto it = known.find(name + target);
  if (it == known.end())
    it = known.emplace(name + target, codegen::compile(gpu_bench::kernel_named(name, target), Target::parse(target))).first;
  return it->second.descriptor();
}
