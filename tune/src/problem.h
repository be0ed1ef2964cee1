// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
// The arguments of one call: tensors of the sizes that are tuned for, filled with random data, and the results that every
// candidate must give.
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include <ashlar/ir/type.h>
#include <ashlar/runtime/desc.h>

namespace ashlar::tune {

struct Range {
  double low = 0, high = 0;
};

struct ProblemOptions {
  std::map<std::string, std::int64_t> sizes;  // of each Symbol
  // Of the data of inputs and scalars. By default floats lie in [-1, 1), signed integers in [-8, 7], unsigned ones in [0, 15].
  std::map<std::string, Range> ranges;
  std::uint64_t seed = 1;
  // Results of floats may differ by this much of the largest magnitude in the output; by default 1e-12 for f64, 1e-4 for f32
  // and 3e-2 for narrower types. Integers must be equal.
  std::map<std::string, double> tolerances;
};

class Problem {
 public:
  // std::runtime_error: a Symbol without a size, a size or range of something that there is not, sizes that break a fact, types
  // of less than a byte, a kernel for a device.
  Problem(const ashlar_abi1_desc&, const ProblemOptions&);
  Problem(const Problem&) = delete;
  Problem& operator=(const Problem&) = delete;
  ~Problem();

  // Calls the kernel of a descriptor that has the same arguments; returns what the kernel returns.
  int call(const ashlar_abi1_desc&) const;
  void clear_outputs() const;   // to bytes that no result has by chance
  void protect_inputs() const;  // a kernel that writes one crashes from here on
  // Keeps the outputs as the results to compare with. They are shared by all processes that this one forks.
  void keep_results() const;
  // Empty, or the first element that differs: "C[3] is 1.25, expected 1.5".
  std::string difference() const;
  // Empty, or why a kernel cannot be called with these arguments.
  std::string mismatch(const ashlar_abi1_desc&) const;

 private:
  struct Tensor {
    std::string name;
    Type type;
    bool output = false;
    std::int64_t elements = 1;
    std::vector<std::int64_t> shape;
    std::byte* data = nullptr;      // mapped, private to each process
    std::byte* expected = nullptr;  // of outputs: mapped, shared
    std::size_t bytes = 0;
    double tolerance = 0;
    ashlar_tensor handle = {};
  };
  void fill(Tensor&, std::uint64_t seed, const Range&) const;
  std::vector<Tensor> tensors_;
  std::vector<std::vector<std::byte>> scalars_;
  std::vector<const void*> arguments_;
  std::vector<std::string> signature_;
};

}  // namespace ashlar::tune
