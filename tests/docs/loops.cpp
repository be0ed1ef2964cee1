// Examples of the steps that take loops apart, order them, and say how they run.
#include "examples.h"
#include "programs.h"

namespace primitives_page {

Group loops() {
  Group g{"Loops",
          "These steps split loops, merge them, and change their order. A loop that was split no longer exists; its handle "
          "says what it became.",
          {}};
  const auto add = [&](Example e) { g.examples.push_back(std::move(e)); };
  add({"split", "split(loop, factor, tail)",
       "Tiling: the loop becomes an outer loop and an inner loop of `factor` iterations. Later steps map the inner loop to "
       "vectors, registers or caches. `tile` splits two loops and moves both inner loops inside.",
       "Always with the tail `guard`: the last tile skips the points past the end. With `Tail::cover` it skips them too, but "
       "the stages inside of the loops are computed for whole tiles, so they must not read outside of a tensor. "
       "[schedules.md](schedules.md#tails) lists what the other tails require.",
       on<Plus>([](Plus& p, Schedule& s, Show& show) {
         const Tensor& y = p.y;
         auto [i, j] = s[y].spatial<2>();
         s[y].split(j, 8);
         show.after();
         REFUSED(s[y].split(i, 8, Tail::exact));
       }),
       on<Smooth>([](Smooth& p, Schedule& s, Show& show) {
         const Tensor &a = p.a, &y = p.y;
         REFUSED(auto [io, ii] = s[y].split(s[y].spatial<2>()[0], 8, Tail::cover); s[a].compute_at(io));
       })});
  add({"split_parts",
       "split(loop, Parts{n})",
       "Splits the loop into `n` parts, for instance one for each worker, whatever the extent.",
       "Always. If the loop has fewer than `n` iterations, there are fewer parts.",
       on<Plus>([](Plus& p, Schedule& s, Show& show) {
         const Tensor& y = p.y;
         auto [i, j] = s[y].spatial<2>();
         s[y].split(i, Parts{4});
         show.after();
         REFUSED(s[y].split(j, Parts{0}));
       }),
       {},
       "split into parts"});
  add({"fuse", "fuse(outer, inner)",
       "Merges two nested loops into one, which has enough iterations for all workers or threads.",
       "The inner loop is directly inside the outer one, and its extent does not depend on it.",
       on<Plus>([](Plus& p, Schedule& s, Show& show) {
         const Tensor& y = p.y;
         auto [i, j] = s[y].spatial<2>();
         REFUSED(s[y].fuse(j, i));
         s[y].fuse(i, j);
         show.after();
       })});
  add({"reorder", "reorder(outermost, ..., innermost)",
       "Changes the order of loops: adjacent memory in the innermost loop, reuse in the loops around it.",
       "The points of a stage are independent, so their loops may take any order. Loops over the terms of a reduction may be "
       "interchanged if the reduction may be regrouped. A recurrence still computes what it reads first.",
       on<Matmul>([](Matmul& p, Schedule& s, Show& show) {
         const Tensor& C = p.C;
         auto [i, j] = s[C].spatial<2>();
         const Loop k = s[C].reduction();
         s[C].reorder(i, k, j);
         show.after();
       }),
       on<StrictSums>([](StrictSums& p, Schedule& s, Show& show) {
         const Tensor& y = p.y;
         const Loop k = s[y].reduction();
         REFUSED(auto [ko, ki] = s[y].split(k, 4); s[y].reorder(ki, ko));
       })});
  add({"skew", "skew(along, loop, factor)",
       "Wavefronts: with each iteration of `along`, the loop begins `factor` iterations later. Moved outside of `along`, it "
       "separates each point of a recurrence from the points that it reads, so that the points of a diagonal may run in "
       "parallel ([schedules.md](schedules.md#wavefronts)).",
       "Both are whole loops over points. The step itself changes no order; `reorder` and `parallel` afterwards prove their "
       "own conditions.",
       on<Table>([](Table& p, Schedule& s, Show& show) {
         const Tensor& d = p.d;
         auto [i, j] = s[d].spatial<2>();
         REFUSED(s[d].skew(i, j, 0));
         const Loop js = s[d].skew(i, j, 1);
         s[d].reorder(js, i);
         show.after();
         REFUSED(s[d].parallel(js));
       })});
  add({"peel", "peel(loop, Peel::first | Peel::last)",
       "The first or the last iteration gets its own copy of the body, in which conditions such as \"this is the last "
       "iteration\" are constants. Without a second argument, both do.",
       "The loop is whole. A reduction keeps its order.", on<Matmul>([](Matmul& p, Schedule& s, Show& show) {
         const Tensor& C = p.C;
         const Loop k = s[C].reduction();
         s[C].peel(k, Peel::last);
         show.after();
         REFUSED(s[C].peel(k, Peel::first));
       })});
  add({"partition", "partition(loop, at)",
       "Cuts a loop in two at a point over Symbols. Clamps and guards that always hold on one side disappear there. Returns "
       "the upper loop, which begins at the point.",
       "The point is at least 0. The loop is whole, or the upper part of a loop that was cut.",
       on<Plus>([](Plus& p, Schedule& s, Show& show) {
         const Tensor& y = p.y;
         const Symbol& M = p.M;
         auto [i, j] = s[y].spatial<2>();
         REFUSED(s[y].partition(i, M - 1));
         s[y].partition(i, max(M - 1, 0));
         show.after();
       })});
  add({"reverse", "reverse(loop)", "Runs the loop backwards, from the last value of its variable to the first.",
       "The points of a stage are independent. The terms of a reduction may be reversed only if it may be regrouped.",
       on<Plus>([](Plus& p, Schedule& s, Show& show) {
         const Tensor& y = p.y;
         auto [i, j] = s[y].spatial<2>();
         s[y].reverse(j);
         show.after();
       }),
       on<StrictSums>([](StrictSums& p, Schedule& s, Show& show) {
         const Tensor& y = p.y;
         REFUSED(s[y].reverse(s[y].reduction()));
       })});
  add({"tighten", "tighten(loop)",
       "The inner loop of a guarded split ends where the domain ends, instead of testing in each iteration.",
       "The loop is the inner loop of a split, or a skewed loop, and is inside the loops that its end depends on.",
       on<Plus>([](Plus& p, Schedule& s, Show& show) {
         const Tensor& y = p.y;
         auto [i, j] = s[y].spatial<2>();
         auto [jo, ji] = s[y].split(j, 8);
         show.before();
         s[y].tighten(ji);
         show.after();
         REFUSED(s[y].tighten(i));
       })});
  return g;
}

Group kinds() {
  Group g{"How loops run",
          "A loop is serial until one of these steps changes that. `bind` is listed with the steps for devices.",
          {}};
  const auto add = [&](Example e) { g.examples.push_back(std::move(e)); };
  add({"vectorize", "vectorize(loop) or vectorize(loop, lanes)",
       "The iterations become the lanes of vectors. With a number of lanes, the loop is split first; the outer loop remains. "
       "On CUDA, vectors in memory must lie at multiples of their size: `vectorize(loop, gpu::any_alignment)` makes a second "
       "kernel for calls whose arguments do not.",
       "The extent is constant (or set by the machine, `Scalable`), and the iterations are independent. A loop over the terms "
       "of a reduction is not; `rfactor` makes lanes of it.",
       on<Matmul>([](Matmul& p, Schedule& s, Show& show) {
         const Tensor& C = p.C;
         auto [i, j] = s[C].spatial<2>();
         const Loop k = s[C].reduction();
         REFUSED(s[C].vectorize(k, 8));
         s[C].vectorize(j, 8);
         show.after();
       })});
  add({"unroll", "unroll(loop) or unroll(loop, factor)", "The body is repeated once for each iteration, without a loop.",
       "The extent is constant and at most 1024.", on<Plus>([](Plus& p, Schedule& s, Show& show) {
         const Tensor& y = p.y;
         auto [i, j] = s[y].spatial<2>();
         REFUSED(s[y].unroll(j));
         auto [jo, ji] = s[y].split(j, 4);
         show.before();
         s[y].unroll(ji);
         show.after();
       })});
  add({"unroll_and_jam", "unroll_and_jam(loop)",
       "Unrolls an outer loop inside of the serial loops in it, so that data that all its iterations read are loaded once.",
       "As for `reorder` followed by `unroll`.", on<Matmul>([](Matmul& p, Schedule& s, Show& show) {
         const Tensor& C = p.C;
         auto [i, j] = s[C].spatial<2>();
         REFUSED(s[C].unroll_and_jam(i));
         auto [io, ii] = s[C].split(i, 4);
         show.before();
         s[C].unroll_and_jam(ii);
         show.after();
       })});
  add({"parallel", "parallel(loop)", "The iterations run on the threads of the pool, in any order.",
       "The iterations are independent: no two of them write the same element, and none needs what another one computes.",
       on<Matmul>([](Matmul& p, Schedule& s, Show& show) {
         const Tensor& C = p.C;
         auto [i, j] = s[C].spatial<2>();
         const Loop k = s[C].reduction();
         s[C].parallel(i);
         show.after();
         REFUSED(s[C].parallel(k));
       })});
  return g;
}

}  // namespace primitives_page
