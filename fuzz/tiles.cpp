#include "tiles.h"

#include <algorithm>

#include <ashlar/codegen/jit.h>
#include <ashlar/ir/print.h>
#include <ashlar/lower/tiles.h>
#include <ashlar/schedule/schedule.h>

#include "arguments.h"
#include "forced.h"
#include "forms.h"
#include "measures.h"
#include "rounding.h"
#include "tests/tileir/calls.h"

namespace fuzz {
namespace {

using namespace ashlar;
namespace tile = ir::tile;

bool has_mma(const tile::Body& body) {
  return std::any_of(body.begin(), body.end(), [](const tile::Stmt& s) {
    const auto* loop = s.as<tile::For>();
    return s.as<tile::Mma>() || (loop && has_mma(loop->body));
  });
}

void collect(const tile::Body& body, std::set<std::string>& forms) {
  for (const tile::Stmt& s : body) {
    if (s.as<tile::Mma>()) forms.insert("mma of tiles");
    if (s.as<tile::Reduce>()) forms.insert("reduction in a tile");
    if (s.as<tile::Gather>()) forms.insert("gathered tile");
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
    tile_steps(c_.data, state, target_, c_.made.exact || c_.made.product, c_.setup.statistics);
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
      if (!code) continue;
      std::string wrong;
      if (auto f = differs("compiled", rounds, [&](interp::Arguments& a) {
            Guarded guarded(scheduled, a, *sizes.kept, c_.setup.device);
            if (code->call(guarded.pointers()) != ASHLAR_OK) {
              char text[400];
              ashlar_error_text(ashlar_last_error(), text, sizeof text);
              // rows backwards are no rows of tiles
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

  void forms(const schedule::Scheduled& state, const std::vector<TileLaunch>& launches) {
    count([&](Statistics& s) {
      std::set<std::string> seen(c_.made.forms.begin(), c_.made.forms.end()), names;
      for (const TileLaunch& l : launches) collect(l.kernel.body, seen);
      if (!tile_temporaries(state.program).empty()) seen.insert("tiles stored between launches");
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
