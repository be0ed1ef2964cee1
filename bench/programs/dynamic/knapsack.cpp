// dynamic/knapsack.cpp: the best value for every capacity, item after item; an item's weight says how far back a step looks.
#include "bench/programs/program.h"

PROGRAM(p) {
  const Symbol items = p.size("items", 200, {.min = 1}), room = p.size("room", 2001, {.min = 1});
  const Tensor weight = p.in("weight", i32, {items}, integers(1, 80)), value = p.in("value", i32, {items}, integers(1, 1000));
  const Tensor best = recur(
      "best", {items + 1, room}, Along{0}, Lag{1}, [&](Var, Var) { return i32(0); },
      [&](Prior b, Var n, Var c) {
        const Expr taken = b(n - 1, clamp(c - weight(n - 1), 0, room - 1)) + value(n - 1);
        return select(c >= weight(n - 1), max(b(n - 1, c), taken), b(n - 1, c));
      });
  p.out(compute("all", {room}, [&](Var c) { return best(items, c); }));
}
