// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Reductions over threads: the exchange of parts, by shuffles between the lanes of a warp and through shared memory between
// warps.
#include <algorithm>

#include <ashlar/analysis/interval.h>
#include <ashlar/analysis/thread_tree.h>
#include <ashlar/ir/intrinsics.h>
#include <ashlar/ir/refusal.h>

#include "lower/flatten/body.h"
#include "lower/threads/thread_axes.h"
#include "lower/nodes.h"

namespace ashlar::lowering {
namespace {

class PartExchange {
 public:
  PartExchange(ir::Kernel& kernel, const ir::Launch& launch, const ThreadAxes& axes, Where where)
      : kernel_(kernel), launch_(launch), axes_(axes), where_(where) {}

  // `s` stores, to the first result, this thread's first part.
  std::vector<KStmt> run(const ir::KStore& s, const Facts& facts) {
    const ir::Combination& c = *kernel_.buffers.at(s.buffer).facts().combination;
    const std::string& name = c.name;
    const std::size_t count = c.all.size();
    types_.clear();
    for (Id b : c.all) types_.push_back(kernel_.buffers.at(b).type);
    const Expr zero = ir::index(0);
    const Buffers value = new_buffers(name + "_value", ir::Storage::registers, 1);
    Buffers other;
    std::vector<KStmt> out;
    const auto accumulate = [&](const std::vector<Expr>& with, std::vector<KStmt>& to) {
      store(value, zero, ir::combine(c.reducer, loads(value, zero), with), to, name);
    };
    for (std::size_t k = 0; k < count; ++k) {
      if (!ir::is(s.value, ir::Op::load)) throw InternalError("a combination of something that is not a part");
      const ir::KBuffer& part = kernel_.buffers.at(c.part[k]);
      out.push_back(store_stmt(value[k], zero, ir::load(part.id, part.name, part.type, ir::args_of(s.value)), where_));
    }
    for (ThreadAxis axis : c.axes) {
      const bool all = axis == gpu::threads;
      const std::int64_t below = all ? 1 : axes_.at(axis).below, extent = all ? launch_.threads : axes_.at(axis).extent;
      const Expr number = all ? axes_.thread : axes_.at(axis).number;
      const analysis::ThreadTree tree = analysis::thread_tree(launch_.threads, launch_.warp, below, extent, types_);
      for (std::int64_t mask = tree.below * tree.lanes / 2; tree.lanes > 1 && mask >= tree.below; mask /= 2) {
        if (other.empty()) other = new_buffers(name + "_other", ir::Storage::registers, 1);
        for (std::size_t k = 0; k < count; ++k) out.push_back(shuffle(types_[k], other[k], value[k], mask));
        accumulate(loads(other, zero), out);
      }
      if (tree.levels.empty()) continue;
      // part p of this thread's row, of n parts a row
      const Expr outer = ir::div(axes_.thread, ir::index(below * extent)), inner = ir::mod(axes_.thread, ir::index(below));
      const auto place = [&](const Expr& p, std::int64_t n) {
        return analysis::simplify(ir::add(ir::mul(ir::add(ir::mul(outer, ir::index(n)), p), ir::index(below)), inner), facts);
      };
      Buffers from;
      std::int64_t parts = 0;
      // value = parts first, first + step, ...: so many of the former level as there are
      const auto gather = [&](const Expr& first, std::int64_t step, std::vector<KStmt>& to) {
        store(value, zero, loads(from, place(first, parts)), to, name);
        for (std::int64_t p = step; p < parts; p += step) {
          const Expr at = ir::add(first, ir::index(p));
          std::vector<KStmt> one;
          accumulate(loads(from, place(at, parts)), one);
          if (step > 1 && p + step > parts) one = guarded(ir::lt(at, ir::index(parts)), std::move(one));
          for (KStmt& k : one) to.push_back(std::move(k));
        }
      };
      for (std::size_t level = 0; level < tree.levels.size(); ++level) {
        const std::int64_t n = tree.levels[level];
        const Buffers to =
            new_buffers(name + "_parts" + (level ? std::to_string(level) : ""), ir::Storage::shared, n * tree.rows);
        const Expr at = analysis::simplify(level == 0 ? ir::div(number, ir::index(tree.lanes)) : number, facts);
        std::vector<KStmt> given;
        if (level > 0) gather(number, n, given);
        store(to, place(at, n), loads(value, zero), given, name);
        if (level > 0)
          given = guarded(ir::lt(number, ir::index(n)), std::move(given));
        else if (tree.lanes > 1)
          given = guarded(ir::eq(ir::mod(number, ir::index(tree.lanes)), zero), std::move(given));
        for (KStmt& k : given) out.push_back(std::move(k));
        from = to, parts = n;
      }
      gather(zero, 1, out);
    }
    for (std::size_t k = 0; k < count; ++k) out.push_back(store_stmt(c.all[k], s.address, loads(value, zero)[k], where_));
    return out;
  }

 private:
  using Buffers = std::vector<Id>;  // one a component

  Buffers new_buffers(const std::string& name, ir::Storage storage, std::int64_t elements) {
    Buffers list;
    for (std::size_t k = 0; k < types_.size(); ++k)
      list.push_back(new_buffer(name + (types_.size() == 1 ? "" : std::to_string(k)), types_[k], storage, elements));
    return list;
  }
  std::vector<Expr> loads(const Buffers& from, const Expr& address) const {
    std::vector<Expr> list;
    for (Id b : from) list.push_back(load(b, address));
    return list;
  }
  // Several values are all computed before the first is stored.
  void store(const Buffers& to, const Expr& address, std::vector<Expr> values, std::vector<KStmt>& out,
             const std::string& name) {
    std::vector<std::pair<Id, Expr>> lets;
    const bool reads = std::any_of(values.begin(), values.end(), [&](const Expr& v) { return !ir::is(v, ir::Op::load); });
    if (values.size() > 1 && reads)
      for (Expr& v : values) {
        lets.emplace_back(kernel_.fresh(), v);
        v = ir::var(lets.back().first, name + "_new", v.type());
      }
    std::vector<KStmt> body;
    for (std::size_t k = 0; k < to.size(); ++k) body.push_back(store_stmt(to[k], address, values[k], where_));
    for (std::size_t k = lets.size(); k-- > 0;) {
      KStmt let = let_stmt(lets[k].first, name + "_new", lets[k].second, std::move(body), where_);
      body.clear();
      body.push_back(std::move(let));
    }
    for (KStmt& k : body) out.push_back(std::move(k));
  }
  std::vector<KStmt> guarded(const Expr& condition, std::vector<KStmt> body) const {
    std::vector<KStmt> out;
    out.push_back(if_stmt(condition, std::move(body), where_));
    return out;
  }

  Id new_buffer(const std::string& name, Type type, ir::Storage storage, std::int64_t elements) {
    ir::KBuffer b;
    b.id = kernel_.fresh();
    b.name = name;
    b.type = type;
    b.storage = storage;
    b.elements = ir::index(elements);
    kernel_.buffers.emplace(b.id, b);
    return b.id;
  }
  Expr load(Id buffer, const Expr& address) const {
    const ir::KBuffer& b = kernel_.buffers.at(buffer);
    return ir::load(buffer, b.name, b.type, std::vector<Expr>{address});
  }

  KStmt shuffle(Type type, Id to, Id from, std::int64_t mask) {
    const ir::Intrinsic f = ir::shuffle_xor(type, launch_.warp);
    kernel_.intrinsics.emplace(f.id, f);
    ir::KCall call;
    call.intrinsic = f.id;
    call.actuals.resize(3);
    call.actuals[0] = {to, ir::index(0), {}, {}, {}};
    call.actuals[1] = {from, ir::index(0), {}, {}, {}};
    call.actuals[2] = {
        0, f.operands[2].type == ir::index_type ? ir::index(mask) : ir::int_const(f.operands[2].type, mask), {}, {}, {}};
    return {where_, std::move(call)};
  }

  ir::Kernel& kernel_;
  const ir::Launch& launch_;
  const ThreadAxes& axes_;
  const Where where_;
  std::vector<Type> types_;
};

}  // namespace

std::vector<KStmt> combine_parts(ir::Kernel& kernel, const ir::Launch& launch, const ThreadAxes& axes, const ir::KStore& store,
                                 Where where, const Facts& facts) {
  return PartExchange(kernel, launch, axes, where).run(store, facts);
}

}  // namespace ashlar::lowering
