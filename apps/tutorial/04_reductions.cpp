// Lesson 4: sums, the order of loops, and a matrix multiplication whose tile stays in registers.
#include "lesson.h"
using namespace ashlar;

int main() {
  tutorial::Lesson lesson("4. Reductions: a matrix multiplication");
  lesson.say(
      "A reduction runs over an Axis. A sum is a stage: its elements start at 0 (or at the value of .from), and each step\n"
      "adds a term. A sum of products accumulates by fma, by definition. Facts about an extent are part of its declaration,\n"
      "here that tiles of 4 x 16 leave nothing over. The call checks these facts, and proofs use them.");
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
      "Without a schedule, each element is finished before the next one begins, and the partial sum is in C's memory.\n"
      "cache_write moves the sum to a new stage; C becomes a copy of it:");
  Stage sums = s.cache_write(C, Scope::registers);
  lesson.say(
      "Split C into tiles of 4 x 16 elements, and compute in each tile only its own sums. The storage follows: 64 numbers.");
  auto [i, j] = s[C].spatial<2>();
  auto [io, jo, ii, ji] = s[C].tile(i, j, 4, 16);
  sums.compute_at(jo);
  lesson.say("For each k the whole tile takes one step: a column of 4 elements of A times a row of 16 elements of B.");
  auto [si, sj] = sums.spatial<2>();
  sums.reorder(sums.reduction(), si, sj);
  lesson.say(
      "A row of 16 is two vectors of eight. Unrolled, every element has its own register. Scope::registers requires that: an\n"
      "index that is not constant, or a tile that does not fit into the registers, would be refused.");
  auto [sv, sl] = sums.split(sj, 8);
  sums.vectorize(sl).unroll(sv).unroll(si);
  auto [cv, cl] = s[C].split(ji, 8);
  s[C].vectorize(cl).unroll(cv).unroll(ii);
  lesson.say("Tiles are independent of each other:");
  s[C].parallel(io);

  lesson.say("The schedule is saved and replayed for this machine. 4 x 5 times 5 x 16 small integers give, at the corners:");
  tutorial::Array<float> a({4, 5}, [](std::int64_t n) { return n % 7; }), b({5, 16}, [](std::int64_t n) { return n % 5 - 2; }),
      c({4, 16}, [](std::int64_t) { return -1; });
  Schedule here(matmul, Target::host());
  here.replay(s.json());
  if (!tutorial::run(here, a, b, c)) return 1;
  lesson.show(std::to_string(c(0, 0)) + " " + std::to_string(c(0, 15)) + " " + std::to_string(c(3, 0)) + " " +
              std::to_string(c(3, 15)));
  lesson.say("If the fact does not hold, the call fails:");
  tutorial::Array<float> odd({3, 5}, [](std::int64_t n) { return n; }), d({3, 16}, [](std::int64_t) { return -1; });
  if (tutorial::run(here, odd, b, d)) return 1;
  return 0;
}
