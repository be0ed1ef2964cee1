// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
// From names to a generator: the registered ones, and the one that a command line asks for, constructed with its Params.
//
//   const detail::Registration& r = find_generator("matmul");      // UsageError, listing the registered ones
//   MadeGenerator g = make_generator(r.make, r.name, target, {{"edge", "128"}});   // UsageError, listing Params or values
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <ashlar/generator/generator.h>

#include "generator/frame.h"

namespace ashlar::generator {

std::vector<const detail::Registration*> registered();  // by name, whatever the order of construction
// Empty: the only one, or of several the preferred one.
const detail::Registration& find_generator(const std::string& name, const std::string& preferred = {});

struct MadeGenerator {
  std::unique_ptr<GeneratorRecord> record;  // its address is known to the generator
  std::unique_ptr<Generator> generator;
};
MadeGenerator make_generator(Generator* (*make)(), const std::string& name, const Target&,
                             const std::vector<std::pair<std::string, std::string>>& params, Where = Where::current());

}  // namespace ashlar::generator
