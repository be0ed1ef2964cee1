// sequence/ctc.cpp: the loss of connectionist temporal classification: log probabilities of 29 classes, then the probability
// of all alignments of a label sequence to the frames, frame after frame. Sequences and labels have lengths of their own.
#include "bench/programs/program.h"

PROGRAM(p) {
  const Symbol batch = p.size("batch", 13, {.min = 1}), T = p.size("T", 74, {.min = 1}), L = p.size("L", 18, {.min = 1});
  const Tensor logits = p.in("logits", f32, {batch, T, 29}, uniform(-3, 3));
  const Tensor labels = p.in("labels", i32, {batch, L}, integers(1, 29));
  const Tensor frames = p.in("frames", i32, {batch}, integers(40, 75)), count = p.in("count", i32, {batch}, integers(6, 19));

  const Axis c{"c", 29};
  const Tensor top = compute("top", {batch, T}, [&](Var b, Var t) { return maximum(logits(b, t, c), c); });
  const Tensor total = compute("total", {batch, T}, [&](Var b, Var t) { return sum(exp(logits(b, t, c) - top(b, t)), c); });
  const Tensor norm = compute("norm", {batch, T}, [&](Var b, Var t) { return top(b, t) + log(total(b, t)); });

  const float never = -1e30f;
  const auto letter = [&](const Expr& b, const Expr& s) { return select(s % 2 == 1, labels(b, s / 2), 0); };
  const auto emitted = [&](const Expr& b, const Expr& t, const Expr& s) {
    return logits(b, t, in_range(letter(b, s), 0, 29)) - norm(b, t);
  };
  const Tensor alpha = recur(
      "alpha", {T, batch, 2 * L + 1}, Along{0}, Lag{1},
      [&](Var t, Var b, Var s) { return select(s < 2, emitted(b, t, s), never); },
      [&](Prior y, Var t, Var b, Var s) {
        const Expr stay = y(t - 1, b, s), step = select(s > 0, y(t - 1, b, s - 1), never);
        const Expr skip =
            select(s > 1, select(s % 2 == 1 && letter(b, s) != letter(b, s - 2), y(t - 1, b, s - 2), never), never);
        const Expr most = max(max(stay, step), skip);
        return most + log(exp(stay - most) + exp(step - most) + exp(skip - most)) + emitted(b, t, s);
      });
  p.out(compute("loss", {batch}, [&](Var b) {
    const Expr end = in_range(frames(b), 1, T + 1) - 1, size = in_range(count(b), 1, L + 1);
    const Expr last = alpha(end, b, 2 * size), other = alpha(end, b, 2 * size - 1), most = max(last, other);
    return -(most + log(exp(last - most) + exp(other - most)));
  }));
}
