// sequence/beam.cpp: a step of beam search: log probabilities of all words after each of 4 beams, the 4 best continuations,
// and their histories. A beam that has ended goes on with the end token alone, at no cost.
#include "bench/programs/program.h"

PROGRAM(p) {
  const Symbol batch = p.size("batch", 9, {.min = 1}), words = p.size("words", 4507, {.min = 4}), length = p.size("length", 37);
  const Tensor logits = p.in("logits", f32, {batch, 4, words}, uniform(-4, 4)),
               score = p.in("score", f32, {batch, 4}, uniform(-1, 0));
  const Tensor done = p.in("done", u8, {batch, 4}, integers(0, 2)),
               history = p.in("history", i32, {batch, 4, length}, integers(0, 4507));

  const Axis w{"w", words};
  const Tensor top = compute("top", {batch, 4}, [&](Var b, Var k) { return maximum(logits(b, k, w), w); });
  const Tensor total = compute("total", {batch, 4}, [&](Var b, Var k) { return sum(exp(logits(b, k, w) - top(b, k)), w); });
  const Tensor norm = compute("norm", {batch, 4}, [&](Var b, Var k) { return top(b, k) + log(total(b, k)); });
  const Tensor offered = compute("offered", {batch, 4, words}, [&](Var b, Var k, Var v) {
    const Expr ended = select(v == 2, score(b, k), -1e30f);
    return select(done(b, k) != 0, ended, score(b, k) + (logits(b, k, v) - norm(b, k)));
  });
  const Tensor flat = view::reshape(offered, {batch, 4 * words});

  const Axis c{"c", 4 * words};
  std::vector<Tensor> value, place;
  for (int j = 0; j < 4; ++j) {
    const auto picked = compute("picked", {batch}, [&](Var b) {
      Expr candidate = flat(b, c);
      for (const Tensor& taken : place) candidate = select(c == taken(b), -2e30f, candidate);
      return argmax(candidate, c);
    });
    value.push_back(picked[0]), place.push_back(picked[1]);
  }
  const auto one_of = [](const std::vector<Tensor>& t, const Expr& b, const Expr& j) {
    return select(j == 0, t[0](b), select(j == 1, t[1](b), select(j == 2, t[2](b), t[3](b))));
  };
  p.out(compute("best", {batch, 4}, [&](Var b, Var j) { return one_of(value, b, j); }));
  p.out(compute("extended", {batch, 4, length + 1}, [&](Var b, Var j, Var t) {
    const Expr at = in_range(one_of(place, b, j), 0, 4 * words);
    return select(t < length, history(b, at / words, t), i32(at % words));
  }));
}
