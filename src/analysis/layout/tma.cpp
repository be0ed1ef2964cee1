// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Whether a tensor map can carry a box: what the driver demands of it, and a shared layout that is one of four patterns.
#include <ashlar/analysis/memory_access.h>
#include <ashlar/ir/print.h>

#include "analysis/simplify/engine.h"
#include <ashlar/analysis/evaluate.h>

namespace ashlar::analysis {

namespace {

// The first element that lies elsewhere than `expected` says, as text; empty if there is none.
std::optional<std::string> differs(const Addressing& shared, const Expr& expected, std::span<const std::int64_t> box,
                                   const Facts& facts) {
  const IndexMapRead a = index_map(shared.vars, std::span(&shared.address, 1), facts),
                     b = index_map(shared.vars, std::span(&expected, 1), facts);
  if (a.map && b.map && a.map->bit_linear() && b.map->bit_linear() && a.map->core.in == b.map->core.in &&
      a.map->core.columns == b.map->core.columns && a.map->core.constant == b.map->core.constant)
    return std::nullopt;
  Assignment at;
  for (const ir::Id id : shared.vars) at.push_back({id, "", 0});
  for (;;) {
    const auto x = evaluate(shared.address, at), y = evaluate(expected, at);
    if (!x) return "the shared address " + ir::text(shared.address) + " has no constant value";
    if (*x != *y) {
      std::string index;
      for (const Binding& v : at) index += (index.empty() ? "" : ", ") + std::to_string(v.value);
      return "element (" + index + ") lies at " + std::to_string(*x) + " instead of " + std::to_string(*y);
    }
    std::size_t d = at.size();
    while (d > 0 && at[d - 1].value == box[d - 1] - 1) at[--d].value = 0;
    if (d == 0) return std::nullopt;
    ++at[d - 1].value;
  }
}

}  // namespace

Expr tma_address(const Expr& dense, int swizzle, std::int64_t element_bytes) {
  if (swizzle == 0) return dense;
  const std::int64_t granule = 16 / element_bytes, line = 128 / element_bytes, granules = swizzle / 16;
  const Expr rows = ir::mod(ir::div(dense, ir::index(line)), ir::index(granules));
  return ir::binary(ir::Op::bit_xor, dense, ir::mul(rows, ir::index(granule)));
}

TmaVerdict tma_compatible(const TmaTensor& t, const Addressing& shared, const Facts& facts) {
  const auto no = [](std::string why) { return TmaVerdict{std::nullopt, std::move(why)}; };
  const auto dimension = [](std::size_t d) { return "dimension " + std::to_string(d); };
  const std::size_t rank = t.box.size();
  if (rank < 1 || rank > 5) return no("a tensor map has 1 to 5 dimensions, this tensor " + std::to_string(rank));
  if (t.extents.size() != rank || t.strides.size() != rank || shared.vars.size() != rank)
    return no("tensor, box and shared layout differ in their number of dimensions");
  const std::int64_t size = shared.element_bytes;
  if (size != 1 && size != 2 && size != 4 && size != 8)
    return no("elements of 1, 2, 4 or 8 bytes, found " + std::to_string(size));
  for (std::size_t d = 0; d < rank; ++d)
    if (t.box[d] < 1 || t.box[d] > 256)
      return no("a box has 1 to 256 elements along each dimension, " + std::to_string(t.box[d]) + " along " + dimension(d));
  if (t.base_align % 16 != 0)
    return no("the tensor starts at a multiple of " + std::to_string(t.base_align) + " bytes, not of 16");
  const std::int64_t row = t.box[rank - 1] * size;
  if (row % 16 != 0) return no("a row of the box has " + std::to_string(row) + " bytes, no multiple of 16");
  if (!ir::is_int(simplify(t.strides[rank - 1], facts), std::int64_t{1}))
    return no("the innermost stride is " + ir::text(t.strides[rank - 1]) + ", not 1");
  for (std::size_t d = 0; d + 1 < rank; ++d) {
    const Expr bytes = simplify(ir::mul(t.strides[d], ir::index(size)), facts);
    const Congruence c = congruence(bytes, facts);
    if (c.modulus % 16 != 0 || c.remainder % 16 != 0)
      return no("the stride of " + dimension(d) + ", " + ir::text(bytes) + " bytes, is not known to be a multiple of 16");
    std::int64_t n = 0;
    if (ir::is_int(bytes, &n) && n >= std::int64_t{1} << 40)
      return no("the stride of " + dimension(d) + " is 2^40 bytes or more");
  }
  Facts inside = facts;
  Expr dense = ir::index(0);
  for (std::size_t d = 0; d < rank; ++d) {
    inside.bound(shared.vars[d], 0, t.box[d] - 1);
    dense = ir::add(ir::mul(dense, ir::index(t.box[d])), ir::var(shared.vars[d], "x" + std::to_string(d)));
  }
  std::string why;
  for (const int mode : {0, 32, 64, 128}) {
    if (mode && row > mode) {
      why += "; a row of " + std::to_string(row) + " bytes is longer than a swizzle of " + std::to_string(mode);
      continue;
    }
    const auto difference = differs(shared, tma_address(dense, mode, size), t.box, inside);
    if (!difference) return {TmaPlan{mode, mode == 0 ? 128 : mode * 8}, {}};
    why +=
        "; " + (mode ? "under a swizzle of " + std::to_string(mode) + " bytes " : std::string("stored densely ")) + *difference;
  }
  return no("the shared layout is none that a tensor map writes: " + why.substr(2));
}

}  // namespace ashlar::analysis
