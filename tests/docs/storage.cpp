// Examples of the steps about memory: copies, scopes, layouts, and what is asked of caches.
#include "examples.h"
#include "programs.h"

namespace primitives_page {

Group storage() {
  Group g{"Memory",
          "Copies of tensors, the memory that they are stored in, and the order of their elements. None of these steps changes "
          "a value.",
          {}};
  const auto add = [&](Example e) { g.examples.push_back(std::move(e)); };
  add({"cache_read", "s.cache_read(source, {readers}, scope, fill)",
       "A new stage holds a copy of what the readers read, for instance packed, or in faster memory. Where the source has no "
       "element, the copy has the fill value, if there is one, so that readers may read past the end (`Tail::pad`).",
       "The named stages read the source.", on<Matmul>([](Matmul& p, Schedule& s, Show& show) {
         const Tensor &A = p.A, &B = p.B, &C = p.C;
         s.cache_read(B, {C}, Scope::global);
         show.after();
         (void)A;
         REFUSED(s.cache_read(C, {C}, Scope::global));
       })});
  add({"cache_terms", "s.cache_terms(source, reader, scope)",
       "A new stage holds what the reader reads of the source, by the reader's own variables. So the elements of a tile of the "
       "reader are a tile too, for `tensorize` and `Scope::fragment`, however far apart they are in the source.",
       "The reader has one read of the source, whose indices do not depend on data. An index that is a sum of multiples of "
       "variables becomes these variables; any other stays as it is.",
       on<Smooth>([](Smooth& p, Schedule& s, Show& show) {
         const Tensor &a = p.a, &x = p.x, &y = p.y;
         s.cache_terms(x, s[a], Scope::global);
         show.after();
         REFUSED(s.cache_terms(a, s[y], Scope::global));
       })});
  add({"cache_write", "s.cache_write(stage, scope)",
       "Moves the computation to a new stage, from which the old one copies. Accumulators can then be in registers, and "
       "results in another layout before they are stored.",
       "No other step has changed the loops of the stage yet.", on<Matmul>([](Matmul& p, Schedule& s, Show& show) {
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
       "Sets the memory that the stage is stored in: `global` (the workspace), `stack` or `registers`; on a device also "
       "`shared`.",
       "The target has this scope. Whether the stage fits is checked when the schedule is complete; a refusal then names this "
       "line.",
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
       "Sets the layout of the stage: panels, tiles, transposed. The formulas keep their indices; only addresses change.",
       "No two elements have the same address.", on<Smooth>([](Smooth& p, Schedule& s, Show& show) {
         const Tensor& a = p.a;
         REFUSED(s[a].transform_layout([](Var r, Var c) { return at(r / 2, c); }));
         s[a].transform_layout([](Var r, Var c) { return at(c / 16, r, c % 16); });
         show.after();
       })});
  add({"widen", "widen(type)",
       "Stores the elements of a copy in a wider type, so that each is converted once, when it is copied, and not at every "
       "read.",
       "The stage is a copy that `cache_read` made. The type holds every value, and every reader converts to this type or a "
       "wider one.",
       on<Bytes>([](Bytes& p, Schedule& s, Show& show) {
         const Tensor &A = p.A, &C = p.C;
         Stage A_cache = s.cache_read(A, {C}, Scope::global);
         show.before();
         A_cache.widen(i16);
         show.after();
         REFUSED(A_cache.widen(i8));
       })});
  add({"swizzle", "swizzle(map)", "Sets a layout that permutes the elements within their storage, to avoid bank conflicts.",
       "The extents are constant. No two elements have the same address, and none lies outside of the storage.",
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
       "Rounds the extent of a stored dimension up to a multiple of `n`, so that rows begin at vector boundaries.",
       "The stage has its own storage, so it is not an output.", on<Smooth>([](Smooth& p, Schedule& s, Show& show) {
         const Tensor &a = p.a, &y = p.y;
         s[a].align(1, 16);
         show.after();
         REFUSED(s[y].align(1, 16));
       })});
  add({"drop_dim", "drop_dim(component, dim)",
       "Removes a dimension from the storage of one component of a tuple, if the component has the same value along it: in "
       "this example the maximum of a row, which is the same for all columns c.",
       "The value does not depend on the dimension, and each step of the reduction reads what the previous one stored.",
       on<Attend>([](Attend& p, Schedule& s, Show& show) {
         const auto& both = p.both;
         s[both[0]].drop_dim(0, 1);
         show.after();
         const Tensor& o1 = both[1];
         REFUSED(s[o1].drop_dim(1, 1));
       })});
  add({"pack_argument", "s.pack_argument(input, map, Pack::by_caller)",
       "The caller passes the input in this layout; the generated header has a function that packs it "
       "([generators.md](generators.md#arguments-that-the-caller-packs)). With `Pack::at_entry`, the kernel packs the input "
       "itself, through a `cache_read`. A constant is packed when the kernel is compiled, which costs nothing at a call.",
       "The tensor is an input, or with `Pack::at_entry` a constant. No two elements have the same address.",
       on<Matmul>([](Matmul& p, Schedule& s, Show& show) {
         const Tensor &B = p.B, &C = p.C;
         REFUSED(s.pack_argument(C, [](Var r, Var c) { return at(c, r); }, Pack::by_caller));
         s.pack_argument(B, [](Var r, Var c) { return at(c / 16, r, c % 16); }, Pack::by_caller);
         show.after();
       })});
  add({"prefetch", "prefetch(loop, tensor, distance)",
       "Each iteration prefetches the cache line that the iteration `distance` steps later reads.",
       "The stage reads the tensor, at an address that does not come from a table. No prefetch goes past the end of the "
       "tensor.",
       on<Matmul>([](Matmul& p, Schedule& s, Show& show) {
         const Tensor &B = p.B, &C = p.C;
         const Loop k = s[C].reduction();
         REFUSED(s[C].prefetch(k, B, 0));
         s[C].prefetch(k, B, 8);
         show.after();
       })});
  add({"stream_store", "stream_store()", "Stores whole vectors of a large result without bringing them into the caches.",
       "The stage is an output, is not a recurrence, and is not read again.", on<Plus>([](Plus& p, Schedule& s, Show& show) {
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
