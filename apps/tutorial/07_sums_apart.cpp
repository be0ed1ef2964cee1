// Lesson 7: partial sums, and your own reducers.
#include "lesson.h"
using namespace ashlar;

int main() {
  tutorial::Lesson lesson("7. Partial sums: rfactor, and your own reducer");
  lesson.say("A sum over a long row is a chain: each step waits for the previous one. Split, it becomes strips of eight:");
  lang::DefinitionScope scope;
  Symbol M{"M"}, N{"N"};
  Tensor x = lang::make_input("x", f32, {M, N}), y = lang::make_output("y", f32, {M});
  Axis k{"k", N};
  lang::bind(y, compute("y", {{"i", M}}, [&](Var i) { return sum(x(i, k), k); }));
  const lang::Built rows = lang::build_program("row_sums", {x, y});
  Schedule s(rows, Target::parse("x86-64-v3"));
  lesson.watch(s);
  auto [strip, lane] = s[y].split(s[y].reduction(), 8);
  lesson.say(
      "rfactor gives each iteration of a loop its own sum, in a new stage with one more dimension. The original stage adds\n"
      "these partial sums. sum allows this; strict_sum would refuse. The partial sums of a row become the lanes of a vector,");
  Stage part = s[y].rfactor(lane);
  part.vectorize(part.spatial<2>()[1]);
  lesson.say("and are needed only for one row at a time:");
  part.compute_at(s[y].spatial<1>()[0]).store_in(Scope::stack);
  (void)strip;

  lesson.say(
      "Your own reducer can combine tuples. This one has a maximum and the sum of exp(x - maximum), so that softmax needs\n"
      "only one pass. It claims that terms may be regrouped and exchanged, which is tested when it is declared:");
  lang::DefinitionScope other;
  Symbol R{"R"}, L{"L", {.min = 1}};
  Tensor v = lang::make_input("v", f32, {R, L}), z = lang::make_output("z", f32, {R});
  const auto merge = reducer(
      "log_sum_exp", {f32, f32}, {lowest(f32), 0},
      [](Values<2> a, Values<2> b) {
        const Expr m = max(a[0], b[0]);
        return values(m, select(a[1] == 0, 0, a[1] * exp(a[0] - m)) + select(b[1] == 0, 0, b[1] * exp(b[0] - m)));
      },
      Order::any);
  Axis l{"l", L};
  auto [peak, total] = compute("pairs", {R}, [&](Var r) { return merge(values(v(r, l), 1), l); });
  lang::bind(z, compute("z", {R}, [&, peak = peak, total = total](Var r) { return peak(r) + log(total(r)); }));
  Schedule soft(lang::build_program("soft", {v, z}), Target::host());
  lesson.definitions(soft);
  tutorial::Array<float> in({1, 3}, [](std::int64_t n) { return 1000 + n; }), out({1}, [](std::int64_t) { return 0; });
  if (!tutorial::run(soft, in, out)) return 1;
  lesson.say("For 1000, 1001 and 1002, whose exponentials are too large for a float, the result is:");
  lesson.show(std::to_string(out(0)));

  lesson.say("A wrong claim is refused, with numbers that show it:");
  try {
    (void)reducer("mean", {f32}, {0}, [](Values<1> a, Values<1> b) { return values((a[0] + b[0]) / 2); }, Order::any);
  } catch (const RefusalError& e) { lesson.show(e.what()); }
  return 0;
}
