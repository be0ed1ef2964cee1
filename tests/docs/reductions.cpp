// Examples of the steps that take reductions and scans apart, and of promises about calls.
#include "examples.h"
#include "programs.h"

namespace primitives_page {

Group reductions() {
  Group g{"Reductions and scans",
          "They regroup what is summed, so they need a reducer that says it may be: `sum` may, `strict_sum` may not.",
          {}};
  const auto add = [&](Example e) { g.examples.push_back(std::move(e)); };
  add({"rfactor", "rfactor(loop)",
       "Takes a reduction apart: a new stage has a partial result for each iteration of the loop, as a last dimension (or the "
       "first, "
       "`Place::first`), and the old one combines them. So come lanes, workers and blocks of a sum.",
       "The reducer may be regrouped, and has an identity for parts without terms.",
       on<Sums>([](Sums& p, Schedule& s, Show& show) {
         const Tensor& y = p.y;
         auto [ko, ki] = s[y].split(s[y].reduction(), 8);
         show.before();
         s[y].rfactor(ki);
         show.after();
         (void)ko;
       }),
       on<StrictSums>([](StrictSums& p, Schedule& s, Show& show) {
         const Tensor& y = p.y;
         const Loop k = s[y].reduction();
         REFUSED(auto [ko, ki] = s[y].split(k, 8); s[y].rfactor(ki));
       })});
  add({"cut", "cut(terms, loop)",
       "The terms that belong to earlier iterations of a loop become a stage of their own, from which the sum goes on. All "
       "points "
       "of an iteration have these terms, so that they are summed for all of them at once, in lanes: a triangle becomes a "
       "rectangle and a small triangle, and a factorization becomes a blocked one.",
       "The loop is the outer one of a split, by a constant, of a dimension of the stage, or of what reads it there; the first "
       "loop over terms. Terms keep their order, but for a loop that counts down, which needs a reducer that may be regrouped.",
       on<Triangle>([](Triangle& p, Schedule& s, Show& show) {
         const Tensor& y = p.y;
         auto [i] = s[y].spatial<1>();
         const Loop k = s[y].reduction();
         REFUSED(s[y].cut(k, i));
         auto [io, ii] = s[y].split(i, 8);
         show.before();
         s[y].cut(k, io).compute_at(io);
         show.after();
         (void)ii;
       })});
  add({"associative_scan", "associative_scan(loop)",
       "A scan in blocks: their totals, what stands before each of them, and each by itself; no block waits for another one "
       "but for "
       "the short scan over the totals (Blelloch, 1990).",
       "The loop is the outer one of a split, by a constant, of what a `scan` runs along; its reducer may be regrouped.",
       on<Running>([](Running& p, Schedule& s, Show& show) {
         const Tensor& t = p.t;
         const Loop i = s[t].spatial<1>()[0];
         REFUSED(s[t].associative_scan(i));
         auto [io, ii] = s[t].split(i, 64);
         show.before();
         s[t].associative_scan(io);
         show.after();
         (void)ii;
       })});
  add({"roll", "roll(leader, rescale)",
       "A sum whose terms read a maximum, and that maximum, in one pass: where a new maximum is met, what was summed so far is "
       "multiplied "
       "by `rescale(old, now)` (Milakov and Gimelshein, 2018).",
       "Both are over the same points, as they were defined. What rescale claims is tried for a few values.",
       on<Exponentials>([](Exponentials& p, Schedule& s, Show& show) {
         const Tensor &top = p.top, &total = p.total;
         REFUSED(s[total].roll(top, [](Expr old, Expr now) { return exp(now - old); }));
         s[total].roll(top, [](Expr old, Expr now) { return exp(old - now); });
         show.after();
       })});
  add({"distribute", "distribute<N>()",
       "Multiplies out a sum of integers whose term is a product with sums in it: the product without zero points, which "
       "dot-product "
       "instructions compute, and smaller sums.",
       "Integers, which wrap, so that it is exact; `N` is the number of sums that result.",
       on<Zeros>([](Zeros& p, Schedule& s, Show& show) {
         const Tensor& t = p.t;
         REFUSED(s[t].distribute<3>());
         s[t].distribute<2>();
         show.after();
       })});
  add({"decompose_init", "decompose_init(loop)",
       "The init of a reduction stands before the loop, in loops of its own, apart from the update: accumulators are cleared "
       "once, and "
       "the update can be one instruction.",
       "The loop stands outside of the stage's other reduction loops.", on<Matmul>([](Matmul& p, Schedule& s, Show& show) {
         const Tensor& C = p.C;
         auto [i, j] = s[C].spatial<2>();
         const Loop k = s[C].reduction();
         s[C].reorder(i, k, j);
         REFUSED(s[C].decompose_init(j));
         show.before();
         s[C].decompose_init(k);
         show.after();
       })});
  add({"atomic", "atomic()",
       "Steps that run at once combine in memory by indivisible updates, so that two may meet in one element: one histogram, "
       "many workers.",
       "A combiner that associates and commutes, of a type for which the target has such an update.",
       on<Histogram>([](Histogram& p, Schedule& s, Show& show) {
         const Tensor& counts = p.counts;
         const Loop n = s[counts].reduction();
         REFUSED(s[counts].parallel(n));
         s[counts].atomic().parallel(n);
         show.after();
       })});
  return g;
}

Group promises() {
  Group g{"What calls promise", "They move nothing: they say what later proofs may use.", {}};
  const auto add = [&](Example e) { g.examples.push_back(std::move(e)); };
  add({"assume", "s.assume(condition)",
       "A promise of every caller, over Symbols. The entry refuses a call that breaks it, with its text.",
       "A condition over Symbols that some call can keep.", on<Plus>([](Plus& p, Schedule& s, Show& show) {
         const Symbol& N = p.N;
         REFUSED(s.assume(N < 0));
         s.assume(N % 16 == 0);
         show.after();
       })});
  add({"specialize", "s.specialize(condition)",
       "A schedule of its own for calls that keep a condition, which its steps may rely on; the entry chooses. It begins with "
       "the steps "
       "made so far.",
       "A condition over Symbols that holds for some calls and not for all.", on<Plus>([](Plus& p, Schedule& s, Show& show) {
         const Tensor& y = p.y;
         const Symbol& N = p.N;
         REFUSED(s.specialize(N >= 0));
         auto [i, j] = s[y].spatial<2>();
         Schedule& whole = s.specialize(N % 8 == 0);
         whole[y].split(j, 8, Tail::exact);
         show.after();
         (void)i;
       })});
  add({"injective", "s.injective(table)",
       "No two elements of an input of integers are equal: a permutation. Steps of a scatter that choose their element by it "
       "may then "
       "run at once.",
       "An input of integers. The interpreter checks the promise, compiled code relies on it.",
       on<Permuted>([](Permuted& p, Schedule& s, Show& show) {
         const Tensor &order = p.order, &sums = p.sums, &x = p.x;
         const Loop n = s[sums].reduction();
         REFUSED(s[sums].parallel(n));
         s.injective(order);
         s[sums].parallel(n);
         show.after();
         REFUSED(s.injective(x));
       })});
  return g;
}

}  // namespace primitives_page
