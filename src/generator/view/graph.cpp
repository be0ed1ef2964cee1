// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The stages of the scheduled program as a graph: what reads what, which box each computes, and where.
#include <algorithm>
#include <set>

#include <ashlar/ir/text.h>

#include "generator/view/parts.h"

namespace ashlar::generator::view {

namespace {

std::string extents(const ir::Buffer& b) {
  std::string text = "[";
  for (std::size_t d = 0; d < b.extents.size(); ++d) text += (d ? ", " : "") + ir::text(b.extents[d]);
  return text + "]";
}

struct Placed {
  std::string box, at;
};

// The box of the first nest of a stage, and the loop of another stage where it stands.
Placed placed(const ir::Program& p, const ir::Stage& stage) {
  Placed result;
  const std::vector<const ir::Stmt*> nests = ir::nests_of(p, stage.id);
  if (nests.empty()) return result;
  for (const ir::Root& r : nests.front()->get<ir::NestStmt>().roots) {
    const auto v = std::find_if(stage.iters.begin(), stage.iters.end(), [&](const ir::IterVar& i) { return i.id == r.iter; });
    if (v == stage.iters.end() || r.extent.empty()) continue;
    result.box += (result.box.empty() ? "" : "\n") + v->name + " in [" + ir::text(r.begin) + ", +" + ir::text(r.extent) + ")" +
                  (v->kind == ir::IterKind::reduce    ? ", reduced"
                   : v->kind == ir::IterKind::ordered ? ", in order"
                                                      : "");
  }
  std::string loop, of;
  for (const ir::Stmt* s : ir::path_to(p, nests.front()->id)) {
    if (const auto* nest = s->as<ir::NestStmt>(); nest && s != nests.front()) of = p.stage(nest->stage).name;
    if (const auto* l = s->as<ir::LoopStmt>()) loop = p.axis(l->axis).name;
  }
  if (!of.empty()) result.at = loop + " of " + of;
  return result;
}

const char* origin(const ir::Stage& s) {
  switch (s.origin) {
    case ir::Stage::Origin::user:
      return "stage";
    case ir::Stage::Origin::cache_read:
    case ir::Stage::Origin::cache_write:
      return "copy";
    case ir::Stage::Origin::rfactor:
      return "partial result";
    case ir::Stage::Origin::scan:
      return "part of a scan";
  }
  return "stage";
}

json stage_node(const ir::Program& p, const ir::Stage& s, Sources& sources) {
  const Placed where = placed(p, s);
  const ir::Buffer& b = p.buffer(s.buffers.front());
  std::string formula;
  for (const Expr& e : s.values) formula += (formula.empty() ? "" : "; ") + ir::text(e);
  return {{"id", s.id},
          {"name", s.name},
          {"kind", origin(s)},
          {"output", b.role == ir::Role::output},
          {"type", ir::text(b.type)},
          {"box", where.box},
          {"at", where.at},
          {"inlined", ir::nests_of(p, s.id).empty()},
          {"memory", b.role == ir::Role::output ? "argument" : std::string(b.scope.name)},
          {"formula", formula},
          {"reduces", s.is_reduction()},
          {"place", sources.place(s.where)}};
}

void edges_of(const ir::Program& p, const ir::Stage& s, json& edges) {
  std::set<std::pair<ir::Id, std::string>> seen;
  const auto visit = [&](const Expr& e) {
    if (!ir::is(e, ir::Op::load)) return true;
    const ir::Buffer& b = p.buffer(e.node()->id);
    const ir::Id from = b.stage ? b.stage : b.id;
    if (from != s.id || s.is_recurrence())
      if (seen.emplace(from, ir::text(e)).second) edges.push_back(json::array({from, s.id, ir::text(e)}));
    return true;
  };
  for (const auto* list : {&s.values, &s.inits, &s.domain, &s.targets})
    for (const Expr& e : *list)
      if (!e.empty()) ir::walk(e, visit);
  for (const Expr* e : {&s.keep, &s.fill})
    if (!e->empty()) ir::walk(*e, visit);
}

}  // namespace

json graph(const ir::Program& p, Sources& sources) {
  json nodes = json::array(), edges = json::array();
  for (const auto& [id, b] : p.buffers)
    if (b.role == ir::Role::input || b.role == ir::Role::constant)
      nodes.push_back({{"id", id},
                       {"name", b.name},
                       {"kind", b.role == ir::Role::input ? "input" : "constant"},
                       {"type", ir::text(b.type)},
                       {"box", extents(b)},
                       {"memory", b.role == ir::Role::input ? "argument" : "constant"},
                       {"place", sources.place(b.where)}});
  for (const auto& [id, s] : p.stages) nodes.push_back(stage_node(p, s, sources)), edges_of(p, s, edges);
  return {{"nodes", std::move(nodes)}, {"edges", std::move(edges)}};
}

}  // namespace ashlar::generator::view
