// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <ashlar/lang/external.h>

#include <ashlar/ir/operation.h>
#include <ashlar/ir/print.h>
#include <ashlar/ir/refusal.h>

#include "lang/define.h"
#include <ashlar/lang/operand_types.h>

namespace ashlar {

NeededRange::NeededRange(const Operand& index) : begin_(lang::to_index(index, "needs")) {
  end_ = ir::add(begin_, ir::index(1));
}

RegionFunctionId region_function(const char* symbol, ir::RegionFunction f, Where where) {
  lang::require_symbol(symbol, "region_function", where);
  ir::Function declared;
  declared.symbol = symbol;
  declared.region = true;
  declared.compute = f;
  declared.where = where;
  return {ir::declare(declared)};
}

namespace detail {

void define_by_function(const Site& site, RegionFunctionId f, const Type* types, std::size_t count, const Needs& list,
                        Tensor* results) {
  lang::StageDef s = lang::new_stage(site);
  const lang::Checker checker{s.name, s.where, s.dimensions};
  std::vector<Expr> operands;
  for (const Need& need : list) {
    const lang::TensorDef& t = lang::resolve(need.tensor, need.where);
    if (t.kind == lang::TensorDef::Kind::view)
      refuse(s.name, "needs of tensors that lie in memory", "a view of " + t.name, need.where);
    if (t.type.is_packed()) refuse(s.name, "needs of elements of whole bytes", t.name + " of " + ir::text(t.type), need.where);
    if (need.box.size() != static_cast<std::size_t>(t.rank))
      refuse(s.name, "a range for each of the " + std::to_string(t.rank) + " dimensions of " + t.name,
             std::to_string(need.box.size()), need.where);
    Expr some = ir::boolean(true);
    std::vector<Expr> first, last;
    for (const NeededRange& r : need.box) {
      const Expr begin = lang::to_index(Operand(r.begin(), need.where), "needs");
      const Expr end = lang::to_index(Operand(r.end(), need.where), "needs");
      for (const Expr* e : {&begin, &end}) {
        checker.check(*e);
        ir::walk(*e, [&](const Expr& x) {
          if (!ir::operation(ir::op_of(x)).laws.pure)
            refuse(s.name, "regions that follow from the indices alone", ir::text(*e), need.where);
          return true;
        });
      }
      first.push_back(begin);
      last.push_back(ir::sub(end, ir::index(1)));
      if (!ir::same(last.back(), begin) && !ir::same(end, ir::add(begin, ir::index(1))))
        some = ir::logic_and(some, ir::lt(begin, end));
    }
    if (ir::is_int(some, std::int64_t{0})) refuse(s.name, "regions that are not always empty", "that of " + t.name, need.where);
    const auto when = [&](const Expr& load) {
      const Expr none = t.type.is_float() ? ir::float_const(t.type, 0) : ir::int_const(t.type, 0);
      return ir::is_int(some, 1) ? load : ir::select(some, load, none);
    };
    operands.push_back(when(lang::access(t.id, first, need.where)));
    operands.push_back(when(lang::access(t.id, last, need.where)));
  }
  for (std::size_t c = 0; c < count; ++c) {
    lang::require_data_type(types[c], s.name, s.where);
    s.values.push_back(ir::call_of_region(f.id, types[c], operands, s.where));
  }
  lang::add_stage(std::move(s), results);
}

}  // namespace detail
}  // namespace ashlar
