// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "analysis/proofs/uniform.h"

#include <ashlar/ir/build.h>

#include "analysis/nodes.h"

namespace ashlar::analysis {

bool Uniform::operator()(const Expr& e, std::int64_t n) {
  if (n == 1 || e.empty()) return true;
  const auto [at, fresh] = known_.try_emplace({e.node(), n}, false);
  if (!fresh) return at->second;
  keep_.push_back(e);
  bool result = structural(e, n);
  if (!result) {
    const Expr whole = unfolded(e);
    bool plain = true;  // registers differ between threads, whatever their address
    ir::walk(whole, [&](const Expr& x) { return plain = plain && !ir::is(x, Op::load), plain; });
    if (plain) {
      const ir::Id q = ir::fresh_id(), r = ir::fresh_id();
      Facts facts;
      facts.bound(q, 0, {});
      facts.bound(r, 0, n - 1);
      const Expr base = ir::mul(ir::var(q, "q"), ir::index(n));
      bool uniform_vars = true;  // of the rest of the expression
      for (ir::Id id : ir::free_vars(whole))
        if (id != thread_)
          if (const auto loop = loops_.find(id); loop != loops_.end())
            uniform_vars = uniform_vars && (*this)(loop->second.first, n) && (*this)(loop->second.second, n);
      result = uniform_vars && ir::same(simplify(ir::substitute(whole, {{thread_, ir::add(base, ir::var(r, "r"))}}), facts),
                                        simplify(ir::substitute(whole, {{thread_, base}}), facts));
    }
  }
  return known_[{e.node(), n}] = result;
}

bool Uniform::structural(const Expr& e, std::int64_t n) {
  const auto args = ir::args_of(e);
  switch (ir::op_of(e)) {
    case Op::int_const:
    case Op::float_const:
      return true;
    case Op::var: {
      const ir::Id id = e.node()->id;
      if (id == thread_) return false;
      if (const auto v = lets_.find(id); v != lets_.end()) return (*this)(v->second, n);
      if (const auto l = loops_.find(id); l != loops_.end()) return (*this)(l->second.first, n) && (*this)(l->second.second, n);
      return true;  // symbols, the block's numbers
    }
    case Op::load: {
      const auto b = k_->buffers.find(e.node()->id);
      if (b == k_->buffers.end() || b->second.storage == ir::Storage::registers || b->second.storage == ir::Storage::stack)
        return false;
      break;
    }
    case Op::div:
    case Op::lt:
    case Op::ge: {
      std::int64_t c = 0;
      if (ir::is_int(args[1], &c) && c > 0 && c % n == 0 && like_thread(args[0], n)) return true;
      break;
    }
    default:
      break;
  }
  for (const Expr& a : args)
    if (!(*this)(a, n)) return false;
  return true;
}

bool Uniform::like_thread(const Expr& e, std::int64_t n) const {
  if (ir::is(e, Op::var)) {
    if (e.node()->id == thread_) return true;
    const auto v = lets_.find(e.node()->id);
    return v != lets_.end() && like_thread(v->second, n);
  }
  std::int64_t c = 0;
  return ir::is(e, Op::mod) && ir::is_int(ir::args_of(e)[1], &c) && c > 0 && c % n == 0 && like_thread(ir::args_of(e)[0], n);
}

Expr Uniform::unfolded(const Expr& e) const {
  return ir::transform(e, [&](const Expr& x) {
    if (!ir::is(x, Op::var)) return x;
    const auto v = lets_.find(x.node()->id);
    return v == lets_.end() ? x : unfolded(v->second);
  });
}

}  // namespace ashlar::analysis
