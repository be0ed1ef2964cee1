// Lesson 4: sums, the order of loops, and a product of matrices whose tile stays in registers.
#include "lesson.h"
using namespace ashlar;

int main() {
  tutorial::Lesson lesson("4. Reductions: a product of matrices");
  lesson.say(
      "An Axis is what a reduction runs over. A sum is a whole stage: its elements start at 0 (or at what .from says) and add "
      "a\n"
      "term for each step. The sum of a product accumulates by fma, by definition. What is known of an extent is said with it, "
      "here\n"
      "that tiles of 4 x 16 leave nothing over: the call checks it, and the proofs use it.");
  lang::DefinitionScope scope;
  Symbol M{"M", {.multiple_of = 4}}, N{"N", {.multiple_of = 16}}, K{"K"};
  Tensor A = lang::make_input("A", f32, {M, K}), B = lang::make_input("B", f32, {K, N}),
         C = lang::make_output("C", f32, {M, N});
  Axis k{"k", K};
  lang::bind(C, compute("C", {{"i", M}, {"j", N}}, [&](Var i, Var j) { return sum(A(i, k) * B(k, j), k); }));
  const lang::Built matmul = lang::build_program("matmul", {A, B, C});
  Schedule s(matmul, Target::parse("x86-64-v3"));
  lesson.definitions(s);
  lesson.watch(s);

  lesson.say(
      "As it stands each element is finished before the next one begins, and what is summed lies in C's memory all the while. "
      "A\n"
      "cache for what is written takes the sum over; what is left of C is a copy:");
  Stage sums = s.cache_write(C, Scope::registers);
  lesson.say("Tiles of 4 x 16 elements of C, and in each the sums for just these elements. Their storage follows: 64 numbers.");
  auto [i, j] = s[C].spatial<2>();
  auto [io, jo, ii, ji] = s[C].tile(i, j, 4, 16);
  sums.compute_at(jo);
  lesson.say("For each k the whole tile takes one step: a column of 4 elements of A times a row of 16 of B.");
  auto [si, sj] = sums.spatial<2>();
  sums.reorder(sums.reduction(), si, sj);
  lesson.say(
      "Rows of 16 are two vectors of eight. Unrolled, every element has a register of its own, which is what Scope::registers\n"
      "promises: an index that is not constant there, or a tile that does not fit the file, would be refused.");
  auto [sv, sl] = sums.split(sj, 8);
  sums.vectorize(sl).unroll(sv).unroll(si);
  auto [cv, cl] = s[C].split(ji, 8);
  s[C].vectorize(cl).unroll(cv).unroll(ii);
  lesson.say("Tiles are independent of one another:");
  s[C].parallel(io);

  lesson.say(
      "Compiled for this machine, by the same steps, which a schedule can save and another replay; 4 x 5 times 5 x 16 small "
      "integers, the corners:");
  tutorial::Array<float> a({4, 5}, [](std::int64_t n) { return n % 7; }), b({5, 16}, [](std::int64_t n) { return n % 5 - 2; }),
      c({4, 16}, [](std::int64_t) { return -1; });
  Schedule here(matmul, Target::host());
  here.replay(s.json());
  if (!tutorial::run(here, a, b, c)) return 1;
  lesson.show(std::to_string(c(0, 0)) + " " + std::to_string(c(0, 15)) + " " + std::to_string(c(3, 0)) + " " +
              std::to_string(c(3, 15)));
  lesson.say("And where the fact does not hold:");
  tutorial::Array<float> odd({3, 5}, [](std::int64_t n) { return n; }), d({3, 16}, [](std::int64_t) { return -1; });
  if (tutorial::run(here, odd, b, d)) return 1;
  return 0;
}
