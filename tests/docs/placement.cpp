// Examples of the steps that say where stages are computed and stored.
#include "examples.h"
#include "programs.h"

namespace primitives_page {

Group placement() {
  Group g{"Where stages are computed",
          "Until one of these steps changes that, a whole stage is computed before all its readers. What the readers read "
          "determines the box of points that is computed; it is in the first line of a nest.",
          {}};
  const auto add = [&](Example e) { g.examples.push_back(std::move(e)); };
  add({"compute_at", "compute_at(loop)",
       "Computes the stage inside a loop of its reader, only what that iteration reads. This needs less storage and reads "
       "values soon after they are computed, but several iterations may compute the same points.",
       "Every reader is inside the loop. If the stage is an output, the readers read every element of it.",
       on<Smooth>([](Smooth& p, Schedule& s, Show& show) {
         const Tensor &a = p.a, &y = p.y;
         auto [i, j] = s[y].spatial<2>();
         s[a].compute_at(i);
         show.after();
         const Loop own = s[a].spatial<2>()[0];
         REFUSED(s[a].compute_at(own));
       })});
  add({"compute_root", "compute_root()",
       "Moves the stage out of all loops again: each point is computed once, and all of them are stored.",
       "Nothing that the stage reads is computed inside the loop that it leaves.",
       on<Smooth>([](Smooth& p, Schedule& s, Show& show) {
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
  add({"inline", "inline_()",
       "Replaces each read of the stage by its formula: nothing is stored, and each reader computes the value.",
       "The stage is not a reduction, a scatter, a recurrence or an output.",
       on<Smooth>([](Smooth& p, Schedule& s, Show& show) {
         const Tensor& a = p.a;
         s[a].inline_();
         show.after();
       }),
       on<Dense>([](Dense& d, Schedule& s, Show& show) {
         const Tensor& p = d.p;
         REFUSED(s[p].inline_());
       })});
  add({"store_at", "store_at(loop)",
       "Allocates the stage at a loop outside of the one that computes it, so that later iterations can reuse what earlier "
       "ones computed (`slide`).",
       "The loop encloses the computation of the stage and all its readers.",
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
       "Each iteration computes only what earlier ones have not computed: in this example the first iteration computes two "
       "rows, the others one.",
       "The loop is serial, the storage is outside of it, and the window moves forward without gaps. If `store_at` did not "
       "place the storage, it is allocated around the loop; if the loop is the inner loop of a guarded split, it is tightened. "
       "Stages that slide along the same loop may read each other: place and slide the last one first.",
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
  add({"fold", "fold(dim, n)", "Stores a dimension as a ring buffer of `n` slots: row d is in slot d % n.",
       "The ring holds all rows that are live at the same time: for a recurrence, the steps that the next one reads and those "
       "that are read afterwards.",
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
       "The inverse of `compute_at`: computes a reader inside a loop of the stage that it reads, at the points that are "
       "finished there, while they are in registers or a cache. The epilogue of a matrix product, for example, runs in the "
       "last step over k.",
       "Each iteration of the producer's loop finishes a box of points, which contains all that the reader reads.",
       on<Dense>([](Dense& d, Schedule& s, Show& show) {
         const Tensor &p = d.p, &y = d.y;
         auto [i, j] = s[p].spatial<2>();
         s[y].fuse_into(i);
         show.after();
         const Loop own = s[y].spatial<2>()[1];
         REFUSED(s[y].fuse_into(own));
       })});
  add({"fuse_siblings", "fuse_siblings(loop)",
       "Merges the stage's outermost loop with that of an earlier stage, which it need not read: each iteration runs an "
       "iteration of both.",
       "Both loops have the same number of iterations. What an iteration reads of the other stage was computed in that "
       "iteration or an earlier one.",
       on<Two>([](Two& p, Schedule& s, Show& show) {
         const Tensor &y = p.y, &a = p.a;
         const Loop i = s[a].spatial<1>()[0];
         s[y].fuse_siblings(i);
         show.after();
         const Tensor& z = p.z;
         REFUSED(s[z].fuse_siblings(i));
       })});
  add({"clone", "s.clone(stage, {readers})",
       "Makes a second stage with the same definition for these readers, so that the two stages can be placed independently.",
       "The named stages read the stage, and at least one reader keeps reading the original.",
       on<Two>([](Two& p, Schedule& s, Show& show) {
         const Tensor &y = p.y, &z = p.z, &a = p.a;
         REFUSED(s.clone(a, {y, z}));
         s.clone(a, {z});
         show.after();
       })});
  return g;
}

}  // namespace primitives_page
