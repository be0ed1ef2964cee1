#pragma once
// Kernels by hand, as lowering would make them: arguments, buffers, loops and stores in a few words.
#include <cstring>
#include <string>
#include <vector>

#include <ashlar/ir/build.h>
#include <ashlar/ir/kernel.h>
#include <ashlar/ir/numeric.h>
#include <ashlar/target/target.h>

namespace kernels {

using namespace ashlar;
using ir::KStmt;

// Builds a Kernel, which gives the ids.
struct Maker {
  ir::Kernel k;

  explicit Maker(const std::string& name) { k.name = name; }

  ir::Id fresh() { return k.fresh(); }

  Expr symbol(const std::string& name, std::int64_t min = 0, std::int64_t multiple_of = 1) {
    ir::Symbol s;
    s.id = fresh();
    s.name = name;
    s.min = min;
    s.multiple_of = multiple_of;
    k.symbols[s.id] = s;
    return ir::var(s.id, name);
  }

  Expr scalar(const std::string& name, Type t) {
    const ir::Id id = fresh();
    k.scalars[id] = {id, name, t, {}};
    k.arguments.push_back({ir::ArgumentKind::scalar, id});
    return ir::var(id, name, t);
  }

  ir::Id tensor(const std::string& name, Type t, std::vector<Expr> extents, bool output = false, std::int64_t align = 0) {
    ir::Buffer b;
    b.id = fresh();
    b.name = name;
    b.type = t;
    b.rank = static_cast<int>(extents.size());
    b.role = output ? ir::Role::output : ir::Role::input;
    b.extents = std::move(extents);
    b.align = align;
    k.argument_buffers[b.id] = b;
    k.arguments.push_back({output ? ir::ArgumentKind::output : ir::ArgumentKind::input, b.id});
    ir::KBuffer kb;
    kb.id = b.id;
    kb.name = name;
    kb.type = t;
    kb.align = align ? align : t.bytes();
    kb.written = output;
    k.buffers[b.id] = kb;
    return b.id;
  }

  Expr stride(ir::Id buffer, int dim) {
    const ir::Id id = fresh();
    k.strides.push_back({id, buffer, dim});
    return ir::var(id, "stride");
  }

  ir::Id storage(const std::string& name, Type t, ir::Storage where, Expr elements, Expr offset = {}, bool per_worker = false) {
    ir::KBuffer kb;
    kb.id = fresh();
    kb.name = name;
    kb.type = t;
    kb.storage = where;
    kb.elements = std::move(elements);
    kb.offset = std::move(offset);
    kb.per_worker = per_worker;
    k.buffers[kb.id] = kb;
    return kb.id;
  }

  Expr load(ir::Id buffer, const Expr& address, const Expr& mask = {}) const {
    const ir::KBuffer& b = k.buffers.at(buffer);
    std::vector<Expr> args = {address};
    if (!mask.empty()) args.push_back(mask);
    return ir::load(buffer, b.name, b.type.with_lanes(address.type().lanes), args);
  }
};

inline KStmt store(ir::Id buffer, const Expr& address, const Expr& value, const Expr& mask = {}) {
  return {{}, ir::KStore{buffer, address, value, mask}};
}

inline KStmt loop(const Expr& var, const Expr& extent, std::vector<KStmt> body, ir::LoopKind kind = ir::LoopKind::serial,
                  const Expr& begin = ir::index(0)) {
  return {{}, ir::KFor{var.node()->id, var.node()->name, begin, extent, kind, std::move(body)}};
}

inline KStmt when(const Expr& condition, std::vector<KStmt> body, std::vector<KStmt> otherwise = {}) {
  return {{}, ir::KIf{condition, std::move(body), std::move(otherwise)}};
}

inline KStmt let(const Expr& var, const Expr& value, std::vector<KStmt> body) {
  return {{}, ir::KLet{var.node()->id, var.node()->name, value, std::move(body)}};
}

// The targets of this file's tests that this machine can execute; the others are named once and left out.
std::vector<Target> runnable(std::initializer_list<const char*> names);

}  // namespace kernels
