// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "generator/pipeline.h"

#include <fmt/format.h>
#include <time.h>

#include <ashlar/analysis/regions.h>
#include <ashlar/ir/refusal.h>
#include <ashlar/lower/lower.h>
#include <ashlar/lower/tiles.h>
#include <ashlar/schedule/step.h>
#include <ashlar/schedules/by_default.h>

#include "generator/backward.h"
#include "generator/choices/choices.h"
#include "generator/outputs.h"

namespace ashlar::generator {

double PassTimer::now_ms() {
  timespec t{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return static_cast<double>(t.tv_sec) * 1e3 + static_cast<double>(t.tv_nsec) * 1e-6;
}

PassTimer::PassTimer(std::vector<PassTime>* times, std::string pass)
    : times_(times), pass_(std::move(pass)), begin_(now_ms()) {}
PassTimer::~PassTimer() {
  if (times_) times_->push_back({std::move(pass_), now_ms() - begin_});
}

namespace {
// The lines of a refusal would be lines of this file; the user's is the saved schedule. What the steps make has no line.
void replay(Schedule& s, const PipelineOptions& options) {
  try {
    s.replay(options.replay, Where{});
  } catch (const RefusalError& e) {
    const Refusal& r = e.refusal;
    std::string text = fmt::format("{} {}: {}: expected {}, found {}", options.replay_option, options.replay_file, r.primitive,
                                   r.expected, r.found);
    if (!r.conflict.empty()) text += "\n  conflict: " + r.conflict;
    throw FileError(std::move(text));
  }
}
}  // namespace

namespace {
// The header's structs and comments speak of Symbols by name.
void require_names(const ir::Program& p) {
  for (const auto& [id, s] : p.symbols)
    for (const auto& [earlier, before] : p.symbols) {
      if (earlier == id) break;
      if (before.name == s.name)
        refuse(fmt::format("Symbol \"{}\"", s.name),
               "a name of its own; where both are the same extent, one Symbol in both shapes",
               fmt::format("another Symbol of that name at {}", location(before.where)), s.where);
    }
}
}  // namespace

// Makes the steps; everything up to here is in `c`.
static void make_schedule(Compilation& c, const PipelineOptions& options) {
  if (!options.replay.empty())
    replay(*c.schedule, options);
  else if (options.backward)
    schedule_by_default(*c.schedule);
  else
    c.made.generator->schedule(*c.schedule);
  c.schedule->observe(nullptr, nullptr);
  require_made(*c.schedule, options.decisions);
  schedule::finish(c.schedule->scheduled(), c.made.record->target);
}

// Runs algorithm(), into `c`.
static lang::Built define(Compilation& c, const PipelineOptions& options) {
  const PassTimer timer(options.times, "algorithm");
  c.made.generator->algorithm();
  std::vector<lang::ArgumentRef> arguments = c.made.record->arguments;
  if (options.backward) {
    BackwardArguments backward = backward_arguments(arguments, Where{});
    arguments = std::move(backward.arguments), c.kept = backward.kept, c.weights = backward.weights;
  }
  lang::Built built = lang::build_program(options.function, arguments);
  c.algorithm = built.program;
  require_names(c.algorithm);
  return built;
}

ir::Program algorithm_of(MadeGenerator made, const PipelineOptions& options) {
  Compilation c;
  c.made = std::move(made);
  define(c, options);
  return std::move(c.algorithm);
}

Compilation run_pipeline(MadeGenerator made, const PipelineOptions& options) {
  Compilation c;
  c.made = std::move(made);
  const Target& target = c.made.record->target;
  lang::Built built = define(c, options);
  PassTimer timer(options.times, "schedule");
  c.schedule.emplace(std::move(built), target);
  if (options.observe) {
    c.schedule->observe(
        [](void* options_, const std::string& step, const std::string& program) {
          static_cast<const PipelineOptions*>(options_)->observe(step, program);
        },
        const_cast<PipelineOptions*>(&options));
  }
  c.schedule->decide(options.decisions);
  if (options.seed) c.schedule->draw_choices(*options.seed);
  try {
    make_schedule(c, options);
  } catch (const RefusalError& e) {
    c.schedule->observe(nullptr, nullptr);
    if (options.refused) options.refused(c, e.refusal);
    throw;
  }
  return c;
}

void lower_kernel(Compilation& c, const PipelineOptions& options) {
  if (c.made.record->target.has_tiles()) {
    const PassTimer timer(options.times, "lower to tiles");
    c.kernel = lower_tiles(c.schedule->scheduled().program, {.chip = c.made.record->target.device().chip});
    return;
  }
  LowerOptions lowering = options_for(c.made.record->target);
  lowering.stages_apart = options.profile;
  std::vector<PassTime> passes;
  if (options.times) lowering.times = &passes;
  c.kernel = lower(c.schedule->scheduled().program, lowering);
  if (options.times)
    for (PassTime& p : passes) options.times->push_back({"lower: " + p.pass, p.cpu_ms});
}

}  // namespace ashlar::generator
