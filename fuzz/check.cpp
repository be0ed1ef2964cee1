#include "check.h"

#include <algorithm>
#include <functional>

#include <ashlar/analysis/regions.h>
#include <ashlar/codegen/jit.h>
#include <ashlar/ir/print.h>
#include <ashlar/report/explain.h>
#include <ashlar/lower/lower.h>
#include <ashlar/schedule/cpp_text.h>
#include <ashlar/schedule/schedule.h>

#include "arguments.h"
#include "forced.h"
#include "forms.h"
#include "fragments.h"
#include "launch_steps.h"
#include "library.h"
#include "measures.h"
#include "program.h"
#include "rounding.h"
#include "steps.h"
#include "tiles.h"
#include "windows.h"

namespace fuzz {
namespace {

using namespace ashlar;
using ir::Stmt;

class Checker {
 public:
  Checker(Source program, std::function<std::optional<Source>()> next_step, Source data, const Setup& setup)
      : program_(std::move(program)), next_step_(std::move(next_step)), data_(std::move(data)), setup_(setup) {}

  Report run() {
    lang::DefinitionScope scope;
    std::optional<Made> made;
    stage_ = "building the program";
    try {
      guard([&] {
        try {
          made = setup_.windows                         ? make_chain_of_windows(program_)
                 : setup_.library && program_.one_in(3) ? make_library_program(program_)
                                                        : make_program(program_, kind_for(setup_));
          schedule_.emplace(made->built, Target());
        } catch (const RefusalError& e) {
          count([&](Statistics& s) {
            ++s.refused_programs, ++s.programs_refused[without_numbers(e.refusal.primitive + ": expected " +
                                                                       e.refusal.expected + ", found " + e.refusal.found)];
          });
          made.reset();
        }
      });
      if (!made) return std::move(report_);
      report_.program = made->text;
      if (setup_.force) runs_.emplace(schedule_->scheduled().program, Values{made->exact, made->edges});
      if (!setup_.targets.empty() && setup_.targets.front().has_tiles()) {
        guard([&] {
          const auto failure = check_tiles({*made, *schedule_, data_, setup_, report_, stage_});
          if (failure) fail(failure->kind, failure->text);
        });
      } else {
        guard([&] { steps(*made); });
        guard([&] { compare_all(*made); });
      }
    } catch (const Stop&) {}
    count([](Statistics& s) { ++s.cases; });
    return std::move(report_);
  }

  Choices program_choices() { return program_.drawn; }
  Choices data_choices() { return data_.drawn; }

 private:
  struct Stop {};
  struct Ready {
    std::string name;
    ir::Kernel kernel;
    std::optional<codegen::Compiled> code;
    std::optional<in_c::Compiled> c;
    bool is_compiled() const { return code || c; }
    int call(std::span<const void* const> arguments) const { return c ? c->call(arguments) : code->call(arguments); }
  };

  template <class F>
  void count(F&& f) {
    if (setup_.statistics) f(*setup_.statistics);
  }
  [[noreturn]] void fail(const std::string& kind, const std::string& text) {
    report_.failure = Failure{kind, text};
    if (kernel_) report_.scheduled += ir::text(*kernel_);
    throw Stop{};
  }
  // Everything but a Stop that comes out of `f` is a fault.
  template <class F>
  void guard(F&& f) {
    try {
      f();
    } catch (const Stop&) { throw; } catch (const interp::RunError& e) {
      fail("run error: " + stage_, e.what());
    } catch (const RefusalError& e) { fail("refused: " + stage_, e.what()); } catch (const std::exception& e) {
      fail("exception: " + stage_, e.what());
    }
  }

  void steps(const Made& made) {
    state_ = schedule_->scheduled();
    elsewhere_ = !setup_.elsewhere.empty() && (setup_.targets.empty() || data_.one_in(10));
    const std::vector<Target>& targets = elsewhere_ ? setup_.elsewhere : setup_.targets;
    const Target target = targets.empty() ? Target() : targets[data_.pick(static_cast<std::uint32_t>(targets.size()))];
    if (elsewhere_ || setup_.by_default) targets_ = {target};  // a schedule by default may use what this one has alone
    if (made.product && target.is_gpu() && data_.pick(4) > 0)
      for (const schedule::Step& step : fragment_steps(data_, made, target))
        if (!apply(step, target)) break;
    if (!made.chain.empty() && !setup_.by_default && data_.pick(8) > 0)
      for (const schedule::Step& step : sliding_steps(data_, made, target))
        if (!apply(step, target)) break;
    if (setup_.by_default) {
      stage_ = "by default";
      Schedule s(made.built, target);
      setup_.by_default(s, made.exact, data_);
      for (const schedule::Step& step : s.scheduled().trace) {
        reassociated_ |= step.primitive == "rfactor" || step.primitive == "reorder";
        count([&](Statistics& n) { ++n.steps[step.primitive].applied; });
      }
      state_ = s.scheduled();
    }
    while (auto source = setup_.by_default ? std::nullopt : next_step_()) {
      const bool launch = target.is_gpu() && source->one_in(2);
      const bool varies = !target.is_gpu() && state_.variants.size() < 3 && source->one_in(12);
      const std::size_t in = state_.variants.empty() ? 0 : source->pick(static_cast<std::uint32_t>(state_.variants.size() + 1));
      const ir::Program& p = schedule::variant(state_, in).program;
      auto drawn = varies ? draw_variant(*source, p) : draw_step(*source, p, target, launch);
      on_step_(source->drawn);
      report_.applied.push_back(false);
      if (drawn) {
        drawn->step.variant = in;
        for (schedule::Step& next : drawn->then) next.variant = in;
      }
      if (!drawn || (drawn->reassociates && !made.exact)) continue;
      reassociates_ = drawn->reassociates;
      bool all = apply(drawn->step, target);
      report_.applied.back() = all;
      for (const schedule::Step& next : drawn->then) all = all && apply(next, target);
    }
    stage_ = "finish";
    if (target.is_gpu()) finish_launches(target, made.exact);
    try {
      schedule::finish(state_, target);
    } catch (const RefusalError& first) {  // a buffer outgrew its scope in a later step, or a block has no place for it
      if (target.is_gpu()) refused_at_the_end("finish, first: expected ", first);
      finish_in_global(target);
    }
    report_.trace = trace();
    report_.json = schedule::json(state_.trace);
    report_.scheduled = ir::text(state_.program);
    as_calls(target);
    if (!target.is_gpu()) figures(target);
    if (data_.one_in(4)) {
      stage_ = "replay";
      schedule::Scheduled again = schedule_->scheduled();
      for (schedule::Step& step : schedule::steps_from_json(report_.json)) schedule::apply(again, std::move(step), target);
      if (schedule::json(again.trace) != report_.json) fail("replayed steps differ", schedule::json(again.trace));
    }
  }

  // Whatever was drawn has a text as C++, with every step in it (tests/traces compiles some).
  void as_calls(const Target& target) {
    stage_ = "the trace as C++";
    const schedule::CppText text = schedule::cpp_text(schedule_->scheduled().program, state_.trace, target, "schedule");
    if (text.statements.size() != state_.trace.size() || text.keys.size() != state_.trace.size())
      fail("steps without a statement", text.text);
    for (std::size_t k = 0; k < text.statements.size(); ++k) {
      const std::string& statement = text.statements[k];
      const bool with_the_last = statement.empty() && k > 0 && !text.statements[k - 1].empty();
      if (!with_the_last && (statement.empty() || text.text.find("  " + statement + "\n") == std::string::npos))
        fail("a step without a statement: " + state_.trace[k].primitive, text.text);
      const bool replayed = statement.rfind("s.replay(", 0) == 0;
      count([&](Statistics& s) { ++s.statements, s.replayed += replayed; });
    }
  }

  // Whatever was drawn is explained.
  void figures(const Target& target) {
    stage_ = "the figures of its stages";
    ExplainSizes sizes;
    for (const auto& [id, s] : state_.program.symbols)
      sizes.emplace_back(s.name, std::clamp<std::int64_t>(13 / s.multiple_of * s.multiple_of, s.min, s.max));
    const std::string text = explain_stages(state_.program, target, sizes);
    for (const char* wrong : {"nan", "inf ", "-"})
      if (text.find(std::string(" ") + wrong) != std::string::npos) fail("figures that are none", text);
  }

  // Applies a step where it is legal; false where it is refused, or would make the program too large.
  bool apply(const schedule::Step& step, const Target& target) {
    const std::string name = step.primitive;
    if (name == "inline" && size_of(state_.program) > 1500) return false;
    stage_ = "apply " + name;
    const std::string before = ir::text(state_.program);
    schedule::Scheduled next = state_;
    try {
      schedule::apply(next, step, target);
      if (name == "set_scope" && !target.is_gpu()) schedule::finish(next, target);  // launches are finished at the end
    } catch (const RefusalError& e) {
      count([&](Statistics& s) {
        ++s.steps[name].refused;
        auto& [n, example] = s.refusals[without_numbers(name + ": expected " + e.refusal.expected)];
        if (!n++) example = e.what();
      });
      if (ir::text(next.program) != before && name != "set_scope")
        fail("changed by a refusal: " + name, ir::text(next.program));
      const bool promised = !state_.program.assumptions.empty() || !promises_of_inputs(state_.program).empty();
      if (setup_.force && !promised) judge(step, target, e);
      return false;
    } catch (const std::exception& e) {
      report_.trace = schedule::Scheduled(state_).trace.empty() ? "" : trace();
      report_.json = schedule::json(state_.trace);
      report_.scheduled = before;
      fail("exception: apply " + name, std::string(e.what()) + "\n  in " + schedule::json({step}));
    }
    if (copies_of_code(next.program) > 128 || size_of(next.program) > 4000) return false;
    ir::Program anew = next.program;
    analysis::derive_regions(anew);
    if (ir::text(anew) != ir::text(next.program)) fail("boxes that " + name + " should have derived anew", ir::text(anew));
    count([&](Statistics& s) { ++s.steps[name].applied; });
    if (name == "split" && step.args.size() > 4) forms_.insert("scalable lanes");
    reassociated_ |= reassociates_ || name == "rfactor";
    state_ = std::move(next);
    return true;
  }

  // Functions of this process are not in the program that calls a kernel elsewhere, and scalar arguments are not passed to it.
  bool can_emulate(const Made& made) const {
    const auto& arguments = state_.program.arguments;
    return !has_step("tensorize") && !made.forms.count("C function") && !made.forms.count("stage of a C function") &&
           arguments.size() <= 24 && std::all_of(arguments.begin(), arguments.end(), [](const ir::Argument& a) {
             return a.kind != ir::ArgumentKind::scalar;
           });
  }

  // Is the refusal right? A schedule whose parts must fit its target is refused for that alone.
  void judge(const schedule::Step& step, const Target& target, const RefusalError& refused) {
    stage_ = "forcing " + step.primitive;
    const Finding f = force(*runs_, state_, step, target, reassociated_ || reassociates_);
    count([&](Statistics& s) {
      const bool impossible = f.kind == Finding::Kind::impossible;
      Statistics::Judged& n = s.judged[{step.primitive, f.owed.empty() ? "none" : f.owed}];
      std::int64_t* const counts[] = {&n.confirmed, &n.unconfirmed, &n.moot, &n.impossible};
      ++*counts[static_cast<int>(f.kind)];
      if (f.kind == Finding::Kind::confirmed || f.kind == Finding::Kind::moot) return;
      std::string sentence = step.primitive + ": expected " + refused.refusal.expected;
      if (impossible && !f.owed.empty()) sentence += "; forced: " + f.why;
      auto& [times, example] = (impossible ? s.impossible : s.unconfirmed)[without_numbers(sentence)];
      if (!times++) example = "seed " + std::to_string(seed_) + ": " + refused.what();
    });
  }

  // Binds what the drawn steps have left unbound.
  void finish_launches(const Target& target, bool may_regroup) {
    for (std::size_t attempt = 0;;) {
      const std::vector<schedule::Step> steps = bind_next(state_.program, attempt, may_regroup);
      if (steps.empty()) return;
      schedule::Scheduled next = state_;
      try {
        for (const schedule::Step& step : steps) schedule::apply(next, step, target);
      } catch (const RefusalError&) {
        ++attempt;
        continue;
      }
      reassociated_ |= steps.front().primitive == "cross_thread_reduce";
      state_ = std::move(next);
      attempt = 0;
    }
  }
  // By steps for a device: what each thread had for itself all of them share then, which may be a race.
  void finish_in_global(const Target& target) {
    if (!target.is_gpu()) {
      to_global(state_);
      return schedule::finish(state_, target);
    }
    try {
      for (const schedule::Step& step : store_in_global(state_.program)) schedule::apply(state_, step, target);
      schedule::finish(state_, target);
    } catch (const RefusalError& e) { unfinished(e); }
  }
  // What a launch needs as a whole is known when the schedule is complete: such a case ends here.
  [[noreturn]] void unfinished(const RefusalError& e) {
    count([&](Statistics& s) { ++s.unfinished; });
    refused_at_the_end("finish: expected ", e);
    throw Stop{};
  }
  void refused_at_the_end(const char* what, const RefusalError& e) {
    count([&](Statistics& s) {
      auto& [n, example] = s.refusals[without_numbers(what + e.refusal.expected)];
      if (!n++) example = e.what();
    });
  }

  std::string trace() const {
    std::string t;
    for (const schedule::Step& s : state_.trace) t += "  " + schedule::text(s) + "\n";
    return t;
  }

  void compare_all(const Made& made) {
    std::vector<Ready>& ready = ready_;
    const ir::Program& algorithm = schedule_->scheduled().program;
    for (const Target& target : targets_) {
      Ready r;
      r.name = std::string(target.text());
      stage_ = "lowering for " + r.name;
      const LowerOptions options = options_for(target);
      try {
        r.kernel = lower(state_.program, options);
      } catch (const RefusalError& e) {
        // registers of this target, and what its asynchronous copies can do, are known when a kernel is made
        if (target.is_gpu() && (e.refusal.primitive == "store_in" || e.refusal.primitive == "pipeline")) unfinished(e);
        if (target.is_gpu()) throw;
        const bool placed = places(state_.program);
        if (!placed) throw;
        to_global(state_);  // registers that do not fit this target
        r.kernel = lower(state_.program, options);
      }
      count([&](Statistics& s) {
        ++s.kernels;
        s.barriers += syncs(r.kernel.body, ir::Sync::Kind::block);
        s.warp_barriers += syncs(r.kernel.body, ir::Sync::Kind::warp);
      });
      ready.push_back(std::move(r));
    }
    if (elsewhere_ && setup_.compile && data_.one_in(2)) {
      stage_ = "an object for " + ready[0].name;
      codegen::emit(ready[0].kernel, targets_[0], codegen::Output::object, nullptr, {.line_tables = true});
      count([](Statistics& s) { ++s.emitted; });
    } else if (setup_.compile && !elsewhere_ && !ready.empty()) {
      // one or two targets a case: LLVM takes longer than all the rest
      const std::size_t first = data_.pick(static_cast<std::uint32_t>(ready.size()));
      for (std::size_t k = 0; k < ready.size(); ++k) {
        if (k != first && !data_.one_in(4)) continue;
        if (size_of(ready[k].kernel.body) > 30000) {
          count([](Statistics& s) { ++s.too_large; });
          continue;
        }
        if (setup_.loose_zeros && divides_floats(state_.program)) {
          count([](Statistics& s) { ++s.dividing; });
          continue;
        }
        if (ready[k].kernel.body.empty() && targets_[k].is_gpu()) continue;  // no launch, which is refused
        stage_ = "compiling for " + ready[k].name;
        if (!setup_.c.empty()) {
          if (has_step("tensorize")) continue;  // descriptions have a text for LLVM alone
          const in_c::Compiler& cc = setup_.c[data_.pick(static_cast<std::uint32_t>(setup_.c.size()))];
          stage_ += " through " + cc.name;
          ready[k].c = in_c::compile(ready[k].kernel, targets_[k], cc);
          count([](Statistics& s) { ++s.compiled; });
          continue;
        }
        try {
          // every third kernel for a device, whatever was drawn before, as calls of large tensors take it
          const bool wide = targets_[k].is_gpu() && ready[k].kernel.next_id % 3 == 0;
          ready[k].code = codegen::load(
              codegen::emit(ready[k].kernel, targets_[k], codegen::Output::object, nullptr, {.wide_indices = wide}),
              ready[k].kernel, targets_[k]);
        } catch (const RefusalError& e) {  // x86-64-v2 has no fused multiply-add, and says so
          if (targets_[k].has("fma") || e.refusal.expected.find("feature fma") == std::string::npos) throw;
          count([](Statistics& s) { ++s.without_fma; });
          continue;
        }
        count([](Statistics& s) { ++s.compiled; });
      }
    }
    Promises promises{ready.empty() ? std::vector<Expr>{} : ready[0].kernel.assumptions, promises_of_inputs(state_.program)};
    const int shapes = algorithm.symbols.empty() ? 1 : 3;
    const Values values{made.exact, made.edges && !setup_.loose_zeros};
    for (int n = 0; n < shapes; ++n) {
      std::string shape;
      stage_ = "arguments";
      const Shapes sizes = draw_sizes(data_, algorithm, promises);
      if (sizes.broken && n == 0) break_promise(*sizes.broken, values);
      const auto drawn = sizes.kept ? draw_arguments(data_, algorithm, values, *sizes.kept, shape, promises) : std::nullopt;
      if (!drawn) {
        count([](Statistics& s) { ++s.without_arguments; });
        continue;
      }
      const interp::Arguments& start = *drawn;
      count([](Statistics& s) { ++s.runs; });
      interp::Arguments expected = start;
      stage_ = "the algorithm";
      try {
        interp::run_algorithm(algorithm, expected);
      } catch (const interp::RunError& e) { fail("run error: the algorithm", std::string(e.what()) + "\n  where " + shape); }
      const auto same = [&](const std::string& what, const std::function<void(interp::Arguments&)>& run) {
        stage_ = what;
        interp::Arguments found = start;
        try {
          run(found);
        } catch (const interp::RunError& e) { fail("run error: " + what, std::string(e.what()) + "\n  where " + shape); }
        const bool on_device = setup_.device && what.rfind("compiled", 0) == 0;
        const bool rounds = on_device && setup_.device.cuda && made.product && sums_on_tensor_cores(made, state_.trace);
        const std::string d = rounds ? beyond_rounding(*made.product, start, found, expected)
                                     : compare(algorithm, found, expected, reassociated_, on_device && setup_.loose_zeros);
        if (!d.empty()) fail("wrong value: " + what, d + "\n  where " + shape);
        kernel_ = nullptr;
      };
      interp::Options order;
      order.parallel_order = n == 0   ? interp::Options::Order::forward
                             : n == 1 ? interp::Options::Order::reverse
                                      : interp::Options::Order::shuffled;
      order.seed = 7, order.races = n != 1, order.layouts = true, order.max_blocks = 1000000;
      order.vscale = n == 0 ? 1 : n == 1 ? 4 : 2;
      same("the tree before any step", [&](interp::Arguments& a) { interp::run(algorithm, a); });
      bool too_long = false;  // nests computed again in every iteration around them
      const auto run_tree = [&](const char* what, const interp::Options& options) {
        same(what, [&](interp::Arguments& a) {
          try {
            interp::run(state_.program, a, options);
          } catch (const interp::RunError& e) {
            if (e.kind != interp::RunError::Kind::limit) throw;
            too_long = true;
            a = expected;
          }
        });
      };
      run_tree("the scheduled tree", order);
      if (!too_long && has_step("tensorize")) {
        interp::Options loops = order;
        loops.intrinsics = interp::Options::Intrinsics::erased;
        run_tree("the loops that intrinsics stand for", loops);
      }
      if (too_long) {
        count([](Statistics& s) { ++s.too_long; });
        break;
      }
      for (std::size_t k = 0; k < ready.size(); ++k) {
        kernel_ = &ready[k].kernel;
        if (k == 0 || ready[k].is_compiled() || data_.one_in(3))
          same("the kernel for " + ready[k].name, [&](interp::Arguments& a) { interp::run(ready[k].kernel, a, order); });
        if (elsewhere_ && setup_.emulate && n == 0 && can_emulate(made))
          same("emulated " + ready[k].name, [&](interp::Arguments& a) {
            Guarded guarded(state_.program, a, *sizes.kept);
            std::vector<emulated::Tensor> tensors = guarded.tensors();
            try {
              emulated::run(ready[k].kernel, targets_[k], tensors);
            } catch (const RefusalError& e) {
              if (e.refusal.expected.find("feature fma") == std::string::npos) throw;
              count([](Statistics& s) { ++s.without_fma; });
              throw Stop{};
            }
            count([](Statistics& s) { ++s.emulated; });
            guarded.put(tensors);
            const std::string outside = guarded.take(a);
            if (!outside.empty()) fail("wrote outside: emulated " + ready[k].name, outside + "\n  where " + shape);
          });
        if (ready[k].is_compiled() && (!targets_[k].is_gpu() || setup_.device))
          same("compiled for " + ready[k].name, [&](interp::Arguments& a) {
            Guarded guarded(state_.program, a, *sizes.kept, setup_.device);
            const int code = ready[k].call(guarded.pointers());
            if (setup_.device) count([](Statistics& s) { ++s.on_device; });
            if (code != ASHLAR_OK) {
              char text[400];
              ashlar_error_text(ashlar_last_error(), text, sizeof text);
              if (setup_.device.vulkan &&
                  std::string_view(text).find(" lacks a fused multiply-add") != std::string_view::npos) {
                count([](Statistics& s) { ++s.without_fma; });
                throw Stop{};
              }
              fail("call refused: compiled", std::string(text) + "\n  where " + shape);
            }
            const std::string outside = guarded.take(a);
            if (!outside.empty()) fail("wrote outside: compiled for " + ready[k].name, outside + "\n  where " + shape);
          });
      }
    }
    count([&](Statistics& s) {
      for (const std::string& f : made.forms) ++s.forms[f];
      if (scatters_at_once(state_.program)) forms_.insert("injective scatter at once");
      for (const std::string& f : forms_) ++s.forms[known_form(f)];
      std::set<std::string> names, tiles;
      for (const schedule::Step& step : state_.trace) {
        names.insert(step.primitive);
        if (step.primitive != "tensorize") continue;
        const ir::Intrinsic& f = *step.args[1].intrinsic;
        tiles.insert(f.accumulates ? "tile: sum that goes on" : f.reduce.empty() ? "tile: element by element" : "tile: sum");
        if (std::any_of(f.operands.begin(), f.operands.end(),
                        [](const auto& o) { return o.kind == ir::IntrinsicOperand::Kind::size; }))
          tiles.insert("tile of any size");
      }
      for (const auto& [id, b] : state_.program.buffers)
        if (b.scope == Scope::fragment) tiles.insert("fragment");
      for (const std::string& f : tiles) ++s.forms[known_form(f)];
      for (const std::string& name : names) ++s.steps[name].ran;
    });
  }

  bool has_step(std::string_view name) const {
    return std::any_of(state_.trace.begin(), state_.trace.end(), [&](const schedule::Step& s) { return s.primitive == name; });
  }
  // A call that breaks what was assumed is refused, and nothing is written.
  void break_promise(const Sizes& sizes, const Values& values) {
    const ir::Program& algorithm = schedule_->scheduled().program;
    std::string shape;
    const auto start = draw_arguments(data_, algorithm, values, sizes, shape);
    for (std::size_t k = 0; k < ready_.size(); ++k) {
      const auto refused = [&](const std::string& what, bool was) {
        if (!was) fail("a broken assumption was taken: " + what, "where " + shape);
      };
      interp::Arguments found = *start;
      try {
        interp::run(ready_[k].kernel, found);
        refused("the kernel for " + ready_[k].name, false);
      } catch (const interp::RunError& e) { refused(e.what(), e.kind == interp::RunError::Kind::arguments); }
      if (!ready_[k].is_compiled() || targets_[k].is_gpu()) continue;
      Guarded guarded(state_.program, found, sizes);
      refused("compiled for " + ready_[k].name, ready_[k].call(guarded.pointers()) == ASHLAR_E_FACT);
      guarded.take(found);
      for (std::size_t a = 0; a < found.size(); ++a)
        if (!found[a].is_scalar && found[a].array.bytes != (*start)[a].array.bytes)
          fail("a refused call wrote: compiled for " + ready_[k].name, "where " + shape);
    }
    forms_.insert("broken assumption");
  }

 public:
  std::function<void(const Choices&)> on_step_ = [](const Choices&) {};
  std::uint64_t seed_ = 0;  // for people

 private:
  Source program_;
  std::function<std::optional<Source>()> next_step_;
  Source data_;
  const Setup& setup_;
  Report report_;
  std::string stage_;
  std::optional<Schedule> schedule_;
  schedule::Scheduled state_;
  bool reassociated_ = false, reassociates_ = false;  // some step did; the one that is drawn does
  bool elsewhere_ = false;                            // no code runs here for the target
  std::vector<Target> targets_ = setup_.targets;
  std::set<std::string> forms_;  // of the schedule
  std::vector<Ready> ready_;
  std::optional<Runs> runs_;
  const ir::Kernel* kernel_ = nullptr;  // what runs
};

}  // namespace

Kind kind_for(const Setup& setup) {
  const bool device = !setup.targets.empty() && setup.targets.front().is_gpu();
  return {.tiles = device && setup.targets.front().has("sm_80"),
          .device = device,
          .rows = !setup.targets.empty() && setup.targets.front().has_tiles()};
}

Report check(std::uint64_t seed, Case& drawn, const Setup& setup) {
  Random random(seed);
  const Random program(random.next()), data(random.next());
  std::uint64_t left = random.next() % 8 == 0 ? 0 : random.next() % 20;
  Checker checker(
      Source(program),
      [&]() -> std::optional<Source> {
        if (left == 0) return std::nullopt;
        --left;
        return Source(Random(random.next()));
      },
      Source(data), setup);
  checker.on_step_ = [&](const Choices& c) { drawn.steps.push_back(c); };
  checker.seed_ = seed;
  Report r = checker.run();
  drawn.program = checker.program_choices();
  drawn.data = checker.data_choices();
  return r;
}

Report check(const Case& c, const Setup& setup) {
  std::size_t at = 0;
  Checker checker(
      Source(c.program),
      [&]() -> std::optional<Source> {
        if (at == c.steps.size()) return std::nullopt;
        return Source(c.steps[at++]);
      },
      Source(c.data), setup);
  return checker.run();
}

}  // namespace fuzz
