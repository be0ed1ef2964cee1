// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Steps that combine what is before with a term, by an operator that associates exactly, are taken a vector at a time.
//
//   for t in [b, +n)                         low half of s: the identity, k = key(c[0])
//     c[1] = c[0]                            for o in [0, +n / 8)
//     c[0] = max(c[1], x[t])          ->       s[8..15] = key(x[b + 8 o ..])
//     y[t] = c[0]                              s[8..15] = max(s[8..15], s[7..14])       then [6..13], then [4..11]
//                                              b = s[15];  s[8..15] = max(s[8..15], x8(k));  k = max(k, b)
//                                              y[b + 8 o ..] = value(s[8..15])
//                                            c[0] = value(k), and the loop as it was over what is left
//
// After the steps by 1, 2 and 4 each lane holds what the terms up to its own give together. Sums, products and bits of
// integers, minima and maxima of anything: their values do not depend on how terms are put in parentheses. Floats are compared
// as integers (`key`), which have an order of all values: -0 before +0, every NaN as the greatest for a maximum and the least
// for a minimum.
//
// Of an innermost serial loop, after `carry`, whose other stores and loads move by one element a step, up or down, or not at
// all (loads), and in which nothing is loaded from a buffer that it stores to.
#include <algorithm>
#include <map>
#include <optional>

#include <ashlar/analysis/simplify.h>
#include <ashlar/ir/build.h>
#include <ashlar/ir/numeric.h>
#include <ashlar/ir/operation.h>

#include "lower/interior/lanes.h"
#include "lower/passes.h"

namespace ashlar::lowering {
namespace {

bool associates(Op op, Type t) {
  if (t.is_bool() || t.is_index()) return false;
  if (t.is_float()) return (op == Op::min || op == Op::max) && (t.bits == 32 || t.bits == 64);
  if (op == Op::mul && t.bits > 32) return false;  // no vector has products of 64 bits for the price of an addition
  return ir::operation(op).laws.regroups;
}

// A value of the scan, as what is combined: itself, or of a float the integer with the same place in the order.
struct Order {
  Op op;
  Type type;
  Type held() const { return type.is_float() ? (type.bits == 64 ? i64 : i32) : type; }
  Expr constant(std::int64_t v, int lanes) const {
    const Expr one = ir::int_const(held(), v);
    return lanes == 1 ? one : ir::broadcast(one, lanes);
  }
  Expr identity(int lanes) const {
    const Expr one = ir::identity_of(op, held());
    return lanes == 1 ? one : ir::broadcast(one, lanes);
  }
  // b ^ (b >> 31 & 0x7fffffff): negative numbers in the reverse order of their bits. Its own inverse.
  Expr turned(const Expr& bits) const {
    const int lanes = bits.type().lanes;
    const Expr sign = ir::binary(Op::shr, bits, constant(type.bits - 1, lanes));
    return ir::binary(Op::bit_xor, bits, ir::binary(Op::bit_and, sign, constant(ir::highest_of(held()), lanes)));
  }
  Expr key(const Expr& value) const {
    if (!type.is_float()) return value;
    const int lanes = value.type().lanes;
    const Type t = held().with_lanes(static_cast<std::uint16_t>(lanes));
    const Expr bits = ir::make(Op::bitcast, t, std::span(&value, 1), value.node()->where);
    const Expr nan = constant(op == Op::max ? ir::highest_of(held()) : ir::lowest_of(held()), lanes);
    return ir::select(ir::unary(Op::isnan, value), nan, turned(bits));
  }
  Expr value(const Expr& key) const {
    if (!type.is_float()) return key;
    const Expr bits = turned(key);
    return ir::make(Op::bitcast, type.with_lanes(key.type().lanes), std::span(&bits, 1), key.node()->where);
  }
};

// A register that a step combines a term into.
struct Scan {
  Id carried = 0;
  Order order;
  Expr term;
  Id lanes = 0, all = 0, last = 0;  // s, b and k
};

class Steps {
 public:
  Steps(ir::Kernel& kernel, const LowerOptions& options, const KFor& loop, Where where, std::vector<Id> around)
      : kernel_(kernel), options_(options), loop_(loop), where_(where), around_(std::move(around)) {}

  // The statements that replace the loop; nothing where it stays.
  std::optional<std::vector<KStmt>> run() {
    for (const KStmt& s : loop_.body) {
      const auto* store = s.as<KStore>();
      if (!store || !store->mask.empty() || store->atomic || store->value.type().lanes != 1) return {};
    }
    for (const KStmt& s : loop_.body) find(s.get<KStore>());
    if (scans_.empty() || !choose_lanes()) return {};
    for (const KStmt& s : loop_.body)
      if (!fits(s.get<KStore>())) return {};
    return made();
  }

 private:
  const ir::KBuffer& buffer(Id id) const { return kernel_.buffers.at(id); }
  bool in_registers(Id id) const { return buffer(id).storage == ir::Storage::registers; }
  static bool is_slot(const Expr& address, std::int64_t k) { return ir::is_int(address, k); }
  static bool loads_slot(const Expr& e, Id id, std::int64_t k) {
    return ir::is(e, Op::load) && e.node()->id == id && ir::args_of(e).size() == 1 && is_slot(ir::args_of(e)[0], k);
  }
  static bool loads_from(const Expr& e, Id id) {
    bool found = false;
    ir::walk(e, [&](const Expr& x) { return found = found || (ir::is(x, Op::load) && x.node()->id == id), !found; });
    return found;
  }
  Scan* scan_of(Id id) {
    const auto at = std::find_if(scans_.begin(), scans_.end(), [&](const Scan& s) { return s.carried == id; });
    return at == scans_.end() ? nullptr : &*at;
  }

  // c[0] = op(c[1], term)
  void find(const KStore& s) {
    if (!in_registers(s.buffer) || !is_slot(s.address, 0) || ir::args_of(s.value).size() != 2) return;
    const Op op = ir::op_of(s.value);
    if (!associates(op, s.value.type())) return;
    for (const int k : {0, 1}) {
      const Expr &before = ir::args_of(s.value)[static_cast<std::size_t>(k)],
                 &term = ir::args_of(s.value)[static_cast<std::size_t>(1 - k)];
      if (!loads_slot(before, s.buffer, 1) || loads_from(term, s.buffer)) continue;
      scans_.push_back({s.buffer, {op, s.value.type()}, term});
      return;
    }
  }

  bool choose_lanes() {
    int widest = 0;
    bool floats = true;
    for (const Scan& s : scans_) widest = std::max<int>(widest, s.order.type.bits), floats = floats && s.order.type.is_float();
    lanes_ = options_.vector_bits / std::max(1, widest);
    std::int64_t n = 0;
    return lanes_ >= (floats ? 4 : 8) && lanes_ <= 64 && !(ir::is_int(loop_.extent, &n) && n < 2 * lanes_);
  }

  // How far an address moves in a step, where that is known.
  std::optional<std::int64_t> moves(const Expr& address) const {
    const Expr next = ir::substitute(address, {{loop_.var, ir::add(ir::var(loop_.var, loop_.name), ir::index(1))}});
    std::int64_t by = 0;
    if (has_load(address) || !ir::is_int(analysis::simplify(ir::sub(next, address)), &by)) return {};
    return by;
  }
  bool stored(Id id) const {
    return std::any_of(loop_.body.begin(), loop_.body.end(), [&](const KStmt& s) { return s.get<KStore>().buffer == id; });
  }
  // Every load is one of the scans' that stand before, or of something else that is there before the loop.
  bool reads_well(const Expr& root) {
    bool good = true;
    ir::walk(root, [&](const Expr& e) {
      if (ir::is(e, Op::load)) {
        const Id id = e.node()->id;
        if (scan_of(id))
          good = good && loads_slot(e, id, 0) && std::find(done_.begin(), done_.end(), id) != done_.end();
        else if (const auto by = moves(ir::args_of(e)[0]); stored(id) || in_registers(id) || !by || *by < -1 || *by > 1)
          good = false;
      }
      return good;
    });
    return good;
  }
  bool fits(const KStore& s) {
    const Scan* scan = in_registers(s.buffer) ? scan_of(s.buffer) : nullptr;
    if (scan) {
      if (is_slot(s.address, 1))
        return loads_slot(s.value, s.buffer, 0) && std::find(done_.begin(), done_.end(), s.buffer) == done_.end();
      const bool once = std::find(done_.begin(), done_.end(), s.buffer) == done_.end();
      if (!is_slot(s.address, 0) || !once || !reads_well(scan->term)) return false;
      done_.push_back(s.buffer);
      return true;
    }
    const auto by = moves(s.address);
    return !in_registers(s.buffer) && (by == 1 || by == -1) && reads_well(s.value);
  }

  // ---- what is made ------------------------------------------------------------------------------------------------------
  Id registers(const Scan& s, const char* suffix, std::int64_t elements) {
    ir::KBuffer b;
    b.id = kernel_.fresh();
    b.name = buffer(s.carried).name + suffix;
    b.type = s.order.held();
    b.storage = ir::Storage::registers;
    b.elements = ir::index(elements);
    b.written = true;
    b.inside = around_;
    kernel_.buffers.emplace(b.id, b);
    return b.id;
  }
  Expr slice(const Scan& s, std::int64_t from, int lanes) const {
    return ir::load(s.lanes, buffer(s.lanes).name, s.order.held().with_lanes(static_cast<std::uint16_t>(lanes)),
                    std::vector<Expr>{ramp(from, lanes)});
  }
  static Expr ramp(std::int64_t from, int lanes) {
    return lanes == 1 ? ir::index(from) : ir::ramp(ir::index(from), ir::index(1), lanes);
  }
  Expr one(Id id, const Scan& s) const {
    return ir::load(id, buffer(id).name, s.order.held(), std::vector<Expr>{ir::index(0)});
  }

  // One lane's value: t is the step of the lane, and what a scan holds is in its lanes.
  Expr of_lane(const Expr& e, const Expr& first, const Expr& lane) {
    return ir::transform(ir::substitute(e, {{loop_.var, ir::add(first, lane)}}), [&](const Expr& x) {
      const Scan* s = ir::is(x, Op::load) ? scan_of(x.node()->id) : nullptr;
      if (!s) return x;
      const Expr at = ir::add(ir::index(lanes_), lane);
      return s->order.value(ir::load(s->lanes, buffer(s->lanes).name, s->order.held(), std::vector<Expr>{at}));
    });
  }
  KStmt in_lanes(Id lane, KStmt store) const {
    const Where where = store.where;
    KFor v{lane, "lane", ir::index(0), ir::index(lanes_), ir::LoopKind::vectorized};
    v.body.push_back(std::move(store));
    return for_stmt(std::move(v), where);
  }

  void combine(const Scan& s, const Expr& first, Id lane, const Where& where, std::vector<KStmt>& out) {
    const Expr l = ir::var(lane, "lane");
    out.push_back(
        in_lanes(lane, store_stmt(s.lanes, ir::add(ir::index(lanes_), l), s.order.key(of_lane(s.term, first, l)), where)));
    const auto with = [&](const Expr& other) {
      out.push_back(store_stmt(s.lanes, ramp(lanes_, lanes_), ir::binary(s.order.op, slice(s, lanes_, lanes_), other), where));
    };
    for (int by = 1; by < lanes_; by *= 2) with(slice(s, lanes_ - by, lanes_));
    // From block to block one operation waits for another, on one number.
    out.push_back(store_stmt(s.all, ir::index(0), slice(s, 2 * lanes_ - 1, 1), where));
    with(ir::broadcast(one(s.last, s), lanes_));
    out.push_back(store_stmt(s.last, ir::index(0), ir::binary(s.order.op, one(s.last, s), one(s.all, s)), where));
  }

  // If the scan runs backwards, the first lane of a store is the last step.
  KStmt stored_in_lanes(const KStore& s, Where where, const Expr& first, const Expr& lane) {
    const Expr step = moves(s.address) == 1 ? lane : ir::sub(ir::index(lanes_ - 1), lane);
    return store_stmt(s.buffer, of_lane(s.address, first, step), of_lane(s.value, first, step), where);
  }

  std::vector<KStmt> made() {
    std::vector<KStmt> out;
    for (Scan& s : scans_) {
      s.lanes = registers(s, "_lanes", 2 * lanes_);
      s.all = registers(s, "_all", 1);
      s.last = registers(s, "_last", 1);
      const Expr before = ir::load(s.carried, buffer(s.carried).name, s.order.type, std::vector<Expr>{ir::index(0)});
      out.push_back(store_stmt(s.lanes, ramp(0, 2 * lanes_), s.order.identity(2 * lanes_), where_));
      out.push_back(store_stmt(s.last, ir::index(0), s.order.key(before), where_));
    }
    const Expr n = ir::max(loop_.extent, ir::index(0)), blocks = ir::div(n, ir::index(lanes_)),
               done = ir::mul(blocks, ir::index(lanes_));
    KFor blocked{kernel_.fresh(), loop_.name + "_block", ir::index(0), analysis::simplify(blocks), loop_.kind};
    const Id lane = kernel_.fresh();
    const Expr first = ir::add(loop_.begin, ir::mul(ir::var(blocked.var, blocked.name), ir::index(lanes_)));
    for (const KStmt& s : loop_.body) {
      const KStore& store = s.get<KStore>();
      const Scan* scan = in_registers(store.buffer) ? scan_of(store.buffer) : nullptr;
      if (scan && is_slot(store.address, 0))
        combine(*scan, first, lane, s.where, blocked.body);
      else if (!scan)
        blocked.body.push_back(in_lanes(lane, stored_in_lanes(store, s.where, first, ir::var(lane, "lane"))));
    }
    out.push_back(for_stmt(std::move(blocked), where_));
    for (const Scan& s : scans_) out.push_back(store_stmt(s.carried, ir::index(0), s.order.value(one(s.last, s)), where_));
    KFor rest = loop_;
    rest.begin = analysis::simplify(ir::add(loop_.begin, done));
    rest.extent = analysis::simplify(ir::sub(loop_.extent, done));
    out.push_back(for_stmt(std::move(rest), where_));
    return out;
  }

  ir::Kernel& kernel_;
  const LowerOptions& options_;
  const KFor loop_;
  const Where where_;
  std::vector<Id> around_;
  int lanes_ = 0;
  std::vector<Scan> scans_;
  std::vector<Id> done_;  // scans whose step stands before what is looked at
};

class LanesPass {
 public:
  LanesPass(ir::Kernel& kernel, const LowerOptions& options) : kernel_(kernel), options_(options) {}
  bool visit(std::vector<KStmt>& list) {
    bool changed = false;
    for (std::size_t k = 0; k < list.size(); ++k) {
      if (list[k].is<ir::KLaunch>()) continue;
      const KFor* const loop = list[k].as<KFor>();
      if (loop) around_.push_back(loop->var);
      for (auto* inside : list[k].bodies()) changed |= visit(*inside);
      if (loop) around_.pop_back();
      if (!loop || loop->kind != ir::LoopKind::serial) continue;
      auto instead = Steps(kernel_, options_, *loop, list[k].where, around_).run();
      if (!instead) continue;
      changed = true;
      const std::size_t n = instead->size();
      const auto from = list.begin() + static_cast<std::ptrdiff_t>(k);
      list.insert(list.erase(from), std::make_move_iterator(instead->begin()), std::make_move_iterator(instead->end()));
      k += n - 1;
    }
    return changed;
  }

 private:
  ir::Kernel& kernel_;
  const LowerOptions& options_;
  std::vector<Id> around_;
};

}  // namespace

void scan_in_lanes(ir::Kernel& kernel, const LowerOptions& options) {
  if (!has_recurrences(kernel) || !LanesPass(kernel, options).visit(kernel.body)) return;
  vectorize(kernel);
  tidy(kernel);
}

}  // namespace ashlar::lowering
