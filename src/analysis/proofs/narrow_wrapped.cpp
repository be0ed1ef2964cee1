// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A kernel with the wrapping of narrow indices written out, so that the interpreter runs what a device computes: the rules are
// those of the back ends (codegen/llvm/arithmetic/narrow.cpp).
//
//   y[block * 256 + thread] = …   becomes   y[(block * 256 + thread + 2^15) % 2^16 - 2^15] = …      in 16 bits
#include <ashlar/analysis/narrow_indices.h>

#include "analysis/nodes.h"
#include "analysis/proofs/narrow_ops.h"

namespace ashlar::analysis {

namespace {

class Wrapped {
 public:
  Wrapped(const NarrowIndices& narrow, int bits) : n_(narrow), bits_(bits) {}

  void launches(std::vector<ir::KStmt>& list) {
    for (ir::KStmt& s : list) {
      if (auto* launch = s.as<ir::KLaunch>())
        statements(launch->body);
      else
        for (auto* inside : s.bodies()) launches(*inside);
    }
  }

 private:
  void statements(std::vector<ir::KStmt>& list) {
    for (ir::KStmt& s : list) {
      if (auto* loop = s.as<ir::KFor>()) {
        const bool narrow = exact(loop->begin) && exact(ir::add(loop->begin, loop->extent));
        for (Expr* e : {&loop->begin, &loop->extent}) *e = narrow ? low(*e) : wide(*e);
      } else if (auto* store = s.as<ir::KStore>()) {
        store->address = address(store->buffer, store->address);
        store->value = wide(store->value);
        if (!store->mask.empty()) store->mask = wide(store->mask);
      } else if (auto* call = s.as<ir::KCall>()) {
        for (ir::Call::Actual& a : call->actuals) {
          if (!a.address.empty()) a.address = a.buffer ? address(a.buffer, a.address) : wide(a.address);
          for (auto* each : {&a.positions, &a.strides, &a.extents})
            for (Expr& e : *each) e = wide(e);
        }
      } else {
        for_each_expr(s, [&](Expr& e) { e = wide(e); });
      }
      for (auto* inside : s.bodies()) statements(*inside);
    }
  }

  bool exact(const Expr& e) const { return n_.exact.contains(e); }
  Expr number(std::int64_t v, Type t) const {
    const Expr one = ir::index(v);
    return t.lanes > 1 ? ir::broadcast(one, t.lanes) : one;
  }
  Expr without_sign(const Expr& e) const { return ir::mod(e, number(std::int64_t{1} << bits_, e.type())); }
  Expr wrapped(const Expr& e) const {
    const Expr half = number(std::int64_t{1} << (bits_ - 1), e.type());
    return ir::sub(without_sign(ir::add(e, half)), half);
  }

  Expr address(ir::Id buffer, const Expr& e) {
    const auto args = ir::args_of(e);
    if (n_.far.contains(buffer)) return wide(e);
    if (ir::is(e, Op::ramp) && ir::is_int(args[1])) return ir::ramp(address(buffer, args[0]), args[1], e.type().lanes);
    std::int64_t distance = 0;
    return stays_outside(e, &distance, bits_) ? ir::add(low(args[0]), ir::index(distance)) : low(e);
  }

  // Modulo 2^bits, as a number with a sign.
  Expr low(const Expr& e) {
    const auto args = ir::args_of(e);
    const auto of_lows = [&] {
      std::vector<Expr> operands;
      for (const Expr& a : args) operands.push_back(a.type().is_index() ? low(a) : wide(a));
      return ir::rebuild(e, operands);
    };
    const Op op = ir::op_of(e);
    if (op == Op::var) return exact(e) ? e : wrapped(e);
    if (op == Op::broadcast) return of_lows();
    if (counts_modulo(op)) return wrapped(of_lows());
    if (passes_on(op)) return low(args[0]);
    if (compares_values(op) && narrows(e)) {
      if (!divides(op) || n_.range(args[0])->low < 0) return wrapped(of_lows());
      const Expr unsigned_operands[] = {without_sign(low(args[0])), without_sign(low(args[1]))};
      return wrapped(ir::rebuild(e, unsigned_operands));
    }
    return wrapped(wide(e));
  }

  // What fits is computed in few bits.
  bool narrows(const Expr& e) const {
    const auto args = ir::args_of(e);
    const Op op = ir::op_of(e);
    if (divides(op)) {
      const auto by = n_.range(args[1]);
      return exact(args[0]) && by && by->low >= 0;
    }
    if (compares_values(op)) return exact(args[0]) && exact(args[1]);
    return op != Op::broadcast && counts_modulo(op) && exact(e);
  }

  // An index in 64 bits: what fits is what its lower half says. Data and conditions, with what is in them of indices.
  Expr wide(const Expr& e) {
    if (ir::args_of(e).empty()) return e;
    if (const auto it = memo_.find(e); it != memo_.end()) return it->second;
    return memo_[e] = of_wide(e);
  }
  Expr of_wide(const Expr& e) {
    const auto args = ir::args_of(e);
    if (e.type().is_index() && narrows(e)) return low(e);
    std::vector<Expr> operands(args.begin(), args.end());
    if (ir::is(e, Op::load)) {
      operands[0] = address(e.node()->id, operands[0]);
      if (operands.size() > 1) operands[1] = wide(operands[1]);
      return ir::rebuild(e, operands);
    }
    const bool compares = ir::is_comparison(ir::op_of(e)) && args[0].type().is_index() && exact(args[0]) && exact(args[1]);
    const bool lower = ir::is(e, Op::cast) && args[0].type().is_index() && e.type().is_data_integer() && e.type().bits <= bits_;
    for (Expr& a : operands) a = compares || lower ? low(a) : wide(a);
    return ir::rebuild(e, operands);
  }

  const NarrowIndices& n_;
  const int bits_;
  std::unordered_map<Expr, Expr, ir::ExprHash, ir::ExprSame> memo_;
};

}  // namespace

ir::Kernel with_narrow_indices(const ir::Kernel& kernel, const NarrowIndices& narrow, int bits) {
  ir::Kernel k = kernel;
  Wrapped(narrow, bits).launches(k.body);
  return k;
}

}  // namespace ashlar::analysis
