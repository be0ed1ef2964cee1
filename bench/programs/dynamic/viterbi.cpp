// dynamic/viterbi.cpp: the most probable states of a hidden Markov chain that emits letters, in whole numbers of log
// probability: the best predecessor of every state at every step, then the path read back from the end.
#include "bench/programs/program.h"

PROGRAM(p) {
  const Symbol T = p.size("T", 620, {.min = 1}), S = p.size("S", 47, {.min = 1});
  const Tensor start = p.in("start", i32, {S}, integers(-9000, 0)), move = p.in("move", i32, {S, S}, integers(-9000, 0)),
               emit = p.in("emit", i32, {S, 26}, integers(-5000, 0));
  const Tensor seen = p.in("seen", u8, {T}, integers(0, 26));
  const auto emitted = [&](const Expr& s, const Expr& t) { return emit(s, in_range(seen(t), 0, 26)); };
  const Axis k{"k", S};
  const auto chain = recur(
      "chain", {T, S}, Along{0}, Lag{1}, [&](Var t, Var s) { return values(start(s) + emitted(s, t), i16(0)); },
      [&](Prior y, Var t, Var s) {
        const auto reached =
            compute("reached", {Range{Expr(1), T}, S}, [&](Var u, Var to) { return argmax(y[0](u - 1, k) + move(k, to), k); });
        return values(reached[0](t, s) + emitted(s, t), i16(reached[1](t, s)));
      });
  const auto end = compute("end", [&] { return argmax(chain[0](T - 1, k), k); });
  p.out(recur(
      "path", {T}, Along{0}.backwards(), Lag{1}, [&](Var) { return i16(end[1]()); },
      [&](Prior y, Var t) { return chain[1](t + 1, in_range(y(t + 1), 0, S)); }));
  p.out(compute("score", {1}, [&](Var) { return end[0](); }));
}
