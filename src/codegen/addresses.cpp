// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "codegen/addresses.h"

#include <numeric>
#include <unordered_map>

#include <ashlar/ir/build.h>

#include <ashlar/ir/pairs.h>

namespace ashlar::codegen {

using ir::Op;

std::optional<Ramp> as_ramp(const Expr& e) {
  const auto args = ir::args_of(e);
  switch (ir::op_of(e)) {
    case Op::ramp:
      return args[0].type().lanes == 1 ? std::optional(Ramp{args[0], args[1]}) : std::nullopt;
    case Op::broadcast:
      return Ramp{args[0], ir::index(0)};
    case Op::in_range:
      return as_ramp(args[0]);
    case Op::add:
    case Op::sub: {
      const auto x = as_ramp(args[0]), y = as_ramp(args[1]);
      if (!x || !y) return std::nullopt;
      const bool plus = ir::is(e, Op::add);
      return plus ? Ramp{ir::add(x->base, y->base), ir::add(x->stride, y->stride)}
                  : Ramp{ir::sub(x->base, y->base), ir::sub(x->stride, y->stride)};
    }
    case Op::mul: {
      const auto x = as_ramp(args[0]), y = as_ramp(args[1]);
      if (!x || !y) return std::nullopt;
      if (ir::is_int(y->stride, std::int64_t{0})) return Ramp{ir::mul(x->base, y->base), ir::mul(x->stride, y->base)};
      if (ir::is_int(x->stride, std::int64_t{0})) return Ramp{ir::mul(y->base, x->base), ir::mul(y->stride, x->base)};
      return std::nullopt;
    }
    default:
      return std::nullopt;
  }
}

namespace {

// A sum of numbers times what is not a sum; given up where it is very long.
class Linear {
 public:
  void add(const Expr& e, std::int64_t times) {
    std::int64_t c = 0;
    const auto args = ir::args_of(e);
    if (--budget_ < 0) return;
    if (ir::is_int(e, &c)) {
      constant_ += times * c;
    } else if (ir::is(e, Op::add) || ir::is(e, Op::sub)) {
      add(args[0], times);
      add(args[1], ir::is(e, Op::add) ? times : -times);
    } else if (ir::is(e, Op::mul) && ir::is_int(args[1], &c)) {
      add(args[0], times * c);
    } else if (ir::is(e, Op::mul) && ir::is_int(args[0], &c)) {
      add(args[1], times * c);
    } else {
      terms_[e] += times;
    }
  }
  std::optional<std::int64_t> number() const {
    for (const auto& [e, times] : terms_)
      if (times != 0) return std::nullopt;
    return budget_ < 0 ? std::nullopt : std::optional(constant_);
  }

 private:
  std::int64_t constant_ = 0;
  std::unordered_map<Expr, std::int64_t, ir::ExprHash, ir::ExprSame> terms_;
  int budget_ = 200;
};

}  // namespace

std::optional<std::int64_t> constant_difference(const Expr& a, const Expr& b) {
  Linear difference;
  difference.add(a, 1);
  difference.add(b, -1);
  return difference.number();
}

namespace {

// One question; an index whose parts are used twice by the next ones, over and over, is asked for each of them once.
class Multiple {
 public:
  explicit Multiple(const Multiples& multiples) : multiples_(multiples) {}
  std::int64_t of(const Expr& e) {
    if (ir::args_of(e).empty() || !ir::is_shared(e.node())) return found(e);
    if (const auto it = known_.find(e.node()); it != known_.end()) return it->second;
    return known_.emplace(e.node(), found(e)).first->second;
  }

 private:
  std::int64_t found(const Expr&);
  const Multiples& multiples_;
  std::unordered_map<const ir::Node*, std::int64_t> known_;
};

std::int64_t Multiple::found(const Expr& e) {
  const auto args = ir::args_of(e);
  switch (ir::op_of(e)) {
    case Op::int_const:
      return e.node()->i < 0 ? -e.node()->i : e.node()->i;
    case Op::var: {
      const auto it = multiples_.find(e.node()->id);
      return it == multiples_.end() ? 1 : it->second;
    }
    case Op::add:
    case Op::sub:
    case Op::min:
    case Op::max:
      return std::gcd(of(args[0]), of(args[1]));
    case Op::mul: {
      // only small powers of two matter for alignment; beyond 2^20 the product is capped to stay in range
      const std::int64_t x = of(args[0]), y = of(args[1]);
      return std::gcd(x, std::int64_t{1} << 20) * std::gcd(y, std::int64_t{1} << 20);
    }
    case Op::select:
      return std::gcd(of(args[1]), of(args[2]));
    case Op::in_range:
      return of(args[0]);
    default:
      return 1;
  }
}

}  // namespace

std::int64_t known_multiple(const Expr& e, const Multiples& multiples) { return Multiple(multiples).of(e); }

}  // namespace ashlar::codegen
