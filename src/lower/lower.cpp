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

double cpu_ms() {
  timespec t{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return static_cast<double>(t.tv_sec) * 1e3 + static_cast<double>(t.tv_nsec) * 1e-6;
}

// What the passes hand on: a program until `flatten`, the kernel after it.
struct State {
  ir::Program program;
  ir::Kernel kernel;
  bool flat = false, launches = false;
  std::string text() const { return flat ? ir::text(kernel) : ir::text(program); }
};

struct Pass {
  const char* name;
  void (*run)(State&, const LowerOptions&);
  enum class For { all, processors, devices, dropped } when = For::all;  // dropped: components that lack dimensions
};

constexpr Pass passes[] = {
    {"dropped", [](State& s, const LowerOptions&) { s.program = analysis::take_dropped_apart(s.program); }, Pass::For::dropped},
    {"parts", [](State& s, const LowerOptions&) { lowering::take_parts(s.program); }, Pass::For::devices},
    {"inits", [](State& s, const LowerOptions&) { s.program = lowering::materialize_inits(s.program); }},
    {"flatten",
     [](State& s, const LowerOptions& o) {
       s.kernel = lowering::flatten(std::move(s.program), o, s.launches);
       s.flat = true;
     }},
    {"launches", [](State& s, const LowerOptions& o) { lowering::make_launches(s.kernel, o); }, Pass::For::devices},
    {"pipeline", [](State& s, const LowerOptions& o) { lowering::pipeline(s.kernel, o); }, Pass::For::devices},
    {"synchronize", [](State& s, const LowerOptions&) { lowering::synchronize(s.kernel); }, Pass::For::devices},
    {"idle blocks", [](State& s, const LowerOptions&) { lowering::skip_idle_blocks(s.kernel); }, Pass::For::devices},
    {"tables", [](State& s, const LowerOptions&) { lowering::unroll_tables(s.kernel); }},
    {"interior", [](State& s, const LowerOptions& o) { lowering::specialize_interior(s.kernel, o); }},
    {"whole tiles", [](State& s, const LowerOptions&) { lowering::specialize_whole_tiles(s.kernel); }, Pass::For::devices},
    {"guards", [](State& s, const LowerOptions&) { lowering::hoist_guards(s.kernel); }},
    {"remainders", [](State& s, const LowerOptions&) { lowering::choose_remainders(s.kernel); }},
    {"strides", [](State& s, const LowerOptions&) { lowering::know_strides(s.kernel); }, Pass::For::processors},
    {"conversions", [](State& s, const LowerOptions&) { lowering::convert_once(s.kernel); }},
    {"math", [](State& s, const LowerOptions&) { lowering::expand_functions(s.kernel); }},
    {"vectorize", [](State& s, const LowerOptions&) { lowering::vectorize(s.kernel); }},
    {"unroll", [](State& s, const LowerOptions&) { lowering::unroll(s.kernel); }},
    {"constants", [](State& s, const LowerOptions&) { lowering::fold_constants(s.kernel); }},
    {"tidy", [](State& s, const LowerOptions&) { lowering::tidy(s.kernel); }},
    {"spare lanes", [](State& s, const LowerOptions&) { lowering::store_spare_lanes(s.kernel); }},
    {"registers", [](State& s, const LowerOptions& o) { lowering::check_registers(s.kernel, o); }},
    {"counters", [](State& s, const LowerOptions&) { lowering::count_remainders(s.kernel); }, Pass::For::devices},
    {"first steps", [](State& s, const LowerOptions&) { lowering::take_first_steps(s.kernel); }},
    {"merge loops",
     [](State& s, const LowerOptions& o) {
       if (!o.stages_apart) lowering::merge_loops(s.kernel);
     },
     Pass::For::processors},
    {"carry", [](State& s, const LowerOptions& o) { lowering::carry(s.kernel, o); }},
    {"scans", [](State& s, const LowerOptions& o) { lowering::scan_in_lanes(s.kernel, o); }},
    {"unread", [](State& s, const LowerOptions&) { lowering::drop_unread(s.kernel); }, Pass::For::processors},
};

ir::Kernel lower_variants(const ir::Program& program, const LowerOptions& options) {
  ir::Program general = program;
  general.variants.clear();
  std::vector<ir::Kernel> variants;
  for (const ir::Variant& v : program.variants) variants.push_back(lower(*v.program, options));
  ir::Kernel kernel = lowering::one_of(program, lower(general, options), std::move(variants));
  analysis::verify(kernel, analysis::KernelForm::finished, "variants");
  if (options.observe) options.observe("variants", ir::text(kernel));
  return kernel;
}

ir::Kernel lower_one(const ir::Program& program, const LowerOptions& options) {
  State state{program, {}, false, options.launches};
  bool& launches = state.launches;
  ir::walk(program.body, [&](const ir::Stmt& s) { launches = launches || ir::is_loop(s, ir::LoopKind::bound); });
  const bool drops = std::any_of(program.stages.begin(), program.stages.end(),
                                 [&](const auto& stage) { return analysis::drops(program, stage.second); });
  std::vector<const Pass*> all;
  for (const Pass& pass : passes) {
    if (pass.when == Pass::For::processors ? launches : pass.when == Pass::For::devices && !launches) continue;
    if (pass.when == Pass::For::dropped && !drops) continue;
    all.push_back(&pass);
  }
  for (const Pass* const one : all) {
    const Pass& pass = *one;
    const bool last = one == all.back();
    const double start = options.times ? cpu_ms() : 0;
    pass.run(state, options);
    if (last) lowering::forget_facts(state.kernel);
    if (!state.flat)
      analysis::verify(state.program, pass.name);
    else
      analysis::verify(state.kernel, last ? analysis::KernelForm::finished : analysis::KernelForm::draft, pass.name);
    if (options.times) options.times->push_back({pass.name, cpu_ms() - start});
    if (options.observe) options.observe(pass.name, state.text());
  }
  return std::move(state.kernel);
}

}  // namespace

ir::Kernel lower(const ir::Program& program, const LowerOptions& options) {
  if (!program.variants.empty()) return lower_variants(program, options);
  if (const auto both = options.async_copies ? lowering::by_alignment(program) : std::nullopt) {
    if (ir::is_int(both->condition, std::int64_t{0})) return lower_one(both->otherwise, options);
    ir::Kernel aligned = lower_one(both->aligned, options);
    if (ir::is_int(both->condition, 1)) return aligned;
    ir::Kernel kernel = lower_one(both->otherwise, options);
    kernel.alignments = both->alignments;
    kernel = lowering::either(both->condition, std::move(aligned), std::move(kernel), both->where);
    analysis::verify(kernel, analysis::KernelForm::finished, "alignment");
    if (options.observe) options.observe("alignment", ir::text(kernel));
    return kernel;
  }
  return lower_one(program, options);
}

}  // namespace ashlar
