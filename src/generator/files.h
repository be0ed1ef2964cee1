// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
// The files of a run, from what each target contributes to them.
#include <string>
#include <vector>

#include <ashlar/ir/kernel.h>
#include <ashlar/ir/refusal.h>
#include <ashlar/lower/lower.h>
#include <ashlar/target/target.h>

#include "generator/header.h"
#include "generator/kits/interface.h"
#include "generator/outputs.h"
#include "generator/target_params.h"

namespace ashlar::generator {

// What one target contributes. Kernels outlive the generator that described them.
struct Part {
  Target target;
  std::string program, schedule, schedule_cpp, choices, explanation, page;
};

struct Parts {
  std::vector<Part> parts;
  std::vector<ir::Kernel> kernels;  // in the same order
  std::vector<Params> params;       // every Param with its value, so too
  HeaderFacts facts;
  KitFacts kit;
};

// Makes them all; nothing is written before FileSet::commit. `times`, if any, gets those of code.
FileSet make_files(const Parts&, const std::vector<Output>&, bool line_tables, bool profile, std::vector<PassTime>* times,
                   Where);

}  // namespace ashlar::generator
