#include <ashlar/generator/compile.h>

#include <ashlar/ir/refusal.h>
#include <ashlar/schedule/step.h>

#include "generator/pipeline.h"

namespace ashlar {

codegen::Compiled compile([[maybe_unused]] const ir::Program& program, [[maybe_unused]] const Target& target,
                          [[maybe_unused]] Where where) {
#ifdef ASHLAR_HAS_LLVM
  return codegen::compile(lower(program, generator::lower_options(target)), target);
#else
  refuse("compile", "an ashlar that was built with LLVM", "one built without it", where);
#endif
}

codegen::Compiled compile(const Schedule& s, Where where) {
  schedule::finish(s.scheduled(), s.target());
  return compile(s.scheduled().program, s.target(), where);
}

}  // namespace ashlar
