#pragma once
// A program's arrays, filled, and its kernel called on them.
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <memory>
#include <vector>

#include <ashlar/generator/compile.h>
#include <ashlar/lang/build_program.h>

#include "bench/programs/plain.h"
#include "bench/programs/program.h"
#include "bench/workspace.h"

namespace bench::programs {

// A dense array on a boundary of pages.
struct Memory {
  const Program::Array* array;
  std::unique_ptr<std::byte, decltype(&std::free)> data{nullptr, &std::free};
  std::size_t elements = 1, bytes = 0;

  explicit Memory(const Program::Array&);
  void fill(std::uint64_t seed);
  ashlar_tensor described() const;
  double value(std::size_t) const;
};

// A program that was built, with its arguments in memory. It must be built within a DefinitionScope that outlives it.
class Arrays {
 public:
  explicit Arrays(const Program&);
  Arrays(const Arrays&) = delete;
  Arrays& operator=(const Arrays&) = delete;

  std::vector<Memory> inputs, outputs;
  plain::Arguments plain() const { return {given_.data(), taken_.data(), sizes_}; }
  std::function<void()> call(const codegen::Compiled&);  // throws KernelError where it fails

 private:
  std::vector<ashlar_tensor> tensors_;
  std::vector<const void*> pointers_, given_;
  std::vector<void*> taken_;
  const std::int64_t* sizes_;
  Workspace workspace_;
};

}  // namespace bench::programs
