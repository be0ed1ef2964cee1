// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Products of matrices that schedule families handle: C(.., i, j) = sum over k of A(.., i, k) B(.., k, j), or with B(.., j, k)
// or A(.., k, i).
//
//   the only stage of a program        by the sizes of the call: matmul_by_size
//   narrow factors, where the target has an instruction         matmul_dot, matmul_bytes
//   a few rows                         matmul_skinny
//   else                               panels, what is computed of the product alone in its tile, and what is computed for it
//                                      alone where it is packed
//
// All except skinny products with a few k process k in blocks whose sums are accumulated in memory. That regroups terms, so
// products of floats use register tiles (tiles.cpp) if regrouping is off. Small products use them too.
#include <algorithm>

#include <ashlar/schedules/matmul_by_size.h>
#include <ashlar/schedules/matmul_bytes.h>
#include <ashlar/schedules/matmul_dot.h>
#include <ashlar/schedules/matmul_skinny.h>

#include "schedules/src/costs.h"
#include "schedules/src/draft.h"
#include "schedules/src/families/matmul.h"
#include "schedules/src/families/matmul_dot.h"

namespace ashlar::schedules {
namespace {

using namespace costs::products;

// The load of a factor, without its conversion.
const Expr* factor_of(const Expr& e) {
  if (ir::is(e, ir::Op::load)) return &e;
  if (!ir::is(e, ir::Op::cast)) return nullptr;
  return factor_of(ir::args_of(e)[0]);
}

struct Factor {
  Id buffer = 0;
  Type type;
  std::vector<Id> at;  // iteration variables
};
std::optional<Factor> read_as(const Expr& e, const ir::Stage& s) {
  const Expr* load = factor_of(e);
  if (!load) return std::nullopt;
  Factor f;
  f.buffer = load->node()->id, f.type = load->type();
  for (const Expr& x : ir::args_of(*load)) {
    const Index index = index_of(x, s);
    if (index.coefficients.size() != 1 || !index.plain(index.coefficients.begin()->first)) return std::nullopt;
    f.at.push_back(index.coefficients.begin()->first);
  }
  return f;
}

}  // namespace

std::optional<Product> product_of(const ir::Stage& s, const ir::Program& p) {
  const auto dims = spatial_of(s), terms = reduce_of(s);
  if (s.reducer.kind != ir::ReducerKind::sum || s.values.size() != 1 || s.scatters() || s.is_recurrence() ||
      terms.size() != 1 || dims.size() < 2 || dims.size() > 4 || !ir::is(s.values.front(), ir::Op::mul))
    return std::nullopt;
  if (bounds_terms(s, dims.back().id)) return std::nullopt;  // neighbors have other terms
  for (const ir::Buffer* b : {&p.buffer(s.buffers.front())})
    if (b->type != s.values.front().type()) return std::nullopt;
  const auto args = ir::args_of(s.values.front());
  std::optional<Factor> a = read_as(args[0], s), b = read_as(args[1], s);
  if (!a || !b || a->buffer == b->buffer || a->at.size() < 2 || b->at.size() < 2) return std::nullopt;
  const Id i = dims[dims.size() - 2].id, j = dims.back().id, k = terms.front().id;
  const auto has = [](const Factor& f, Id v) { return std::find(f.at.begin(), f.at.end(), v) != f.at.end(); };
  if (has(*a, j)) std::swap(a, b);
  // Dimensions before the last two, all of them or none.
  const auto fits = [&](const Factor& f, Id before, Id last) {
    const std::size_t n = f.at.size();
    if (f.at[n - 2] != before || f.at[n - 1] != last) return false;
    if (n == 2) return true;
    if (n != dims.size()) return false;
    for (std::size_t d = 0; d + 2 < n; ++d)
      if (f.at[d] != dims[d].id) return false;
    return true;
  };
  const bool transposed = fits(*b, j, k), turned = fits(*a, k, i);
  if ((!turned && !fits(*a, i, k)) || (!transposed && !fits(*b, k, j))) return std::nullopt;
  Product r;
  r.stage = s.id, r.a = a->buffer, r.b = b->buffer, r.transposed_a = turned, r.transposed_b = transposed;
  r.a_type = a->type, r.b_type = b->type, r.type = s.values.front().type();
  return r;
}

std::optional<Product> product_for(Draft& d, const Group& g) {
  const ir::Program& p = d.program();
  const Target& t = d.s.target();
  if (t.is_gpu() || t.lanes(f32) < 2) return std::nullopt;
  const ir::Stage& leader = d.stage(g.leader);
  // The product itself, or an elementwise stage that reads it.
  std::optional<Product> found;
  if (leader.is_reduction())
    found = product_of(leader, p);
  else if (d.family(g.leader).family == Family::elementwise || d.family(g.leader).family == Family::gather)
    for (const Id id : g.members) {
      const auto& follows = g.follows.at(id);
      bool same = follows.size() == spatial_of(leader).size() && readers_of(p, d.stage(id)) == std::vector<Id>{g.leader};
      for (std::size_t k = 0; same && k < follows.size(); ++k)
        same = follows[k].dim == static_cast<int>(k) && follows[k].scale == 1 && follows[k].lo == 0 && follows[k].hi == 0;
      if (same && !found) found = product_of(d.stage(id), p);
    }
  if (!found || (!d.options.regroup && found->type.is_float())) return std::nullopt;
  const ir::Stage& s = d.stage(found->stage);
  const Sizes sizes = d.sizes();
  const auto dims = spatial_of(s);
  const double rows = sizes.extent(s, dims[dims.size() - 2].id), columns = sizes.extent(s, dims.back().id);
  const bool own = found->a_type == found->type && found->b_type == found->type && found->type.is_float();
  const bool widened = found->type == f32 && found->a_type.is_float() && found->b_type.is_float();  // as they are used
  const bool alone = dims.size() == 2 && !found->transposed_a && !found->transposed_b;              // of matrices alone
  const bool bytes = found->a_type == i8 && found->b_type == i8 && found->type == i32;
  const bool dot = (found->type == i32 || found->type == f32) &&
                   detail::dot_of(t, found->a_type, found->b_type, d.options.subnormals_as_zero);
  const bool of_matrices = dims.size() == 2 && !found->transposed_a;
  if (rows > 4 && ((of_matrices && dot) || (alone && bytes && t.architecture() == Architecture::aarch64)))
    found->kind = Product::Kind::narrow;
  else if (!own && !widened)
    return std::nullopt;
  else if (own && alone && p.stages.size() == 1 && found->stage == g.leader && !sizes.constant_extent(s, dims[0].id))
    found->kind = Product::Kind::by_size;
  else if (rows * columns * sizes.terms(s) < small_product)
    return std::nullopt;
  else if (own && alone && rows <= few_rows && sizes.constant_extent(s, dims[0].id))
    found->kind = Product::Kind::skinny;
  else if (rows <= few_rows)
    return std::nullopt;
  else
    found->kind = Product::Kind::panels;
  if (found->kind == Product::Kind::panels && alone &&
      columns * sizes.terms(s) * found->b_type.bytes() <= static_cast<double>(t.cache_bytes(2)) &&
      sizes.constant_extent(s, dims.back().id) && sizes.constant_extent(s, reduce_of(s).front().id))
    return std::nullopt;  // B stays in the cache: nothing is worth packing
  return found;
}

namespace {

// The stage that computes a factor for this product only, if recomputing it at each packing pays off: a panel of A is packed
// for each block of B's panels, and a factor that all matrices share for each of them. `meets`: how many points of the product
// use an element of the factor.
std::optional<Id> packed_stage(Draft& d, const ir::Stage& product, Id factor, double meets) {
  const Id id = d.program().buffer(factor).stage;
  if (!id) return std::nullopt;
  const ir::Stage& s = d.stage(id);
  const Family family = d.family(id).family;
  if ((family != Family::elementwise && family != Family::gather) || s.buffers.size() != 1 || is_output(d.program(), s) ||
      !is_untouched(d.program(), s) || readers_of(d.program(), s) != std::vector<Id>{product.id} || cost_of(s) > meets / 8)
    return std::nullopt;
  return id;
}

// Where it is packed, before the loop that does so.
void compute_packed(Draft& d, Id factor, const Id product, Loop at) {
  const std::string name = d.stage(product).name;
  if (!d.attempt(factor, "computed where " + name + " packs it", [&] {
        const Stage stage = d.handle(factor);
        stage.compute_at(at, d.where);
        stage.store_in(Scope::stack, d.where);
        const int lanes = lanes_of(d, d.stage(factor));
        if (lanes > 1) stage.vectorize(stage.nest(d.where).back(), lanes, d.where);
        schedule::finish(d.s.scheduled(), d.s.target());
      }))
    return;
  d.why(factor, "the panels are what the product reads");
}

}  // namespace

bool schedule_product(Draft& d, const Group& g, const Product& product) {
  const Tensor a = tensor_of(d.s, product.a, d.where), b = tensor_of(d.s, product.b, d.where);
  const ir::Stage s = d.stage(product.stage);
  const auto label = [&](std::size_t from_end) {
    const auto dims = spatial_of(s);
    return dims[dims.size() - from_end].name;
  };
  const Id id = product.stage;
  const MatmulOptions options{
      .transposed_a = product.transposed_a, .transposed_b = product.transposed_b, .parallel = d.options.parallel};
  const detail::MatmulBlocks blocks(d.s.target(), product.type, options,
                                    product.a_type != product.type || product.b_type != product.type);
  const std::string panels = "panels of " + std::to_string(blocks.columns) + " along " + label(1) + " and " +
                             std::to_string(blocks.rows) + " along " + label(2) + ", " + std::to_string(blocks.block_k) +
                             " terms at a time (schedules::matmul)";
  const auto finished = [&](auto steps) { return [&d, steps] { steps(), schedule::finish(d.s.scheduled(), d.s.target()); }; };
  const auto as_zero =
      d.options.subnormals_as_zero ? std::optional(x86::Subnormals::as_zero) : std::optional<x86::Subnormals>();
  switch (product.kind) {
    case Product::Kind::by_size:
      if (!d.attempt(id,
                     "by the sizes of the call: few " + label(2) + ", a small B, or " + panels + " (schedules::matmul_by_size)",
                     finished([&] { matmul_by_size(d.s, d.handle(id), a, b, options, d.where); }), "a tile of registers"))
        return false;
      d.why(id, "its sizes are known to calls alone");
      return true;
    case Product::Kind::narrow: {
      const bool bytes = product.a_type == i8 && d.s.target().architecture() == Architecture::aarch64;
      if (!d.attempt(id,
                     std::string("instructions for narrow factors, in panels (schedules::") +
                         (bytes ? "matmul_bytes)" : "matmul_dot)"),
                     finished([&] {
                       if (bytes)
                         matmul_bytes(d.s, d.handle(id), a, b, {.parallel = d.options.parallel}, d.where);
                       else
                         matmul_dot(
                             d.s, d.handle(id), a, b,
                             {.transposed_b = product.transposed_b, .subnormals = as_zero, .parallel = d.options.parallel},
                             d.where);
                     }),
                     "a tile of registers"))
        return false;
      d.why(id, std::string("the target multiplies several neighbors at once") +
                    (product.type.is_float() ? "; subnormal numbers count as 0" : ""));
      return true;
    }
    case Product::Kind::skinny: {
      const auto rows = d.sizes().constant_extent(s, spatial_of(s)[0].id).value_or(1);
      if (const auto of_b = packed_stage(d, s, product.b, 64))  // once or twice an element
        d.attempt(*of_b, "inlined into " + s.name, [&] { d.handle(*of_b).inline_(d.where); }, "stored");
      if (!d.attempt(id, "few rows: B is read once, as it lies (schedules::matmul_skinny)", finished([&] {
                       matmul_skinny(d.s, d.handle(id),
                                     {.tile_i = static_cast<int>(rows % 4 == 0   ? 4
                                                                 : rows % 2 == 0 ? 2
                                                                                 : 1),
                                      .parallel = d.options.parallel},
                                     d.where);
                     }),
                     "a tile of registers"))
        return false;
      d.why(id, "what it takes is the time to read B");
      return true;
    }
    case Product::Kind::panels:
      break;
  }
  const Stage leader = d.handle(g.leader);
  // A start that is read, a bias, has nothing past its end.
  const bool padded = product.stage != g.leader &&
                      std::none_of(s.inits.begin(), s.inits.end(), [](const Expr& e) { return !ir::free_vars(e).empty(); });
  const auto dims = spatial_of(s);
  const std::optional<Id> of_a = packed_stage(d, s, product.a, d.sizes().extent(s, dims.back().id)),
                          of_b = packed_stage(d, s, product.b, d.sizes().extent(s, dims[dims.size() - 2].id));
  Loop packs_a, packs_b;
  const auto in_panels = [&](bool fused) {
    MatmulOptions o = options;
    o.padded = padded;
    const MatmulLoops loops = matmul(d.s, d.handle(id), a, b, o, d.where);
    packs_a = loops.a, packs_b = loops.b;
    if (!fused) return;
    const Loop last = leader.nest(d.where).back();
    leader.fuse_into(loops.tile, d.where);
    const int lanes = lanes_of(d, d.stage(g.leader));
    if (lanes > 1) leader.vectorize(last, lanes, d.where);
  };
  const bool followed = product.stage != g.leader;
  if (followed && d.attempt(g.leader, "with each tile of " + s.name + " that is finished", finished([&] { in_panels(true); }),
                            "after it")) {
    d.done(id, panels);
  } else if (!d.attempt(id, panels, finished([&] { in_panels(false); }), "a tile of registers")) {
    return false;
  } else if (followed) {
    const Group rest{g.leader, {}, {}};
    schedule_group(d, rest, plan_of(d, rest));
  }
  d.why(id, "B does not stay in the second-level cache for all rows");
  if (of_a) compute_packed(d, *of_a, id, packs_a);
  if (of_b) compute_packed(d, *of_b, id, packs_b);
  return true;
}

}  // namespace ashlar::schedules
