// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "report/count.h"

#include <algorithm>

#include <ashlar/analysis/simplify.h>
#include <ashlar/ir/build.h>
#include <ashlar/ir/operation.h>

namespace ashlar::report {

using ir::Id;
using ir::KStmt;
using ir::Op;
using ir::Storage;

namespace {

// Operations on data that one node stands for, of one lane.
int operations_of(const Expr& e) {
  if (e.type().is_index() || e.type().is_bool()) return 0;
  return ir::operation(ir::op_of(e)).laws.work;
}

// Of one thread's share of a call.
double operations_of(const ir::Intrinsic& f) {
  double terms = 1;
  for (const ir::IntrinsicOperand& o : f.operands)
    if (o.kind == ir::IntrinsicOperand::Kind::tile && o.access != ir::IntrinsicOperand::Access::read)
      for (const std::int64_t n : o.shape) terms *= static_cast<double>(n);
  for (const std::int64_t n : f.reduce_extents) terms *= static_cast<double>(n);
  double each = f.reduce.empty() ? 0 : 1;
  ir::walk(f.value, [&](const Expr& x) {
    each += operations_of(x);
    return true;
  });
  return terms * each / f.group;
}

// What an intrinsic multiplies: the narrowest type that it only reads, else that of its value.
Type type_of(const ir::Intrinsic& f) {
  Type t = f.value.empty() ? f32 : f.value.type().element();
  for (const ir::IntrinsicOperand& o : f.operands)
    if (o.kind == ir::IntrinsicOperand::Kind::tile && o.access == ir::IntrinsicOperand::Access::read && o.type.bits < t.bits)
      t = o.type.element();
  return t;
}

// Iterations of a loop that are visited one by one, at most and of a longer loop at each end.
constexpr std::int64_t all_visited = 256, end_visited = 32;

// The last register of a tile, or the last element of a run behind an address.
std::int64_t last_of(const ir::IntrinsicOperand& o) {
  if (o.map.size() != 2) return 0;
  analysis::Facts box;
  for (std::size_t d = 0; d < o.vars.size(); ++d) box.bound(o.vars[d], 0, o.shape[d] - 1);
  return analysis::constant_max(o.map[1], box).value_or(0);
}

}  // namespace

void Counted::operations(Type type, bool matrix, double count) {
  for (Operations& o : kinds)
    if (o.type == type && o.matrix == matrix) {
      o.count += count;
      return;
    }
  if (count > 0) kinds.push_back({type, matrix, count});
}

void Counted::entered(const ir::KFor& loop, std::int64_t iterations, double times) {
  for (Parallel& p : parallel)
    if (p.loop == &loop) {
      p.least = std::min(p.least, iterations), p.most = std::max(p.most, iterations), p.times += times;
      return;
    }
  parallel.push_back({&loop, iterations, iterations, times});
}

Counter::Counter(const ir::Kernel& k, ir::Substitution symbols) : k_(k), symbols_(std::move(symbols)) {
  for (const ir::StrideArg& s : k_.strides) {
    Expr stride = ir::index(1);
    const auto& extents = k_.argument_buffers.at(s.buffer).extents;
    for (std::size_t d = static_cast<std::size_t>(s.dim) + 1; d < extents.size(); ++d) stride = ir::mul(stride, extents[d]);
    symbols_.emplace_back(s.id, analysis::simplify(ir::substitute(stride, symbols_)));
  }
  for (const ir::AlignmentArg& a : k_.alignments) symbols_.emplace_back(a.id, ir::index(0));
}

Expr Counter::known(const Expr& e) const { return ir::substitute(e, symbols_); }

std::int64_t Counter::value(const Expr& e, std::int64_t otherwise) const {
  std::int64_t n = otherwise;
  if (!e.empty() && !ir::is_int(analysis::simplify(known(e)), &n)) return otherwise;
  return n;
}

double Counter::argument_bytes() const {
  double bytes = 0;
  for (const auto& [id, b] : k_.argument_buffers) {
    double n = b.type.is_packed() ? b.type.bits / 8.0 : b.type.bytes();
    for (const Expr& e : b.extents) n *= static_cast<double>(value(e));
    bytes += n;
  }
  return bytes;
}

Counted Counter::count(const std::vector<KStmt>& body, const ir::Launch* launch) {
  counted_ = {};
  loops_.clear(), when_.clear(), lives_.clear(), seen_.clear(), place_ = symbols_;
  position_ = 0;
  visits_ = 1;
  launch_ = launch;
  double times = 1;
  if (launch) {
    for (int d = 0; d < 3; ++d) {
      const std::int64_t n = std::max<std::int64_t>(0, value(launch->grid[d], 1));
      times *= static_cast<double>(n);
      if (launch->block[d]) place_.emplace_back(launch->block[d], ir::index(std::max<std::int64_t>(0, n - 1) / 2));
    }
    times *= static_cast<double>(launch->threads);
  }
  threads_ = std::max(times, 1.0);
  visit(body, times);
  registers(body);
  for (const auto& [id, life] : lives_) {
    std::int64_t alive = 0;
    for (const auto& [other, l] : lives_)
      if (l.first <= life.last && life.first <= l.last) {
        const std::int64_t bytes = k_.buffers.at(other).type.bytes(), n = static_cast<std::int64_t>(l.words.size());
        alive += l.packed ? (n * bytes + 3) / 4 : n * std::max<std::int64_t>(1, bytes / 4);
      }
    counted_.registers = std::max(counted_.registers, alive);
  }
  return std::move(counted_);
}

Expr Counter::placed(const Expr& e) const {
  const Expr known = ir::substitute(e, place_);
  return analysis::simplify(launch_ ? ir::substitute(known, {{launch_->thread, ir::index(launch_->threads / 2)}}) : known);
}

double Counter::share(const Expr& condition) const {
  const auto decided = [](const Expr& e, std::int64_t* n) { return ir::is_int(e, n) || ir::is_int(analysis::simplify(e), n); };
  std::int64_t holds = 0;
  const Expr c = ir::substitute(condition, place_);
  if (!launch_ || !ir::uses_var(c, launch_->thread))
    return decided(c, &holds) ? static_cast<double>(holds != 0) : 1;  // what data decides counts as holding
  for (std::int64_t t = 0; t < launch_->threads; ++t) {
    std::int64_t one = 0;
    if (!decided(ir::substitute(c, {{launch_->thread, ir::index(t)}}), &one) || one) ++holds;
  }
  return static_cast<double>(holds) / static_cast<double>(launch_->threads);
}

// Does the variable decide, through lets too, what of these statements is executed, and how often?
bool Counter::decided_by(const std::vector<KStmt>& list, Id variable) const {
  const auto uses = [&](const Expr& e) { return !e.empty() && ir::uses_var(e, variable); };
  return std::any_of(list.begin(), list.end(), [&](const KStmt& s) {
    if (const auto* branch = s.as<ir::KIf>(); branch && uses(branch->condition)) return true;
    if (const auto* loop = s.as<ir::KFor>();
        loop && (uses(loop->extent) || (uses(loop->begin) && decided_by(loop->body, loop->var))))
      return true;
    if (const auto* let = s.as<ir::KLet>(); let && uses(let->value) && decided_by(let->body, let->var)) return true;
    const auto parts = s.bodies();
    return std::any_of(parts.begin(), parts.end(), [&](const auto* part) { return decided_by(*part, variable); });
  });
}

void Counter::loop(const ir::KFor& s, double times) {
  std::int64_t begin = 0, extent = 1;
  const bool constant = ir::is_int(placed(s.extent), &extent);
  ir::is_int(placed(s.begin), &begin);
  extent = constant ? std::max<std::int64_t>(0, extent) : 1;
  if (s.kind == ir::LoopKind::parallel) counted_.entered(s, constant ? extent : 0, times);
  loops_.push_back(&s);
  const auto iterations = [&](std::int64_t from, std::int64_t n) {  // as the middle one
    if (n <= 0) return;
    place_.emplace_back(s.var, ir::index(begin + from + (n - 1) / 2));
    visit(s.body, times * static_cast<double>(n));
    place_.pop_back();
  };
  if (decided_by(s.body, s.var)) {
    const std::int64_t around = visits_;
    const std::int64_t ends = extent * around <= all_visited ? extent : std::min(extent, end_visited);
    visits_ = around * std::max<std::int64_t>(1, std::min(extent, 2 * ends + 1));
    const std::int64_t last = std::max(ends, extent - ends);
    for (std::int64_t n = 0; n < ends; ++n) iterations(n, 1);
    iterations(ends, last - ends);
    for (std::int64_t n = last; n < extent; ++n) iterations(n, 1);
    visits_ = around;
  } else {
    iterations(0, extent);
  }
  loops_.pop_back();
}

void Counter::branch(const ir::KIf& s, double times) {
  const double yes = share(s.condition);
  const bool same_for_all = launch_ && !ir::has_load(s.condition) && !ir::uses_var(s.condition, launch_->thread);
  if (same_for_all) when_.push_back(s.condition);
  visit(s.body, times * yes);
  if (same_for_all) when_.back() = ir::logic_not(s.condition);
  visit(s.otherwise, times * (1 - yes));
  if (same_for_all) when_.pop_back();
}

void Counter::call(const ir::KCall& s, double times) {
  if (s.function) return;  // what it does is its own
  const ir::Intrinsic& f = k_.intrinsics.at(s.intrinsic);
  if (f.name.starts_with("shuffle")) counted_.shuffles += times / threads_;
  if (f.is_users()) counted_.operations(type_of(f), true, times * operations_of(f));
  for (std::size_t o = 0; o < f.operands.size(); ++o) {
    const ir::IntrinsicOperand& operand = f.operands[o];
    if (operand.kind != ir::IntrinsicOperand::Kind::tile || operand.place == ir::IntrinsicOperand::Place::registers) continue;
    Expr at = s.actuals[o].address;
    std::int64_t n = operand.shape.empty() ? 1 : operand.shape[0];
    if (operand.map.size() == 2) n = last_of(operand) + 1;  // a run behind the address of each lane
    if (n > 1) at = ir::ramp(at, ir::index(1), static_cast<int>(n));
    access(s.actuals[o].buffer, operand.access != ir::IntrinsicOperand::Access::read, at, times);
  }
}

void Counter::visit(const std::vector<KStmt>& list, double times) {
  if (times == 0) return;
  for (const KStmt& s : list)
    s.visit([&](const ir::KFor& n) { loop(n, times); }, [&](const ir::KIf& n) { branch(n, times); },
            [&](const ir::KLet& n) {
              expression(n.value, times);
              place_.emplace_back(n.var, ir::substitute(n.value, place_));
              visit(n.body, times);
              place_.pop_back();
            },
            [&](const ir::KStore& n) {
              expression(n.value, times);
              access(n.buffer, true, n.address, times);
            },
            [&](const ir::KCall& n) { call(n, times); },
            [&](const ir::KSync& n) {
              if (n.kind == ir::Sync::Kind::block) counted_.barriers += times / threads_;
              if (n.kind == ir::Sync::Kind::warp) counted_.warp_barriers += times / threads_;
              if (n.kind == ir::Sync::Kind::wait) counted_.waits += times / threads_;
            },
            [&](const ir::KLaunch& n) { visit(n.body, times); }, [](const ir::KPrefetch&) {});
}

void Counter::expression(const Expr& e, double times) {
  ir::walk(e, [&](const Expr& x) {
    if (const int n = operations_of(x)) counted_.operations(x.type().element(), false, times * n * x.type().lanes);
    if (ir::is(x, Op::load)) {
      access(x.node()->id, false, ir::args_of(x)[0], times);
      return false;  // what computes an address or a mask is not an operation on data
    }
    return true;
  });
}

void Counter::access(Id buffer, bool store, const Expr& address, double times) {
  const ir::KBuffer& b = k_.buffers.at(buffer);
  if (b.storage == Storage::registers || b.storage == Storage::stack) return;
  Traffic& traffic = counted_.traffic[{buffer, store}];
  if (std::find(counted_.order.begin(), counted_.order.end(), buffer) == counted_.order.end()) counted_.order.push_back(buffer);
  const double bytes = times * address.type().lanes *
                       (b.type.is_packed() && b.storage == Storage::argument ? b.type.bits / 8.0 : b.type.bytes());
  traffic.bytes += bytes;
  if (b.storage == Storage::argument || b.storage == Storage::workspace) counted_.global_bytes += bytes;
  if (!seen_.insert({buffer, store, address, loops_}).second) return;
  Site site{address, loops_, when_, address.type().lanes, false};
  if (site.elements > 1) {
    std::int64_t step = 0;
    const bool neighbors = ir::is(address, Op::ramp) && ir::is_int(ir::args_of(address)[1], &step) && step == 1;
    const bool one = ir::is(address, Op::broadcast);
    site.spread = !neighbors && !one;
    if (neighbors || one) site.address = ir::args_of(address)[0];
    if (one) site.elements = 1;
  }
  traffic.sites.push_back(std::move(site));
}

void Counter::registers(const std::vector<KStmt>& list) {
  const auto touch = [&](Id id, const Expr& address) {
    if (k_.buffers.at(id).storage != Storage::registers) return;
    Life& life = lives_.try_emplace(id, Life{{}, position_, position_, false}).first->second;
    life.last = position_;
    std::int64_t at = 0, step = 1;
    if (ir::is(address, Op::ramp)) ir::is_int(ir::args_of(address)[1], &step);
    ir::is_int(ir::is(address, Op::ramp) ? ir::args_of(address)[0] : address, &at);
    for (int l = 0; l < address.type().lanes; ++l) life.words[at + l * step] = true;
  };
  for (const KStmt& s : list) {
    ++position_;
    for_each_expr(s, [&](const Expr& e) {
      ir::walk(e, [&](const Expr& x) {
        if (ir::is(x, Op::load)) touch(x.node()->id, ir::args_of(x)[0]);
        return true;
      });
    });
    if (const auto* store = s.as<ir::KStore>()) touch(store->buffer, store->address);
    if (const auto* call = s.as<ir::KCall>(); call && !call->function)
      for (std::size_t o = 0; o < call->actuals.size(); ++o) {
        const ir::Call::Actual& a = call->actuals[o];
        if (!a.buffer || !k_.buffers.count(a.buffer)) continue;
        const ir::IntrinsicOperand& operand = k_.intrinsics.at(call->intrinsic).operands[o];
        for (std::int64_t r = 0; r <= last_of(operand); ++r) touch(a.buffer, ir::add(a.address, ir::index(r)));
        if (const auto life = lives_.find(a.buffer); life != lives_.end())
          life->second.packed = true;  // instructions want it so
      }
    for (const auto* part : s.bodies()) registers(*part);
  }
}

}  // namespace ashlar::report
