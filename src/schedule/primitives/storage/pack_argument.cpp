// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// pack_argument(tensor, map): the caller hands an input over in this layout, a change of the ABI; a constant is laid out so
// when it is compiled.
//
// Legality: BIJECT; a constant has at most four places for each of its elements.
#include <ashlar/analysis/packed.h>
#include <ashlar/ir/print.h>

#include "schedule/primitives/storage/storage.h"

#include "schedule/legality/legality.h"
#include "schedule/calls.h"
#include "schedule/primitives/primitives.h"

namespace ashlar::schedule {

extern const Primitive cache_read_primitive, set_layout_primitive;

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

std::string line_of_pack_argument(CppCall& w, const Step& s) {
  const bool constant = w.program().buffer(s.args[0].id).role == ir::Role::constant;
  const std::string map = w.map(s.args[1]), tensor = w.buffer_ref(s.args[0].id);
  return w.schedule() + ".pack_argument(" + tensor + ", " + map + (constant ? ", Pack::at_entry)" : ", Pack::by_caller)");
}

bool draw_pack_argument(Draw& d) {
  std::vector<Id> tensors;
  for (const auto& [id, b] : d.p.buffers)
    if (b.role == ir::Role::input || b.role == ir::Role::constant || d.one_in(16)) tensors.push_back(id);
  if (tensors.empty()) return false;
  const Id tensor = d.any(tensors);
  const int rank = d.p.buffer(tensor).rank;
  return rank > 0 && d.step("pack_argument", {Arg::buffer(tensor), d.layout(rank)});
}

}  // namespace

extern constexpr Primitive pack_argument_primitive{
    .name = "pack_argument",
    .spelling = "pack_argument",
    .parameters = {takes::tensor(), takes::map()},
    .traits = Traits{Reads::changed, Places::moved, Boxes::derived, Layouts::proved, Callers::changed, Gives::nothing},
    .apply = apply_pack_argument,
    .cpp = line_of_pack_argument,
    .draw = Drawing{.often = 1, .draw = draw_pack_argument},
};

}  // namespace ashlar::schedule

namespace ashlar {

using schedule::Arg;

void Schedule::pack_argument_(const Tensor& input, const std::vector<Expr>& vars, const std::vector<Expr>& map, Pack pack,
                              Where w) {
  const ir::Id buffer = Stage::buffer_of(*state_, input, "pack_argument", w);
  const Stage any(0, state_);
  const bool constant = state_->scheduled.program.buffer(buffer).role == ir::Role::constant;
  if (constant && pack == Pack::by_caller)
    refuse("pack_argument", "an input (Pack::at_entry lays a constant out when it is compiled)",
           state_->scheduled.program.buffer(buffer).name + ", a constant, which no caller passes", w);
  if (constant || pack == Pack::by_caller) {
    any.apply(schedule::pack_argument_primitive, {Arg::buffer(buffer), schedule::index_map(vars, map)}, w);
    return;
  }
  // at entry: a copy in that layout, made before anything else
  detail::Transaction transaction(*state_, "pack_argument");
  std::vector<Arg> args{Arg::buffer(buffer), Arg::place(Scope::global), Arg::integer(0)};
  for (const auto& [id, stage] : state_->scheduled.program.stages)
    if (schedule::reads_buffer(stage, buffer)) args.push_back(Arg::stage(id));
  const ir::Id packed = any.apply(schedule::cache_read_primitive, std::move(args), w)[0];
  any.apply(schedule::set_layout_primitive, {Arg::stage(packed), schedule::index_map(vars, map)}, w);
  transaction.keep();
}

}  // namespace ashlar
