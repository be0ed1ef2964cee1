#include "steps.h"

#include <algorithm>
#include <functional>

namespace fuzz {
namespace {

using namespace ashlar;

std::vector<const Stmt*> loops_in(const Program& p, Id stage) {  // of the stage's own nests
  std::vector<const Stmt*> loops;
  const std::function<void(const std::vector<Stmt>&)> own = [&](const std::vector<Stmt>& body) {
    for (const Stmt& s : body) {
      if (s.kind == Stmt::Kind::nest) continue;
      if (s.kind == Stmt::Kind::loop) loops.push_back(&s);
      own(s.body);
    }
  };
  for (const Stmt* nest : ir::nests_of(p, stage)) own(nest->body);
  return loops;
}

// Taking the terms in another order gives another value: sums and products of floats. strict_sum is refused instead.
bool order_matters(const Program& p, const ir::Stage& s) {
  if (s.reducer.kind == ir::ReducerKind::custom)
    return std::any_of(s.buffers.begin(), s.buffers.end(), [&](Id b) { return p.buffer(b).type.is_float(); });
  return (s.reducer.kind == ir::ReducerKind::sum || s.reducer.kind == ir::ReducerKind::product) &&
         p.buffer(s.buffers.front()).type.is_float();
}

const char* const tails[] = {"guard", "peel", "shift", "pad", "exact", "predicate"};
const int factors[] = {2, 4, 3, 8, 5, 1, 16, 7};
const Scope* const scopes[] = {&Scope::global, &Scope::stack, &Scope::registers};

}  // namespace

bool reads(const ir::Stage& s, Id buffer) {
  bool found = false;
  const auto look = [&](const Expr& e) {
    ir::walk(e, [&](const Expr& x) { return found |= ir::is(x, ir::Op::load) && x.node()->id == buffer, !found; });
  };
  for (const auto* list : {&s.values, &s.inits, &s.targets})
    for (const Expr& e : *list) look(e);
  if (!s.keep.empty()) look(s.keep);
  return found;
}

Drawn made(const char* primitive, std::vector<Arg> args, Where where) {
  Drawn d;
  d.step.primitive = primitive;
  d.step.where = where;
  d.step.args = std::move(args);
  return d;
}

std::optional<Drawn> draw_variant(Source& s, const Program& p) {
  if (p.symbols.empty()) return std::nullopt;
  auto at = p.symbols.begin();
  std::advance(at, s.pick(static_cast<std::uint32_t>(p.symbols.size())));
  const Expr n = ir::var(at->first, at->second.name), f = ir::index(factors[s.pick(4)]);
  const Expr limit = ir::index(1 + s.pick(12));
  const Expr conditions[] = {ir::lt(n, limit), ir::ge(n, limit), ir::eq(ir::mod(n, f), ir::index(0)), ir::eq(n, limit)};
  Drawn d;
  d.step.primitive = "specialize";
  d.step.where = Where::current();
  d.step.args = {Arg::map({}, {conditions[s.pick(4)]})};
  return d;
}

std::optional<Drawn> draw_step(Source& s, const Program& p, bool scalable) {
  std::vector<Id> stages, placed;
  for (const auto& [id, stage] : p.stages) {
    if (ir::nests_of(p, id).empty()) continue;
    stages.push_back(id);
    if (p.buffer(stage.buffers.front()).role == ir::Role::temporary) placed.push_back(id);
  }
  if (stages.empty()) return std::nullopt;
  const auto any = [&](const auto& all) { return all[s.pick(static_cast<std::uint32_t>(std::size(all)))]; };
  const auto temporary = [&] { return placed.empty() || s.one_in(10) ? any(stages) : any(placed); };
  static constexpr const char* names[] = {
      "split",          "split",         "split",       "compute_at",    "compute_at", "compute_at", "compute_at",
      "reorder",        "reorder",       "vectorize",   "vectorize",     "unroll",     "parallel",   "fuse",
      "peel",           "tighten",       "split_parts", "compute_root",  "inline",     "fuse_into",  "fuse_into",
      "store_at",       "store_at",      "slide",       "slide",         "fold",       "fold",       "cache_read",
      "cache_write",    "set_layout",    "align",       "set_scope",     "rfactor",    "prefetch",   "stream_store",
      "decompose_init", "window",        "window",      "window",        "atomic",     "atomic",     "partition",
      "unroll_and_jam", "reverse",       "clone",       "distribute",    "distribute", "wavefront",  "wavefront",
      "fuse_siblings",  "fuse_siblings", "drop_dim",    "drop_dim",      "tensorize",  "tensorize",  "tensorize",
      "swizzle",        "assume",        "injective",   "pack_argument", "blocks",     "blocks",     "widen",
      "widen",          "cut",           "cut"};
  Drawn d;
  schedule::Step& step = d.step;
  step.primitive = any(names);
  if (may_roll(p) ? s.one_in(3) : s.one_in(60)) return draw_roll(s, p);
  if (scalable ? s.one_in(4) : s.one_in(100)) step.primitive = "scalable";
  step.where = Where::current();
  std::vector<Arg>& args = step.args;
  const std::string& name = step.primitive;
  if (name == "assume" || name == "injective" || name == "pack_argument") return draw_argument_step(s, p, name);
  if (name == "swizzle") return draw_swizzle(s, p);
  if (name == "widen") return draw_widen(s, p);

  const auto readers_of = [&](Id stage) {
    std::vector<Id> readers;
    for (const auto& [id, other] : p.stages)
      for (Id b : p.stage(stage).buffers)
        if (id != stage && reads(other, b)) readers.push_back(id);
    return readers;
  };
  // loops around the nest of a stage, or of its readers
  const auto around = [&](Id stage) {
    std::vector<const Stmt*> loops;
    for (const Stmt* nest : ir::nests_of(p, stage))
      for (const Stmt* x : ir::path_to(p, nest->id))
        if (x->kind == Stmt::Kind::loop) loops.push_back(x);
    return loops;
  };

  if (name == "compute_at" || name == "fuse_into") {
    const Id stage = name == "compute_at" ? temporary() : any(stages);
    std::vector<Id> others;
    if (name == "compute_at")
      others = readers_of(stage);
    else
      for (const auto& [id, other] : p.stages)
        if (id != stage)
          for (Id b : other.buffers)
            if (reads(p.stage(stage), b)) others.push_back(id);
    if (others.empty() || s.one_in(16)) others = stages;
    std::vector<const Stmt*> loops = loops_in(p, any(others));
    if (name == "compute_at" && !s.one_in(4)) {  // with loops further out
      const auto further = around(others.front());
      loops.insert(loops.end(), further.begin(), further.end());
    }
    if (loops.empty()) return std::nullopt;
    args = {Arg::stage(stage), Arg::loop(any(loops)->id)};
  } else if (name == "drop_dim") {
    std::vector<Id> tuples;
    for (Id id : placed)
      if (p.stage(id).buffers.size() > 1 && p.stage(id).spatial_rank() > 0) tuples.push_back(id);
    if (tuples.empty() && !s.one_in(12)) return std::nullopt;
    const Id stage = tuples.empty() ? any(stages) : any(tuples);
    const int rank = p.stage(stage).spatial_rank();
    const bool last = rank > 0 && s.pick(4) < 3;
    args = {
        Arg::stage(stage),
        Arg::integer(static_cast<int>(s.pick(4) < 3 ? 0 : s.pick(static_cast<std::uint32_t>(p.stage(stage).buffers.size())))),
        Arg::integer(last ? rank - 1 : static_cast<int>(s.pick(static_cast<std::uint32_t>(std::max(rank, 1)))))};
  } else if (name == "distribute") {
    args = {Arg::stage(any(stages))};
  } else if (name == "compute_root" || name == "inline") {
    args = {Arg::stage(temporary())};
  } else if (name == "store_at" || name == "slide") {
    std::vector<Id> inside;
    for (Id id : stages)
      if (!around(id).empty()) inside.push_back(id);
    if (inside.empty()) return std::nullopt;
    const Id stage = any(inside);
    args = {Arg::stage(stage), Arg::loop(any(around(stage))->id)};
  } else if (name == "fold" || name == "align" || name == "set_layout") {
    const Id stage = temporary();
    const int rank = p.stage(stage).spatial_rank();
    if (rank == 0) return std::nullopt;
    if (name == "set_layout") {
      args = {Arg::stage(stage), draw_layout(s, rank)};
    } else {
      args = {Arg::stage(stage), Arg::integer(static_cast<int>(s.pick(static_cast<std::uint32_t>(rank)))),
              Arg::integer(factors[s.pick(8)])};
    }
  } else if (name == "set_scope") {
    args = {Arg::stage(temporary()), Arg::place(*any(scopes))};
  } else if (name == "cache_read") {
    std::vector<Id> buffers;
    for (const auto& [id, b] : p.buffers) buffers.push_back(id);
    const Id buffer = any(buffers);
    std::vector<Id> readers;
    for (const auto& [id, stage] : p.stages)
      if (reads(stage, buffer)) readers.push_back(id);
    if (readers.empty()) return std::nullopt;
    const Scope& scope = *scopes[s.pick(2)];
    const Id filled = p.buffer(buffer).stage;  // of a stage as well, where its box was declared
    const bool declared = !filled || (!p.stage(filled).iters.empty() && !p.stage(filled).iters.front().begin.empty());
    const bool fills = declared && (p.buffer(buffer).role == ir::Role::input || filled) && s.one_in(3);
    args = {Arg::buffer(buffer), Arg::place(scope), Arg::integer(fills)};
    if (fills) {
      const Type t = p.buffer(buffer).type;
      const int v = s.one_in(3) && !t.is_bool() ? 3 : 0;
      args.push_back(Arg::map({}, {t.is_float() ? ir::float_const(t, v) : ir::int_const(t, v)}));
    }
    const std::size_t first = s.pick(static_cast<std::uint32_t>(readers.size()));
    for (std::size_t k = 0; k < readers.size(); ++k)
      if (k == first || s.pick(2) == 0) args.push_back(Arg::stage(readers[k]));
  } else if (name == "clone") {
    const Id stage = temporary();
    std::vector<Id> readers = readers_of(stage);
    if (readers.size() < 2 && !s.one_in(12)) return std::nullopt;
    args = {Arg::stage(stage)};
    if (readers.empty()) readers = stages;
    const std::size_t keeps = s.pick(static_cast<std::uint32_t>(readers.size()));
    for (std::size_t k = 0; k < readers.size(); ++k)
      if (k != keeps || s.one_in(12)) args.push_back(Arg::stage(readers[k]));
  } else if (name == "cache_write") {
    args = {Arg::stage(any(stages)), Arg::place(*scopes[s.pick(2)])};
  } else if (name == "cut") {  // at a split of its own or of a reader's, which takes four ids; and often computed there
    std::vector<Id> sums;
    for (Id id : stages)
      if ((p.stage(id).is_reduction() && !p.stage(id).scatters()) || s.one_in(16)) sums.push_back(id);
    if (sums.empty()) return std::nullopt;
    const Id stage = any(sums);
    std::vector<Id> owners = readers_of(stage);
    owners.push_back(stage);
    std::vector<const Stmt*> terms, points;
    for (const Stmt* x : loops_in(p, stage))
      if (p.axis(x->axis).reduce || s.one_in(16)) terms.push_back(x);
    for (Id owner : owners)
      for (const Stmt* x : loops_in(p, owner))
        if ((!p.axis(x->axis).reduce && p.axis(x->axis).origin == ir::Axis::Origin::root) || s.one_in(16)) points.push_back(x);
    if (terms.empty() || points.empty()) return std::nullopt;
    const auto counts_down = [&](Id id) {
      const auto& iters = p.stage(id).iters;
      return std::any_of(iters.begin(), iters.end(), [](const ir::IterVar& v) { return v.descending; });
    };
    d.reassociates = order_matters(p, p.stage(stage)) && std::any_of(owners.begin(), owners.end(), counts_down);
    step.primitive = "split";
    args = {Arg::loop(any(points)->id), Arg::integer(factors[s.pick(8)]), Arg::text(s.one_in(4) ? "exact" : "guard")};
    const auto then = [&](const char* primitive, std::vector<Arg> with) {
      schedule::Step& next = d.then.emplace_back();
      next.primitive = primitive;
      next.where = Where::current();
      next.args = std::move(with);
    };
    const Id block = p.next_id + (s.one_in(10) ? 3 : 2), made = p.next_id + 4;
    then("cut", {Arg::stage(stage), Arg::loop(any(terms)->id), Arg::loop(block)});
    if (!s.one_in(3)) then("compute_at", {Arg::stage(made), Arg::loop(block)});
  } else if (name == "stream_store") {
    args = {Arg::stage(any(stages))};
  } else if (name == "window") {  // compute_at, store_at further out, slide, and often a ring
    const Id stage = temporary();
    const std::vector<Id> readers = readers_of(stage);
    if (readers.empty()) return std::nullopt;
    std::vector<const Stmt*> chain;  // the loops around a block of the reader, outermost first
    for (const Stmt* x : ir::path_to(p, any(ir::blocks_of(p, any(readers)))->id))
      if (x->kind == Stmt::Kind::loop) chain.push_back(x);
    if (chain.size() < 2) return std::nullopt;
    const std::size_t at = 1 + s.pick(static_cast<std::uint32_t>(chain.size() - 1));
    const std::size_t outside = s.pick(static_cast<std::uint32_t>(at));
    step.primitive = "compute_at";
    args = {Arg::stage(stage), Arg::loop(chain[at]->id)};
    const auto then = [&](const char* primitive, std::vector<Arg> with) {
      schedule::Step& next = d.then.emplace_back();
      next.primitive = primitive;
      next.where = Where::current();
      next.args = std::move(with);
    };
    then("store_at", {Arg::stage(stage), Arg::loop(chain[outside]->id)});
    then("slide", {Arg::stage(stage), Arg::loop(chain[at]->id)});
    const int rank = p.stage(stage).spatial_rank();
    if (rank > 0 && !s.one_in(3))
      then("fold", {Arg::stage(stage), Arg::integer(static_cast<int>(s.pick(static_cast<std::uint32_t>(rank)))),
                    Arg::integer(factors[s.pick(8)])});
  } else if (name == "fuse_siblings") {             // and sometimes both on workers
    std::vector<std::pair<Id, const Stmt*>> pairs;  // most often two whose outermost loops have one extent
    const auto outermost = [](const Stmt& nest) {
      const bool one = nest.kind == Stmt::Kind::nest && nest.body.size() == 1;
      return one && nest.body.front().kind == Stmt::Kind::loop ? &nest.body.front() : nullptr;
    };
    for (std::size_t k = 0; k < p.body.size(); ++k)
      for (std::size_t n = k + 1; n < p.body.size(); ++n)
        if (const Stmt *a = outermost(p.body[k]), *b = outermost(p.body[n]); a && b)
          if (ir::same(p.axis(a->axis).extent, p.axis(b->axis).extent)) pairs.emplace_back(p.body[n].stage, a);
    std::pair<Id, const Stmt*> chosen{any(stages), nullptr};
    if (!pairs.empty() && !s.one_in(8)) {
      chosen = any(pairs);
    } else {
      const auto theirs = loops_in(p, any(stages));
      if (theirs.empty() || !s.one_in(4)) return std::nullopt;
      chosen.second = any(theirs);
    }
    const Stmt* loop = chosen.second;
    args = {Arg::stage(chosen.first), Arg::loop(loop->id)};
    if (s.one_in(3)) {
      schedule::Step& next = d.then.emplace_back();
      next.primitive = "parallel";
      next.where = Where::current();
      next.args = {Arg::loop(loop->id)};
    }
  } else if (name == "wavefront") {  // skew, and often what is made of it: the skewed loop outside, tight, at once
    const Id stage = any(stages);
    std::vector<const Stmt*> chain;  // of its own nest, with recurrences more often
    for (const Stmt* x : loops_in(p, stage))
      if (!p.axis(x->axis).reduce || s.one_in(12)) chain.push_back(x);
    if (chain.size() < 2 || (!p.stage(stage).is_recurrence() && s.pick(2))) return std::nullopt;
    const std::size_t along = s.pick(static_cast<std::uint32_t>(chain.size()));
    std::size_t other = s.pick(static_cast<std::uint32_t>(chain.size() - 1));
    other += other >= along;
    static constexpr int by[] = {1, 1, 2, -1, 3, -2};
    step.primitive = "skew";
    args = {Arg::loop(chain[along]->id), Arg::loop(chain[other]->id), Arg::integer(by[s.pick(6)])};
    const auto then = [&](const char* primitive, std::vector<Arg> with) {
      schedule::Step& next = d.then.emplace_back();
      next.primitive = primitive;
      next.where = Where::current();
      next.args = std::move(with);
    };
    // The skew takes the next two ids, for the axis and the loop.
    const Arg skewed = Arg::loop(p.next_id + 1), loop = Arg::loop(chain[along]->id);
    if (s.one_in(4)) return d;
    const bool outside = !s.one_in(3);
    if (outside) then("reorder", {skewed, loop});
    if (!s.one_in(3)) then("tighten", {outside ? loop : skewed});
    if (!s.one_in(3)) then("parallel", {s.one_in(6) ? skewed : loop});
  } else if (name == "blocks") {  // of a scan: the split takes four ids, for two axes and their loops
    std::vector<Id> scans;
    for (Id id : stages)
      if (p.stage(id).scan.kind != ir::ReducerKind::none || (p.stage(id).is_recurrence() && s.one_in(8))) scans.push_back(id);
    if (scans.empty()) return std::nullopt;
    const Id stage = any(scans);
    std::vector<const Stmt*> loops = loops_in(p, stage);
    const Id along = p.stage(stage).iters[p.stage(stage).along.front()].id;
    const auto own = std::find_if(loops.begin(), loops.end(), [&](const Stmt* l) { return p.axis(l->axis).iter == along; });
    if (own == loops.end()) return std::nullopt;
    step.primitive = "split";
    args = {Arg::loop((*own)->id), Arg::integer(factors[s.pick(8)]), Arg::text(s.one_in(4) ? "exact" : "guard")};
    schedule::Step& next = d.then.emplace_back();
    next.primitive = "associative_scan";
    next.where = Where::current();
    next.args = {Arg::stage(stage), Arg::loop(p.next_id + (s.one_in(10) ? 3 : 2))};
    ir::Stage combined = p.stage(stage);
    combined.reducer = combined.scan;
    d.reassociates = order_matters(p, combined);
  } else if (name == "atomic") {  // and a loop of its steps at once
    std::vector<Id> reductions;
    for (Id id : stages)
      if (p.stage(id).is_reduction() || s.one_in(12)) reductions.push_back(id);
    if (reductions.empty()) return std::nullopt;
    const Id stage = any(reductions);
    args = {Arg::stage(stage)};
    d.reassociates = order_matters(p, p.stage(stage));
    std::vector<const Stmt*> steps;
    for (const Stmt* l : loops_in(p, stage))
      if (p.axis(l->axis).reduce) steps.push_back(l);
    if (steps.empty()) return d;
    schedule::Step& next = d.then.emplace_back();
    next.primitive = "parallel";
    next.where = Where::current();
    next.args = {Arg::loop(any(steps)->id)};
  } else {
    const Id stage = any(stages);
    std::vector<const Stmt*> loops = loops_in(p, stage);
    if (loops.empty()) return std::nullopt;
    if (name == "tensorize") return draw_tensorize(s, p, *any(loops));
    if (name ==
        "scalable") {  // a split of which the inner part is as long as the machine's vectors; the inner loop is the third id
      static constexpr int lanes[] = {4, 8, 2, 16, 1};
      const Arg loop = Arg::loop(any(loops)->id);
      step.primitive = "split";
      args = {loop, Arg::integer(lanes[s.pick(5)]), Arg::text("guard"), Arg::text("keep"), Arg::text("scalable")};
      schedule::Step& next = d.then.emplace_back();
      next.primitive = "vectorize";
      next.where = Where::current();
      next.args = {Arg::loop(p.next_id + 2)};
      return d;
    }
    const auto is_reduce = [&](const Stmt* l) { return p.axis(l->axis).reduce; };
    if (name == "rfactor") {
      std::vector<const Stmt*> reduces;
      std::copy_if(loops.begin(), loops.end(), std::back_inserter(reduces), is_reduce);
      if (reduces.empty()) {
        if (!s.one_in(20)) return std::nullopt;
        reduces = loops;
      }
      args = {Arg::stage(stage), Arg::loop(any(reduces)->id)};
      if (s.one_in(3)) args.push_back(Arg::text("first"));
      d.reassociates = p.stage(stage).is_reduction() && order_matters(p, p.stage(stage));
    } else if (name == "reorder") {
      // some of the loops above one block
      const auto blocks = ir::blocks_of(p, stage);
      std::vector<const Stmt*> chain;
      for (const Stmt* x : ir::path_to(p, any(blocks)->id))
        if (x->kind == Stmt::Kind::loop && std::find(loops.begin(), loops.end(), x) != loops.end()) chain.push_back(x);
      if (chain.size() < 2) return std::nullopt;
      std::vector<const Stmt*> chosen;
      for (const Stmt* x : chain)
        if (s.pick(4) < 3) chosen.push_back(x);
      if (chosen.size() < 2) chosen = chain;
      for (std::size_t k = 0; k + 1 < chosen.size(); ++k)
        std::swap(chosen[k], chosen[k + 1 + s.pick(static_cast<std::uint32_t>(chosen.size() - k - 1))]);
      std::vector<const Stmt*> before, after;
      std::copy_if(chain.begin(), chain.end(), std::back_inserter(before), is_reduce);
      for (const Stmt* x : chosen) args.push_back(Arg::loop(x->id));
      // how the reduction loops follow each other afterwards
      std::size_t next = 0;
      for (const Stmt* x : chain) {
        const Stmt* y = std::find(chosen.begin(), chosen.end(), x) != chosen.end() ? chosen[next++] : x;
        if (is_reduce(y)) after.push_back(y);
      }
      d.reassociates = before != after && order_matters(p, p.stage(stage));
    } else if (name == "fuse") {
      const Stmt* outer = any(loops);
      const Stmt* inner = any(loops);
      for (const Stmt& below : outer->body)
        if (below.kind == Stmt::Kind::loop && !s.one_in(10)) inner = &below;
      args = {Arg::loop(outer->id), Arg::loop(inner->id)};
    } else {
      const Stmt* l = any(loops);
      args = {Arg::loop(l->id)};
      if (name == "split" || name == "split_parts") {
        args.push_back(Arg::integer(factors[s.pick(8)]));
        args.push_back(Arg::text(name == "split" || s.one_in(8) ? tails[s.pick(6)] : "guard"));
        if (name == "split" && s.one_in(8)) args.push_back(Arg::text("keep"));
      } else if (name == "peel") {
        static constexpr const char* ends[] = {"first", "last", "both"};
        args.push_back(Arg::text(any(ends)));
      } else if (name == "partition") {
        Expr at = ir::index(static_cast<int>(s.pick(7)));
        const Expr extent = p.axis(l->axis).extent;
        const bool outside = extent.empty() || [&] {  // of a loop that depends on others
          for (Id v : ir::free_vars(extent))
            if (!p.symbols.count(v)) return true;
          return false;
        }();
        if (!outside && !s.one_in(3)) at = ir::sub(extent, at);
        if (!s.one_in(6)) at = ir::max(at, ir::index(0));
        args.push_back(Arg::map({}, {at}));
      } else if (name == "unroll_and_jam" || name == "reverse") {
        d.reassociates = order_matters(p, p.stage(stage));
      } else if (name == "prefetch") {
        std::vector<Id> read;
        for (const auto& [id, b] : p.buffers)
          if (reads(p.stage(stage), id)) read.push_back(id);
        if (read.empty()) return std::nullopt;
        args.push_back(Arg::buffer(any(read)));
        args.push_back(Arg::integer(s.between(1, 3)));
      }
    }
  }
  return d;
}

}  // namespace fuzz
