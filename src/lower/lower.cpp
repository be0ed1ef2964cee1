// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <ashlar/lower/lower.h>

#include <algorithm>
#include <ctime>
#include <iterator>

#include <ashlar/analysis/dropped.h>
#include "lower/inits.h"
#include <ashlar/analysis/verify.h>
#include <ashlar/ir/print.h>

#include "lower/passes.h"

namespace ashlar {
namespace {

using lower_impl::Draft;

double cpu_ms() {
  timespec t{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return static_cast<double>(t.tv_sec) * 1e3 + static_cast<double>(t.tv_nsec) * 1e-6;
}

// What the passes hand on: a program until `flatten`, a draft of the kernel after it.
struct State {
  ir::Program program;
  Draft draft;
  bool flat = false;
  std::string text() const { return flat ? ir::text(draft.kernel) : ir::text(program); }
};

struct Pass {
  const char* name;
  void (*run)(State&, const LowerOptions&);
  enum class For { all, processors, devices, dropped } when = For::all;  // dropped: components that lack dimensions
};

constexpr Pass passes[] = {
    {"dropped", [](State& s, const LowerOptions&) { s.program = analysis::take_dropped_apart(s.program); }, Pass::For::dropped},
    {"parts", [](State& s, const LowerOptions&) { lower_impl::take_parts(s.program); }, Pass::For::devices},
    {"inits", [](State& s, const LowerOptions&) { s.program = analysis::materialise_inits(s.program); }},
    {"flatten",
     [](State& s, const LowerOptions& o) {
       s.draft = lower_impl::flatten(std::move(s.program), o);
       s.flat = true;
     }},
    {"launches", [](State& s, const LowerOptions& o) { lower_impl::make_launches(s.draft, o); }, Pass::For::devices},
    {"pipeline", [](State& s, const LowerOptions& o) { lower_impl::pipeline(s.draft, o); }, Pass::For::devices},
    {"synchronise", [](State& s, const LowerOptions&) { lower_impl::synchronise(s.draft); }, Pass::For::devices},
    {"tables", [](State& s, const LowerOptions&) { lower_impl::unroll_tables(s.draft); }},
    {"interior", [](State& s, const LowerOptions& o) { lower_impl::specialise_interior(s.draft, o); }},
    {"guards", [](State& s, const LowerOptions&) { lower_impl::hoist_guards(s.draft); }},
    {"remainders", [](State& s, const LowerOptions&) { lower_impl::choose_remainders(s.draft); }},
    {"strides", [](State& s, const LowerOptions&) { lower_impl::know_strides(s.draft); }, Pass::For::processors},
    {"conversions", [](State& s, const LowerOptions&) { lower_impl::convert_once(s.draft); }},
    {"math", [](State& s, const LowerOptions&) { lower_impl::expand_functions(s.draft); }},
    {"vectorize", [](State& s, const LowerOptions&) { lower_impl::vectorize(s.draft); }},
    {"unroll", [](State& s, const LowerOptions&) { lower_impl::unroll(s.draft); }},
    {"constants", [](State& s, const LowerOptions&) { lower_impl::fold_constants(s.draft); }},
    {"tidy", [](State& s, const LowerOptions&) { lower_impl::tidy(s.draft); }},
    {"spare lanes", [](State& s, const LowerOptions&) { lower_impl::store_spare_lanes(s.draft); }},
    {"registers", [](State& s, const LowerOptions& o) { lower_impl::check_registers(s.draft, o); }},
    {"first steps", [](State& s, const LowerOptions&) { lower_impl::take_first_steps(s.draft); }},
    {"carry", [](State& s, const LowerOptions& o) { lower_impl::carry(s.draft, o); }},
    {"scans", [](State& s, const LowerOptions& o) { lower_impl::scan_in_lanes(s.draft, o); }},
    {"unread", [](State& s, const LowerOptions&) { lower_impl::drop_unread(s.draft); }, Pass::For::processors},
};

ir::Kernel lower_variants(const ir::Program& program, const LowerOptions& options) {
  ir::Program general = program;
  general.variants.clear();
  std::vector<ir::Kernel> variants;
  for (const ir::Variant& v : program.variants) variants.push_back(lower(*v.program, options));
  ir::Kernel kernel = lower_impl::one_of(program, lower(general, options), std::move(variants));
  analysis::verify(kernel, analysis::KernelForm::finished, "variants");
  if (options.observe) options.observe("variants", ir::text(kernel));
  return kernel;
}

}  // namespace

ir::Kernel lower(const ir::Program& program, const LowerOptions& options) {
  if (!program.variants.empty()) return lower_variants(program, options);
  State state{program, {}, false};
  bool launches = options.launches;
  ir::walk(program.body, [&](const ir::Stmt& s) { launches = launches || (ir::is_loop(s, ir::LoopKind::bound)); });
  const bool drops = std::any_of(program.stages.begin(), program.stages.end(),
                                 [&](const auto& stage) { return analysis::drops(program, stage.second); });
  for (const Pass& pass : passes) {
    if (pass.when == Pass::For::processors ? launches : pass.when == Pass::For::devices && !launches) continue;
    if (pass.when == Pass::For::dropped && !drops) continue;
    const double start = options.times ? cpu_ms() : 0;
    pass.run(state, options);
    if (!state.flat)
      analysis::verify(state.program, pass.name);
    else
      analysis::verify(state.draft.kernel,
                       &pass == std::end(passes) - 1 ? analysis::KernelForm::finished : analysis::KernelForm::draft, pass.name);
    if (options.times) options.times->push_back({pass.name, cpu_ms() - start});
    if (options.observe) options.observe(pass.name, state.text());
  }
  return std::move(state.draft.kernel);
}

}  // namespace ashlar
