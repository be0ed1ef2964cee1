#pragma once
// Programs written by hand for the interpreter's tests: stages, and the tree that computes each at the top, in order.
#include <cmath>
#include <initializer_list>
#include <string>
#include <vector>

#include <ashlar/interp/interpreter.h>
#include <ashlar/ir/build.h>

#include "tests/support/program_arguments.h"

namespace test {

using namespace ashlar;

// Small numbers of both signs.
inline interp::Array ramp(Type t, std::vector<std::int64_t> shape) {
  double next = 0;
  return interp::Array::make(t, std::move(shape), [&](auto) { return std::fmod(next += 7, 11.0) - 5; });
}

struct Maker {
  ir::Program p;

  Expr symbol(const std::string& name, std::int64_t min = 0) {
    ir::Symbol s;
    s.id = p.fresh();
    s.name = name;
    s.min = min;
    p.symbols[s.id] = s;
    return ir::var(s.id, name);
  }

  ir::Id argument(ir::ArgumentKind kind, const std::string& name, Type type, std::vector<Expr> extents) {
    return add_argument(p, kind, name, type, std::move(extents));
  }
  ir::Id input(const std::string& name, Type type, std::vector<Expr> extents) {
    return argument(ir::ArgumentKind::input, name, type, extents);
  }
  ir::Id output(const std::string& name, Type type, std::vector<Expr> extents) {
    return argument(ir::ArgumentKind::output, name, type, extents);
  }

  ir::Id temporary(const std::string& name, Type type, int rank) {
    ir::Buffer b;
    b.id = p.fresh();
    b.name = name;
    b.type = type;
    b.rank = rank;
    p.buffers[b.id] = b;
    return b.id;
  }

  ir::IterVar iter(const std::string& name, ir::IterKind kind = ir::IterKind::spatial, Expr begin = {}, Expr end = {}) {
    ir::IterVar v;
    v.id = p.fresh();
    v.name = name;
    v.kind = kind;
    v.begin = begin;
    v.end = end;
    return v;
  }
  ir::IterVar spatial(const std::string& name, Expr end) { return iter(name, ir::IterKind::spatial, ir::index(0), end); }
  ir::IterVar reduce(const std::string& name, Expr end) { return iter(name, ir::IterKind::reduce, ir::index(0), end); }

  static Expr of(const ir::IterVar& v) { return ir::var(v.id, v.name); }
  Expr at(ir::Id buffer, std::initializer_list<Expr> index) {
    return ir::load(buffer, p.buffer(buffer).name, p.buffer(buffer).type, {index.begin(), index.size()});
  }

  // Adds the stage, and a nest at the top with one loop for each iteration variable.
  ir::Id stage(ir::Id buffer, std::vector<ir::IterVar> iters, Expr value, ir::ReducerKind reducer = ir::ReducerKind::none,
               Expr init = {}) {
    ir::Stage s;
    s.id = p.fresh();
    s.name = p.buffer(buffer).name;
    s.iters = std::move(iters);
    s.values = {value};
    s.reducer.kind = reducer;
    s.reducer.fused = reducer == ir::ReducerKind::sum && ir::is(value, ir::Op::mul);
    if (reducer != ir::ReducerKind::none) s.inits = {init};
    s.buffers = {buffer};
    ir::Buffer& b = p.buffers.at(buffer);
    b.stage = s.id;
    if (b.role == ir::Role::temporary) { p.body.push_back({p.fresh(), 0, {}, ir::AllocStmt{.buffer = buffer}}); }
    const ir::Id nest_id = p.fresh();
    ir::NestStmt nest{.stage = s.id};
    ir::Stmt block{p.fresh(), 0, {}, ir::BlockStmt{.stage = s.id}};
    std::vector<ir::Stmt> loops;
    for (const ir::IterVar& v : s.iters) {
      ir::Axis a;
      a.id = p.fresh();
      a.name = v.name;
      a.iter = v.id;
      a.reduce = v.kind == ir::IterKind::reduce;
      p.axes[a.id] = a;
      nest.roots.push_back({v.id, a.id, {}, {}});
      loops.push_back({p.fresh(), 0, {}, ir::LoopStmt{.axis = a.id}});
    }
    std::vector<ir::Stmt> inner{block};
    while (!loops.empty()) {
      loops.back().body() = std::move(inner);
      inner = {std::move(loops.back())};
      loops.pop_back();
    }
    nest.body = std::move(inner);
    p.body.push_back({nest_id, 0, {}, std::move(nest)});
    p.stages[s.id] = std::move(s);
    return p.buffer(buffer).stage;
  }
};

// C = A B, [M, K] x [K, N], with symbols.
struct Matmul : Maker {
  Expr M = symbol("M"), N = symbol("N"), K = symbol("K");
  ir::Id A = input("A", f32, {M, K}), B = input("B", f32, {K, N}), C = output("C", f32, {M, N});
  ir::IterVar i = spatial("i", M), j = spatial("j", N), k = reduce("k", K);
  ir::Id product =
      stage(C, {i, j, k}, ir::mul(at(A, {of(i), of(k)}), at(B, {of(k), of(j)})), ir::ReducerKind::sum, ir::float_const(f32, 0));
};

// out(y) = sum of three rows of p, p(y) = 2 in(clamp(y)), whose domain follows from its reader: [-1, H + 1).
struct Blur : Maker {
  Expr H = symbol("H", 1);
  ir::Id in = input("in", i32, {H}), out = output("out", i32, {H});
  ir::Id p_buffer = temporary("p", i32, 1);
  ir::IterVar py = iter("y"), y = spatial("y", H);
  ir::Id p_stage =
      stage(p_buffer, {py},
            ir::mul(ir::int_const(i32, 2), at(in, {ir::max(ir::index(0), ir::min(of(py), ir::sub(H, ir::index(1))))})));
  ir::Id out_stage = stage(out, {y},
                           ir::add(ir::add(at(p_buffer, {ir::sub(of(y), ir::index(1))}), at(p_buffer, {of(y)})),
                                   at(p_buffer, {ir::add(of(y), ir::index(1))})));
};

}  // namespace test
