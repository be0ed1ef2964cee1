// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The figures of each stage on a processor, as a text.
#include <ashlar/ir/function.h>
#include <ashlar/analysis/simplify.h>
#include <ashlar/report/explain.h>

#include <ashlar/ir/print.h>

#include "report/figures_text.h"
#include "report/stage_figures.h"

namespace ashlar {
namespace {

using report::LoopFigures;
using report::number;
using report::percent;
using report::scaled;
using report::StageFigures;

std::string line(const std::string& what, const std::string& text) {
  std::string s = "  " + what;
  if (s.size() < 22) s.append(22 - s.size(), ' ');
  return s + "  " + text + "\n";
}

std::string right(const std::string& text, std::size_t width) {
  return (text.size() < width ? std::string(width - text.size(), ' ') : "") + text;
}

const char* word(ir::LoopKind k) {
  return k == ir::LoopKind::parallel     ? ", parallel"
         : k == ir::LoopKind::vectorized ? ", vectorized"
         : k == ir::LoopKind::unrolled   ? ", unrolled"
         : k == ir::LoopKind::tensorized ? ", one call"
                                         : "";
}

std::string kinds(const StageFigures& f) {
  std::string text;
  const auto add = [&](double n, const char* what) {
    if (n > 0) text += (text.empty() ? "" : ", ") + number(n) + " " + what;
  };
  add(f.fma, "fma"), add(f.add, "add"), add(f.mul, "mul"), add(f.other, "other");
  return text;
}

std::string row(const std::string& name, const LoopFigures& l) {
  return line(name, right(number(l.trips), 10) + right(number(l.runs), 12) + right(scaled(l.footprint(), "B"), 14) +
                        right(scaled(l.loaded(), "B"), 14) + right(scaled(l.stored(), "B"), 14));
}

std::string buffers(const ir::Program& p, const LoopFigures& l) {
  std::string text;
  for (const auto& b : l.buffers)
    text += (text.empty() ? "" : ", ") + p.buffer(b.buffer).name + " " + scaled(b.bytes, "B") +
            (b.guessed ? " at most, data decides" : "") + (b.inside ? ", which lives inside" : "");
  return text;
}

// The outermost loop whose footprint a cache holds; then its runs fetch and store from beyond.
std::string cache(const StageFigures& f, std::int64_t bytes) {
  for (std::size_t k = 0; k < f.loops.size(); ++k) {
    const LoopFigures& l = f.loops[k];
    if (l.footprint() > static_cast<double>(bytes)) continue;
    const double moved = l.loaded() + l.stored();
    std::string text = k == 0 ? "holds all of it" : "holds a run of " + l.name;
    text += " (" + scaled(l.footprint(), "B") + "): " + scaled(l.loaded(), "B") + " loaded and " + scaled(l.stored(), "B") +
            " stored beyond it";
    return text + (moved > 0 ? ", " + number(f.operations() / moved) + " operations a byte" : "");
  }
  return "holds not even a run of the innermost loop";
}

std::string stage(const ir::Program& p, const Target& target, const StageFigures& f) {
  std::string text = "stage " + f.name + " in " + ir::text(f.type) + (f.inside.empty() ? "" : ", computed in " + f.inside) +
                     ": " + (f.at_most ? "at most " : "") + number(f.points) + " points, " +
                     scaled(f.operations(), "operations") + (kinds(f).empty() ? "" : " (" + kinds(f) + ")") + "\n";
  if (f.data_decides) text += line("not known", "how often a loop runs that data decides: counted as once");
  for (const auto& v : f.vectors)
    text += line("lanes", v.loop + ": " + std::to_string(v.lanes) + " of " + ir::text(f.type) + " in registers of " +
                              std::to_string(target.lanes(f.type)) + "; " + percent(v.used) + " of the lanes used, " +
                              percent(v.full) + " of the operations in full vectors");
  if (f.vectors.empty()) text += line("lanes", "no vectorized loop: one element at a time");
  const std::string file = " of " + std::to_string(target.vector_registers()) + " vector registers";
  if (f.vector_registers)
    text += line("registers", std::to_string(f.vector_registers) + file + " hold it");
  else
    text += line("registers", number(f.at_once) + file + " for the results that are computed at once");
  text += line("loop", "iterations        runs     footprint        loaded        stored");
  const bool one_loop = f.loops.size() > 1 && f.loops[0].footprint() == f.loops[1].footprint();
  for (std::size_t k = one_loop ? 1 : 0; k < f.loops.size(); ++k)
    text += row(k == 0 ? "all" : f.loops[k].name + word(f.loops[k].kind), f.loops[k]);
  text += line("touches", buffers(p, f.loops[0]));
  for (int level = 1; level <= 3; ++level)
    if (const std::int64_t bytes = target.cache_bytes(level))
      text += line("L" + std::to_string(level) + ", " + std::to_string(bytes / 1024) + " KiB", cache(f, bytes));
  return text;
}

}  // namespace

const ir::Variant* report::variant_at(const ir::Program& p, const std::map<ir::Id, std::int64_t>& symbols) {
  ir::Substitution values;
  for (const auto& [id, n] : symbols) values.emplace_back(id, ir::index(n));
  for (const ir::Variant& v : p.variants)
    if (ir::is_int(analysis::simplify(ir::substitute(v.condition, values)), 1)) return &v;
  return nullptr;
}

std::string explain_stages(const ir::Program& p, const Target& target, const ExplainSizes& sizes, Where where) {
  const auto symbols = report::sizes_of(p.symbols, p.name, sizes, where);
  if (const ir::Variant* v = report::variant_at(p, symbols))
    return "\nthe variant where " + ir::text(v->condition) + "\n" + explain_stages(*v->program, target, sizes, where);
  std::string text;
  for (const StageFigures& f : report::stage_figures(p, target, symbols)) text += "\n" + stage(p, target, f);
  for (const auto& [id, s] : p.stages)
    if (const ir::Function* f = ir::computed_by(s.values))
      text += "\nstage " + s.name + ": computed by " + f->symbol + ", a box at a time; what it does is not known here\n";
  if (!text.empty())
    text += "\nwhat bounds it: unknown, the table of " + std::string(target.text()) +
            " has no operations or bytes a second; compare the operations a byte with those of the machine\n";
  return text;
}

}  // namespace ashlar
