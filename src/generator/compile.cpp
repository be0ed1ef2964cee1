// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <ashlar/generator/compile.h>

#include <ashlar/analysis/regions.h>
#include <ashlar/ir/refusal.h>
#include <ashlar/schedule/step.h>

#ifdef ASHLAR_HAS_LLVM
#include <ashlar/codegen/cache.h>
#endif

#include "generator/pipeline.h"

namespace ashlar {

codegen::Compiled compile([[maybe_unused]] const ir::Program& program, [[maybe_unused]] const Target& target,
                          [[maybe_unused]] Where where) {
#ifdef ASHLAR_HAS_LLVM
  ir::Program boxed = program;
  if (!analysis::regions_are_known(boxed)) analysis::derive_regions(boxed);  // as the language built it
  return codegen::compile_cached(lower(boxed, options_for(target)), target);
#else
  refuse("compile", "an ashlar that was built with LLVM", "one built without it", where);
#endif
}

codegen::Compiled compile(const Schedule& s, Where where) {
  schedule::finish(s.scheduled(), s.target());
  return compile(s.scheduled().program, s.target(), where);
}

}  // namespace ashlar
