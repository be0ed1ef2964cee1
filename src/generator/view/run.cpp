// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The run that is drawn: the interpreter runs the scheduled program on small extents, and a Recorder looks on.
#include <algorithm>
#include <memory>
#include <optional>
#include <set>

#include <ashlar/analysis/evaluate.h>
#include <ashlar/ir/vscale.h>
#include <ashlar/schedule/step.h>

#include "generator/view/parts.h"
#include "generator/view/recorder.h"

namespace ashlar::generator::view {

namespace {

constexpr std::size_t most_events = 12000;
constexpr std::int64_t most_elements = 1 << 22;  // of an argument
constexpr std::int64_t extents_tried[] = {32, 24, 20, 16, 12, 8, 6, 4, 3, 2, 1};

enum class Fill { counted, zero };

using Sizes = std::map<ir::Id, std::int64_t>;

// Of each symbol: what was asked for, or about `extent`, as its facts allow.
Sizes sizes_near(const ir::Program& p, std::int64_t extent, const ExplainSizes& drawn) {
  Sizes sizes;
  for (const auto& [id, s] : p.symbols) {
    const std::int64_t step = std::max<std::int64_t>(1, s.multiple_of);
    std::int64_t n = (std::clamp(extent, s.min, s.max) + step - 1) / step * step;
    if (n > s.max) n = s.max / step * step;
    for (const auto& [name, given] : drawn)
      if (name == s.name) n = given;
    sizes[id] = n;
  }
  return sizes;
}

interp::Arguments arguments(const ir::Program& p, const Sizes& sizes, Fill fill) {
  analysis::Assignment at{{ir::vscale_id, "vscale", 2}};
  for (const auto& [id, n] : sizes) at.push_back({id, "", n});
  interp::Arguments all;
  for (const ir::Argument& a : p.arguments) {
    if (a.kind == ir::ArgumentKind::scalar) {
      const Type t = p.scalars.at(a.id).type;
      all.emplace_back(t.is_float() ? ir::float_value(t, 1) : ir::int_value(t, 1));
      continue;
    }
    const ir::Buffer& b = p.buffer(a.id);
    std::vector<std::int64_t> shape;
    std::int64_t elements = 1;
    for (const Expr& e : b.extents) {
      const auto n = analysis::evaluate(e, at);
      if (!n || *n < 0)
        throw interp::RunError(interp::RunError::Kind::arguments, "an extent of " + b.name + " without a value");
      shape.push_back(*n);
      elements = *n > 0 && elements > most_elements / *n ? most_elements + 1 : elements * *n;
    }
    if (elements > most_elements)
      throw interp::RunError(interp::RunError::Kind::arguments,
                             b.name + " has more than " + std::to_string(most_elements) + " elements, too many to draw");
    std::int64_t count = 0;
    const bool numbers = fill == Fill::counted && a.kind == ir::ArgumentKind::input;
    all.emplace_back(interp::Array::make(b.type, std::move(shape), [&](std::span<const std::int64_t>) {
      return numbers ? static_cast<double>(count++ % 97) : 0.0;
    }));
  }
  return all;
}

void require_symbols(const ir::Program& p, const ExplainSizes& drawn) {
  for (const auto& [name, n] : drawn) {
    const auto at = std::find_if(p.symbols.begin(), p.symbols.end(), [&](const auto& s) { return s.second.name == name; });
    if (at == p.symbols.end()) refuse("--draw", "a Symbol of " + p.name, name, Where{});
    const ir::Symbol& s = at->second;
    if (n < s.min || n > s.max || n % s.multiple_of != 0)
      refuse("--draw", "a size of " + name + " that its facts allow", std::to_string(n), s.where);
  }
}

struct Outcome {
  std::unique_ptr<Recorder> recorder;
  bool whole = false;
  std::string why;  // it could not be run
};

Outcome attempt(const ir::Program& p, const Sizes& sizes, Fill fill) {
  Outcome o;
  o.recorder = std::make_unique<Recorder>(p, most_events);
  interp::Options options;
  options.max_blocks = 200000;  // guards skip some without an event
  try {
    interp::Arguments all = arguments(p, sizes, fill);
    interp::run(p, all, options, *o.recorder);
    o.whole = true;
  } catch (const Enough&) {
  } catch (const interp::RunError& e) {
    if (e.kind != interp::RunError::Kind::limit) o.why = e.what();
  }
  return o;
}

// The variant that a call of these sizes takes has the statements that run.
const ir::Program& taken(const ir::Program& p, const Sizes& sizes) {
  analysis::Assignment at;
  for (const auto& [id, n] : sizes) at.push_back({id, "", n});
  for (const ir::Variant& v : p.variants)
    if (analysis::evaluate(v.condition, at).value_or(0)) return *v.program;
  return p;
}

// Is a dimension stored in fewer places than it has indices: v % n, where nothing else of the layout holds v?
bool is_ring(const ir::Layout& l) {
  return std::any_of(l.map.begin(), l.map.end(), [&](const Expr& e) {
    if (!ir::is(e, ir::Op::mod) || !ir::is(ir::args_of(e)[0], ir::Op::var)) return false;
    const ir::Id v = ir::args_of(e)[0].node()->id;
    return std::count_if(l.map.begin(), l.map.end(), [&](const Expr& other) { return ir::uses_var(other, v); }) == 1;
  });
}

struct Box {
  std::vector<std::int64_t> low, high;  // both included
  void add(const std::vector<std::int64_t>& at) {
    if (low.empty()) low = high = at;
    for (std::size_t d = 0; d < at.size(); ++d) low[d] = std::min(low[d], at[d]), high[d] = std::max(high[d], at[d]);
  }
  std::vector<std::int64_t> extents() const {
    std::vector<std::int64_t> e;
    for (std::size_t d = 0; d < low.size(); ++d) e.push_back(high[d] - low[d] + 1);
    return e;
  }
  std::int64_t flat(const std::vector<std::int64_t>& at) const {
    std::int64_t f = 0;
    for (std::size_t d = 0; d < at.size(); ++d) f = f * (high[d] - low[d] + 1) + at[d] - low[d];
    return f;
  }
};

// Numbers for groups of iterations (blocks, threads), in ascending order of their coordinates.
std::map<std::vector<std::int64_t>, int> numbered(const std::vector<Event>& events, std::vector<std::int64_t> Event::* of) {
  std::map<std::vector<std::int64_t>, int> all;
  for (const Event& e : events) all.emplace(e.*of, 0);
  int n = 0;
  for (auto& [at, number] : all) number = n++;
  return all;
}

class Writer {
 public:
  Writer(const ir::Program& p, const Recorder& r) : p_(p), r_(r) {
    for (const Event& e : r.events()) {
      stages_[e.stage].add(e.point);
      for (const auto* list : {&e.reads, &e.writes})
        for (const Access& a : *list) buffers_[a.buffer].add(a.at);
    }
    for (const Life& l : r.lives()) {
      if (std::any_of(l.extent.begin(), l.extent.end(), [](std::int64_t e) { return e <= 0; })) continue;
      std::vector<std::int64_t> last = l.begin;
      for (std::size_t d = 0; d < last.size(); ++d) last[d] += l.extent[d] - 1;
      buffers_[l.buffer].add(l.begin), buffers_[l.buffer].add(last);
    }
  }

  void write(json& out) const {
    json stages = json::array(), buffers = json::array();
    for (const auto& [id, box] : stages_) stages.push_back(stage(id, box));
    for (const auto& [id, box] : buffers_) {
      const ir::Buffer& b = p_.buffer(id);
      const bool temporary = b.role == ir::Role::temporary;
      buffers.push_back({{"id", id},
                         {"stage", b.stage},
                         {"name", b.name},
                         {"temporary", temporary},
                         {"scope", temporary ? b.scope.name : "argument"},
                         {"bytes", b.type.bytes()},
                         {"ring", is_ring(b.layout)},
                         {"low", box.low},
                         {"extents", box.extents()}});
    }
    out["stages"] = std::move(stages), out["buffers"] = std::move(buffers);
    events(out);
    lives(out);
  }

 private:
  json stage(ir::Id id, const Box& box) const {
    json names = json::array(), kinds = json::array();
    for (const ir::IterVar& v : p_.stage(id).iters) {
      names.push_back(v.name);
      kinds.push_back(v.kind == ir::IterKind::reduce ? "reduced" : v.kind == ir::IterKind::ordered ? "in order" : "spatial");
    }
    return {{"id", id},       {"name", p_.stage(id).name}, {"iters", names}, {"kinds", kinds},
            {"low", box.low}, {"extents", box.extents()}};
  }

  // Columns, one entry an event. A point and an access are numbers in the boxes of their stage and buffer; the number of the
  // buffer is the remainder by how many there are.
  void events(json& out) const {
    std::map<ir::Id, int> stage_number, buffer_number;
    for (const auto& [id, box] : stages_) stage_number.emplace(id, static_cast<int>(stage_number.size()));
    for (const auto& [id, box] : buffers_) buffer_number.emplace(id, static_cast<int>(buffer_number.size()));
    const auto blocks = numbered(r_.events(), &Event::block), threads = numbered(r_.events(), &Event::thread);
    std::vector<std::int64_t> stage, point, frame, worker, block, thread, reads, writes, counts;
    std::int64_t now = -1;
    const Moment* last = nullptr;
    bool some_workers = false;
    for (const Event& e : r_.events()) {
      if (!last || *last != e.moment) ++now;
      last = &e.moment;
      stage.push_back(stage_number.at(e.stage)), point.push_back(stages_.at(e.stage).flat(e.point)), frame.push_back(now);
      worker.push_back(e.worker), some_workers |= e.worker >= 0;
      block.push_back(blocks.at(e.block)), thread.push_back(threads.at(e.thread));
      counts.push_back(static_cast<std::int64_t>(e.reads.size() * 8 + e.writes.size()));
      const auto n = static_cast<std::int64_t>(buffers_.size());
      for (const Access& a : e.reads) reads.push_back(buffers_.at(a.buffer).flat(a.at) * n + buffer_number.at(a.buffer));
      for (const Access& a : e.writes) writes.push_back(buffers_.at(a.buffer).flat(a.at) * n + buffer_number.at(a.buffer));
    }
    json columns = {{"stage", stage}, {"point", point},   {"frame", frame},
                    {"reads", reads}, {"writes", writes}, {"counts", counts}};
    if (some_workers) columns["worker"] = worker;
    if (blocks.size() > 1) columns["block"] = block;
    if (threads.size() > 1) columns["thread"] = thread;
    out["events"] = std::move(columns);
    out["frames"] = now + 1;
  }

  void lives(json& out) const {
    json all = json::array();
    std::vector<const Moment*> moments;  // of the frames
    for (const Event& e : r_.events())
      if (moments.empty() || *moments.back() != e.moment) moments.push_back(&e.moment);
    const auto frame = [&](const Moment& m) {
      return std::lower_bound(moments.begin(), moments.end(), m, [](const Moment* a, const Moment& b) { return *a < b; }) -
             moments.begin();
    };
    std::set<std::pair<ir::Id, std::pair<Moment, Moment>>> shared;
    std::map<ir::Id, int> number;
    for (const auto& [id, box] : buffers_) number.emplace(id, static_cast<int>(number.size()));
    for (const Life& l : r_.lives()) {
      if (!number.count(l.buffer)) continue;
      // Each thread comes by an alloc in shared memory; there is one of it.
      if (p_.buffer(l.buffer).scope == Scope::shared && !shared.insert({l.buffer, {l.from, l.to}}).second) continue;
      const auto end = l.to.empty() ? static_cast<std::ptrdiff_t>(moments.size()) : frame(l.to);
      all.push_back(json::array({number.at(l.buffer), frame(l.from), end, l.bytes}));
    }
    out["lives"] = std::move(all);
  }

  const ir::Program& p_;
  const Recorder& r_;
  std::map<ir::Id, Box> stages_, buffers_;
};

}  // namespace

json run(const Compilation& c, const ExplainSizes& drawn) {
  const ir::Program& p = c.schedule->scheduled().program;
  require_symbols(p, drawn);
  std::optional<Outcome> best;
  std::optional<Sizes> tried;
  Sizes at;
  std::string why;
  for (const std::int64_t extent : extents_tried) {
    const Sizes sizes = sizes_near(p, extent, drawn);
    if (tried == sizes) continue;  // nothing depends on the extent
    tried = sizes;
    Outcome o = attempt(taken(p, sizes), sizes, Fill::counted);
    if (!o.why.empty()) o = attempt(taken(p, sizes), sizes, Fill::zero);
    if (!o.why.empty()) {
      if (why.empty()) why = o.why;
      continue;
    }
    if (o.recorder->events().empty()) continue;
    if (best && !o.whole) continue;  // of runs that are cut off the largest
    best = std::move(o), at = sizes;
    if (best->whole) break;
  }
  if (!best) return {{"why", why.empty() ? "it computes nothing on small extents" : why}};
  best->recorder->sort();
  json sizes = json::array();
  for (const auto& [id, n] : at) sizes.push_back(json::array({p.symbols.at(id).name, n}));
  json out = {{"sizes", std::move(sizes)}, {"whole", best->whole}, {"most", most_events}};
  Writer(taken(p, at), *best->recorder).write(out);
  return out;
}

}  // namespace ashlar::generator::view
