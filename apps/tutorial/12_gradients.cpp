// Lesson 12: derivatives, written by the library and scheduled by you.
#include "lesson.h"
using namespace ashlar;

int main() {
  tutorial::Lesson lesson("12. Gradients");
  lesson.say(
      "Training changes numbers so that an error decreases, and the derivative gives the direction. gradient(loss, {w})\n"
      "defines it: for each element of w, how the loss changes with this element. As an example, fit a line to points, with\n"
      "the sum of squared errors as the loss:");
  lang::DefinitionScope scope;
  Symbol N{"N"}, K{"K"};
  Tensor x = lang::make_input("x", f32, {N, K}), t = lang::make_input("t", f32, {N}), w = lang::make_input("w", f32, {K});
  Tensor loss = lang::make_output("loss", f32, {}), dw = lang::make_output("dw", f32, {K});
  Axis k{"k", K}, n{"n", N};
  const Tensor y = compute("y", {{"i", N}}, [&](Var i) { return sum(x(i, k) * w(k), k); });
  const Tensor error = compute("error", {{"i", N}}, [&](Var i) { return (y(i) - t(i)) * (y(i) - t(i)); });
  const Tensor total = compute("total", [&] { return sum(error(n), n); });
  auto [by_w] = gradient(total, {w});
  lang::bind(loss, total);
  lang::bind(dw, by_w);
  const lang::Built fit = lang::build_program("fit", {x, t, w, loss, dw});
  Schedule s(fit, Target::parse("x86-64-v3"));
  lesson.say("The new stages are ordinary stages. d_w is the derivative with respect to w, and so on:");
  lesson.definitions(s);
  lesson.say("They have loops, which are scheduled like any others.");
  lesson.watch(s);
  lesson.say(
      "dw sums over all points for each weight. With the loops exchanged, each point adds to all weights: the loop over\n"
      "points is outside, and the weights, which are neighbors in memory, become lanes.");
  auto [j] = s[dw].spatial<1>();
  const Loop points = s[dw].reduction();
  s[dw].reorder(points, j).vectorize(j, 8);

  lesson.say(
      "For the points (0, 1), (1, 3), (2, 5) on the line 1 + 2 u and the weights (1, 1), these are the loss and its\n"
      "derivatives with respect to both weights:");
  Schedule here(fit, Target::host());
  here.replay(s.json());
  tutorial::Array<float> inputs({3, 2}, [](std::int64_t i) { return i % 2 == 0 ? 1 : i / 2; });
  tutorial::Array<float> targets({3}, [](std::int64_t i) { return 1 + 2 * i; });
  tutorial::Array<float> weights({2}, [](std::int64_t) { return 1; }), slope({2}, [](std::int64_t) { return 0; });
  tutorial::Array<float> value({}, [](std::int64_t) { return 0; });
  if (!tutorial::run(here, inputs, targets, weights, value, slope)) return 1;
  lesson.show(std::to_string(value(0)) + "   " + std::to_string(slope(0)) + " " + std::to_string(slope(1)));
  lesson.say("Now descend along the gradient: thirty steps with a rate of 0.1. The weights are then:");
  for (int step = 0; step < 30; ++step) {
    if (!tutorial::run(here, inputs, targets, weights, value, slope)) return 1;
    for (std::int64_t c = 0; c < 2; ++c) weights(c) -= 0.1f * slope(c);
  }
  char text[60];
  std::snprintf(text, sizeof text, "%.2f %.2f", static_cast<double>(weights(0)), static_cast<double>(weights(1)));
  lesson.show(text);

  lesson.say("A function without a derivative is refused, and the refusal names the stage:");
  lang::DefinitionScope other;
  Symbol L{"L"};
  Tensor v = lang::make_input("v", f32, {L});
  Axis l{"l", L};
  const Tensor p = compute("p", [&] { return product(v(l), l); });
  try {
    (void)gradient(p, {v});
  } catch (const RefusalError& e) { lesson.show(e.what()); }
  return 0;
}
