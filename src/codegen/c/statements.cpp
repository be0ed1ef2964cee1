// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Statements: loops, guards, lets, stores; and where the storage of a function's own buffers lies.
#include <algorithm>
#include <functional>

#include <ashlar/ir/refusal.h>

#include "codegen/c/function.h"
#include "codegen/uses.h"

namespace ashlar::codegen::c {

using ir::KStmt;
using ir::Op;

// ---- lines -------------------------------------------------------------------------------------------------------------
void Function::line(const std::string& s) {
  text += place_ + std::string(static_cast<std::size_t>(2 * depth_), ' ') + s + "\n";
}

void Function::open(const std::string& head) {
  line(head.empty() ? "{" : head + " {");
  ++depth_;
  declared_.emplace_back();
}

void Function::close(const std::string& rest) {
  --depth_;
  declared_.pop_back();
  line("}" + rest);
}

void Function::reopen() {
  ++depth_;
  declared_.emplace_back();
}

std::string Function::declare(const std::string& name) { return declared_.back().insert(name).second ? "" : "{"; }

void Function::bind(ir::Id var, const std::string& name, bool is_array, bool wild) {
  vars_[var] = {Text{name}, is_array, wild, {}};
}

void Function::bind_value(ir::Id var, const std::string& name, Type t) { vars_[var] = {Text{name}, false, false, t}; }

const std::string& Function::base_of(ir::Id id) {
  const auto it = buffers_.find(id);
  if (it != buffers_.end()) return it->second;
  const ir::KBuffer& b = k.buffers.at(id);
  if (b.storage != ir::Storage::constant)
    throw InternalError("codegen: buffer " + b.name + " of kernel " + file.name + " has no storage here");
  return buffers_[id] = file.data_of(b);
}

namespace {

// What a nest stores, where all of it is one buffer's and one line's: what its comment says.
void collect(const ir::Kernel& k, const std::vector<KStmt>& list, std::set<std::string>& all) {
  for (const KStmt& s : list) {
    if (const auto* store = s.as<ir::KStore>())
      all.insert(k.buffers.at(store->buffer).name + (s.where.line() ? ", " + location(s.where) : ""));
    if (s.is<ir::KCall>()) all.insert(s.where.line() ? location(s.where) : "a call");
    for (const auto* part : s.bodies()) collect(k, *part, all);
  }
}

}  // namespace

// The stage and the user's line of what follows, once for a nest that computes one thing.
void Function::comment(const KStmt& s) {
  std::set<std::string> all;
  collect(k, {s}, all);
  if (all.size() != 1 || *all.begin() == said_) return;
  said_ = *all.begin();
  line("/* " + in_comment(said_) + " */");
}

// ---- stores ------------------------------------------------------------------------------------------------------------
bool Function::reads_what_may_overlap(const Expr& e, ir::Id buffer, const Expr* except) {
  bool any = false;
  if (e.empty()) return false;
  ir::walk(e, [&](const Expr& x) {
    if (!ir::is(x, Op::load) || any) return !any;
    const ir::KBuffer& read = k.buffers.at(x.node()->id);
    const bool own_element = except && read.id == buffer && ir::same(ir::args_of(x)[0], *except);
    any = !own_element && may_overlap(k, k.buffers.at(buffer), read);
    return !any;
  });
  return any;
}

std::string Function::assignment(const ir::KBuffer& b, const std::string& mask, const std::string& index,
                                 const std::string& v) {
  const std::string at = element(b.id, index);
  const std::string kept = b.type.is_bool() ? "(uint8_t)(" + v + ")" : v;
  const std::string made =
      has_other_types(k, b) ? file.helpers.store(b.type.element()) + "(&" + at + ", " + kept + ");" : at + " = " + kept + ";";
  return mask == "true" ? made : "if (" + mask + ") " + made;
}

// A loop over lanes; `inside` gives its last statement, and may have others put before it.
void Function::lanes(int count, const std::function<std::string()>& inside) {
  lane_ = "lane";
  inner_.clear();
  const std::string last = inside();
  open("for (int64_t " + lane_ + " = 0; " + lane_ + " < " + std::to_string(count) + "; ++" + lane_ + ")");
  text += inner_;
  line(last);
  close();
  lane_.clear();
  named_.clear();
}

void Function::store(const ir::KStore& s) {
  if (s.atomic) return update(s);
  const ir::KBuffer& b = k.buffers.at(s.buffer);
  if (s.value.type().element() != b.type.element())
    throw InternalError("codegen: a store of another type than " + b.name + " has");
  if (is_packed(b)) throw InternalError("codegen: a store into the packed argument " + b.name);
  if (s.value.type().lanes > 1) return store_lanes(s);
  prepare({&s.mask, &s.address, &s.value});
  const std::string mask = s.mask.empty() ? "true" : value(s.mask);
  if (mask != "true") open("if (" + mask + ")");
  const std::string v = value(s.value);
  line(assignment(b, "true", value(s.address), v));
  if (mask != "true") close();
}

void Function::store_lanes(const ir::KStore& s) {
  const ir::KBuffer& b = k.buffers.at(s.buffer);
  const int n = s.value.type().lanes;
  const bool scalar_mask = !s.mask.empty() && s.mask.type().lanes == 1;
  prepare({&s.mask, &s.address, &s.value});
  if (scalar_mask) {
    const std::string mask = value(s.mask);
    open(mask == "true" ? std::string() : "if (" + mask + ")");
  }
  const bool apart = reads_what_may_overlap(s.value, s.buffer, &s.address);
  const bool places_apart = reads_what_may_overlap(s.address, s.buffer, nullptr) ||
                            (!scalar_mask && reads_what_may_overlap(s.mask, s.buffer, nullptr));
  const bool masked = !s.mask.empty() && !scalar_mask;
  if (!apart && !places_apart) {
    lanes(n, [&] {
      const std::string mask = masked ? value(s.mask) : "true", v = value(s.value);
      return assignment(b, mask, value(s.address), v);
    });
  } else {  // all lanes are computed before any is written
    const auto array = [&](const Expr& e, const char* name) {
      const std::string all = file.unique(name);
      line(value_type(e.type()) + " " + all + "[" + std::to_string(n) + "];");
      lanes(n, [&] { return all + "[" + lane_ + "] = " + value(e) + ";"; });
      prepare({&s.mask, &s.address, &s.value});
      return all;
    };
    const std::string values = array(s.value, "values");
    const std::string places = places_apart ? array(s.address, "places") : "",
                      masks = places_apart && masked ? array(s.mask, "masks") : "";
    lanes(n, [&] {
      const std::string mask = !masks.empty() ? masks + "[" + lane_ + "]" : masked ? value(s.mask) : "true";
      return assignment(b, mask, places.empty() ? value(s.address) : places + "[" + lane_ + "]", values + "[" + lane_ + "]");
    });
  }
  if (scalar_mask) close();
}

// One read-modify-write an element.
void Function::update(const ir::KStore& s) {
  const ir::KBuffer& b = k.buffers.at(s.buffer);
  const Type t = b.type.element();
  const bool chosen = *s.atomic == Op::min || *s.atomic == Op::max;
  const std::string f = file.helpers.atomic(*s.atomic, t, chosen ? spelled(*s.atomic, t, {t, t}) + "(old, v)" : "old + v");
  const int n = s.value.type().lanes;
  prepare({&s.mask, &s.address, &s.value});
  const auto one = [&] {
    const std::string mask = s.mask.empty() ? "true" : value(s.mask), v = value(s.value);
    const std::string made = f + "(&" + element(b.id, value(s.address)) + ", " + v + ");";
    return mask == "true" ? made : "if (" + mask + ") " + made;
  };
  if (n > 1) return lanes(n, one);
  const std::string made = one();
  line(made);
}

// ---- control -----------------------------------------------------------------------------------------------------------
void Function::let(const ir::KLet& s) {
  if (!uses_of(s.body).vars.contains(s.var)) return statements(s.body);
  const std::string name = file.name_of(s.var, s.name);
  const std::string block = declare(name);
  if (!block.empty()) open(""), declare(name);
  prepare({&s.value});
  const Type t = s.value.type();
  if (t.lanes > 1) {
    line(value_type(t) + " " + name + "[" + std::to_string(t.lanes) + "];");
    lanes(t.lanes, [&] { return name + "[" + lane_ + "] = " + value(s.value) + ";"; });
  } else {
    const std::string v = value(s.value);
    line("const " + value_type(t) + " " + name + " = " + v + ";");
  }
  bind(s.var, name, t.lanes > 1, t.is_index() && is_wild(s.value));
  vars_[s.var].type = t;
  statements(s.body);
  vars_.erase(s.var);
  if (!block.empty()) close();
}

void Function::for_loop(const ir::KFor& s, const KStmt& statement) {
  std::int64_t extent = -1;
  const bool constant = ir::is_int(s.extent, &extent);
  if (constant && extent <= 0) return;
  comment(statement);
  const std::string name = file.name_of(s.var, s.name);
  prepare({&s.begin, &s.extent});
  if (constant && extent == 1) {
    const std::string begin = value(s.begin);
    open("");
    declare(name);
    if (uses_of(s.body).vars.contains(s.var)) line("const int64_t " + name + " = " + begin + ";");
    bind(s.var, name, false, is_wild(s.begin));
  } else {
    const Text begin = root(s.begin);
    const Expr end = ir::add(s.begin, s.extent);
    std::string past;
    if (constant || ir::is_int(s.begin, std::int64_t{0})) {
      const Expr& bound = ir::is_int(s.begin, std::int64_t{0}) ? s.extent : end;
      count(bound);
      past = wrapped(root(bound), kSum);
      // evaluated once
      if (!ir::args_of(bound).empty() && past.find_first_of("([") != std::string::npos) {
        const std::string held = file.unique(name + "_end");
        line("const int64_t " + held + " = " + past + ";");
        past = held;
      }
    } else {
      const bool wild = is_wild(s.begin) || is_wild(s.extent);
      const Text many = root(s.extent);
      past = file.unique(name + "_end");
      const std::string sum = wild ? file.helpers.binary(Op::add, ir::index_type) + "(" + begin.s + ", " + many.s + ")"
                                   : infix(Op::add, kSum, begin, many, ir::index_type).s;
      line("const int64_t " + past + " = " + sum + ";");
    }
    open("for (int64_t " + name + " = " + begin.s + "; " + name + " < " + past + "; ++" + name + ")");
    declare(name);
    bind(s.var, name);
  }
  vars_[s.var].type = ir::index_type;
  statements(s.body);
  close();
  vars_.erase(s.var);
}

void Function::branch(const ir::KIf& s, const KStmt& statement) {
  prepare({&s.condition});
  const std::string condition = value(s.condition);
  comment(statement);
  open("if (" + condition + ")");
  statements(s.body);
  if (!s.otherwise.empty()) {
    close(" else {");
    reopen();
    statements(s.otherwise);
  }
  close();
}

void Function::statements(const std::vector<KStmt>& list) {
  const std::string around = place_;
  const auto refused = [] { throw InternalError("codegen: a launch in C"); };  // by source()
  for (const KStmt& s : list) {
    if (std::string own = file.directive(s.where); !own.empty()) place_ = std::move(own);
    s.visit(
        [&](const ir::KFor& n) {
          if (n.kind != ir::LoopKind::serial && n.kind != ir::LoopKind::parallel)
            throw InternalError("codegen: loop " + n.name + " of kernel " + file.name + " was not vectorized or unrolled");
          n.kind == ir::LoopKind::parallel && !is_worker ? parallel_for(n, s) : for_loop(n, s);
        },
        [&](const ir::KIf& n) { branch(n, s); }, [&](const ir::KLet& n) { let(n); },
        [&](const ir::KStore& n) {
          comment(s);
          store(n);
        },
        [&](const ir::KPrefetch& n) { prefetch(n); },
        [&](const ir::KCall& n) {
          comment(s);
          n.function ? call_of_region(n) : call_of_user(n, s.where);
        },
        [&](const ir::KLaunch&) { refused(); }, [&](const ir::KSync&) { refused(); });
    place_ = around;
  }
}

// A hint, of an address that may be that of nothing: no pointer is made of it that C would ask to be one.
void Function::prefetch(const ir::KPrefetch& s) {
  prepare({&s.address});
  Expr first = s.address;
  if (const auto ramp = as_ramp(s.address)) first = ramp->base;
  if (first.type().lanes > 1) return;  // of scattered elements there is no first one that would help
  prepare({&first});
  const ir::KBuffer& b = k.buffers.at(s.buffer);
  const std::string index = value(first);
  line(file.helpers.prefetch() + "((uintptr_t)" + base_of(s.buffer) + " + (uintptr_t)(" + index + ")" +
       (is_packed(b) ? " / 2" : " * sizeof(" + memory_type(b.type.element()) + ")") + ");");
}

// A stack or register buffer belongs to the parallel body that uses it, also to copies of one that its alloc stands inside of;
// otherwise to the function around them.
void Function::allocate(const std::vector<KStmt>& region) {
  for (const auto& [id, b] : k.buffers) {
    if (b.storage != ir::Storage::stack && b.storage != ir::Storage::registers) continue;
    if (buffers_.count(id) || !used_here(region, b, !is_worker)) continue;
    std::int64_t elements = 0;
    if (!ir::is_int(b.elements, &elements) || elements < 0)
      throw InternalError("codegen: buffer " + b.name + " lies on the stack but its size is not a constant");
    const std::string name = file.name_of(id, b.name);
    declare(name);
    line(memory_type(b.type.element()) + " " + name + "[" + std::to_string(std::max<std::int64_t>(elements, 1)) + "] = {0};");
    line("(void)" + name + ";");  // it may be stored alone
    bind_buffer(id, name);
  }
}

}  // namespace ashlar::codegen::c
