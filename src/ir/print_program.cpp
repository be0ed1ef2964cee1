// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <algorithm>

#include <ashlar/ir/build.h>
#include <ashlar/ir/numeric.h>
#include <ashlar/ir/placed_text.h>
#include <ashlar/ir/skew.h>

#include "ir/print.h"

namespace ashlar::ir {
namespace {

const char* reducer_name(ReducerKind k) {
  switch (k) {
    case ReducerKind::none:
      return "";
    case ReducerKind::sum:
      return "sum";
    case ReducerKind::strict_sum:
      return "strict_sum";
    case ReducerKind::product:
      return "product";
    case ReducerKind::minimum:
      return "minimum";
    case ReducerKind::maximum:
      return "maximum";
    case ReducerKind::custom:
      return "reduce";
  }
  return "";
}

const char* part_name(Part p) {
  switch (p) {
    case Part::all:
      return "";
    case Part::first:
      return "first of ";
    case Part::but_first:
      return "all but the first of ";
    case Part::last:
      return "last of ";
    case Part::but_last:
      return "all but the last of ";
    case Part::middle:
      return "all but the ends of ";
    case Part::end:
      return "last, if not first, of ";
    case Part::full:
      return "full ones of ";
    case Part::rest:
      return "rest of ";
    case Part::below:
    case Part::above:
    case Part::between:
    case Part::beyond:
      return "";
  }
  return "";
}

const char* kind_name(LoopKind k) {
  switch (k) {
    case LoopKind::serial:
      return "";
    case LoopKind::parallel:
      return "parallel";
    case LoopKind::vectorized:
      return "vectorized";
    case LoopKind::unrolled:
      return "unrolled";
    case LoopKind::bound:
      return "bound";
    case LoopKind::vthread:
      return "vthread";
    case LoopKind::tensorized:
      return "tensorized";
    case LoopKind::tile:
      return "tile";
  }
  return "";
}

struct ProgramWriter {
  const Program& p;
  Namer names;
  std::map<Id, std::string> iters;  // a stage's own variables, as its definition names them
  std::string out;
  std::vector<PlacedLine> placed = {};  // the same lines, each with what it stands for
  Where here = {};                      // of the line that is written
  Id of = 0;                            // its statement, stage or buffer

  std::string show(const Expr& e) { return text(e, names); }
  std::string show(const std::vector<Expr>& list, const char* between) {
    std::string s;
    for (std::size_t k = 0; k < list.size(); ++k) s += (k ? between : "") + show(list[k]);
    return s;
  }
  void line(int depth, const std::string& left, const std::string& right = {}) {
    std::string s(static_cast<std::size_t>(depth) * 2, ' ');
    s += left;
    if (!right.empty()) {
      if (s.size() < 44) s.append(44 - s.size(), ' ');
      s += "  " + right;
    }
    while (!s.empty() && s.back() == ' ') s.pop_back();
    out += s + "\n";
    placed.push_back({std::move(s), here, of});
  }
  void stand(Where where, Id id) { here = where, of = id; }  // what the next lines stand for

  // The elements of a constant; of a long one the first, and a sum over all by which two can be told apart (FNV-1a).
  static std::string elements_text(const Buffer& b) {
    constexpr std::size_t shown = 16;
    const auto size = static_cast<std::size_t>(b.type.bytes());
    const std::size_t count = b.data->size() / size;
    std::string s;
    for (std::size_t k = 0; k < std::min(count, shown); ++k)
      s += (k ? " " : "") + text(read_value(b.type, b.data->data() + k * size));
    if (count <= shown) return s;
    std::uint64_t h = 0xcbf29ce484222325u;
    for (const std::byte byte : *b.data) h = (h ^ static_cast<std::uint64_t>(byte)) * 0x100000001b3u;
    return s + " ..., " + std::to_string(count) + " elements of sum " + std::to_string(h);
  }

  // What a loop is beside a loop.
  std::string kind(const LoopStmt& loop) const {
    std::string k = loop.kind == LoopKind::bound ? text(loop.bound_to) : kind_name(loop.kind);
    if (loop.any_alignment) k += " where aligned";
    if (loop.combines) k += std::string(k.empty() ? "" : ", ") + "combined over threads";
    if (loop.pipeline) {
      k += (k.empty() ? "pipeline of " : ", pipeline of ") + std::to_string(loop.pipeline->stages) + ":";
      for (Id load : loop.pipeline->loads) k += " " + p.stage(load).name;
      if (loop.pipeline->async_copy) k += loop.pipeline->any_alignment ? ", asynchronous where aligned" : ", asynchronous";
    }
    return k;
  }

  // "from 1 to W - 1 of ", of a loop that was cut there, or that ends where another one has it end.
  std::string cuts(const Stmt& s) {
    const LoopStmt& loop = s.get<LoopStmt>();
    if (loop.tight && !p.axis(loop.axis).extent.empty() && !skews_of(p, loop.axis).empty()) {
      const LoopRange range = skewed_range(p, s);
      return "from " + show(range.begin) + " to " + show(range.end) + " of ";
    }
    if (loop.from.empty() && loop.to.empty()) return "";
    return (loop.from.empty() ? "" : "from " + show(loop.from) + " ") + (loop.to.empty() ? "" : "to " + show(loop.to) + " ") +
           "of ";
  }

  void header() {
    line(0, "program " + p.name);
    for (const auto& [id, s] : p.symbols) names(id, s.name);
    for (const Argument& a : p.arguments)
      names(a.id, a.kind == ArgumentKind::scalar ? p.scalars.at(a.id).name : p.buffer(a.id).name);
    for (const auto& [id, s] : p.stages)
      for (Id b : s.buffers) names(b, p.buffer(b).name);
    for (const auto& [id, s] : p.symbols) {
      std::string facts;
      if (s.min != 0) facts += ", min " + std::to_string(s.min);
      if (s.max != INT64_MAX) facts += ", max " + std::to_string(s.max);
      if (s.multiple_of != 1) facts += ", multiple of " + std::to_string(s.multiple_of);
      stand(s.where, id);
      line(1, "symbol " + names(id, s.name) + facts);
    }
    for (const Argument& a : p.arguments) {
      if (a.kind == ArgumentKind::scalar) {
        const ScalarArg& s = p.scalars.at(a.id);
        stand(s.where, a.id);
        line(1, "scalar " + names(a.id, s.name) + ": " + text(s.type));
        continue;
      }
      const Buffer& b = p.buffer(a.id);
      stand(b.where, a.id);
      line(1,
           std::string(a.kind == ArgumentKind::input ? "input " : "output ") + names(b.id, b.name) + ": " + text(b.type) + "[" +
               show(b.extents, ", ") + "]" + (b.streamed ? ", streamed" : "") + (b.injective ? ", injective" : ""),
           layout(b));
    }
    for (const auto& [id, b] : p.buffers)
      if (b.role == Role::constant) {
        stand(b.where, id);
        line(1,
             "constant " + names(id, b.name) + ": " + text(b.type) + "[" + show(b.extents, ", ") + "] = " + elements_text(b));
      }
    for (const auto& [id, s] : p.stages) stand(s.where, id), line(1, definition(s));
    stand({}, 0);
    for (const Expr& a : p.assumptions) line(1, "assume " + show(a));
    for (const TileHint& h : p.hints) line(1, hint(h));
    for (const auto& [id, f] : p.intrinsics) line(1, "intrinsic " + text(*f));
  }
  std::string hint(const TileHint& h) {
    const auto stage = p.stages.find(h.stage);
    const auto buffer = p.buffers.find(h.buffer);
    const std::string name = stage == p.stages.end() ? "a stage that is gone" : stage->second.name;
    const std::string tensor = buffer == p.buffers.end() ? "a tensor that is gone" : buffer->second.name;
    return "hint " + name + ": " + text(h.hint) + (h.buffer ? " of " + tensor : "");
  }
  std::string definition(const Stage& s) {
    const Namer::Scope scope(names);
    for (const IterVar& v : s.iters) iters[v.id] = names(v.id, v.name);
    std::string text_ = names(s.buffers.front(), p.buffer(s.buffers.front()).name) + "[";
    bool first = true;
    for (const IterVar& v : s.iters)
      if (v.kind != IterKind::reduce) {
        text_ += (first ? "" : ", ") + names(v.id, v.name);
        first = false;
      }
    text_ += "] = ";
    for (std::size_t k = 0; k < s.along.size(); ++k) {
      const IterVar& v = s.iters[s.along[k]];
      text_ += std::string(k ? ", " : "along ") + names(v.id, v.name) + (v.descending ? " backwards" : "");
    }
    if (s.is_recurrence()) text_ += ": ";
    if (s.is_reduction()) {
      text_ += std::string(reducer_name(s.reducer.kind)) + " over ";
      first = true;
      for (const IterVar& v : s.iters)
        if (v.kind == IterKind::reduce) {
          text_ += (first ? "" : ", ") + names(v.id, v.name) + " in [" + show(v.begin) + ", " + show(v.end) + ")";
          first = false;
        }
      text_ += " of ";
    }
    text_ += show(s.values, "; ");
    if (s.scatters()) text_ += " at [" + show(s.targets, ", ") + "]" + (s.keep.empty() ? "" : " if " + show(s.keep));
    if (s.is_reduction()) text_ += " from " + show(s.inits, "; ");
    if (!s.domain.empty()) text_ += " where " + show(s.domain, ", ");
    return text_;
  }
  std::string layout(const Buffer& b) {
    std::string s;
    if (!b.layout.map.empty()) {
      s += "layout (";
      for (std::size_t d = 0; d < b.layout.vars.size(); ++d)
        s += (d ? ", " : "") + names(b.layout.vars[d], "d" + std::to_string(d));
      s += ") -> (" + show(b.layout.map, ", ") + ")";
    }
    if (b.layout.align_dim >= 0)
      s += std::string(s.empty() ? "" : " ") + "dimension " + std::to_string(b.layout.align_dim) + " to a multiple of " +
           std::to_string(b.layout.pad_to);
    if (b.packed_by_caller) s += std::string(s.empty() ? "" : " ") + "packed by the caller";
    return s;
  }
  std::string along(Id loop) {
    const Stmt* s = find(p, loop);
    if (!s || !s->is<LoopStmt>()) return "?";
    const Id axis = s->get<LoopStmt>().axis;
    return names(axis, p.axis(axis).name);
  }
  std::string iter_name(Id iter) const {
    const auto it = iters.find(iter);
    return it == iters.end() ? "?" : it->second;
  }
  // The box that a nest computes.
  std::string box(const NestStmt& nest) {
    const Stage& stage = p.stage(nest.stage);
    std::string s;
    for (const Root& r : nest.roots) {
      const auto v = std::find_if(stage.iters.begin(), stage.iters.end(), [&](const IterVar& i) { return i.id == r.iter; });
      const bool turned = v != stage.iters.end() && v->descending && v->kind != IterKind::ordered;
      s += " " + iter_name(r.iter) + (turned ? " backwards" : "");
      if (!r.extent.empty()) s += " [" + show(r.begin) + ", +" + show(r.extent) + ")";
    }
    if (nest.sibling) s += " beside " + names(nest.sibling->loop, p.axis(nest.sibling->loop).name);
    for (const Slide& slide : nest.slides) s += " slides along " + iter_name(slide.iter);
    return s;
  }
  // What stands beside a block: how it stores, and when.
  std::string beside(const BlockStmt& block) {
    const bool atomic = p.stage(block.stage).atomic && (block.piece == Piece::whole || block.piece == Piece::update);
    std::string s = atomic ? "atomic" : "";
    if (block.first_stores) s += std::string(s.empty() ? "" : ", ") + "first stores";
    if (!block.when.empty()) s += (s.empty() ? "" : ", ") + ("when " + show(block.when, ", "));
    return s;
  }
  void body(const std::vector<Stmt>& list, int depth) {
    for (const Stmt& s : list) statement(s, depth);
  }
  void statement(const Stmt& s, int depth) {
    const Namer::Scope scope(names);
    stand(s.where, s.id);
    match(
        s, [&](const NestStmt& nest) { line(depth, "nest " + p.stage(nest.stage).name + box(nest)); },
        [&](const LoopStmt& loop) {
          const Axis& a = p.axis(loop.axis);
          const std::string extent = a.extent.empty() ? std::string("?") : show(extent_of(p, loop));
          line(depth, "for " + names(a.id, a.name) + " in " + part_name(loop.part) + cuts(s) + extent,
               loop.kind == LoopKind::tensorized ? "by " + p.intrinsics.at(loop.intrinsic)->name : kind(loop));
        },
        [&](const BlockStmt& block) {
          static constexpr const char* pieces[] = {"block ", "init ", "update ", "begin ", "combine "};
          line(depth, pieces[static_cast<int>(block.piece)] + p.stage(block.stage).name, beside(block));
        },
        [&](const AllocStmt& alloc) {
          const Buffer& b = p.buffer(alloc.buffer);
          line(depth, "alloc " + names(b.id, b.name) + ": " + text(b.type) + " in " + b.scope.name, layout(b));
        },
        [&](const PrefetchStmt& prefetch) {
          line(depth, "prefetch " + names(prefetch.buffer, p.buffer(prefetch.buffer).name) + " along " + along(prefetch.loop) +
                          ", " + std::to_string(prefetch.distance) + " ahead");
        });
    body(s.body(), depth + 1);
  }
};

}  // namespace

namespace {

ProgramWriter written(const Program& p) {
  ProgramWriter w{p, {}, {}, {}};
  w.header();
  w.body(p.body, 0);
  return w;
}

}  // namespace

std::string text(const Program& p) {
  std::string all = written(p).out;
  for (const Variant& v : p.variants) all += "where " + text(v.condition) + "\n" + text(*v.program);
  return all;
}

std::vector<PlacedLine> placed_text(const Program& p) {
  std::vector<PlacedLine> all = written(p).placed;
  for (const Variant& v : p.variants) {
    all.push_back({"where " + text(v.condition), v.where, 0});
    std::vector<PlacedLine> own = placed_text(*v.program);
    all.insert(all.end(), own.begin(), own.end());
  }
  return all;
}

}  // namespace ashlar::ir
