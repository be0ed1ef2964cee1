// Scans, written as recurrences: one step combines what is before with one term.
#include <ashlar/lang/scan.h>

#include <ashlar/ir/print.h>
#include <ashlar/ir/refusal.h>

#include "lang/define.h"
#include "lang/operand.h"

namespace ashlar::detail {
namespace {

using lang::StageDef;

ir::Op op_of(Combine c) {
  switch (c) {
    case Combine::add:
      return ir::Op::add;
    case Combine::multiply:
      return ir::Op::mul;
    case Combine::max:
      return ir::Op::max;
    case Combine::min:
      return ir::Op::min;
    case Combine::bit_or:
      return ir::Op::bit_or;
    case Combine::bit_and:
      return ir::Op::bit_and;
    case Combine::bit_xor:
      return ir::Op::bit_xor;
  }
  throw InternalError("a combiner without an operator");
}

Expr identity(Combine c, Type t) {
  const std::int64_t number = c == Combine::multiply ? 1 : c == Combine::bit_and ? -1 : 0;
  if (c == Combine::max) return lowest(t);
  if (c == Combine::min) return highest(t);
  return t.is_float() ? ir::float_const(t, static_cast<double>(number)) : ir::int_const(t, number);
}

struct Combiner {
  const Scanned& scan;
  std::size_t count;

  std::vector<Expr> terms(const Operand* given) const {
    std::vector<Expr> result;
    const std::string name = scan.site.name;
    for (std::size_t k = 0; k < count; ++k) {
      if (scan.reducer) {
        result.push_back(
            lang::component(lang::reducer(scan.reducer, scan.site.where).reducer.combine[k].type(), given[k], name));
        continue;
      }
      const Expr e = lang::stored(given[k], scan.site.name);
      const bool bits = scan.combine == Combine::bit_or || scan.combine == Combine::bit_and || scan.combine == Combine::bit_xor;
      if (bits ? e.type().is_float() : e.type().is_bool())
        refuse(name, bits ? "an integer or a bool" : "a number (convert by name: i32(x))", ir::text(e.type()),
               given[k].where());
      result.push_back(e);
    }
    return result;
  }
  std::vector<Expr> identities(const std::vector<Expr>& terms) const {
    if (scan.reducer) return lang::reducer(scan.reducer, scan.site.where).reducer.identity;
    return {identity(scan.combine, terms.front().type())};
  }
  std::vector<Expr> operator()(const std::vector<Expr>& left, const std::vector<Expr>& right) const {
    if (!scan.reducer) return {ir::binary(op_of(scan.combine), left.front(), right.front())};
    const ir::Reducer& r = lang::reducer(scan.reducer, scan.site.where).reducer;
    ir::Substitution at;
    for (std::size_t k = 0; k < count; ++k) at.emplace_back(r.left[k], left[k]), at.emplace_back(r.right[k], right[k]);
    std::vector<Expr> result;
    for (const Expr& e : r.combine) result.push_back(ir::substitute(e, at));
    return result;
  }
};

}  // namespace

void define_scan(const Scanned& scan, const Operand* given, std::size_t count, Tensor* results) {
  const Site& site = scan.site;
  if (!site.name || !*site.name) refuse("scan", "a name", "none", site.where);
  const Combiner combine{scan, count};
  const std::vector<Expr> terms = combine.terms(given), identities = combine.identities(terms);
  if (scan.along.count != 1) refuse(site.name, "one dimension to scan along", std::to_string(scan.along.count), site.where);
  std::vector<Operand> first;
  for (const Expr& e : scan.kind == Scan::inclusive ? combine(identities, terms) : identities)
    first.emplace_back(e, site.where);
  std::vector<Expr> start(count);
  RecurrenceBuilder::begin(site, first.data(), count, start.data(), results);
  const int d = scan.along.dims[0];
  if (d < 0 || d >= site.at.rank())
    refuse(site.name, "a dimension to scan along from 0 to " + std::to_string(site.at.rank() - 1), std::to_string(d),
           site.where);
  const Expr t = site.at[d], before = scan.along.descending[0] ? ir::add(t, ir::index(1)) : ir::sub(t, ir::index(1));
  std::vector<Expr> at, prior, term;
  for (int k = 0; k < site.at.rank(); ++k) at.push_back(k == d ? before : site.at[k]);
  for (std::size_t k = 0; k < count; ++k) {
    prior.push_back(lang::access(results[k].id(), at, site.where));
    term.push_back(scan.kind == Scan::inclusive ? terms[k] : ir::substitute(terms[k], {{t.node()->id, before}}));
  }
  std::vector<Operand> step;
  for (const Expr& e : combine(prior, term)) step.emplace_back(e, site.where);
  RecurrenceBuilder::end(site, scan.along, Lag{1}, start.data(), step.data(), count, results);
}

}  // namespace ashlar::detail
