#pragma once
// An operator whose schedule has variants: nothing stored for small sizes, no guards where tiles divide, and the rest.
#include <ashlar/lang.h>
#include <ashlar/lang/build_program.h>
#include <ashlar/schedule/schedule.h>

namespace variant_operators {

using namespace ashlar;

struct Differences {  // y[i] = t[i + 1] - t[i], t[i] = 2 x[i] + one of four weights
  lang::DefinitionScope scope;
  Symbol N{"N"};
  Tensor x = lang::make_input("x", i32, {N + 1}), y = lang::make_output("y", i32, {N});
  Tensor weights = constant("weights", i32, {3, 1, 4, 1});
  Tensor t = compute("t", {{"i", N + 1}}, [&](Var i) { return x(i) * 2 + weights(i % 4); });
  lang::Built built = (lang::bind(y, compute("y", {{"i", N}}, [&](Var i) { return t(i + 1) - t(i); })),
                       lang::build_program("differences", {x, y}));
  Schedule s;
  explicit Differences(const Target& target) : s(built, target) {}
  Loop loop(const Tensor& of, Schedule& in) const { return in[of].nest()[0]; }
};

struct ByTiles : Differences {
  explicit ByTiles(const Target& target) : Differences(target) {
    Schedule& small = s.specialize(N < 8);
    Schedule& whole = s.specialize(N % 8 == 0);
    small[t].inline_();
    auto [io, ii] = whole[y].split(loop(y, whole), 8, Tail::exact);
    whole[t].compute_at(io).store_in(Scope::stack);
    whole[y].vectorize(ii).parallel(io);
    s[t].vectorize(loop(t, s), 8).parallel(loop(t, s));
  }
};

struct ByLaunches : Differences {
  explicit ByLaunches(const Target& target) : Differences(target) {
    Schedule& small = s.specialize(N < 8);
    small[t].inline_();
    small[y].bind(loop(y, small), gpu::thread_x);
    for (const Tensor& each : {y, t}) {
      auto [io, ii] = s[each].split(loop(each, s), 32);
      s[each].bind(io, gpu::block_x).bind(ii, gpu::thread_x);
    }
  }
};

}  // namespace variant_operators
