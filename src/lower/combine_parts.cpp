// Reductions over threads: the exchange of parts, by shuffles between the lanes of a warp and through shared memory between
// warps.
#include <ashlar/analysis/interval.h>
#include <ashlar/analysis/thread_tree.h>
#include <ashlar/ir/intrinsics.h>

#include "lower/body.h"
#include "lower/thread_axes.h"

namespace ashlar::lower_impl {
namespace {

using analysis::Facts;
using ir::Id;
using ir::KStmt;

class Exchange {
 public:
  Exchange(Draft& draft, Id& next, const ir::Launch& launch, const ThreadAxes& axes)
      : draft_(draft), next_(next), launch_(launch), axes_(axes) {}

  std::vector<KStmt> run(const KStmt& s, const Facts& facts) {
    const Combining& c = draft_.combining.at(s.buffer);
    const Type type = draft_.kernel.buffers.at(s.buffer).type;
    const std::string& name = c.stage.name;
    const Expr zero = ir::index(0), identity = analysis::identity_of(c.stage.reducer.kind, type);
    const auto both = [&](const Expr& a, const Expr& b) { return combine(c.stage, {a}, {b})[0]; };
    const Id value = new_buffer(name + "_value", type, ir::Storage::registers, 1);
    Id other = 0;
    std::vector<KStmt> out;
    const auto set = [&](Id buffer, const Expr& address, const Expr& to, const Expr& when) {
      KStmt store = store_stmt(buffer, analysis::simplify(address, facts), to, s.where);
      if (when.empty()) return out.push_back(std::move(store));
      std::vector<KStmt> body;
      body.push_back(std::move(store));
      out.push_back(if_stmt(when, std::move(body), s.where));
    };
    set(value, zero, s.value, {});
    for (ThreadAxis axis : c.axes) {
      const bool all = axis == gpu::threads;
      const std::int64_t below = all ? 1 : axes_.at(axis).below, extent = all ? launch_.threads : axes_.at(axis).extent;
      const Expr number = all ? axes_.thread : axes_.at(axis).number;
      const analysis::ThreadTree tree = analysis::thread_tree(launch_.threads, launch_.warp, below, extent, type);
      for (std::int64_t mask = tree.below * tree.lanes / 2; tree.lanes > 1 && mask >= tree.below; mask /= 2) {
        if (other == 0) other = new_buffer(name + "_other", type, ir::Storage::registers, 1);
        out.push_back(shuffle(type, other, value, mask, s.where));
        set(value, zero, both(load(value, zero), load(other, zero)), {});
      }
      if (tree.levels.empty()) continue;
      // part p of this thread's row, of n parts a row
      const Expr outer = ir::div(axes_.thread, ir::index(below * extent)), inner = ir::mod(axes_.thread, ir::index(below));
      const auto place = [&](const Expr& p, std::int64_t n) {
        return analysis::simplify(ir::add(ir::mul(ir::add(ir::mul(outer, ir::index(n)), p), ir::index(below)), inner), facts);
      };
      Id from = 0;
      std::int64_t parts = 0;
      // parts first, first + step, ...: so many of the former level as there are
      const auto gather = [&](const Expr& first, std::int64_t step) {
        Expr sum;
        for (std::int64_t p = 0; p < parts; p += step) {
          const Expr at = ir::add(first, ir::index(p));
          const bool inside = step == 1 || p + step <= parts;
          const Expr there = inside ? Expr() : ir::lt(at, ir::index(parts));
          Expr part = load(from, place(at, parts), there);
          if (!inside) part = ir::select(there, part, identity);
          sum = sum.empty() ? part : both(sum, part);
        }
        return sum;
      };
      for (std::size_t level = 0; level < tree.levels.size(); ++level) {
        const std::int64_t n = tree.levels[level];
        const Id to =
            new_buffer(name + "_parts" + (level ? std::to_string(level) : ""), type, ir::Storage::shared, n * tree.rows);
        const Expr at = level == 0 ? ir::div(number, ir::index(tree.lanes)) : number;
        const Expr when = level > 0         ? ir::lt(number, ir::index(n))
                          : tree.lanes == 1 ? Expr()
                                            : ir::eq(ir::mod(number, ir::index(tree.lanes)), zero);
        set(to, place(at, n), level == 0 ? load(value, zero) : gather(number, n), when);
        from = to, parts = n;
      }
      set(value, zero, gather(zero, 1), {});
    }
    set(s.buffer, s.address, load(value, zero), {});
    return out;
  }

 private:
  Id new_buffer(const std::string& name, Type type, ir::Storage storage, std::int64_t elements) {
    ir::KBuffer b;
    b.id = next_++;
    b.name = name;
    b.type = type;
    b.storage = storage;
    b.elements = ir::index(elements);
    draft_.kernel.buffers.emplace(b.id, b);
    return b.id;
  }
  Expr load(Id buffer, const Expr& address, const Expr& mask = Expr()) const {
    const ir::KBuffer& b = draft_.kernel.buffers.at(buffer);
    std::vector<Expr> args{address};
    if (!mask.empty()) args.push_back(mask);
    return ir::load(buffer, b.name, b.type, args);
  }

  KStmt shuffle(Type type, Id to, Id from, std::int64_t mask, Where where) {
    const ir::Intrinsic f = ir::shuffle_xor(type, launch_.warp);
    draft_.kernel.intrinsics.emplace(f.id, f);
    ir::Call call;
    call.intrinsic = f.id;
    call.actuals.resize(3);
    call.actuals[0] = {to, ir::index(0), {}, {}};
    call.actuals[1] = {from, ir::index(0), {}, {}};
    call.actuals[2] = {
        0, f.operands[2].type == ir::index_type ? ir::index(mask) : ir::int_const(f.operands[2].type, mask), {}, {}};
    KStmt s;
    s.kind = KStmt::Kind::call;
    s.where = where;
    s.call = std::make_shared<const ir::Call>(std::move(call));
    return s;
  }

  Draft& draft_;
  Id& next_;
  const ir::Launch& launch_;
  const ThreadAxes& axes_;
};

}  // namespace

std::vector<KStmt> combine_parts(Draft& draft, Id& next, const ir::Launch& launch, const ThreadAxes& axes, const KStmt& store,
                                 const Facts& facts) {
  return Exchange(draft, next, launch, axes).run(store, facts);
}

}  // namespace ashlar::lower_impl
