// Lesson 10: loops whose bounds are read from tables: rows of a sparse matrix.
#include "lesson.h"
using namespace ashlar;

int main() {
  tutorial::Lesson lesson("10. Tables: rows of a sparse matrix");
  lesson.say(
      "A sparse matrix is stored as a list of its nonzero entries. In the usual format (CSR), entries are stored row by row:\n"
      "entry p is val(p), in column col(p), and row i has the entries from first(i) to first(i + 1) - 1:");
  lesson.show(
      "        5 . . 7        first  0 2 2 3\n"
      "        . . . .        col    0 3 1\n"
      "        . 9 . .        val    5 7 9");
  lesson.say(
      "So an input determines where the axis of the sum begins and ends. What the tables contain cannot be proved here;\n"
      "in_range states it. Later proofs rely on it, and the interpreter checks it.");
  lang::DefinitionScope scope;
  Symbol M{"M"}, K{"K"}, Z{"Z"};
  Tensor first = lang::make_input("first", i32, {M + 1}), col = lang::make_input("col", i32, {Z});
  Tensor val = lang::make_input("val", f32, {Z}), x = lang::make_input("x", f32, {K}), y = lang::make_output("y", f32, {M});
  lang::bind(y, compute("y", {{"i", M}}, [&](Var i) {
               Axis p{"p", in_range(first(i), 0, Z + 1), in_range(first(i + 1), 0, Z + 1)};
               return sum(val(p) * x(in_range(col(p), 0, K)), p);
             }));
  const lang::Built sparse = lang::build_program("sparse", {first, col, val, x, y});
  Schedule s(sparse, Target::parse("x86-64-v3"));
  lesson.definitions(s);
  lesson.watch(s);
  lesson.say("Rows are independent of each other, whatever their lengths:");
  auto [i] = s[y].spatial<1>();
  s[y].parallel(i);
  lesson.say(
      "Each row is summed in strips of eight, which are the lanes of a vector (lesson 7). The number of strips comes from the\n"
      "table, and the last strip ends where its row ends:");
  auto [strip, lane] = s[y].split(s[y].reduction(), 8);
  Stage part = s[y].rfactor(lane);
  part.compute_at(i).store_in(Scope::stack).vectorize(part.spatial<2>()[1]);
  (void)strip;

  lesson.say(
      "The number of iterations of such a loop is known only when the loop starts. A step that needs a constant is refused,\n"
      "such as s[y].unroll(p):");
  Schedule plain(sparse, Target::parse("x86-64-v3"));
  lesson.refused(plain.attempt([&] { plain[y].unroll(plain[y].reduction()); }));

  lesson.say("The matrix above times (1, 10, 100, 1000) is:");
  Schedule here(sparse, Target::host());
  here.replay(s.json());
  tutorial::Array<std::int32_t> rows({4}, [](std::int64_t n) { return n == 0 ? 0 : n == 3 ? 3 : 2; });
  tutorial::Array<std::int32_t> columns({3}, [](std::int64_t n) { return n == 0 ? 0 : n == 1 ? 3 : 1; });
  tutorial::Array<float> values({3}, [](std::int64_t n) { return 5 + 2 * n; });
  tutorial::Array<float> in({4}, [](std::int64_t n) { return n == 0 ? 1 : n == 1 ? 10 : n == 2 ? 100 : 1000; });
  tutorial::Array<float> out({3}, [](std::int64_t) { return -1; });
  if (!tutorial::run(here, rows, columns, values, in, out)) return 1;
  lesson.show(std::to_string(out(0)) + " " + std::to_string(out(1)) + " " + std::to_string(out(2)));
  return 0;
}
