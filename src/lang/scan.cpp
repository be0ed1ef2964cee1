// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Scans, written as recurrences: one step combines what is before with one term.
#include <ashlar/lang/scan.h>

#include <ashlar/ir/operation.h>
#include <ashlar/ir/print.h>
#include <ashlar/ir/refusal.h>

#include "lang/combine.h"
#include "lang/define.h"
#include <ashlar/lang/operand_types.h>

namespace ashlar::detail {
namespace {

std::vector<Expr> terms_of(const Scanned& scan, const Operand* given, std::size_t count) {
  std::vector<Expr> result;
  const std::string name = scan.site.name;
  for (std::size_t k = 0; k < count; ++k) {
    if (scan.reducer) {
      result.push_back(lang::component(lang::reducer(scan.reducer, scan.site.where).reducer.combine[k].type(), given[k], name));
      continue;
    }
    const Expr e = lang::stored(given[k], scan.site.name);
    const bool bits = lang::combines_bits(scan.combine);
    if (bits ? e.type().is_float() : e.type().is_bool())
      refuse(name, bits ? "an integer or a bool" : "a number (convert by name: i32(x))", ir::text(e.type()), given[k].where());
    result.push_back(e);
  }
  return result;
}

}  // namespace

void define_scan(const Scanned& scan, const Operand* given, std::size_t count, Tensor* results) {
  const Site& site = scan.site;
  if (!site.name || !*site.name) refuse("scan", "a name", "none", site.where);
  const std::vector<Expr> terms = terms_of(scan, given, count);
  const ir::Reducer reducer =
      scan.reducer ? lang::reducer(scan.reducer, site.where).reducer : lang::reducer_of(scan.combine, terms.front().type());
  const std::vector<Expr> identities =
      scan.reducer ? reducer.identity : std::vector<Expr>{ir::identity_of(lang::op_of(scan.combine), terms.front().type())};
  if (scan.along.count != 1) refuse(site.name, "one dimension to scan along", std::to_string(scan.along.count), site.where);
  std::vector<Operand> first;
  for (const Expr& e : scan.kind == Scan::inclusive ? ir::combine(reducer, identities, terms) : identities)
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
  for (const Expr& e : ir::combine(reducer, prior, term)) step.emplace_back(e, site.where);
  RecurrenceBuilder::end(site, scan.along, Lag{1}, start.data(), step.data(), count, results, &reducer);
}

}  // namespace ashlar::detail
