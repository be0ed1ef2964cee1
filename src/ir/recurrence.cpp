#include <ashlar/ir/recurrence.h>

#include <algorithm>

namespace ashlar::ir {
namespace {

// e = constant + sum of coefficient * var, with at most the one variable asked for; false where it is anything else.
bool read_linear(const Expr& e, Id id, std::int64_t factor, std::int64_t& constant, std::int64_t& coefficient) {
  const auto args = args_of(e);
  std::int64_t v = 0;
  switch (op_of(e)) {
    case Op::int_const:
      constant += factor * e.node()->i;
      return true;
    case Op::var:
      coefficient += factor;
      return e.node()->id == id;
    case Op::add:
      return read_linear(args[0], id, factor, constant, coefficient) && read_linear(args[1], id, factor, constant, coefficient);
    case Op::sub:
      return read_linear(args[0], id, factor, constant, coefficient) &&
             read_linear(args[1], id, -factor, constant, coefficient);
    case Op::neg:
      return read_linear(args[0], id, -factor, constant, coefficient);
    case Op::mul:
      for (std::size_t k = 0; k < 2; ++k)
        if (is_int(args[k], &v)) return read_linear(args[1 - k], id, factor * v, constant, coefficient);
      return false;
    default:
      return false;
  }
}

}  // namespace

std::optional<std::int64_t> distance_before(const Expr& index, Id var) {
  std::int64_t constant = 0, coefficient = 0;
  if (!read_linear(index, var, 1, constant, coefficient) || coefficient != 1) return std::nullopt;
  return -constant;
}

namespace {

bool among(const std::vector<Id>& list, Id id) { return std::find(list.begin(), list.end(), id) != list.end(); }

void add_read(const Stage& stage, const Expr& load, std::vector<SelfRead>& result) {
  if (std::any_of(result.begin(), result.end(), [&](const SelfRead& r) { return same(r.load, load); })) return;
  SelfRead r{load, {}};
  for (std::size_t d = 0; d < args_of(load).size(); ++d) {
    const IterVar& v = stage.iters.at(d);
    auto back = distance_before(args_of(load)[d], v.id);
    if (back && v.descending) back = -*back;
    r.back.push_back(back);
  }
  result.push_back(std::move(r));
}

// Calls f for every load of a stage; those of its start are loads of the same points.
template <class F>
void each_load(const Stage& stage, F&& f) {
  for (const auto* list : {&stage.values, &stage.inits})
    for (const Expr& value : *list)
      walk(value, [&](const Expr& e) {
        if (is(e, Op::load)) f(e);
        return true;
      });
}

Id stage_of(const Program& p, const Expr& load) {
  const auto it = p.buffers.find(load.node()->id);
  return it == p.buffers.end() ? 0 : it->second.stage;
}

// What `reader`, at the points that `at` gives, reads of the recurrence.
void add_reads_through(const Program& p, const Stage& recurrence, const std::vector<Id>& inside, const Stage& reader,
                       const Substitution& at, std::vector<SelfRead>& result) {
  each_load(reader, [&](const Expr& load) {
    const Expr here = at.empty() ? load : substitute(load, at);
    const Id id = stage_of(p, load);
    if (id == recurrence.id) return add_read(recurrence, here, result);
    if (!among(inside, id)) return;
    const Stage& next = p.stage(id);
    Substitution there;
    for (std::size_t d = 0; d < args_of(here).size(); ++d) there.emplace_back(next.iters.at(d).id, args_of(here)[d]);
    add_reads_through(p, recurrence, inside, next, there, result);
  });
}

}  // namespace

std::vector<SelfRead> self_reads(const Stage& stage) {
  std::vector<SelfRead> result;
  if (stage.is_recurrence())
    each_load(stage, [&](const Expr& e) {
      if (among(stage.buffers, e.node()->id)) add_read(stage, e, result);
    });
  return result;
}

std::vector<SelfRead> self_reads(const Program& p, const Stage& stage) {
  std::vector<SelfRead> result;
  if (stage.is_recurrence()) add_reads_through(p, stage, stages_inside(p, stage), stage, {}, result);
  return result;
}

std::vector<Id> stages_inside(const Program& p, const Stage& recurrence) {
  std::vector<Id> found;
  if (!recurrence.is_recurrence()) return found;
  std::map<Id, bool> reads;  // the stages that it reads: does one read it?
  const auto visit = [&](const auto& self, const Stage& s) -> bool {
    bool any = false;
    std::vector<Id> producers;
    each_load(s, [&](const Expr& load) {
      const Id id = stage_of(p, load);
      if (id == recurrence.id)
        any = any || s.id != recurrence.id;
      else if (id && !among(producers, id))
        producers.push_back(id);
    });
    for (Id id : producers) {
      if (reads.emplace(id, false).second && self(self, p.stage(id))) {
        reads[id] = true;
        found.push_back(id);
      }
      any = any || reads[id];
    }
    return any;
  };
  visit(visit, recurrence);
  return found;
}

std::map<Id, Id> recurrences_around(const Program& p) {
  std::map<Id, Id> around;
  for (const auto& [id, stage] : p.stages)
    for (Id inside : stages_inside(p, stage)) around[inside] = id;
  return around;
}

bool lies_before(const SelfRead& r, std::span<const std::size_t> dimensions) {
  for (std::size_t d : dimensions) {
    if (!r.back.at(d) || *r.back[d] < 0) return false;
    if (*r.back[d] > 0) return true;
  }
  return false;
}

namespace {
std::vector<std::size_t> loop_order(const Stage& stage, const std::vector<SelfRead>& reads) {
  std::vector<std::size_t> order;
  for (std::size_t k = 0; k < stage.iters.size(); ++k) order.push_back(k);
  if (std::all_of(reads.begin(), reads.end(), [&](const SelfRead& r) { return lies_before(r, order); })) return order;
  std::stable_partition(order.begin(), order.end(), [&](std::size_t k) {
    return std::find(stage.along.begin(), stage.along.end(), k) != stage.along.end();
  });
  std::copy(stage.along.begin(), stage.along.end(), order.begin());
  return order;
}
}  // namespace

std::vector<std::size_t> loop_order(const Stage& stage) { return loop_order(stage, self_reads(stage)); }
std::vector<std::size_t> loop_order(const Program& p, const Stage& stage) { return loop_order(stage, self_reads(p, stage)); }

}  // namespace ashlar::ir
