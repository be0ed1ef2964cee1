#include "bench/programs/compile.h"

#include <ctime>

#include <ashlar/codegen/jit.h>
#include <ashlar/lower/lower.h>
#include <ashlar/schedule/step.h>
#include <ashlar/schedules/by_default.h>

#include "bench/programs/run.h"

namespace bench::programs {
namespace {

double thread_seconds() {
  timespec t;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_nsec) / 1e9;
}

}  // namespace

CompileSeconds compile_seconds(const Entry& entry, const std::string& target) {
  lang::DefinitionScope scope;
  Program p;
  entry.build(p);
  const double start = thread_seconds();
  Schedule s(lang::build_program("program_", p.arguments), Target::parse(target));
  schedule_by_default(s, {.regroup = p.regroup});
  schedule::finish(s.scheduled(), s.target());
  const double scheduled = thread_seconds();
  const ir::Kernel kernel = lower(s.scheduled().program, options_for(s.target()));
  const double lowered = thread_seconds();
  codegen::Seconds seconds;
  codegen::compile(kernel, s.target(), &seconds);
  return {scheduled - start, lowered - scheduled, seconds.build, seconds.llvm};
}

}  // namespace bench::programs
