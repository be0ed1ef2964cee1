// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The schedule as steps, each with the program after it. The steps of the finished schedule are applied once more, to a copy of
// the algorithm, since a schedule keeps only its last program.
#include <ashlar/ir/placed_text.h>
#include <ashlar/schedule/step.h>

#include "generator/view/parts.h"

namespace ashlar::generator::view {

namespace {

// The stage that a line of the program is about: that of a definition, a nest, a block, an alloc.
ir::Id stage_of(const ir::Program& p, ir::Id id) {
  if (p.stages.count(id)) return id;
  if (const auto b = p.buffers.find(id); b != p.buffers.end()) return b->second.stage;
  const ir::Stmt* s = ir::find(p, id);
  if (!s) return 0;
  if (const auto* nest = s->as<ir::NestStmt>()) return nest->stage;
  if (const auto* block = s->as<ir::BlockStmt>()) return block->stage;
  if (const auto* alloc = s->as<ir::AllocStmt>()) return p.buffer(alloc->buffer).stage;
  ir::Id stage = 0;  // of a loop: whose nest it stands in
  for (const ir::Stmt* around : ir::path_to(p, id))
    if (const auto* nest = around->as<ir::NestStmt>()) stage = nest->stage;
  return stage;
}

json program(const ir::Program& p, LineTable& lines, Sources& sources) {
  json all = json::array();
  for (const ir::PlacedLine& l : ir::placed_text(p)) {
    const json place = sources.place(l.where);
    json row = json::array({lines.add(l.text)});
    if (place.is_null())
      row.push_back(-1), row.push_back(0);
    else
      row.push_back(place[0]), row.push_back(place[1]);
    row.push_back(l.of ? stage_of(p, l.of) : 0);
    all.push_back(std::move(row));
  }
  return all;
}

}  // namespace

json steps(const Compilation& c, LineTable& lines, Sources& sources) {
  const schedule::Scheduled& done = c.schedule->scheduled();
  schedule::Scheduled now;
  now.program = c.schedule->algorithm();
  json all = json::array();
  all.push_back(
      {{"text", "the program as it was defined"}, {"place", nullptr}, {"program", program(now.program, lines, sources)}});
  for (const schedule::Step& step : done.trace) {
    schedule::Step again = step;
    again.results.clear();
    schedule::apply(now, std::move(again), c.schedule->target());
    std::string text = step.text.empty() ? schedule::text(step) : step.text;
    json entry = {{"text", std::move(text)},
                  {"name", step.call ? step.call : step.primitive},
                  {"place", sources.place(step.where)},
                  {"program", program(schedule::variant(now, step.variant).program, lines, sources)}};
    if (step.where.line() == 0 && !step.place.empty()) entry["at"] = step.place;
    if (step.variant) entry["variant"] = step.variant;
    all.push_back(std::move(entry));
  }
  return all;
}

}  // namespace ashlar::generator::view
