// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// distribute(stage): a sum of integers whose term is a product with sums in it is multiplied out. What does not depend on the
// reduction leaves the sums, each of which has the dimensions alone that its terms depend on:
//
//   C[i, j] = sum over k of (x[i, k] - zx) * (w[k, j] - zw)
//
//     ->      C_0[i, j] = sum x[i, k] * w[k, j]      C_1[j] = sum w[k, j]      C_2[i] = sum x[i, k]
//             C[i, j]   = C_0[i, j] - zx * C_1[j] - zw * C_2[i] + K * zx * zw
//
// The product without the zero points is what dot-product instructions compute; the other sums are smaller by a dimension.
// Integers wrap, so that the distributive law is exact for them; floats are refused.
//
// The stage keeps its spatial loops and has no reduction any more; the sums are computed just before it, and compute_at places
// them.
#include <algorithm>

#include <ashlar/ir/recurrence.h>

#include "schedule/legality/legality.h"
#include "schedule/primitives/placement/placement.h"
#include "schedule/calls.h"
#include "schedule/primitives/primitives.h"

namespace ashlar::schedule {
namespace {

constexpr std::size_t most_products = 16;

struct Product {  // a whole number times expressions
  std::int64_t number = 1;
  std::vector<Expr> factors;
};

bool uses_any(const Expr& e, const std::vector<Id>& vars) {
  return std::any_of(vars.begin(), vars.end(), [&](Id v) { return ir::uses_var(e, v); });
}

Expr product_of(const std::vector<Expr>& factors, Type t) {
  if (factors.empty()) return ir::int_const(t, 1);
  Expr p = factors.front();
  for (std::size_t k = 1; k < factors.size(); ++k) p = ir::mul(p, factors[k]);
  return p;
}

// Wrapping arithmetic on whole numbers that may be outside of 64 bits on the way.
std::int64_t times(std::int64_t a, std::int64_t b) {
  return static_cast<std::int64_t>(static_cast<std::uint64_t>(a) * static_cast<std::uint64_t>(b));
}

// The expression as a sum of products; what is no sum, difference or product of its own type is a factor. Products of sums that
// no reduction variable is in stay whole: they leave the sum as they are.
std::vector<Product> multiplied_out(const Context& c, const Expr& e, const std::vector<Id>& reduce) {
  const auto args = ir::args_of(e);
  std::int64_t v = 0;
  if (ir::is_int(e, &v)) return {{v, {}}};
  if (!uses_any(e, reduce)) return {{1, {e}}};
  if (ir::is(e, ir::Op::neg)) {
    std::vector<Product> all = multiplied_out(c, args[0], reduce);
    for (Product& p : all) p.number = times(p.number, -1);
    return all;
  }
  if (ir::is(e, ir::Op::add) || ir::is(e, ir::Op::sub)) {
    std::vector<Product> all = multiplied_out(c, args[0], reduce);
    for (Product& p : multiplied_out(c, args[1], reduce)) {
      if (ir::is(e, ir::Op::sub)) p.number = times(p.number, -1);
      all.push_back(std::move(p));
    }
    if (all.size() > most_products)
      c.refuse("a term of at most " + std::to_string(most_products) + " products", "more, in " + ir::text(e));
    return all;
  }
  if (ir::is(e, ir::Op::mul)) {
    // a factor without reduction variables is multiplied out as well: it stands beside a sum
    std::vector<Product> all;
    const std::vector<Product> left = multiplied_out(c, args[0], reduce), right = multiplied_out(c, args[1], reduce);
    for (const Product& a : left)
      for (const Product& b : right) {
        Product p{times(a.number, b.number), a.factors};
        p.factors.insert(p.factors.end(), b.factors.begin(), b.factors.end());
        all.push_back(std::move(p));
      }
    if (all.size() > most_products)
      c.refuse("a term of at most " + std::to_string(most_products) + " products", "more, in " + ir::text(e));
    return all;
  }
  return {{1, {e}}};
}

// One sum, and what it is multiplied by where the stage adds it up.
struct Part {
  std::vector<Expr> term;  // the factors that depend on the reduction, in order; empty: how many points there are
  Expr outside;
  bool minus = false;
};

// match: a sum of integers over points of its own, in loops as they were defined
void require_sum(const Context& c, const ir::Stage& stage) {
  if (stage.reducer.kind != ir::ReducerKind::sum && stage.reducer.kind != ir::ReducerKind::strict_sum)
    c.refuse("a sum", stage.name + (stage.is_reduction() ? ", which another reducer combines" : ", no reduction"));
  const Type type = c.p.buffer(stage.buffers.front()).type;
  if (!type.is_data_integer())
    c.refuse("a sum of integers, for which the distributive law is exact", stage.name + " of " + ir::text(type));
  if (stage.scatters() || stage.atomic)
    c.refuse("a stage whose sums stand at its own points",
             stage.name + (stage.scatters() ? ", a scatter" : ", which is atomic"));
  if (ir::recurrences_around(c.p).count(stage.id))
    c.refuse("a stage outside of recurrences", stage.name + ", which one reads and that reads it");
}
void require_untouched_sum(const Context& c, const ir::Stage& stage, const Stmt& nest) {
  for (const ir::Root& r : nest.get<NestStmt>().roots)
    if (c.p.axis(r.axis).reduce && !ir::is_leaf(c.p, r.axis))
      c.refuse("reduction loops as they were defined (move this call before the split)",
               c.p.axis(r.axis).name + " of " + stage.name);
  ir::walk(nest.body(), [&](const Stmt& s) {
    require_no_producer(c, stage, s);
    require_undivided_block(c, stage, s);
    require_undivided_loop(c, s);
    if (const LoopStmt* loop = s.as<LoopStmt>();
        loop && c.p.axis(loop->axis).reduce && (loop->kind != ir::LoopKind::serial || loop->combines || loop->pipeline))
      c.refuse("reduction loops without a kind yet (move this call before it)", name_of(c.p, s));
  });
  for (const ir::IterVar& v : stage.iters)
    if (v.descending)
      c.refuse("loops in the order of their variables (move this call before reverse)", v.name + " of " + stage.name);
}

std::vector<Id> reduced(const ir::Stage& stage) {
  std::vector<Id> vars;
  for (const ir::IterVar& v : stage.iters)
    if (v.kind == ir::IterKind::reduce) vars.push_back(v.id);
  return vars;
}

// A product, apart by what depends on the reduction.
Part part_of(const Product& p, const std::vector<Id>& reduce, Type type) {
  Part part;
  part.minus = p.number < 0 && p.number != INT64_MIN;
  part.outside = ir::int_const(type, part.minus ? -p.number : p.number);
  bool plain = ir::is_int(part.outside, 1);
  for (const Expr& f : p.factors) {
    if (uses_any(f, reduce)) {
      part.term.push_back(f);
      continue;
    }
    part.outside = plain ? f : ir::mul(part.outside, f);
    plain = false;
  }
  return part;
}

// The same sum once more, times something else.
void add_outside(Part& known, const Part& more, Type type) {
  std::int64_t a = 0, b = 0;
  if (ir::is_int(known.outside, &a) && ir::is_int(more.outside, &b)) {
    const std::uint64_t sum =
        static_cast<std::uint64_t>(known.minus ? times(a, -1) : a) + static_cast<std::uint64_t>(more.minus ? times(b, -1) : b);
    known.outside = ir::int_const(type, static_cast<std::int64_t>(sum));
  } else {
    const Expr own = known.minus ? ir::neg(known.outside) : known.outside;
    known.outside = more.minus ? ir::sub(own, more.outside) : ir::add(own, more.outside);
  }
  known.minus = false;
}

// prove: integers wrap, and so do sums of products of them
std::vector<Part> parts_of(const Context& c, const ir::Stage& stage, Type type) {
  const std::vector<Id> reduce = reduced(stage);
  std::vector<Part> parts;
  for (const Product& p : multiplied_out(c, stage.values.front(), reduce)) {
    Part part = part_of(p, reduce, type);
    const auto known = std::find_if(parts.begin(), parts.end(), [&](const Part& other) {
      return ir::same(product_of(other.term, type), product_of(part.term, type));
    });
    if (known == parts.end())
      parts.push_back(std::move(part));
    else
      add_outside(*known, part, type);
  }
  std::erase_if(parts, [](const Part& p) { return ir::is_int(p.outside, std::int64_t{0}); });
  if (parts.size() == 1 && ir::is_int(parts.front().outside, 1) && !parts.front().minus)
    c.refuse("a term with a sum in a product, or a factor that does not depend on the reduction",
             ir::text(stage.values.front()));
  return parts;
}

// What the points of the reduction depend on, every sum depends on.
std::vector<Expr> bounds_of(const ir::Stage& stage) {
  std::vector<Expr> bounds;
  for (const ir::IterVar& v : stage.iters)
    if (v.kind == ir::IterKind::reduce) bounds.push_back(v.begin), bounds.push_back(v.end);
  for (const Expr& atom : stage.domain) bounds.push_back(atom);
  return bounds;
}

// The dimensions of the stage that a part has.
std::vector<std::size_t> dimensions(const ir::Stage& stage, const std::vector<Expr>& bounds, const Part& part) {
  std::vector<std::size_t> used;
  for (std::size_t d = 0; d < stage.iters.size(); ++d) {
    const ir::IterVar& v = stage.iters[d];
    const auto in = [&](const Expr& e) { return ir::uses_var(e, v.id); };
    if (v.kind != ir::IterKind::reduce &&
        (std::any_of(part.term.begin(), part.term.end(), in) || std::any_of(bounds.begin(), bounds.end(), in)))
      used.push_back(d);
  }
  return used;
}

// How many terms there are at every point, over symbols; empty where that depends on the point or on data.
Expr number_of_terms(const Program& p, const ir::Stage& stage, const std::vector<Expr>& bounds) {
  for (const Expr& e : bounds) {
    bool fixed = stage.domain.empty();
    for (const ir::IterVar& v : stage.iters) fixed = fixed && !ir::uses_var(e, v.id);
    ir::walk(e, [&](const Expr& x) { return fixed = fixed && !ir::is(x, ir::Op::load); });
    if (!fixed) return {};
  }
  Expr points = ir::index(1);
  for (const ir::IterVar& v : stage.iters)
    if (v.kind == ir::IterKind::reduce) points = ir::mul(points, ir::max(ir::sub(v.end, v.begin), ir::index(0)));
  return analysis::simplify(points, analysis::facts_of_arguments(p));
}

// rewrite: the sum of a part's terms. `at`: the stage's own point, as far as the part depends on it.
ir::Stage sum_of(Context& c, const ir::Stage& stage, const Part& part, const std::vector<std::size_t>& dims,
                 const std::string& name, std::vector<Expr>& at) {
  const Type type = c.p.buffer(stage.buffers.front()).type;
  ir::Stage sum;
  sum.id = c.p.fresh();
  sum.name = name;
  sum.where = c.step.where;
  sum.reducer = stage.reducer;
  sum.inits = {ir::int_const(type, 0)};
  ir::Substitution to;
  const auto variable = [&](const ir::IterVar& v) {
    ir::IterVar w = v;
    w.id = c.p.fresh();
    if (v.kind == ir::IterKind::reduce) {
      w.begin = ir::substitute(v.begin, to);
      w.end = ir::substitute(v.end, to);
    } else {
      w.begin = w.end = Expr();  // what the stage needs of it
      at.push_back(ir::var(v.id, v.name));
    }
    to.emplace_back(v.id, ir::var(w.id, w.name));
    sum.iters.push_back(std::move(w));
  };
  for (const std::size_t d : dims) variable(stage.iters[d]);
  for (const ir::IterVar& v : stage.iters)
    if (v.kind == ir::IterKind::reduce) variable(v);
  for (const Expr& atom : stage.domain) sum.domain.push_back(ir::substitute(atom, to));
  sum.values = {ir::substitute(product_of(part.term, type), to)};
  ir::Buffer buffer;
  buffer.id = c.p.fresh();
  buffer.name = sum.name;
  buffer.type = type;
  buffer.rank = static_cast<int>(at.size());
  buffer.stage = sum.id;
  buffer.where = c.step.where;
  sum.buffers = {buffer.id};
  c.p.buffers[buffer.id] = std::move(buffer);
  return sum;
}

// The sums, and the value that adds them up.
struct Sums {
  std::vector<ir::Stage> stages;
  Expr total;
  void add(const Part& part, const Expr& sum) {
    const Expr term = ir::is_int(part.outside, 1) ? sum : ir::mul(part.outside, sum);
    if (total.empty())
      total = part.minus ? ir::neg(term) : term;
    else
      total = part.minus ? ir::sub(total, term) : ir::add(total, term);
  }
};
Sums sums_of(Context& c, const ir::Stage& stage, std::vector<Part> parts) {
  const Type type = c.p.buffer(stage.buffers.front()).type;
  const std::vector<Expr> bounds = bounds_of(stage);
  std::stable_sort(parts.begin(), parts.end(), [&](const Part& a, const Part& b) {
    return dimensions(stage, bounds, a).size() > dimensions(stage, bounds, b).size();
  });
  Sums sums;
  if (const Expr& init = stage.inits.front(); !ir::is_int(init, std::int64_t{0})) sums.total = init;
  for (const Part& part : parts) {
    const Expr points = part.term.empty() ? number_of_terms(c.p, stage, bounds) : Expr();
    if (!points.empty()) {
      sums.add(part, ir::cast(type, points));
      continue;
    }
    std::vector<Expr> at;
    ir::Stage sum =
        sum_of(c, stage, part, dimensions(stage, bounds, part), stage.name + "_" + std::to_string(sums.stages.size()), at);
    sums.add(part, ir::load(sum.buffers.front(), sum.name, type, at, c.step.where));
    sums.stages.push_back(std::move(sum));
  }
  if (sums.total.empty()) sums.total = stage.inits.front();
  return sums;
}

// rewrite: the stage adds them up, and has no reduction any more. Its loops that are gone, with their names.
std::vector<std::pair<Id, std::string>> drop_reduction(Context& c, ir::Stage& stage, Stmt& nest, const Expr& value) {
  const std::vector<Id> reduce = reduced(stage);
  stage.values = {value};
  stage.inits.clear();
  std::erase_if(stage.domain, [&](const Expr& atom) { return uses_any(atom, reduce); });  // others say which points there are
  stage.reducer = {};
  std::erase_if(stage.iters, [](const ir::IterVar& v) { return v.kind == ir::IterKind::reduce; });
  std::vector<std::pair<Id, std::string>> gone;
  std::vector<Id> dead;
  ir::walk(nest.body(), [&](const Stmt& s) {
    if (const LoopStmt* loop = s.as<LoopStmt>(); loop && c.p.axis(loop->axis).reduce)
      gone.emplace_back(s.id, name_of(c.p, s)), dead.push_back(loop->axis);
  });
  drop_reduction_loops(c.p, nest.body(), 0);
  std::erase_if(nest.get<NestStmt>().roots, [&](const ir::Root& r) { return c.p.axis(r.axis).reduce; });
  ir::walk(nest.body(), [](Stmt& s) {
    if (BlockStmt* block = s.as<BlockStmt>()) block->first_stores = false;
  });
  for (Id a : dead) c.p.axes.erase(a);
  return gone;
}

void apply_distribute(Context& c) {
  // match
  ir::Stage& stage = c.stage(0);
  require_sum(c, stage);
  Stmt& nest = only_nest(c, stage);
  require_untouched_sum(c, stage, nest);
  // prove
  const std::vector<Part> parts = parts_of(c, stage, c.p.buffer(stage.buffers.front()).type);
  // rewrite
  const std::string name = stage.name;
  Sums sums = sums_of(c, stage, parts);
  const auto gone = drop_reduction(c, stage, nest, sums.total);
  std::vector<Stmt> before;
  for (ir::Stage& sum : sums.stages) {
    c.results.push_back(sum.id);
    before.push_back(fresh_alloc(c.p, sum.buffers.front(), c.step.where));
    const Id id = sum.id;
    c.p.stages[id] = std::move(sum);
    before.push_back(fresh_nest(c.p, c.p.stage(id), c.step.where));
  }
  insert_before(c.p, nest.id, std::move(before));
  // remap
  for (const auto& [id, loop] : gone) c.consume(id, loop, "went to the sums that distribute made", {});
  drop_unread(c, "was read in products that are 0 alone, when " + name + " was distributed");
}

std::string line_of_distribute(CppCall& w, const Step& s) {
  if (s.results.empty()) throw NoForm{};
  return w.stage(s.args[0].id) + ".distribute<" + std::to_string(s.results.size()) + ">()";
}

}  // namespace

extern constexpr Primitive distribute_primitive{
    .name = "distribute",
    .spelling = "distribute",
    .parameters = {takes::stage()},
    .traits = Traits{Reads::changed, Places::moved, Boxes::derived, Layouts::proved, Callers::kept, Gives::any_number},
    .apply = apply_distribute,
    .cpp = line_of_distribute,
    .draw = Drawing{.often = 2, .draw = [](Draw& d) { return draw_stage(d, "distribute"); }},
};

}  // namespace ashlar::schedule

namespace ashlar {

using schedule::Arg;

std::vector<Stage> Stage::distribute_(std::size_t expected, Where w) const {
  detail::Transaction transaction(*state_);
  std::vector<Stage> sums;
  for (const ir::Id id : apply(schedule::distribute_primitive, {Arg::stage(id_)}, w)) sums.push_back(Stage(id, state_));
  if (sums.size() != expected)
    refuse("distribute",
           std::to_string(sums.size()) + (sums.size() == 1 ? " sum" : " sums") + ", which the term has multiplied out",
           std::to_string(expected) + " asked for", w);
  transaction.keep();
  return sums;
}

}  // namespace ashlar
