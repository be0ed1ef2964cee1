// Examples of the steps about memory: copies, scopes, layouts, and what is asked of caches.
#include "examples.h"
#include "programs.h"

namespace primitives_page {

Group storage() {
  Group g{"Memory", "Copies of tensors, where they lie, and in which order. None of them changes a value.", {}};
  const auto add = [&](Example e) { g.examples.push_back(std::move(e)); };
  add({"cache_read", "s.cache_read(source, {readers}, scope, fill)",
       "A new stage holds a copy of what the readers read: packed, in a nearer memory. With a fill value "
       "it has "
       "that where the source has no element, so that readers may read past its end (`Tail::pad`).",
       "The named stages read the source.", on<Matmul>([](Matmul& p, Schedule& s, Show& show) {
         const Tensor &A = p.A, &B = p.B, &C = p.C;
         s.cache_read(B, {C}, Scope::global);
         show.after();
         (void)A;
         REFUSED(s.cache_read(C, {C}, Scope::global));
       })});
  add({"cache_write", "s.cache_write(stage, scope)",
       "The computation moves to a new stage, and the old one copies from it: accumulators in registers, results in a layout "
       "of their "
       "own before they are stored.",
       "Before other steps on the loops of the stage.", on<Matmul>([](Matmul& p, Schedule& s, Show& show) {
         const Tensor& C = p.C;
         s.cache_write(C, Scope::stack);
         show.after();
       }),
       on<Matmul>([](Matmul& p, Schedule& s, Show& show) {
         const Tensor& C = p.C;
         auto [i, j] = s[C].spatial<2>();
         REFUSED(s[C].split(j, 8); s.cache_write(C, Scope::stack));
         (void)i;
       })});
  add({"set_scope", "store_in(scope)",
       "Which memory the stage is stored in: `global` (the workspace), `stack`, `registers`; on a device `shared`.",
       "A scope that the target has; what it can hold is checked when the schedule is complete, at this line.",
       on<Smooth>([](Smooth& p, Schedule& s, Show& show) {
         const Tensor &a = p.a, &y = p.y;
         auto [i, j] = s[y].spatial<2>();
         auto [jo, ji] = s[y].split(j, 8);
         s[a].compute_at(jo);
         show.before();
         s[a].store_in(Scope::stack);
         show.after();
         REFUSED(s[a].store_in(Scope::shared));
       })});
  add({"set_layout", "transform_layout(map)",
       "Where each element lies: panels, tiles, transposed. The formulas keep their indices; addresses follow.",
       "No two elements lie at one place.", on<Smooth>([](Smooth& p, Schedule& s, Show& show) {
         const Tensor& a = p.a;
         REFUSED(s[a].transform_layout([](Var r, Var c) { return at(r / 2, c); }));
         s[a].transform_layout([](Var r, Var c) { return at(c / 16, r, c % 16); });
         show.after();
       })});
  add({"widen", "widen(type)",
       "A copy holds its elements in a wider type, so that each is converted once, where it is copied, and not at every read.",
       "A copy that `cache_read` made; the type holds every value, and every reader converts to it, or to a wider one.",
       on<Bytes>([](Bytes& p, Schedule& s, Show& show) {
         const Tensor &A = p.A, &C = p.C;
         Stage A_cache = s.cache_read(A, {C}, Scope::global);
         show.before();
         A_cache.widen(i16);
         show.after();
         REFUSED(A_cache.widen(i8));
       })});
  add({"swizzle", "swizzle(map)", "A layout that permutes the elements within the storage they have, against bank conflicts.",
       "No two elements lie at one place, and none outside of the storage; constant extents.",
       on<Plus>([](Plus& p, Schedule& s, Show& show) {
         const Tensor &x = p.x, &y = p.y;
         auto [i, j] = s[y].spatial<2>();
         auto [io, jo, ii, ji] = s[y].tile(i, j, 8, 32);
         Stage x_cache = s.cache_read(x, {y}, Scope::global, 0);
         x_cache.compute_at(jo);
         REFUSED(x_cache.swizzle([](Var r, Var c) { return at(r, c + r); }));
         show.before();
         x_cache.swizzle([](Var r, Var c) { return at(r, c ^ (r % 4 * 8)); });
         show.after();
         (void)io, (void)ii, (void)ji;
       })});
  add({"align", "align(dim, n)",
       "The extent of a stored dimension is rounded up to a multiple of `n`, so that rows begin on vectors.",
       "A stage with storage of its own.", on<Smooth>([](Smooth& p, Schedule& s, Show& show) {
         const Tensor &a = p.a, &y = p.y;
         s[a].align(1, 16);
         show.after();
         REFUSED(s[y].align(1, 16));
       })});
  add({"drop_dim", "drop_dim(component, dim)",
       "The storage of one component of a tuple has no dimension along which its value is the same: here the maximum of a row, "
       "for all "
       "columns c.",
       "The value does not depend on the dimension, and each step of the reduction reads what the one before it stored.",
       on<Attend>([](Attend& p, Schedule& s, Show& show) {
         const auto& both = p.both;
         s[both[0]].drop_dim(0, 1);
         show.after();
         const Tensor& o1 = both[1];
         REFUSED(s[o1].drop_dim(1, 1));
       })});
  add({"pack_argument", "s.pack_argument(input, map, Pack::by_caller)",
       "The caller hands the input over in this layout; the generated header has a function that packs it "
       "([generators.md](generators.md#arguments-that-the-caller-packs)). With `Pack::at_entry` the kernel packs it, by a "
       "`cache_read`; a constant is laid out so when it is compiled, and costs a call nothing.",
       "An input, or with `Pack::at_entry` a constant; no two elements lie at one place.",
       on<Matmul>([](Matmul& p, Schedule& s, Show& show) {
         const Tensor &B = p.B, &C = p.C;
         REFUSED(s.pack_argument(C, [](Var r, Var c) { return at(c, r); }, Pack::by_caller));
         s.pack_argument(B, [](Var r, Var c) { return at(c / 16, r, c % 16); }, Pack::by_caller);
         show.after();
       })});
  add({"prefetch", "prefetch(loop, tensor, ahead)",
       "In each iteration the line is asked for that the iteration `ahead` steps later reads.",
       "The stage reads the tensor at an address that no table decides. Nothing is read past an end.",
       on<Matmul>([](Matmul& p, Schedule& s, Show& show) {
         const Tensor &B = p.B, &C = p.C;
         const Loop k = s[C].reduction();
         REFUSED(s[C].prefetch(k, B, 0));
         s[C].prefetch(k, B, 8);
         show.after();
       })});
  add({"stream_store", "stream_store()", "Whole vectors of a large result go past the caches.",
       "An output that is no recurrence and is not read again.", on<Plus>([](Plus& p, Schedule& s, Show& show) {
         const Tensor& y = p.y;
         s[y].stream_store();
         show.after();
       }),
       on<Smooth>([](Smooth& p, Schedule& s, Show& show) {
         const Tensor& a = p.a;
         REFUSED(s[a].stream_store());
       })});
  return g;
}

}  // namespace primitives_page
