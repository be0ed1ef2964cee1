#include "measures.h"

#include <algorithm>
#include <cctype>
#include <functional>

namespace fuzz {

using namespace ashlar;
using ir::LoopStmt;
using ir::Stmt;

std::int64_t copies_of_code(const ir::Program& p) {
  std::int64_t most = 1;
  const std::function<void(const std::vector<Stmt>&, std::int64_t)> visit = [&](const std::vector<Stmt>& body, std::int64_t n) {
    for (const Stmt& s : body) {
      std::int64_t here = n, extent = 0;
      if (const LoopStmt* loop = s.as<LoopStmt>();
          loop && (loop->kind == ir::LoopKind::unrolled || loop->kind == ir::LoopKind::vectorized) &&
          ir::is_int(p.axis(loop->axis).extent, &extent))
        here *= std::max<std::int64_t>(extent, 1);
      most = std::max(most, here);
      visit(s.body(), here);
    }
  };
  visit(p.body, 1);
  return most;
}

std::size_t size_of(const ir::Program& p) {
  std::size_t n = 0;
  for (const auto& [id, s] : p.stages)
    for (const Expr& e : s.values) n += ir::node_count(e);
  ir::walk(p.body, [&](const Stmt&) { n += 4; });
  return n;
}

std::size_t size_of(const std::vector<ir::KStmt>& body) {
  std::size_t n = 0;
  for (const ir::KStmt& s : body) {
    ++n;
    for_each_expr(s, [&](const Expr& e) { n += ir::node_count(e); });
    for (const auto* part : s.bodies()) n += size_of(*part);
  }
  return n;
}

std::int64_t syncs(const std::vector<ir::KStmt>& body, ir::Sync::Kind kind) {
  std::int64_t n = 0;
  for (const ir::KStmt& s : body) {
    const auto* sync = s.as<ir::KSync>();
    n += sync && sync->kind == kind;
    for (const auto* part : s.bodies()) n += syncs(*part, kind);
  }
  return n;
}

bool places(const ir::Program& p) {  // outside of Scope::global, in a variant too
  return std::any_of(p.buffers.begin(), p.buffers.end(), [](const auto& b) { return !(b.second.scope == Scope::global); }) ||
         std::any_of(p.variants.begin(), p.variants.end(), [](const ir::Variant& v) { return places(*v.program); });
}

static void to_global(ir::Program& p) {
  for (auto& [id, b] : p.buffers) b.scope = Scope::global;
  for (ir::Variant& v : p.variants) {
    auto own = std::make_shared<ir::Program>(*v.program);
    to_global(*own);
    v.program = std::move(own);
  }
}
void to_global(schedule::Scheduled& s) {
  to_global(s.program);
  for (schedule::Scheduled& v : s.variants) to_global(v.program);
}

bool divides_floats(const ir::Program& p) {
  bool any = false;
  for (const auto& [id, stage] : p.stages)
    for (const Expr& value : stage.values)
      ir::walk(value, [&](const Expr& e) {
        any = any || ((ir::is(e, ir::Op::div) || ir::is(e, ir::Op::mod)) && e.type().is_float());
        return !any;
      });
  return any;
}

std::string without_numbers(const std::string& text) {
  std::string r;
  for (char ch : text) {
    if (std::isdigit(static_cast<unsigned char>(ch))) {
      if (r.empty() || r.back() != '#') r += '#';
    } else
      r += ch;
  }
  return r;
}

bool scatters_at_once(const ir::Program& p) {
  bool any = false;
  ir::walk(p.body, [&](const ir::Stmt& s) {
    const ir::LoopStmt* loop = s.as<ir::LoopStmt>();
    if (!loop || loop->kind == ir::LoopKind::serial || loop->kind == ir::LoopKind::unrolled) return;
    const ir::NestStmt* nest = nullptr;
    for (const ir::Stmt* x : ir::path_to(p, s.id))
      if (const ir::NestStmt* here = x->as<ir::NestStmt>()) nest = here;
    const ir::Stage& stage = p.stage(nest->stage);
    any = any || (p.axis(loop->axis).reduce && stage.scatters() && !stage.atomic);
  });
  return any && !promises_of_inputs(p).empty();
}
std::set<ir::Id> promises_of_inputs(const ir::Program& p) {
  std::set<ir::Id> injective;
  for (const auto& [id, b] : p.buffers)
    if (b.injective) injective.insert(id);
  return injective;
}

}  // namespace fuzz
