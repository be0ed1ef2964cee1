// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The algorithm, unscheduled: each point of a stage is computed, and remembered, when a reader first asks for it; all points of
// a recurrence together, in their order.
#include <array>
#include <optional>

#include <ashlar/interp/interpreter.h>
#include <ashlar/ir/recurrence.h>
#include <ashlar/ir/refusal.h>

#include "interp/arguments.h"
#include "interp/external.h"
#include "interp/reduce.h"
#include "interp/scatter.h"
#include <ashlar/interp/tape.h>

namespace ashlar::interp {
namespace {

using Point = std::array<std::int64_t, 8>;  // dimensions beyond the rank are 0
struct PointHash {
  std::size_t operator()(const Point& p) const {
    std::uint64_t h = 0x9E3779B97F4A7C15u;
    for (std::int64_t x : p) h = (h ^ static_cast<std::uint64_t>(x)) * 0xD6E8FEB86659FD93u, h ^= h >> 32;
    return static_cast<std::size_t>(h);
  }
};

struct Iter {
  const ir::IterVar* var;
  int slot;
  Tape begin, end;  // empty: inferred
};

struct StageState {
  const ir::Stage* stage = nullptr;
  std::vector<Iter> spatial, reduce;
  std::vector<Tape> domain, inits;
  Tape fill;
  Combiner combiner;
  ScatterStep scatter;
  std::optional<ExternalStage> external;
  std::vector<std::int64_t> begin, extent;  // the declared domain, where it is a box of constants
  bool boxed = false;
  std::vector<Value> dense;  // boxed: row-major, components innermost; type code handle: not yet
  std::unordered_map<Point, std::vector<Value>, PointHash> sparse;  // otherwise; never iterated over
  std::int64_t evaluations = 0;
  bool begun = false;  // a recurrence: its points are computed, or being computed
};

class Algorithm final : public Memory {
 public:
  Algorithm(const ir::Program& p, Arguments& arguments) : program_(p) {
    const auto symbols = solve_symbols(p.arguments, p.buffers, p.symbols, p.assumptions, arguments);
    bind_values(p.arguments, p.scalars, symbols, arguments, slots_);
    for (std::size_t k = 0; k < p.arguments.size(); ++k)
      if (p.arguments[k].kind == ir::ArgumentKind::input) inputs_[p.arguments[k].id] = &arguments[k].array;
    for (const auto& [id, b] : p.buffers)
      if (b.role == ir::Role::constant) inputs_[id] = &(constants_[id] = constant_array(b.type, b.extents, *b.data));
  }

  void output(Id buffer, Array& into) {
    const int source = resolve(buffer, nullptr);
    for_each_index(into.shape, [&](std::span<const std::int64_t> at) {
      into.set(at, read(source, at.data(), static_cast<int>(at.size())));
    });
  }

  Counters counters() const {
    Counters c;
    for (const auto& [id, state] : stages_) c.evaluations[id] = state.evaluations;
    return c;
  }

  int resolve(Id buffer, const char* name) override {
    for (std::size_t k = 0; k < sources_.size(); ++k)
      if (sources_[k].buffer == buffer) return static_cast<int>(k);
    const auto at = program_.buffers.find(buffer);
    if (at == program_.buffers.end()) throw InternalError(std::string("a load of an unknown buffer ") + (name ? name : ""));
    Source s{buffer, &at->second, nullptr, 0, 0};
    if (const auto in = inputs_.find(buffer); in != inputs_.end()) {
      s.array = in->second;
    } else {
      s.stage = at->second.stage;
      const auto& written = program_.stage(s.stage).buffers;
      while (written.at(s.component) != buffer) ++s.component;
    }
    sources_.push_back(s);
    return static_cast<int>(sources_.size()) - 1;
  }

  Value read(int source, const std::int64_t* index, int rank) override {
    const Source s = sources_[static_cast<std::size_t>(source)];
    const std::span<const std::int64_t> at(index, static_cast<std::size_t>(rank));
    if (s.array) {
      for (std::size_t d = 0; d < at.size(); ++d)
        if (at[d] < 0 || at[d] >= s.array->shape.at(d))
          outside(s.info->name, at, "its extents " + text_of_index(s.array->shape));
      return s.array->at(at);
    }
    return at_point(state_of(s.stage), at, s.component);
  }

  std::string where() const override { return where(active_.size()); }

 private:
  // The stage at a depth of the chain of readers, with its iteration; depth 0 are the outputs.
  std::string where(std::size_t depth) const {
    if (depth == 0) return "the outputs";
    const StageState& s = *active_[depth - 1];
    std::string text = "stage `" + s.stage->name + "`";
    bool first = true;
    for (const auto* list : {&s.spatial, &s.reduce})
      for (const Iter& i : *list) {
        const Value& v = slots_.value(i.slot);
        if (v.type.code == Type::Code::handle) continue;
        text += (first ? " at " : ", ") + i.var->name + " = " + std::to_string(v.i);
        first = false;
      }
    return text;
  }

  struct Source {
    Id buffer;
    const ir::Buffer* info;
    const Array* array;  // an input
    Id stage;
    std::size_t component;
  };

  [[noreturn]] void outside(const std::string& name, std::span<const std::int64_t> at, const std::string& what) const {
    throw RunError(RunError::Kind::out_of_bounds, where() + " reads " + name + text_of_index(at) + ", outside " + what);
  }

  [[noreturn]] void outside_domain(const StageState& s, std::span<const std::int64_t> at) const {
    throw RunError(RunError::Kind::out_of_bounds,
                   where(active_.size() - 1) + " reads " + s.stage->name + text_of_index(at) + ", outside its domain");
  }

  StageState& state_of(Id id) {
    if (const auto at = stages_.find(id); at != stages_.end()) return at->second;
    StageState& s = stages_[id];
    const ir::Stage& stage = program_.stage(id);
    s.stage = &stage;
    for (const ir::IterVar& v : stage.iters) {
      Iter i{&v, slots_.slot(v.id), {}, {}};
      if (!v.begin.empty()) i.begin = Tape(v.begin, slots_, *this, Select::lazy);
      if (!v.end.empty()) i.end = Tape(v.end, slots_, *this, Select::lazy);
      (v.kind == ir::IterKind::reduce ? s.reduce : s.spatial).push_back(std::move(i));
    }
    for (const Expr& e : stage.domain) s.domain.emplace_back(e, slots_, *this, Select::lazy);
    for (const Expr& e : stage.inits) s.inits.emplace_back(e, slots_, *this, Select::lazy);
    if (stage.has_fill) s.fill = Tape(stage.fill, slots_, *this, Select::lazy);
    if (ir::computed_by(stage.values))
      s.external.emplace(stage, slots_, *this);
    else
      s.combiner = Combiner(stage, slots_, *this);
    s.scatter = ScatterStep(stage, slots_, *this);
    if (stage.is_reduction() && s.inits.size() != stage.values.size())
      throw InternalError("a reduction without inits: " + stage.name);
    find_box(s);
    if (s.external && !s.boxed)
      throw RunError(RunError::Kind::arguments, "the domain of " + stage.name + " is too large to run");
    return s;
  }

  void find_box(StageState& s) {
    std::int64_t elements = 1;
    for (Iter& i : s.spatial) {
      if (i.begin.empty()) return;
      for (const Expr* e : {&i.var->begin, &i.var->end})
        for (const ir::IterVar& v : s.stage->iters)
          if (ir::uses_var(*e, v.id)) return;
      s.begin.push_back(i.begin.run_index());
      s.extent.push_back(std::max<std::int64_t>(0, i.end.run_index() - s.begin.back()));
      if (s.extent.back() != 0 && elements > (std::int64_t{1} << 24) / s.extent.back()) return;
      elements *= s.extent.back();
    }
    s.boxed = true;
    s.dense.resize(static_cast<std::size_t>(elements) * s.stage->values.size());
  }

  // All points of a recurrence, each after those that it reads.
  void compute_in_order(StageState& s) {
    s.begun = true;
    const std::vector<std::size_t> order = ir::loop_order(program_, *s.stage);
    std::vector<std::int64_t> begin, end, at(s.spatial.size());
    for (Iter& i : s.spatial) begin.push_back(i.begin.run_index()), end.push_back(i.end.run_index());
    const auto visit = [&](const auto& self, std::size_t depth) -> void {
      if (depth == order.size()) {
        remember(s, at, compute(s, at));
        return;
      }
      const std::size_t d = order[depth];
      for (std::int64_t n = 0; n < end[d] - begin[d]; ++n) {
        at[d] = s.spatial[d].var->descending ? end[d] - 1 - n : begin[d] + n;
        self(self, depth + 1);
      }
    };
    visit(visit, 0);
  }

  void remember(StageState& s, std::span<const std::int64_t> at, std::vector<Value> v) {
    if (!s.boxed) {
      Point key{};
      std::copy(at.begin(), at.end(), key.begin());
      s.sparse.emplace(key, std::move(v));
      return;
    }
    std::int64_t flat = 0;
    for (std::size_t d = 0; d < at.size(); ++d) flat = flat * s.extent[d] + at[d] - s.begin[d];
    std::copy(v.begin(), v.end(), s.dense.begin() + static_cast<std::ptrdiff_t>(flat) * static_cast<std::ptrdiff_t>(v.size()));
  }

  // A point that is not known yet, of a stage whose points are computed when they are asked for.
  void on_demand(const StageState& s, std::span<const std::int64_t> at) const {
    if (s.stage->is_recurrence())
      throw RunError(RunError::Kind::uninitialized,
                     where() + " reads " + s.stage->name + text_of_index(at) + ", which is computed later");
  }

  Value at_point(StageState& s, std::span<const std::int64_t> at, std::size_t component) {
    const std::size_t components = s.stage->values.size();
    if (s.stage->is_recurrence() && !s.begun) compute_in_order(s);
    if (const auto it = around_.find(s.stage->id); it != around_.end())
      if (StageState& recurrence = state_of(it->second); !recurrence.begun) compute_in_order(recurrence);
    if (s.boxed) {
      std::int64_t flat = 0;
      for (std::size_t d = 0; d < at.size(); ++d) {
        const std::int64_t x = at[d] - s.begin[d];
        if (x < 0 || x >= s.extent[d]) {
          std::string box;
          for (std::size_t k = 0; k < at.size(); ++k)
            box += (k ? " x [" : "[") + std::to_string(s.begin[k]) + ", " + std::to_string(s.begin[k] + s.extent[k]) + ")";
          outside(s.stage->name, at, "its domain " + box);
        }
        flat = flat * s.extent[d] + x;
      }
      const std::size_t base = static_cast<std::size_t>(flat) * components;
      if (s.dense[base].type.code == Type::Code::handle) {
        if (s.stage->scatters()) {
          scatter_all(s);
          return s.dense[base + component];
        }
        if (s.external) {
          external_all(s);
          return s.dense[base + component];
        }
        on_demand(s, at);
        const std::vector<Value> v = compute(s, at);
        std::copy(v.begin(), v.end(), s.dense.begin() + static_cast<std::ptrdiff_t>(base));
      }
      return s.dense[base + component];
    }
    Point key{};
    std::copy(at.begin(), at.end(), key.begin());
    if (const auto known = s.sparse.find(key); known != s.sparse.end()) return known->second[component];
    if (s.begun && !inside(s, at)) outside_domain(s, at);
    on_demand(s, at);
    std::vector<Value> v = compute(s, at);
    const Value result = v[component];
    s.sparse.emplace(key, std::move(v));
    return result;
  }

  static bool inside(StageState& s, std::span<const std::int64_t> at) {
    for (std::size_t d = 0; d < at.size(); ++d)
      if (at[d] < s.spatial[d].begin.run_index() || at[d] >= s.spatial[d].end.run_index()) return false;
    return true;
  }

  std::vector<Value> compute(StageState& s, std::span<const std::int64_t> at) {
    for (std::size_t d = 0; d < at.size(); ++d) slots_.set_index(s.spatial[d].slot, at[d]);
    for (Iter& i : s.reduce) slots_.set_slot(i.slot, {});
    active_.push_back(&s);
    if (!s.boxed)
      for (std::size_t d = 0; d < at.size(); ++d)
        if (!s.spatial[d].begin.empty() && (at[d] < s.spatial[d].begin.run_index() || at[d] >= s.spatial[d].end.run_index()))
          outside_domain(s, at);
    if (s.reduce.empty())
      for (Tape& atom : s.domain)
        if (!atom.run().i) outside_domain(s, at);
    std::vector<Value> result;
    if (s.stage->is_reduction()) {
      for (Tape& init : s.inits) result.push_back(init.run());
      reduce(s, at, result);
    } else if (std::optional<Value> fill = filled(s, at)) {
      result.push_back(*fill);
    } else {
      ++s.evaluations;
      s.combiner.values(result);
    }
    active_.pop_back();
    return result;
  }

  // All of a scatter at once: the inits, then the steps. The ordinary dimensions are loops around those of the steps.
  void scatter_all(StageState& s) {
    for (Iter& i : s.reduce) slots_.set_slot(i.slot, {});
    active_.push_back(&s);
    std::size_t flat = 0;
    for_each_index(s.extent, [&](std::span<const std::int64_t> at) {
      for (std::size_t d = 0; d < at.size(); ++d) slots_.set_index(s.spatial[d].slot, s.begin[d] + at[d]);
      for (Tape& init : s.inits) s.dense[flat++] = init.run();
    });
    std::vector<std::int64_t> ordinary = s.extent;
    for (std::size_t d = 0; d < ordinary.size(); ++d)
      if (s.stage->scattered(s.spatial[d].var->id)) ordinary[d] = 1;
    for_each_index(ordinary, [&](std::span<const std::int64_t> at) {
      for (std::size_t d = 0; d < at.size(); ++d)
        if (s.stage->scattered(s.spatial[d].var->id))
          slots_.set_slot(s.spatial[d].slot, {});
        else
          slots_.set_index(s.spatial[d].slot, s.begin[d] + at[d]);
      each_step(s, 0, [&] { put(s); });
    });
    active_.pop_back();
  }

  // All that a function computes at once.
  void external_all(StageState& s) {
    active_.push_back(&s);
    s.external->run({s.begin, s.extent}, slots_, *this, [&](std::size_t c, std::span<const std::int64_t> at, const Value& v) {
      std::int64_t flat = 0;
      for (std::size_t d = 0; d < at.size(); ++d) flat = flat * s.extent[d] + at[d] - s.begin[d];
      s.dense[static_cast<std::size_t>(flat) * s.stage->values.size() + c] = v;
    });
    ++s.evaluations;
    active_.pop_back();
  }

  void put(StageState& s) {
    if (!s.scatter.keeps()) return;
    const auto at = s.scatter.target();
    std::int64_t flat = 0;
    for (std::size_t d = 0; d < at.size(); ++d) {
      const std::int64_t x = at[d] - s.begin[d];
      if (x < 0 || x >= s.extent[d]) puts_outside(where(), s.stage->name, at);
      flat = flat * s.extent[d] + x;
    }
    const std::size_t components = s.stage->values.size();
    const auto element = s.dense.begin() + flat * static_cast<std::int64_t>(components);
    std::vector<Value> value(element, element + static_cast<std::ptrdiff_t>(components));
    ++s.evaluations;
    s.combiner.step(value);
    std::copy(value.begin(), value.end(), element);
  }

  // A cache with a fill value: what lies outside the source's box is the fill.
  std::optional<Value> filled(StageState& s, std::span<const std::int64_t> at) {
    if (!s.stage->has_fill) return std::nullopt;
    const Source source = sources_[static_cast<std::size_t>(resolve(s.stage->origin_of, nullptr))];
    std::vector<std::int64_t> begin(at.size(), 0), extent;
    if (source.array) {
      extent = source.array->shape;
    } else {
      StageState& from = state_of(source.stage);
      if (!from.boxed) return std::nullopt;
      begin = from.begin;
      extent = from.extent;
    }
    for (std::size_t d = 0; d < at.size(); ++d)
      if (at[d] < begin[d] || at[d] >= begin[d] + extent[d]) return s.fill.run();
    return std::nullopt;
  }

  template <class F>
  void each_step(StageState& s, std::size_t depth, F&& step) {
    if (depth == s.reduce.size()) {
      for (Tape& atom : s.domain)
        if (!atom.run().i) return;
      step();
      return;
    }
    Iter& i = s.reduce[depth];
    const std::int64_t begin = i.begin.run_index(), end = i.end.run_index();
    for (std::int64_t x = begin; x < end; ++x) {
      slots_.set_index(i.slot, x);
      each_step(s, depth + 1, step);
    }
  }

  // One point of a reduction; of a scatter, the steps that chose it.
  void reduce(StageState& s, std::span<const std::int64_t> at, std::vector<Value>& accumulated) {
    each_step(s, 0, [&] {
      if (s.stage->scatters()) {
        if (!s.scatter.keeps()) return;
        const auto target = s.scatter.target();
        if (!std::equal(at.begin(), at.end(), target.begin(), target.end())) return;
      }
      ++s.evaluations;
      s.combiner.step(accumulated);
    });
  }

  const ir::Program& program_;
  std::map<Id, Id> around_ = ir::recurrences_around(program_);  // stages inside of recurrences
  Slots slots_;
  std::map<Id, const Array*> inputs_;  // and constants
  std::map<Id, Array> constants_;
  std::vector<Source> sources_;
  std::map<Id, StageState> stages_;
  std::vector<StageState*> active_;
};

}  // namespace

Counters run_algorithm(const ir::Program& all, Arguments& arguments) {
  const ir::Program& p = taken(all, arguments);
  Algorithm a(p, arguments);
  for (std::size_t k = 0; k < p.arguments.size(); ++k)
    if (p.arguments[k].kind == ir::ArgumentKind::output) a.output(p.arguments[k].id, arguments[k].array);
  return a.counters();
}

}  // namespace ashlar::interp
