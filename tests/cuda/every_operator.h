#pragma once
// Kernels that apply every operator to 128 elements of a type: x, y, z in, an output for each result, one lane and vectors
// of 4.
#include <functional>
#include <vector>

#include "tests/interp/launch_builder.h"

namespace cuda {

using namespace ashlar;

using Operation = std::function<Expr(const Expr& x, const Expr& y, const Expr& z)>;

inline std::vector<Operation> operations(Type t) {
  using ir::Op;
  std::vector<Operation> all;
  auto binary = [&](std::initializer_list<Op> ops) {
    for (Op op : ops) all.push_back([op](const Expr& x, const Expr& y, const Expr&) { return ir::binary(op, x, y); });
  };
  auto unary = [&](std::initializer_list<Op> ops) {
    for (Op op : ops) all.push_back([op](const Expr& x, const Expr&, const Expr&) { return ir::unary(op, x); });
  };
  for (Type to : {i8, i16, i32, i64, u8, u16, u32, u64, f16, bf16, f32, f64, bool_, e4m3, e5m2}) {
    all.push_back([to](const Expr& x, const Expr&, const Expr&) { return ir::cast(to.with_lanes(x.type().lanes), x); });
    if (!t.is_bool())
      all.push_back([to](const Expr& x, const Expr&, const Expr&) {
        return ir::make(Op::saturate, to.with_lanes(x.type().lanes), {&x, 1});
      });
  }
  binary({Op::eq, Op::ne});
  all.push_back([](const Expr& x, const Expr& y, const Expr& z) { return ir::select(ir::eq(x, y), x, z); });
  if (t.is_bool()) {
    binary({Op::logic_and, Op::logic_or, Op::mul, Op::min, Op::max, Op::bit_and, Op::bit_or, Op::bit_xor, Op::lt, Op::le,
            Op::gt, Op::ge});
    unary({Op::logic_not, Op::bit_not});
    return all;
  }
  binary({Op::lt, Op::le, Op::gt, Op::ge, Op::add, Op::sub, Op::mul, Op::div, Op::min, Op::max});
  all.push_back([](const Expr& x, const Expr& y, const Expr& z) { return ir::fma(x, y, z); });
  unary({Op::neg, Op::abs});
  if (t.is_float()) {
    binary({Op::copysign});
    unary({Op::sqrt, Op::floor, Op::ceil, Op::round, Op::trunc, Op::isnan, Op::isinf});
  } else {
    binary({Op::mod, Op::trunc_div, Op::trunc_rem, Op::bit_and, Op::bit_or, Op::bit_xor, Op::shl, Op::shr, Op::rounding_shr,
            Op::mul_high_rounding, Op::mul_high, Op::add_sat, Op::sub_sat, Op::halving_add, Op::rounding_halving_add,
            Op::halving_sub});
    all.push_back([t](const Expr& x, const Expr& y, const Expr&) {
      const Expr args[] = {x, y};
      return ir::make(Op::abs_diff, Type{Type::Code::unsigned_, t.bits}.with_lanes(x.type().lanes), args);
    });
    unary({Op::bit_not, Op::popcount, Op::clz, Op::ctz});
  }
  return all;
}

// A few operations a kernel, `together` at most: entry holds every output against every other.
inline std::vector<ir::Kernel> every_operator(Type t, std::size_t together = 6) {
  using launches::num;
  const std::vector<Operation> all = operations(t);
  std::vector<ir::Kernel> kernels;
  for (std::size_t first = 0; first < all.size(); first += together) {
    launches::Builder b("operators");
    const ir::Id x = b.input("x", t, {num(128)}), y = b.input("y", t, {num(128)}), z = b.input("z", t, {num(128)});
    int n = 0;
    for (int lanes : {1, 4})
      b.launch(num(4 / lanes), 32, 0, [&](const Expr& block, const Expr& thread) {
        const Expr i = ir::add(ir::mul(block, num(32)), thread);
        const Expr at = lanes == 1 ? i : ir::ramp(ir::mul(i, num(4)), num(1), 4);
        auto load = [&](ir::Id id) { return ir::load(id, "", t.with_lanes(lanes), {&at, 1}); };
        for (std::size_t k = first; k < std::min(first + together, all.size()); ++k) {
          const Expr v = all[k](load(x), load(y), load(z));
          b.store(b.output("o" + std::to_string(n++), v.type().element(), {num(128)}), at, v);
        }
      });
    kernels.push_back(std::move(b.k));
  }
  return kernels;
}

}  // namespace cuda
