// Examples of the steps that take reductions and scans apart, and of promises about calls.
#include "examples.h"
#include "programs.h"

namespace primitives_page {

Group reductions() {
  Group g{"Reductions and scans",
          "These steps regroup the terms of a reduction. The reducer must allow that: `sum` does, `strict_sum` does not.",
          {}};
  const auto add = [&](Example e) { g.examples.push_back(std::move(e)); };
  add({"rfactor", "rfactor(loop)",
       "Factors a reduction: a new stage has a partial result for each iteration of the loop, in a new last dimension (or "
       "first, `Place::first`), and the old stage combines them. This is how a sum gets lanes, workers or blocks.",
       "The reducer may be regrouped, and has an identity, which is the result of a part without terms.",
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
       "Moves the terms that belong to earlier iterations of a loop to a new stage; the sum continues from there. All points "
       "of an iteration have these terms in common, so they can be summed in lanes: a triangle becomes a rectangle and a small "
       "triangle, and a factorization becomes a blocked one.",
       "The loop is the outer loop of a split by a constant, of a dimension of the stage or of a stage that reads it there. "
       "`terms` is the first loop over terms. Terms keep their order, unless the loop counts down; the reducer must then allow "
       "regrouping.",
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
       "Computes a scan in blocks: first their totals, then a short scan over the totals, then each block from its start "
       "value. No block waits for another one (Blelloch, 1990).",
       "The loop is the outer loop of a split by a constant, of the dimension that a `scan` runs along. The reducer may be "
       "regrouped.",
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
       "Computes a maximum, and a sum whose terms read that maximum, in one pass: whenever the maximum changes, the sum so far "
       "is multiplied by `rescale(old, now)` (Milakov and Gimelshein, 2018).",
       "Both reductions are over the same points, and no step has changed their loops. `rescale` is tested on sample values, "
       "not proved.",
       on<Exponentials>([](Exponentials& p, Schedule& s, Show& show) {
         const Tensor &top = p.top, &total = p.total;
         REFUSED(s[total].roll(top, [](Expr old, Expr now) { return exp(now - old); }));
         s[total].roll(top, [](Expr old, Expr now) { return exp(old - now); });
         show.after();
       })});
  add({"rebase", "rebase(leader, rescale)",
       "Makes terms read the maximum of their own part, which `rfactor` made, instead of the overall maximum. Where the sums "
       "of the parts are added, each is multiplied by `rescale(maximum of the part, maximum of all)`. `roll` then computes "
       "maximum and sums in one pass, a part at a time.",
       "The terms are one stage, the only reader of the maximum. Its readers are sums of parts of it, or of products with it. "
       "One stage adds up the parts of each sum; there are as many parts as of the maximum. A part of the maximum covers the "
       "same terms as that part of the sums, so no term exceeds it. `rescale` is tested on sample values, not proved.",
       on<Weights>([](Weights& p, Schedule& s, Show& show) {
         const Tensor &top = p.top, &e = p.e, &total = p.total;
         REFUSED(s[e].rebase(top, [](Expr old, Expr now) { return exp(old - now); }));
         s[top].rfactor(s[top].split(s[top].reduction(), 64).outer);
         s[total].rfactor(s[total].split(s[total].reduction(), 64).outer);
         show.before();
         s[e].rebase(top, [](Expr old, Expr now) { return exp(old - now); });
         show.after();
       })});
  add({"distribute", "distribute<N>()",
       "Expands a sum of integers whose terms are products of sums: into the product without zero points, which dot-product "
       "instructions compute, and smaller sums.",
       "The terms are integers; these wrap, so the result is exact. `N` is the number of sums that result.",
       on<Zeros>([](Zeros& p, Schedule& s, Show& show) {
         const Tensor& t = p.t;
         REFUSED(s[t].distribute<3>());
         s[t].distribute<2>();
         show.after();
       })});
  add({"decompose_init", "decompose_init(loop)",
       "Moves the init of a reduction before the loop, into its own loops: accumulators are cleared once, and the update can "
       "become one instruction.",
       "The loop is outside of the other reduction loops of the stage.", on<Matmul>([](Matmul& p, Schedule& s, Show& show) {
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
       "Combines values in memory by atomic updates, so that parallel steps may update the same element: one histogram, many "
       "workers.",
       "The combiner is associative and commutative, and the target has an atomic update for its type.",
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
  Group g{"What calls promise", "These calls change no loop. They state what later proofs may use.", {}};
  const auto add = [&](Example e) { g.examples.push_back(std::move(e)); };
  add({"assume", "s.assume(condition)",
       "A promise of every caller, over Symbols. The kernel refuses a call that breaks it, and names the condition.",
       "The condition is over Symbols, and holds for some call.", on<Plus>([](Plus& p, Schedule& s, Show& show) {
         const Symbol& N = p.N;
         REFUSED(s.assume(N < 0));
         s.assume(N % 16 == 0);
         show.after();
       })});
  add({"specialize", "s.specialize(condition)",
       "A separate schedule for calls that satisfy a condition, which its steps may rely on. The kernel chooses at the call. "
       "The schedule begins with the steps made so far.",
       "The condition is over Symbols, and holds for some calls but not for all.",
       on<Plus>([](Plus& p, Schedule& s, Show& show) {
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
       "A promise that no two elements of an input of integers are equal, as in a permutation. Steps of a scatter that choose "
       "their element through it may then run in parallel.",
       "The tensor is an input of integers. The interpreter checks the promise; compiled code relies on it.",
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
