// Random schedules of small programs: every schedule that is accepted lowers, and its kernel computes what the algorithm says.
// ASHLAR_SEEDS=FIRST:COUNT runs others than the fixed ones; a failure prints its seed, the trace and the program.
#include <ashlar/lang.h>
#include <ashlar/lang/build_program.h>
#include <ashlar/schedule/step.h>

#include <random>

#include "check.h"

using namespace ashlar;
using handmade::Sizes;
using schedule::Arg;

namespace {

lang::Built blur(int kind) {
  Symbol H{"H", {.min = 1}}, W{"W", {.min = 1}};
  Tensor in = lang::make_input("in", i32, {H, W}), out = lang::make_output("out", i32, {H, W});
  Tensor wide = kind == 0   ? boundary::repeat(in)
                : kind == 1 ? boundary::mirror(in)
                : kind == 2 ? boundary::wrap(in)
                            : boundary::constant(in, 5);
  Tensor across = compute("across", [&](Var y, Var x) { return wide(y, x - 1) + wide(y, x) * 2 + wide(y, x + 1); });
  Tensor down = compute("down", [&](Var y, Var x) { return across(y - 1, x) + across(y, x) * 2 + across(y + 1, x); });
  lang::bind(out, compute("result", {H, W}, [&](Var y, Var x) { return max(down(y, x) - in(y, x), 0); }));
  return lang::build_program("blur", {in, out});
}

lang::Built product() {
  Symbol H{"H", {.min = 1}}, W{"W", {.min = 1}}, K{"K", {.min = 1}};
  Tensor A = lang::make_input("A", f32, {H, K}), B = lang::make_input("B", f32, {K, W}),
         C = lang::make_output("C", f32, {H, W});
  Axis k{"k", K};
  Tensor p = compute("p", {H, W}, [&](Var i, Var j) { return sum(A(i, k) * B(k, j), k); });
  lang::bind(C, compute("c", {H, W}, [&](Var i, Var j) { return max(p(i, j) + A(i, 0), 0); }));
  return lang::build_program("product", {A, B, C});
}

lang::Built rows() {
  Symbol H{"H"}, W{"W", {.min = 1}};
  Tensor x = lang::make_input("x", f32, {H, W}), y = lang::make_output("y", f32, {H, W});
  Axis k{"k", W};
  Tensor peak = compute("peak", {H}, [&](Var i) { return maximum(x(i, k), k); });
  Tensor total = compute("total", {H}, [&](Var i) { return sum(x(i, k) - peak(i), k); });
  lang::bind(y, compute("r", {H, W}, [&](Var i, Var j) { return x(i, j) * 2 - total(i); }));
  return lang::build_program("rows", {x, y});
}

lang::Built triangle() {
  Symbol H{"H"};
  Tensor x = lang::make_input("x", i32, {H}), y = lang::make_output("y", i32, {H});
  lang::bind(y, compute("y", {H}, [&](Var i) {
               Axis k{"k", i + 1};
               return sum(x(k), k);
             }));
  return lang::build_program("triangle", {x, y});
}

class Scheduler {
 public:
  Scheduler(const lang::Built& b, std::uint64_t seed) : random_(seed) {
    state_.program = b.program;
    analysis::derive_regions(state_.program);
  }
  const schedule::Scheduled& state() const { return state_; }

  void step() {
    const Target target = Target::parse("x86-64-v3");
    schedule::Step s;
    const char* tails[] = {"guard", "guard", "shift", "peel", "pad", "exact"};
    auto is = [&](const char* name, std::vector<Arg> args) { s.primitive = name, s.args = std::move(args); };
    switch (pick(21)) {
      case 0:
      case 1:
      case 2:
        is("split", {loop(), Arg::integer(1 + pick(6)), Arg::text(tails[pick(6)])});
        break;
      case 3:
        is("reorder", {loop(), loop()});
        break;
      case 4:
        is("unroll", {loop()});
        break;
      case 5:
      case 6:
        is("vectorize", {loop()});
        break;
      case 7:
        is("parallel", {loop()});
        break;
      case 8:
      case 9:
        is("compute_at", {stage(), loop()});
        break;
      case 10:
        is("store_at", {stage(), loop()});
        break;
      case 11:
        is("slide", {stage(), loop()});
        break;
      case 12:
        is("fold", {stage(), Arg::integer(pick(2)), Arg::integer(1 + pick(6))});
        break;
      case 13:
        is("peel", {loop(), Arg::text(pick(2) ? "first" : "last")});
        break;
      case 14:
        is(pick(2) ? "rfactor" : "fuse_into", {stage(), loop()});
        break;
      case 16:
        is("inline", {stage()});
        break;
      case 17: {  // panels
        const ir::Id a = ir::fresh_id(), b = ir::fresh_id();
        const Expr x = ir::var(a, "x"), y = ir::var(b, "y"), n = ir::index(1 + pick(4));
        is("set_layout", {stage(), pick(2) ? Arg::map({a, b}, {ir::div(x, n), y, ir::mod(x, n)})
                                           : Arg::map({a, b}, {ir::div(y, n), x, ir::mod(y, n)})});
        break;
      }
      case 18: {
        const ir::Buffer& b = input();
        const Expr zero = b.type.is_float() ? ir::float_const(b.type, 0) : ir::int_const(b.type, 0);
        if (pick(2))
          is("cache_read", {Arg::buffer(b.id), Arg::place(Scope::global), Arg::integer(1), Arg::map({}, {zero}), stage()});
        else
          is("cache_read", {Arg::buffer(b.id), Arg::place(Scope::global), Arg::integer(0), stage()});
        break;
      }
      case 19:
        pick(2) ? is("cache_write", {stage(), Arg::place(Scope::global)})
                : is("align", {stage(), Arg::integer(pick(2)), Arg::integer(1 + pick(8))});
        break;
      case 20:
        pick(2) ? is("prefetch", {loop(), Arg::buffer(input().id), Arg::integer(1 + pick(3))})
                : is("set_scope", {stage(), Arg::place(Scope::stack)});
        break;
      case 15:
        pick(2) ? is("fuse", {loop(), loop()}) : is("tighten", {loop()});
        break;
    }
    try {
      schedule::apply(state_, s, target);
    } catch (const RefusalError&) {}
  }
  int pick(int n) { return static_cast<int>(random_() % static_cast<std::uint64_t>(n)); }

 private:
  Arg loop() {
    std::vector<ir::Id> loops;
    ir::walk(state_.program.body, [&](const ir::Stmt& s) {
      if (s.is<ir::LoopStmt>()) loops.push_back(s.id);
    });
    return Arg::loop(loops[static_cast<std::size_t>(pick(static_cast<int>(loops.size())))]);
  }
  Arg stage() {
    std::vector<ir::Id> stages;
    for (const auto& entry : state_.program.stages) stages.push_back(entry.first);
    return Arg::stage(stages[static_cast<std::size_t>(pick(static_cast<int>(stages.size())))]);
  }

  const ir::Buffer& input() {
    for (;;) {
      const ir::Argument& a =
          state_.program.arguments[static_cast<std::size_t>(pick(static_cast<int>(state_.program.arguments.size())))];
      if (a.kind == ir::ArgumentKind::input) return state_.program.buffer(a.id);
    }
  }

  schedule::Scheduled state_;
  std::mt19937_64 random_;
};

// "" if all is well.
std::string trial(std::uint64_t seed) {
  lang::DefinitionScope scope;
  const int which = static_cast<int>(seed % 7);
  const lang::Built built = which < 4 ? blur(which) : which == 4 ? product() : which == 5 ? rows() : triangle();
  Scheduler s(built, seed);
  std::string trouble;
  try {
    for (int k = s.pick(14); k >= 0; --k) s.step();
    schedule::Scheduled complete = s.state();
    try {
      schedule::finish(complete, Target::parse("x86-64-v3"));
    } catch (const RefusalError&) {
      return {};  // a stack that is too small, say: refused to the user as well
    }
    const ir::Kernel kernel = lower(s.state().program, {.vector_bits = 256, .vector_registers = 16});
    for (const Sizes& sizes :
         {Sizes{{"H", 7}, {"W", 9}, {"K", 5}}, Sizes{{"H", 12}, {"W", 12}, {"K", 12}}, Sizes{{"H", 2}, {"W", 3}, {"K", 1}}}) {
      interp::Arguments expected = handmade::arguments_for(built.program, sizes), found = expected, tree = expected;
      interp::run_algorithm(built.program, expected);
      std::string scheduled;
      try {
        interp::run(s.state().program, tree);
        scheduled = interp::difference(tree.back().array, expected.back().array);
      } catch (const std::exception& e) { scheduled = e.what(); }
      std::string lowered;
      try {
        interp::run(kernel, found, {interp::Options::Order::shuffled, seed});
        lowered = interp::difference(found.back().array, expected.back().array);
      } catch (const std::exception& e) { lowered = e.what(); }
      if (scheduled.empty() && lowered.empty()) continue;
      trouble = "H = " + std::to_string(sizes.at("H")) + "\n  scheduled: " + scheduled + "\n  lowered: " + lowered + "\n" +
                ir::text(kernel);
      break;
    }
  } catch (const std::exception& e) { trouble = e.what(); }
  if (trouble.empty()) return {};
  std::string report = "seed " + std::to_string(seed) + ": " + trouble + "\n";
  for (const schedule::Step& step : s.state().trace) report += step.text + "\n";
  return report + ir::text(s.state().program);
}

}  // namespace

TEST_CASE("random schedules") {
  std::uint64_t first = 1, count = 300;
  if (const char* seeds = std::getenv("ASHLAR_SEEDS")) {
    char* rest = nullptr;
    first = std::strtoull(seeds, &rest, 10);
    count = *rest == ':' ? std::strtoull(rest + 1, nullptr, 10) : 1;
  }
  for (std::uint64_t seed = first; seed < first + count; ++seed) CHECK(trial(seed) == "");
}
