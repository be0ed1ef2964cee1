#pragma once
// A program that does what an intrinsic means, several times over, made from its description: the steps t of a sum go on from a
// start that is an input, and the tile that is accumulated lies in registers (or on the stack) around them.
//
//   for t in steps
//     C[i] += sum over k of value(A[t, ...], B[t, ...])          by the intrinsic
//
//   Site site(x86::vpdpbusd(), target);
//   site.algorithm(), site.kernel()
#include <optional>
#include <random>
#include <string>
#include <vector>

#include <ashlar/interp/interpreter.h>
#include <ashlar/ir/build.h>
#include <ashlar/lang.h>
#include <ashlar/lang/build_program.h>
#include <ashlar/lower/lower.h>
#include <ashlar/instructions/intrinsic.h>
#include <ashlar/schedule/schedule.h>
#include <ashlar/schedule/step.h>

namespace instructions {

using namespace ashlar;

inline Expr element(const Tensor& t, const std::vector<Expr>& at) {
  if (at.size() == 1) return t(at[0]);
  if (at.size() == 2) return t(at[0], at[1]);
  if (at.size() == 3) return t(at[0], at[1], at[2]);
  return t(at[0], at[1], at[2], at[3]);
}

class Site {
 public:
  static constexpr std::int64_t steps = 3;

  Site(const Intrinsic& f, const Target& target, const Scope& where = Scope::registers)
      : f_(f.node()), built_(build()), s_(built_, target) {
    Stage acc = s_.cache_write(c_, where);
    const bool one = result().shape.size() == 1;
    acc.compute_at(s_[c_].nest().front());
    std::vector<Loop> loops = acc.nest();  // once, the tile's dimensions, t, the sum's
    const std::size_t rank = result().shape.size();
    const Loop t = loops[1 + rank];
    std::vector<Loop> order{loops[0], t};
    for (std::size_t d = 0; d < rank; ++d) order.push_back(loops[1 + d]);
    for (std::size_t k = 2 + rank; k < loops.size(); ++k) order.push_back(loops[k]);
    reorder(acc, order);
    for (const Tensor& input : inputs_)  // rows of a caller's tensor lie as far apart as the caller says
      if (!input.empty()) s_.cache_read(input, {acc}, Scope::stack).compute_at(loops[0]);
    acc.decompose_init(t);
    acc.tensorize(loops[1], f);
    for (const Stage& each : {s_[c_], acc.init()}) {
      const std::vector<Loop> own = each.nest();
      if (!one) each.unroll(own[own.size() - 2]);
      each.vectorize(own.back());
    }
    schedule::finish(s_.scheduled(), target);
  }
  const ir::Program& algorithm() const { return built_.program; }
  const Schedule& schedule() const { return s_; }
  ir::Kernel kernel() const { return lower(s_.scheduled().program, options_for(s_.target())); }

  // Arguments whose bits are random: integers of all values; floats that `finite` chose.
  template <class Float>
  interp::Arguments arguments(std::uint32_t seed, Float&& value) const {
    std::mt19937 engine(seed);
    interp::Arguments all;
    for (const ir::Argument& a : algorithm().arguments) {
      const ir::Buffer& b = algorithm().buffer(a.id);
      std::vector<std::int64_t> shape;
      for (const Expr& e : b.extents) {
        std::int64_t n = 0;
        ir::is_int(e, &n);
        shape.push_back(n);
      }
      interp::Array array = interp::Array::zeros(b.type, shape);
      if (a.kind == ir::ArgumentKind::input && b.type.is_float())
        array = interp::Array::make(b.type, shape, [&](auto) { return value(engine); });
      else if (a.kind == ir::ArgumentKind::input)
        for (std::byte& byte : array.bytes)  // every fourth is an extreme
          byte = static_cast<std::byte>(engine() % 4 ? engine() : engine() % 2 ? 0x80 : engine() % 2 ? 0x7f : 0xff);
      all.emplace_back(std::move(array));
    }
    return all;
  }

 private:
  const ir::IntrinsicOperand& result() const {
    for (const auto& o : f_.operands)
      if (o.access != ir::IntrinsicOperand::Access::read) return o;
    return f_.operands.front();
  }
  static void reorder(const Stage& s, const std::vector<Loop>& l) {
    switch (l.size()) {
      case 3:
        s.reorder(l[0], l[1], l[2]);
        break;
      case 4:
        s.reorder(l[0], l[1], l[2], l[3]);
        break;
      case 5:
        s.reorder(l[0], l[1], l[2], l[3], l[4]);
        break;
      default:
        s.reorder(l[0], l[1], l[2], l[3], l[4], l[5]);
    }
  }

  Expr rebuilt(const Expr& e, const Expr& t, const ir::Substitution& vars) const {
    const auto args = ir::args_of(e);
    if (ir::is(e, ir::Op::load)) {
      std::vector<Expr> at{t};
      for (const Expr& a : args) at.push_back(ir::substitute(a, vars));
      for (std::size_t k = 0; k < f_.operands.size(); ++k)
        if (f_.operands[k].id == e.node()->id) return element(inputs_[k], at);
    }
    if (args.empty()) return e;
    std::vector<Expr> list;
    for (const Expr& a : args) list.push_back(rebuilt(a, t, vars));
    return ir::make(ir::op_of(e), e.type(), list);
  }

  lang::Built build() {
    std::vector<lang::ArgumentRef> arguments;
    for (const auto& o : f_.operands) {
      std::vector<Extent> extents{Extent(steps)};
      for (const std::int64_t n : o.shape) extents.emplace_back(n);
      inputs_.push_back(o.access == ir::IntrinsicOperand::Access::read ? lang::make_input(o.name.c_str(), o.type, extents)
                                                                       : Tensor());
      if (!inputs_.back().empty()) arguments.emplace_back(inputs_.back());
    }
    std::vector<Extent> shape{Extent(1)};
    for (const std::int64_t n : result().shape) shape.emplace_back(n);
    start_ = lang::make_input("start", result().type, shape);
    c_ = lang::make_output("C", result().type, shape);
    arguments.emplace_back(start_), arguments.emplace_back(c_);
    Axis t{"t", steps};
    std::vector<Axis> axes{t};
    for (const std::int64_t n : f_.reduce_extents) axes.emplace_back("k", n);
    const auto value = [&](const Expr& once, const std::vector<Expr>& at) {
      ir::Substitution vars;
      for (std::size_t d = 0; d < at.size(); ++d) vars.emplace_back(f_.spatial[d], at[d]);
      for (std::size_t k = 0; k < f_.reduce.size(); ++k) vars.emplace_back(f_.reduce[k], axes[k + 1]);
      std::vector<Expr> place{once};
      place.insert(place.end(), at.begin(), at.end());
      const Expr term = rebuilt(f_.value, t, vars), from = element(start_, place);
      return axes.size() == 2 ? sum(term, {axes[0], axes[1]}).from(from) : sum(term, {axes[0], axes[1], axes[2]}).from(from);
    };
    if (shape.size() == 2)
      lang::bind(c_, compute("C", {{"once", 1}, {"i", shape[1]}}, [&](Var once, Var i) { return value(once, {i}); }));
    else
      lang::bind(c_, compute("C", {{"once", 1}, {"i", shape[1]}, {"j", shape[2]}},
                             [&](Var once, Var i, Var j) { return value(once, {i, j}); }));
    return lang::build_program("site", arguments);
  }

  const ir::Intrinsic& f_;
  lang::DefinitionScope scope_;
  std::vector<Tensor> inputs_;
  Tensor start_, c_;
  lang::Built built_;
  Schedule s_;
};

}  // namespace instructions
