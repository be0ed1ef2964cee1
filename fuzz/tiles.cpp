#include "tiles.h"

#include <algorithm>

#include <ashlar/codegen/jit.h>
#include <ashlar/ir/print.h>
#include <ashlar/lower/tiles.h>
#include <ashlar/schedule/schedule.h>

#include "arguments.h"
#include "forced.h"
#include "forms.h"
#include "launch_steps.h"
#include "measures.h"
#include "rounding.h"
#include "schedule/primitives/draw.h"
#include "steps.h"
#include "tests/tileir/calls.h"

namespace fuzz {
namespace {

using namespace ashlar;
namespace tile = ir::tile;
using ir::LoopStmt;

// ---- steps
// -------------------------------------------------------------------------------------------------------------------
class Tiler {
 public:
  Tiler(Source& source, schedule::Scheduled& state, const Target& target, bool regroup, Statistics* statistics)
      : source_(source), state_(state), target_(target), regroup_(regroup), statistics_(statistics) {}

  // Consumers first, so that there are loops to place producers in.
  void run() {
    if (source_.one_in(3))
      for (int n = source_.between(1, 3); n > 0; --n) change();
    std::vector<Id> stages = computed();
    std::reverse(stages.begin(), stages.end());
    for (const Id id : stages) {
      if (!is_computed(id)) continue;
      place(id);
      if (!is_computed(id)) continue;
      if (p().stage(id).is_reduction() && source_.one_in(p().stage(id).scatters() ? 2 : 8) &&
          (regroup_ || !schedule::order_matters(p(), p().stage(id))))
        apply("atomic", {Arg::stage(id)});
      loops(id);
      if (source_.one_in(4)) hint(id);
    }
  }

 private:
  const Program& p() const { return state_.program; }
  static Arg loop(Id id) { return Arg::loop(id); }

  // Applied, or refused and counted. The results of the step.
  std::optional<std::vector<Id>> apply(const char* primitive, std::vector<Arg> args) {
    schedule::Step step;
    step.primitive = primitive, step.args = std::move(args), step.where = Where::current();
    schedule::Scheduled next = state_;
    try {
      const std::vector<Id> results = schedule::apply(next, std::move(step), target_);
      if (size_of(next.program) > 4000) return std::nullopt;
      if (statistics_) ++statistics_->steps[primitive].applied;
      state_ = std::move(next);
      return results;
    } catch (const RefusalError& e) {
      if (!statistics_) return std::nullopt;
      ++statistics_->steps[primitive].refused;
      auto& [n, example] = statistics_->refusals[without_numbers(std::string(primitive) + ": expected " + e.refusal.expected)];
      if (!n++) example = e.what();
      return std::nullopt;
    }
  }

  // Another program of the same meaning: a move of those that leave something to tile.
  void change() {
    static constexpr const char* moves[] = {"inline", "rfactor", "cache_read", "cache_write",
                                            "fuse",   "reorder", "clone",      "roll"};
    const auto drawn = draw_named(source_, p(), target_, moves[source_.pick(std::size(moves))]);
    if (!drawn || (drawn->reassociates && !regroup_)) return;
    std::vector<schedule::Step> steps{drawn->step};
    steps.insert(steps.end(), drawn->then.begin(), drawn->then.end());
    for (const schedule::Step& s : steps)
      if (!apply(s.primitive.c_str(), s.args)) break;
    for (const schedule::Step& s : store_in_global(p())) apply(s.primitive.c_str(), s.args);
  }

  std::vector<Id> computed() const {
    std::vector<Id> all;
    ir::walk(p().body, [&](const Stmt& s) {
      const auto* nest = s.as<ir::NestStmt>();
      if (nest && std::find(all.begin(), all.end(), nest->stage) == all.end()) all.push_back(nest->stage);
    });
    return all;
  }
  bool is_computed(Id stage) const {
    const std::vector<Id> all = computed();
    return std::find(all.begin(), all.end(), stage) != all.end();
  }
  bool is_output(Id stage) const {
    const auto& buffers = p().stage(stage).buffers;
    return std::any_of(buffers.begin(), buffers.end(), [&](Id b) { return p().buffer(b).role == ir::Role::output; });
  }

  void place(Id stage) {
    if (is_output(stage)) return;
    const std::uint32_t how = source_.pick(6);
    if (how < 2) {
      apply("inline", {Arg::stage(stage)});
    } else if (how < 5) {
      std::vector<const Stmt*> around;
      for (const Id reader : schedule::readers_of(p(), stage))
        for (const auto& list : {schedule::loops_of(p(), reader), schedule::loops_around(p(), reader)})
          for (const Stmt* l : list)
            if (!ir::is_loop(*l, ir::LoopKind::tile)) around.push_back(l);
      if (!around.empty()) apply("compute_at", {Arg::stage(stage), loop(source_.of(around)->id)});
    }
  }

  std::int64_t constant_extent(Id l) const {
    std::int64_t n = 0;
    const Stmt* s = statement(l);
    return s && ir::is_int(p().axis(s->get<LoopStmt>().axis).extent, &n) ? n : 0;
  }
  const Stmt* statement(Id l) const {
    const Stmt* found = nullptr;
    ir::walk(p().body, [&](const Stmt& s) {
      if (s.id == l) found = &s;
    });
    return found;
  }

  // About the launch, or about a tensor that it loads or stores. Most values fit the kind of hint; some are refused.
  void hint(Id stage) {
    static constexpr const char* kinds[] = {"occupancy", "cluster", "worker_warps", "latency", "tma"};
    static constexpr const char* chips[] = {"any", "sm_80", "sm_90", "sm_100", "sm_120"};
    const std::size_t kind = source_.pick(5);
    const std::int64_t value = kind == 4 ? source_.pick(2) : std::int64_t{1} << source_.between(0, 3);
    const Arg number = Arg::integer(value), chip = Arg::text(chips[source_.pick(5)]), word = Arg::text(kinds[kind]);
    if (kind < 3) {
      apply("hint_launch", {Arg::stage(stage), word, number, chip});
      return;
    }
    std::vector<Id> met = p().stage(stage).buffers;
    for (const auto& [id, b] : p().buffers)
      if (schedule::reads_buffer(p().stage(stage), id)) met.push_back(id);
    apply("hint_access", {Arg::stage(stage), Arg::buffer(source_.of(met)), word, number, chip});
  }

  // A scatter has loops over its steps and, apart from them, loops over its starting values.
  void loops(Id stage) {
    std::vector<Id> own, steps, starts;
    for (const Stmt* l : schedule::loops_of(p(), stage)) own.push_back(l->id);
    if (!p().stage(stage).scatters()) return loops_of(stage, own);
    for (const Id id : own) (p().axis(statement(id)->get<LoopStmt>().axis).reduce ? steps : starts).push_back(id);
    loops_of(stage, steps);
    loops_of(stage, starts);
  }

  // Over steps of a recurrence, which stay in their order; `of_scan`: which a tile may have at once.
  bool over_steps(Id stage, const Stmt& l) const {
    const ir::Stage& s = p().stage(stage);
    const auto roots = ir::roots_of(p(), l.get<LoopStmt>().axis);
    return std::any_of(s.along.begin(), s.along.end(), [&](std::size_t d) {
      return std::any_of(roots.begin(), roots.end(), [&](Id r) { return p().axis(r).iter == s.iters[d].id; });
    });
  }
  bool in_tiles(Id stage) const {
    ir::Stage s = p().stage(stage);
    s.reducer = s.scan;
    return s.scan.kind != ir::ReducerKind::none && (regroup_ || !schedule::order_matters(p(), s));
  }

  void loops_of(Id stage, const std::vector<Id>& own) {
    const bool at_root = schedule::loops_around(p(), stage).empty();
    std::vector<Id> spatial, reduce, dimensions;
    const bool combines = p().stage(stage).atomic || p().stage(stage).scatters();
    for (const Id id : own) {
      const Stmt* l = statement(id);
      if (!l) continue;
      const bool steps = over_steps(stage, *l), terms = p().axis(l->get<LoopStmt>().axis).reduce || steps;
      std::vector<Id>& outside = terms ? reduce : spatial;
      if (steps && !in_tiles(stage)) {
        outside.push_back(id);
        continue;
      }
      if (terms && !steps && !combines && (!regroup_ && schedule::order_matters(p(), p().stage(stage)))) {
        outside.push_back(id);
        continue;
      }
      const std::int64_t n = constant_extent(id), width = std::int64_t{1} << source_.between(0, 5);
      if (width == 1 && source_.one_in(2)) {
        outside.push_back(id);
      } else if (!at_root || (n > 0 && n <= 32 && source_.one_in(2))) {
        dimensions.push_back(id);  // the whole loop
      } else if (const auto parts = apply("split", {loop(id), Arg::integer(width), Arg::text("guard")})) {
        outside.push_back((*parts)[0]), dimensions.push_back((*parts)[1]);
      } else {
        outside.push_back(id);
      }
    }
    std::vector<Arg> order;
    if (source_.one_in(4)) std::reverse(spatial.begin(), spatial.end());
    // Blocks that share elements have their terms outside.
    const bool shared = combines && at_root && !reduce.empty() && source_.one_in(2);
    if (shared) spatial.insert(spatial.begin(), reduce.begin(), reduce.end()), reduce.clear();
    for (const auto* list : {&spatial, &reduce, &dimensions})
      for (const Id l : *list) order.push_back(loop(l));
    if (order.size() > 1) apply("reorder", std::move(order));
    if (at_root && !spatial.empty()) {
      static constexpr const char* axes[] = {"block_x", "block_y", "block_z"};
      const std::size_t first = source_.pick(3), bound = std::min<std::size_t>(spatial.size(), 3 - source_.pick(2));
      for (std::size_t k = 0; k < bound; ++k) apply("bind", {loop(spatial[k]), Arg::text(axes[(k + first) % 3])});
    }
    // From the innermost on, so that what is refused stands outside of those that are dimensions.
    for (std::size_t k = dimensions.size(); k-- > 0;)
      if (!dimension(dimensions[k])) break;
  }

  // By the least width that the extent is proved to have room in, or the next.
  bool dimension(Id id) {
    const Stmt* own = statement(id);
    const auto& inside = own->body();
    if (inside.size() != 1 || !(inside[0].is<ir::BlockStmt>() || ir::is_loop(inside[0], ir::LoopKind::tile))) return false;
    const std::int64_t n = constant_extent(id);
    if (n > 0 && (n & (n - 1)) == 0 && !source_.one_in(4)) return apply("as_tile", {loop(id)}).has_value();
    for (std::int64_t width = 1; width <= 64; width *= 2)
      if ((n == 0 || width >= n) && apply("as_tile", {loop(id), Arg::integer(source_.one_in(6) ? 2 * width : width)}))
        return true;
    return false;
  }

  Source& source_;
  schedule::Scheduled& state_;
  const Target& target_;
  const bool regroup_;
  Statistics* statistics_;
};

// ---- cases
// -------------------------------------------------------------------------------------------------------------------

void collect(const tile::Body& body, std::set<std::string>& forms) {
  for (const tile::Stmt& s : body) {
    if (s.as<tile::Mma>()) forms.insert("mma of tiles");
    if (s.as<tile::Reduce>()) forms.insert("reduction in a tile");
    if (s.as<tile::Gather>()) forms.insert("gathered tile");
    if (s.as<tile::Scan>()) forms.insert("scan in a tile");
    if (s.as<tile::Atomic>()) forms.insert("atomic update of a tile");
    if (s.as<tile::Load>()) forms.insert("tile of a view");
    if (const auto* loop = s.as<tile::For>()) {
      if (!loop->carried.empty()) forms.insert("carried tile");
      collect(loop->body, forms);
    }
  }
}

class Checker {
 public:
  explicit Checker(const TileCase& c) : c_(c), target_(c.setup.targets.front()) {}

  std::optional<Failure> run() {
    c_.stage = "steps of tiles";
    schedule::Scheduled state = c_.unscheduled.scheduled();
    Tiler(c_.data, state, target_, c_.made.exact || c_.made.product, c_.setup.statistics).run();
    c_.report.json = schedule::json(state.trace);
    for (const schedule::Step& s : state.trace) c_.report.trace += "  " + schedule::text(s) + "\n";
    c_.report.scheduled = ir::text(state.program);
    std::vector<TileLaunch> launches;
    try {
      c_.stage = "finish";
      schedule::finish(state, target_);
      c_.stage = "lowering to tiles";
      launches = lower_to_tiles(state.program, {.aligned = false});
    } catch (const RefusalError& e) {
      unfinished(e);
      return std::nullopt;
    }
    for (const TileLaunch& l : launches) c_.report.scheduled += "\n" + tile::text(l.kernel);
    std::optional<codegen::Compiled> code;
    if (c_.setup.device && !launches.empty()) {
      c_.stage = "compiling";
      const ir::Kernel kernel = lower_tiles(state.program);
      code = codegen::load(codegen::emit(kernel, target_, codegen::Output::object), kernel, target_);
      count([](Statistics& s) { ++s.compiled; });
    }
    std::optional<Failure> failure = compare_all(state.program, launches, code ? &*code : nullptr);
    if (!failure) forms(state, launches);
    return failure;
  }

 private:
  template <class F>
  void count(F&& f) {
    if (c_.setup.statistics) f(*c_.setup.statistics);
  }

  void unfinished(const RefusalError& e) {
    count([&](Statistics& s) {
      ++s.unfinished;
      auto& [n, example] = s.refusals[without_numbers(c_.stage + ": expected " + e.refusal.expected)];
      if (!n++) example = e.what();
    });
  }

  std::optional<Failure> compare_all(const ir::Program& scheduled, const std::vector<TileLaunch>& launches,
                                     const codegen::Compiled* code) {
    const ir::Program& algorithm = c_.unscheduled.scheduled().program;
    const Promises promises{scheduled.assumptions, {}};
    const Values values{c_.made.exact, c_.made.edges};
    for (int n = 0; n < (algorithm.symbols.empty() ? 1 : 3); ++n) {
      std::string shape;
      c_.stage = "arguments";
      const Shapes sizes = draw_sizes(c_.data, algorithm, promises);
      const auto start = sizes.kept ? draw_arguments(c_.data, algorithm, values, *sizes.kept, shape, promises) : std::nullopt;
      if (!start) {
        count([](Statistics& s) { ++s.without_arguments; });
        continue;
      }
      count([](Statistics& s) { ++s.runs, ++s.kernels; });
      interp::Arguments expected = *start;
      c_.stage = "the algorithm";
      interp::run_algorithm(algorithm, expected);
      const auto differs = [&](const char* what, bool rounds, const auto& run) -> std::optional<Failure> {
        c_.stage = what;
        interp::Arguments found = *start;
        run(found);
        const std::string d = rounds ? beyond_rounding(*c_.made.product, *start, found, expected)
                                     : compare(algorithm, found, expected, true, false);
        if (d.empty()) return std::nullopt;
        return Failure{std::string("wrong value: ") + what, d + "\n  where " + shape};
      };
      const bool rounds = c_.made.product && !c_.made.exact && c_.made.product->half.is_float();
      interp::Options order;
      order.races = true, order.max_blocks = 300000;
      bool too_long = false;
      if (auto f = differs("the scheduled tree", rounds, [&](interp::Arguments& a) {
            try {
              interp::run(scheduled, a, order);
            } catch (const interp::RunError& e) {
              if (e.kind != interp::RunError::Kind::limit) throw;
              too_long = true, a = expected;
            }
          }))
        return f;
      if (too_long) {
        count([](Statistics& s) { ++s.too_long; });
        break;
      }
      if (auto f = differs("the tile form", rounds, [&](interp::Arguments& a) { tiles::run(scheduled, launches, a); }))
        return f;
      const std::uint64_t blocks = 1 + c_.data.pick(1000);
      if (auto f =
              differs("the bytecode", rounds, [&](interp::Arguments& a) { tiles::execute(scheduled, launches, a, blocks); }))
        return f;
      if (auto f = compare_lines(scheduled, *start, expected, rounds, shape)) return f;
      if (!code) continue;
      std::string wrong;
      if (auto f = differs("compiled", rounds, [&](interp::Arguments& a) {
            Guarded guarded(scheduled, a, *sizes.kept, c_.setup.device);
            if (code->call(guarded.pointers()) != ASHLAR_OK) {
              char text[400];
              ashlar_error_text(ashlar_last_error(), text, sizeof text);
              // a view cannot read rows backwards
              if (ashlar_last_error()->code != ASHLAR_E_TARGET || ashlar_last_error()->found >= 0) wrong = text;
              a = expected;
              return;
            }
            wrong = guarded.take(a);
          }))
        return f;
      count([](Statistics& s) { ++s.on_device; });
      if (!wrong.empty()) return Failure{"a call of what was compiled", wrong + "\n  where " + shape};
    }
    return std::nullopt;
  }

  // Products of rows that begin at multiples of a line and end anywhere, in the form that calls with such rows take.
  std::optional<Failure> compare_lines(const ir::Program& scheduled, interp::Arguments start, const interp::Arguments& expected,
                                       bool rounds, const std::string& shape) {
    const std::vector<TileLaunch> launches = lower_to_tiles(scheduled);
    if (std::none_of(launches.begin(), launches.end(), [](const TileLaunch& l) { return l.ragged; })) return std::nullopt;
    for (std::size_t n = 0; n < start.size(); ++n)
      if (!start[n].is_scalar && scheduled.buffer(scheduled.arguments[n].id).order != ir::Buffer::Order::dense)
        start[n].array = tiles::in_lines(start[n].array);
    if (!tiles::may_take(scheduled, launches, start)) return std::nullopt;
    count([](Statistics& s) { ++s.forms[known_form("product of rows in lines")]; });
    const std::uint64_t blocks = 1 + c_.data.pick(1000);
    for (const bool executed : {false, true}) {
      const std::string what = executed ? "the bytecode, of rows in lines" : "the tile form, of rows in lines";
      c_.stage = what;
      interp::Arguments found = start;
      executed ? tiles::execute(scheduled, launches, found, blocks) : tiles::run(scheduled, launches, found);
      for (std::size_t n = 0; n < found.size(); ++n) {
        if (found[n].is_scalar) continue;
        interp::Array dense = expected[n].array;
        each(dense.shape, [&](const auto& at) { dense.set(at, found[n].array.at(at)); });
        found[n].array = std::move(dense);
      }
      const std::string d = rounds ? beyond_rounding(*c_.made.product, start, found, expected)
                                   : compare(c_.unscheduled.scheduled().program, found, expected, true, false);
      if (!d.empty()) return Failure{"wrong value: " + what, d + "\n  where " + shape};
    }
    return std::nullopt;
  }

  void forms(const schedule::Scheduled& state, const std::vector<TileLaunch>& launches) {
    count([&](Statistics& s) {
      std::set<std::string> seen(c_.made.forms.begin(), c_.made.forms.end()), names;
      for (const TileLaunch& l : launches) collect(l.kernel.body, seen);
      if (!tile_temporaries(state.program).empty()) seen.insert("tiles stored between launches");
      if (!state.program.hints.empty()) seen.insert("hint");
      for (const std::string& f : seen) ++s.forms[known_form(f)];
      for (const schedule::Step& step : state.trace) names.insert(step.primitive);
      for (const std::string& name : names) ++s.steps[name].ran;
    });
  }

  const TileCase& c_;
  const Target& target_;
};

}  // namespace

std::optional<Failure> check_tiles(const TileCase& c) { return Checker(c).run(); }

}  // namespace fuzz
