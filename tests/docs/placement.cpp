// Examples of the steps that say where stages are computed and stored.
#include "examples.h"
#include "programs.h"

namespace primitives_page {

Group placement() {
  Group g{"Where stages are computed",
          "A stage is computed before all its readers, whole, until one of these says otherwise. Boxes follow from what is "
          "read: a nest's "
          "first line says which points it computes.",
          {}};
  const auto add = [&](Example e) { g.examples.push_back(std::move(e)); };
  add({"compute_at", "compute_at(loop)",
       "Computes the stage inside a loop of its reader, for what that iteration reads: less storage, close in time, at the "
       "price of "
       "points that several iterations compute.",
       "Every reader lies inside the loop; of an output every element is read there.",
       on<Smooth>([](Smooth& p, Schedule& s, Show& show) {
         const Tensor &a = p.a, &y = p.y;
         auto [i, j] = s[y].spatial<2>();
         s[a].compute_at(i);
         show.after();
         const Loop own = s[a].spatial<2>()[0];
         REFUSED(s[a].compute_at(own));
       })});
  add({"compute_root", "compute_root()",
       "Takes the stage back out of all loops: each point is computed once, and all are stored.",
       "Nothing that it reads is computed inside the loop that it leaves.", on<Smooth>([](Smooth& p, Schedule& s, Show& show) {
         const Tensor &a = p.a, &y = p.y;
         auto [i, j] = s[y].spatial<2>();
         s[a].compute_at(i);
         show.before();
         s[a].compute_root();
         show.after();
       }),
       on<Chained>([](Chained& p, Schedule& s, Show& show) {
         const Tensor &a = p.a, &b = p.b, &y = p.y;
         const Loop i = s[y].spatial<1>()[0];
         REFUSED(s[b].compute_at(i); s[a].compute_at(i); s[b].compute_root());
       })});
  add({"inline", "inline_()", "Puts the stage's formula in the place of each read: nothing is stored, each reader computes it.",
       "A stage that is no reduction, scatter, recurrence or output.", on<Smooth>([](Smooth& p, Schedule& s, Show& show) {
         const Tensor& a = p.a;
         s[a].inline_();
         show.after();
       }),
       on<Dense>([](Dense& d, Schedule& s, Show& show) {
         const Tensor& p = d.p;
         REFUSED(s[p].inline_());
       })});
  add({"store_at", "store_at(loop)",
       "Storage begins at a loop further out than where the stage is computed, so that later iterations find what earlier ones "
       "have "
       "computed (`slide`).",
       "The loop stands around where the stage is computed and around all its readers.",
       on<Smooth>([](Smooth& p, Schedule& s, Show& show) {
         const Tensor &a = p.a, &y = p.y;
         auto [i, j] = s[y].spatial<2>();
         auto [io, ii] = s[y].split(i, 16);
         s[a].compute_at(ii);
         show.before();
         s[a].store_at(io);
         show.after();
         const Loop own = s[a].spatial<2>()[0];
         REFUSED(s[a].store_at(own));
       })});
  add({"slide", "slide(loop)",
       "Each iteration computes only what the ones before have not: here the first one two rows, the others one.",
       "The loop is serial, the storage lies outside of it, and the window moves forward without gaps. Storage that `store_at` "
       "did not "
       "place begins around the loop, and the inner loop of a guarded split is tightened. What slides may be read by stages "
       "that slide "
       "along the same loop: place and slide the last one first.",
       on<Smooth>([](Smooth& p, Schedule& s, Show& show) {
         const Tensor &a = p.a, &y = p.y;
         auto [i, j] = s[y].spatial<2>();
         auto [io, ii] = s[y].split(i, 16);
         REFUSED(s[a].slide(ii));
         s[a].compute_at(ii);
         show.before();
         s[a].slide(ii);
         show.after();
       })});
  add({"fold", "fold(dim, n)", "The storage of a dimension becomes a ring of `n`: row d lies in slot d % n.",
       "All that is live at once fits the ring; of a recurrence the steps that the next one reads, and those that are read "
       "when it is done.",
       on<Smooth>([](Smooth& p, Schedule& s, Show& show) {
         const Tensor &a = p.a, &y = p.y;
         auto [i, j] = s[y].spatial<2>();
         auto [io, ii] = s[y].split(i, 16);
         s[y].tighten(ii);
         s[a].store_at(io).compute_at(ii).slide(ii);
         REFUSED(s[a].fold(0, 1));
         show.before();
         s[a].fold(0, 2);
         show.after();
       })});
  add({"fuse_into", "fuse_into(loop of the producer)",
       "The other way round: a reader is computed inside a loop of what it reads, at the points that are finished there, while "
       "they "
       "are in registers or a cache. An epilogue of a product, in its last step over k.",
       "The producer's loops finish a box of points in each iteration, and all that the reader reads is there.",
       on<Dense>([](Dense& d, Schedule& s, Show& show) {
         const Tensor &p = d.p, &y = d.y;
         auto [i, j] = s[p].spatial<2>();
         s[y].fuse_into(i);
         show.after();
         const Loop own = s[y].spatial<2>()[1];
         REFUSED(s[y].fuse_into(own));
       })});
  add({"fuse_siblings", "fuse_siblings(loop)",
       "One loop of the stage's outermost one and that of a stage before it, which it need not read: each iteration has those "
       "of both.",
       "As many iterations of each; what one iteration reads of its siblings, it or an earlier one has computed.",
       on<Two>([](Two& p, Schedule& s, Show& show) {
         const Tensor &y = p.y, &a = p.a;
         const Loop i = s[a].spatial<1>()[0];
         s[y].fuse_siblings(i);
         show.after();
         const Tensor& z = p.z;
         REFUSED(s[z].fuse_siblings(i));
       })});
  add({"clone", "s.clone(stage, {readers})",
       "A second stage with the same definition, which these readers read, so that each is placed on its own.",
       "The named stages read it, and at least one reader keeps the old one.", on<Two>([](Two& p, Schedule& s, Show& show) {
         const Tensor &y = p.y, &z = p.z, &a = p.a;
         REFUSED(s.clone(a, {y, z}));
         s.clone(a, {z});
         show.after();
       })});
  return g;
}

}  // namespace primitives_page
