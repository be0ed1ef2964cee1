// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The host's part of a program for tiles: a kernel (ir/kernel.h) whose launches are of tiles. Each call takes one of two or
// three forms.
//
//   if x_begin == 0 && x_stride0 % 4 == 0 && N % 4 == 0       x_begin: bytes past a multiple of 16
//     launch f grid (…), tiles of x, y with M, N, x_stride0, …
//   else if x_begin == 0 && x_stride0 % 4 == 0                with products alone (ragged.cpp)
//     launch f_ragged grid (…), …
//   else
//     launch f_any grid (…), …
//
// The first is told that tensors and their rows begin at multiples of 16 bytes and that rows end there, which copies of whole
// tiles need; the second that they begin there; the third is told nothing. A program with variants (specialize) takes one of
// them first.
#include <algorithm>
#include <numeric>
#include <set>

#include <ashlar/analysis/regions.h>
#include <ashlar/analysis/simplify.h>
#include <ashlar/analysis/verify.h>
#include <ashlar/ir/build.h>
#include <ashlar/ir/refusal.h>

#include "lower/flatten/storage.h"
#include "lower/nodes.h"
#include "lower/passes.h"
#include "lower/tiles/block.h"

namespace ashlar::lowering {

namespace {

Expr multiple(const Expr& e, std::int64_t n) { return ir::eq(ir::mod(e, ir::index(n)), ir::index(0)); }

class TileHost {
 public:
  TileHost(const ir::Program& p, const TileOptions& options)
      : p_(p), options_(options), facts_(analysis::facts_of_arguments(p)) {}

  ir::Kernel run() {
    kernel_.name = p_.name;
    kernel_.arguments = p_.arguments;
    kernel_.symbols = p_.symbols;
    kernel_.scalars = p_.scalars;
    kernel_.assumptions = p_.assumptions;
    arguments();
    temporaries();
    kernel_.body = forms();
    kernel_.next_id = p_.next_id;
    analysis::verify(kernel_, analysis::KernelForm::finished, "tiles");
    return std::move(kernel_);
  }

 private:
  using Statements = std::vector<ir::KStmt>;

  void arguments() {
    for (const ir::Argument& a : p_.arguments) {
      if (a.kind == ir::ArgumentKind::scalar) continue;
      const ir::Buffer& b = p_.buffer(a.id);
      if (b.may_alias_inputs)
        refuse("tiles", "outputs with memory of their own (blocks run in any order)", b.name + ", which may be an input's",
               b.where);
      kernel_.argument_buffers.emplace(b.id, b);
      place_argument(kernel_, p_, b);
    }
  }

  // Slices of the workspace, each live from the launch that stores it to the last one that reads it.
  void temporaries() {
    std::vector<Life> lives;
    std::size_t position = 0;
    for (const Stmt& s : p_.body) {
      ++position;
      if (const auto* a = s.as<ir::AllocStmt>(); a && p_.buffer(a->buffer).role == ir::Role::temporary) {
        place_alloc(kernel_, p_, s, a->buffer, {}, false, {});
        lives.push_back({a->buffer, position, p_.body.size()});
      }
    }
    plan_workspace(kernel_, p_, lives);
  }

  Statements forms() {
    if (!options_.aligned) return launches(lower_to_tiles(p_, options_), "");
    ir::Program aligned = p_;
    Expr condition = rows(aligned);
    std::vector<TileLaunch> fast = lower_to_tiles(aligned, options_);
    require_all(condition, fast);
    condition = analysis::simplify(condition, facts_);
    if (ir::is_int(condition, 1)) return launches(std::move(fast), "");
    Statements otherwise = ragged_or_any();
    if (ir::is_int(condition, std::int64_t{0})) return otherwise;
    return either(condition, std::move(fast), "", std::move(otherwise));
  }

  Statements ragged_or_any() {
    TileOptions plain = options_;
    plain.aligned = false;
    Statements any = launches(lower_to_tiles(p_, plain), "_any");
    std::vector<TileLaunch> ragged = lower_to_tiles(p_, options_);
    if (std::none_of(ragged.begin(), ragged.end(), [](const TileLaunch& l) { return l.ragged; })) return any;
    Expr condition = ir::boolean(true);
    require_all(condition, ragged);
    condition = analysis::simplify(condition, facts_);
    if (ir::is_int(condition, std::int64_t{0})) return any;
    return either(condition, std::move(ragged), "_ragged", std::move(any));
  }

  Statements either(const Expr& condition, std::vector<TileLaunch> list, const char* suffix, Statements otherwise) {
    Statements all;
    all.push_back({Where{}, ir::KIf{condition, launches(std::move(list), suffix), std::move(otherwise)}});
    return all;
  }

  // What the launches rely on. The address of a tensor is asked for once.
  void require_all(Expr& all, const std::vector<TileLaunch>& list) {
    std::set<std::pair<Id, int>> asked;
    for (const TileLaunch& l : list)
      for (const TileCondition& c : l.conditions)
        if (!c.least.empty() || asked.emplace(c.buffer, c.dim).second) require(all, holds(c));
  }

  void require(Expr& all, const Expr& condition) const {
    if (!analysis::can_prove(condition, facts_)) all = ir::logic_and(all, condition);
  }

  // That the rows of matrices end at multiples of a line, which `aligned` is told. (Vectors have one row, whose end matters to
  // one tile alone.)
  Expr rows(ir::Program& aligned) const {
    Expr condition = ir::boolean(true);
    for (const ir::Argument& a : p_.arguments) {
      if (a.kind == ir::ArgumentKind::scalar) continue;
      const ir::Buffer& b = p_.buffer(a.id);
      const std::int64_t unit = std::max<std::int64_t>(1, line_bytes / b.type.bytes());
      if (b.rank < 2 || unit == 1) continue;
      const Expr& length = b.extents.back();
      if (ir::is_int(length) || analysis::can_prove(multiple(length, unit), facts_)) continue;
      condition = ir::logic_and(condition, multiple(length, unit));
      const auto symbol = ir::is(length, Op::var) ? aligned.symbols.find(length.node()->id) : aligned.symbols.end();
      if (symbol == aligned.symbols.end())
        aligned.assumptions.push_back(multiple(length, unit));
      else
        symbol->second.multiple_of = std::lcm(symbol->second.multiple_of, unit);
    }
    return condition;
  }

  Expr holds(const TileCondition& c) {
    if (!c.least.empty()) return ir::ge(stride(c.buffer, c.dim), c.least);
    if (c.dim >= 0) return multiple(stride(c.buffer, c.dim), c.divisor);
    for (const ir::AlignmentArg& known : kernel_.alignments)
      if (known.buffer == c.buffer) return ir::eq(ir::var(known.id, p_.buffer(c.buffer).name + "_begin"), ir::index(0));
    const ir::AlignmentArg begin{p_.fresh(), c.buffer};
    kernel_.alignments.push_back(begin);
    return ir::eq(ir::var(begin.id, p_.buffer(c.buffer).name + "_begin"), ir::index(0));
  }

  // That of a dimension with one place is anything: a multiple of all that is asked for in its place.
  Expr stride(Id buffer, int dim) const {
    const ir::Buffer& b = p_.buffer(buffer);
    for (const ir::StrideArg& s : kernel_.strides) {
      if (s.buffer != buffer || s.dim != dim) continue;
      const Expr given = ir::var(s.id, b.name + "_stride" + std::to_string(dim));
      const Expr several = ir::gt(b.extents[static_cast<std::size_t>(dim)], ir::index(1));
      return analysis::can_prove(several, facts_) ? given : ir::select(several, given, ir::index(line_bytes));
    }
    throw InternalError("tiles: a stride that the entry does not take: " + b.name);
  }

  Statements launches(std::vector<TileLaunch> list, const char* suffix) {
    Statements all;
    for (TileLaunch& l : list) {
      ir::KLaunch n;
      l.kernel.name += suffix;
      while (!names_.insert(l.kernel.name).second) l.kernel.name += "_";
      n.name = l.kernel.name;
      std::copy(l.grid.begin(), l.grid.end(), n.grid);
      n.warp = 1;
      n.tensors = std::move(l.tensors);
      for (const TileActual& a : l.parameters) n.parameters.push_back(a.value.empty() ? stride(a.buffer, a.dim) : a.value);
      n.tile = std::make_shared<const ir::tile::Kernel>(std::move(l.kernel));
      all.push_back({l.where, std::move(n)});
    }
    return all;
  }

  ir::Program p_;  // whose counter gives ids
  const TileOptions options_;
  analysis::Facts facts_;
  ir::Kernel kernel_;
  std::set<std::string> names_;  // of entries
};

}  // namespace

}  // namespace ashlar::lowering

namespace ashlar {

ir::Kernel lower_tiles(const ir::Program& p, const TileOptions& options) {
  if (p.variants.empty()) return lowering::TileHost(p, options).run();
  ir::Program general = p;
  general.variants.clear();
  std::vector<ir::Kernel> variants;
  for (const ir::Variant& v : p.variants) {
    ir::Program own = *v.program;
    own.name += "_variant" + (p.variants.size() > 1 ? std::to_string(variants.size() + 1) : "");  // of its entries
    variants.push_back(lower_tiles(own, options));
  }
  ir::Kernel kernel = lowering::one_of(p, lower_tiles(general, options), std::move(variants));
  analysis::verify(kernel, analysis::KernelForm::finished, "variants");
  return kernel;
}

}  // namespace ashlar
