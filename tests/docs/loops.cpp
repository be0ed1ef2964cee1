// Examples of the steps that take loops apart, order them, and say how they run.
#include "examples.h"
#include "programs.h"

namespace primitives_page {

Group loops() {
  Group g{"Loops",
          "They take loops apart, put them together, and change their order. A loop that is taken apart is gone; its handle "
          "says what "
          "became of it.",
          {}};
  const auto add = [&](Example e) { g.examples.push_back(std::move(e)); };
  add({"split", "split(loop, factor, tail)",
       "Tiles: the loop becomes an outer one and an inner one of `factor` iterations, which vectors, registers and caches are "
       "given "
       "afterwards. `tile` splits two loops and puts the inner ones inside.",
       "Always with the tail `guard`, where the last tile skips what lies past the end; the others need what "
       "[schedules.md](schedules.md#tails) lists.",
       on<Plus>([](Plus& p, Schedule& s, Show& show) {
         const Tensor& y = p.y;
         auto [i, j] = s[y].spatial<2>();
         s[y].split(j, 8);
         show.after();
         REFUSED(s[y].split(i, 8, Tail::exact));
       })});
  add({"split_parts", "split(loop, Parts{n})", "`n` parts, as many as there are workers, whatever the extent.",
       "Always; there are fewer parts than asked for where there are fewer iterations.",
       on<Plus>([](Plus& p, Schedule& s, Show& show) {
         const Tensor& y = p.y;
         auto [i, j] = s[y].spatial<2>();
         s[y].split(i, Parts{4});
         show.after();
         REFUSED(s[y].split(j, Parts{0}));
       })});
  add({"fuse", "fuse(outer, inner)", "One loop of two, with iterations enough for all workers or threads.",
       "The inner loop stands directly in the outer one, and its extent does not follow from it.",
       on<Plus>([](Plus& p, Schedule& s, Show& show) {
         const Tensor& y = p.y;
         auto [i, j] = s[y].spatial<2>();
         REFUSED(s[y].fuse(j, i));
         s[y].fuse(i, j);
         show.after();
       })});
  add({"reorder", "reorder(outermost, ..., innermost)",
       "The order of loops: what lies close in memory goes inside, what is reused stays around it.",
       "Points of a stage are independent, so their loops take any order; loops over the terms of a reduction change places "
       "with "
       "each other where it may be regrouped; a read of a recurrence stays behind what it reads.",
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
       "Wavefronts: the loop begins `factor` iterations later with each iteration of the loop along which. Outside of that one "
       "it "
       "parts each point of a recurrence from those that it reads, so that the points of a diagonal may run at once "
       "([schedules.md](schedules.md#wavefronts)).",
       "Both are whole loops over points. It moves no read across its reader; `reorder` and `parallel` afterwards prove "
       "theirs.",
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
       "An iteration at an end gets a copy of the body, in which conditions such as \"the last\" are decided. Without a second "
       "argument both ends are taken.",
       "A whole loop; a reduction keeps its order.", on<Matmul>([](Matmul& p, Schedule& s, Show& show) {
         const Tensor& C = p.C;
         const Loop k = s[C].reduction();
         s[C].peel(k, Peel::last);
         show.after();
         REFUSED(s[C].peel(k, Peel::first));
       })});
  add({"partition", "partition(loop, at)",
       "Cuts a loop at a point over Symbols, so that clamps and guards that hold on one side are decided there. It returns the "
       "loop from the point on.",
       "The point is at least 0; the loop is whole, or the upper part of one that was cut.",
       on<Plus>([](Plus& p, Schedule& s, Show& show) {
         const Tensor& y = p.y;
         const Symbol& M = p.M;
         auto [i, j] = s[y].spatial<2>();
         REFUSED(s[y].partition(i, M - 1));
         s[y].partition(i, max(M - 1, 0));
         show.after();
       })});
  add({"reverse", "reverse(loop)", "The loop goes from the last value of its variable to the first.",
       "Points of a stage are independent; the terms of a reduction are turned around only where it may be regrouped.",
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
       "The inner loop of a guarded split ends where the domain ends, in place of a test in each of its iterations.",
       "The loop is the inner one of a split, or one that was skewed, and stands inside of what its end depends on.",
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
  Group g{"How loops run", "A loop is serial until one of these says otherwise. `bind` is among the steps for devices.", {}};
  const auto add = [&](Example e) { g.examples.push_back(std::move(e)); };
  add({"vectorize", "vectorize(loop) or vectorize(loop, lanes)",
       "The iterations are the lanes of vectors. With a number of lanes the loop is split first and stays as the outer one.",
       "A constant extent (or one of the machine's own, `Scalable`), independent iterations: no loop over the terms of a "
       "reduction, "
       "of which `rfactor` makes lanes.",
       on<Matmul>([](Matmul& p, Schedule& s, Show& show) {
         const Tensor& C = p.C;
         auto [i, j] = s[C].spatial<2>();
         const Loop k = s[C].reduction();
         REFUSED(s[C].vectorize(k, 8));
         s[C].vectorize(j, 8);
         show.after();
       })});
  add({"unroll", "unroll(loop) or unroll(loop, factor)", "The iterations stand one after another, as code.",
       "A constant extent of at most 1024.", on<Plus>([](Plus& p, Schedule& s, Show& show) {
         const Tensor& y = p.y;
         auto [i, j] = s[y].spatial<2>();
         REFUSED(s[y].unroll(j));
         auto [jo, ji] = s[y].split(j, 4);
         show.before();
         s[y].unroll(ji);
         show.after();
       })});
  add({"unroll_and_jam", "unroll_and_jam(loop)",
       "The iterations of an outer loop stand one after another inside of the serial loops in it: what they load they load "
       "once.",
       "As for `reorder` and `unroll`, which it is.", on<Matmul>([](Matmul& p, Schedule& s, Show& show) {
         const Tensor& C = p.C;
         auto [i, j] = s[C].spatial<2>();
         REFUSED(s[C].unroll_and_jam(i));
         auto [io, ii] = s[C].split(i, 4);
         show.before();
         s[C].unroll_and_jam(ii);
         show.after();
       })});
  add({"parallel", "parallel(loop)", "The iterations run on the threads of the pool, in any order.",
       "Independent iterations: no two write one element or need what the other one computes.",
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
