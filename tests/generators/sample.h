#pragma once
// What takes LLVM some seconds for all operators is done for a sample of them, one of `of`; ASHLAR_ALL_OPS=1 does it for all.
#include <cstdlib>
#include <string>
#include <vector>

#include "tests/generators/op_run.h"

namespace op_tests {

inline bool sampled(std::size_t k, std::size_t of) { return k % of == 0 || std::getenv("ASHLAR_ALL_OPS"); }

inline std::vector<std::string> sampled_ops(std::size_t of, std::size_t first = 0) {
  const std::vector<std::string> all = op_names();
  std::vector<std::string> some;
  for (std::size_t k = 0; k < all.size(); ++k)
    if (sampled(k + of - first, of)) some.push_back(all[k]);
  return some;
}

}  // namespace op_tests
