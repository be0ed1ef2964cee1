// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// pack_argument(tensor, map): the caller hands an input over in this layout, a change of the ABI; a constant is laid out so
// when it is compiled.
//
// Legality: BIJECT; a constant has at most four places for each of its elements.
#include <ashlar/analysis/packed.h>
#include <ashlar/ir/print.h>

#include "schedule/primitives/storage/storage.h"

#include "schedule/legality/legality.h"
#include "schedule/primitives/primitives.h"

namespace ashlar::schedule {

namespace {

constexpr double kPlaces = 4, kFew = 4096;  // bytes of the object that no element lies at

void require_room(const Context& c, const ir::Buffer& b) {
  double elements = 1, places = 1;
  std::int64_t n = 0;
  for (const Expr& e : b.extents) elements *= ir::is_int(e, &n) ? static_cast<double>(n) : 0;
  for (const Expr& e : analysis::packed_extents(c.p.symbols, b)) places *= ir::is_int(e, &n) ? static_cast<double>(n) : 0;
  if (places > elements * kPlaces + kFew)
    c.refuse("a layout with at most four places for each element of " + b.name,
             std::to_string(static_cast<std::int64_t>(places)) + " places for " +
                 std::to_string(static_cast<std::int64_t>(elements)) + " elements");
}

}  // namespace

void apply_pack_argument(Context& c) {
  ir::Buffer& b = c.buffer(0);
  const bool constant = b.role == ir::Role::constant;
  if (b.role != ir::Role::input && !constant)
    c.refuse("an input or a constant",
             b.name + (b.role == ir::Role::output ? ", an output" : ", a stage (transform_layout sets its layout)"));
  if (b.type.is_packed())
    c.refuse("an input of elements of 8 bits or more (what packs it writes one element at a time)",
             b.name + ", of " + ir::text(b.type));
  set_map(c, b, c.arg(1));
  if (constant)
    require_room(c, b);
  else
    b.packed_by_caller = true;
}

}  // namespace ashlar::schedule
