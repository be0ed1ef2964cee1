// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Stages of a program that a device family can schedule: products, alone or with an elementwise stage after them; reductions of
// rows together with the elementwise stages along the rows, in one launch; single results with many terms; transpositions.
#include <algorithm>
#include <set>

#include <ashlar/schedule/stages.h>
#include <ashlar/schedules/gpu_attention.h>
#include <ashlar/schedules/gpu_conv.h>
#include <ashlar/schedules/gpu_matmul.h>
#include <ashlar/schedules/gpu_reduction.h>
#include <ashlar/schedules/gpu_rows.h>
#include <ashlar/schedules/gpu_transpose.h>

#include "schedules/src/costs.h"
#include "schedules/src/draft.h"
#include "schedules/src/families/devices/gpu.h"
#include "schedules/src/families/devices/gpu_attention.h"
#include "schedules/src/families/devices/gpu_conv.h"
#include "schedules/src/families/devices/gpu_conv_tensor.h"
#include "schedules/src/families/devices/gpu_tensor.h"

namespace ashlar::schedules {

namespace {

using namespace costs::device;

bool ordinary(const ir::Stage& s) { return !s.scatters() && !s.is_recurrence(); }

// Whether the indices of a load in an elementwise stage are the first `rank` dimensions.
bool follows_own(const Reading& r, const ir::Stage& reader, std::size_t rank) {
  const auto dims = spatial_of(reader);
  if (r.at.size() < rank || dims.size() < rank) return false;
  for (std::size_t k = 0; k < r.at.size(); ++k)
    if (k < rank ? !r.at[k].plain(dims[k].id) : !r.at[k].uses.empty() || r.at[k].symbolic || r.at[k].from_data) return false;
  return true;
}

// ---- products ----------------------------------------------------------------------------------------------------------

std::optional<Product> product_at(Draft& d, Id id) {
  return ordinary(d.stage(id)) ? product_of(d.stage(id), d.program()) : std::nullopt;
}
bool has_few(Draft& d, const Product& p) {
  const ir::Stage& s = d.stage(p.stage);
  const auto dims = spatial_of(s);
  const Sizes sizes = d.sizes();
  return sizes.extent(s, dims[dims.size() - 2].id) < small_tile || sizes.extent(s, dims.back().id) < small_tile;
}
std::optional<Product> large_product(Draft& d, Id id) {
  const auto found = product_at(d, id);
  return found && !has_few(d, *found) ? found : std::nullopt;
}

bool by_tiles(Draft& d, const Product& p, Id result, GpuMatmulOptions::Math math) {
  using Math = GpuMatmulOptions::Math;
  const Tensor a = tensor_of(d.s, p.a, d.where), b = tensor_of(d.s, p.b, d.where);
  const std::int64_t part = math == Math::exact ? 0 : d.part_k;
  const GpuMatmulOptions o{
      .math = math, .part_k = part, .small_blocks = part > 0, .transposed_a = p.transposed_a, .transposed_b = p.transposed_b};
  const auto tiles = detail::tensor_tiles(d.s, d.handle(p.stage), a, b, o, d.where);
  const bool cores = tiles.has_value();
  std::string what = cores ? "products by tensor cores, tiles in shared memory, sums in registers"
                           : "tiles in shared memory, sums in registers";
  if (cores && tiles->part_k > 0) what += ", of " + std::to_string(tiles->part_k) + " terms each, then their sum";
  what += " (schedules::gpu_matmul)";
  const bool alone = p.stage == result;
  const bool done = d.attempt(
      p.stage, what,
      [&] {
        if (alone)
          gpu_matmul(d.s, d.handle(p.stage), a, b, o, d.where);
        else
          gpu_matmul(d.s, d.handle(p.stage), a, b, d.handle(result), o, d.where);
      },
      cores   ? "without tensor cores"
      : alone ? "a point a thread"
              : "by itself");
  return done || (cores && by_tiles(d, p, result, Math::exact));
}

// Tensor cores add floats in an order of their own.
bool exactly(Draft& d, const Product& p) {
  return !d.options.tensor_cores || (!d.options.regroup && d.stage(p.stage).values[0].type().is_float());
}
bool by_tiles(Draft& d, const Product& p, Id result) {
  return by_tiles(d, p, result, exactly(d, p) ? GpuMatmulOptions::Math::exact : GpuMatmulOptions::Math::by_type);
}

// The product that an elementwise stage reads once, at its own point, and that nothing else reads.
std::optional<Product> product_before(Draft& d, Id id) {
  const ir::Stage& s = d.stage(id);
  if (s.is_reduction() || !ordinary(s)) return std::nullopt;
  const auto reads = readings_of(d.program(), s);
  for (const Reading& r : reads) {
    if (!r.producer || !is_untouched(d.program(), d.stage(r.producer))) continue;
    const ir::Stage& p = d.stage(r.producer);
    if (is_output(d.program(), p) || readers_of(d.program(), p) != std::vector<Id>{id} ||
        spatial_of(p).size() != spatial_of(s).size() || !follows_own(r, s, r.at.size()))
      continue;
    if (std::count_if(reads.begin(), reads.end(), [&](const Reading& x) { return x.producer == r.producer; }) > 1) continue;
    if (const auto found = large_product(d, r.producer)) return found;
  }
  return std::nullopt;
}

// ---- convolutions ------------------------------------------------------------------------------------------------------

// The sum over channels and a window, as the family takes it.
struct Convolved {
  Id sum = 0, rim = 0;
  std::size_t o = 0;
  bool cores = false;  // by tensor cores
};
std::optional<Convolved> convolved(Draft& d, Id id) {
  const ir::Stage& s = d.stage(id);
  if (d.options.tensor_cores && d.options.regroup)
    if (const auto c = detail::tensor_conv(d.program(), s); c && detail::conv_on_tensor_cores(d.s, d.handle(id), *c, d.where))
      return Convolved{id, c->rim, c->o, true};
  const auto parts = detail::conv_parts(d.program(), s);
  if (!parts) return std::nullopt;
  // The family adds channels first, then rows and columns of the window; another order would change sums of floats.
  const bool in_order = parts->c == 0 && parts->r < parts->s;
  if (!in_order && s.values[0].type().is_float()) return std::nullopt;
  return Convolved{id, parts->rim, parts->o, false};
}

// A convolution, alone or with an elementwise stage that reads it at its own point.
bool by_conv(Draft& d, Id result, std::set<Id>& taken) {
  const auto fresh = [&](Id id) { return is_untouched(d.program(), d.stage(id)) && taken.count(id) == 0; };
  std::optional<Convolved> found;
  if (d.stage(result).is_reduction()) {
    found = convolved(d, result);
  } else {
    const auto reads = readings_of(d.program(), d.stage(result));
    const std::size_t rank = spatial_of(d.stage(result)).size();
    for (const Reading& r : reads) {
      if (found || !r.producer || r.at.size() != rank || !follows_own(r, d.stage(result), rank)) continue;
      const bool once =
          std::count_if(reads.begin(), reads.end(), [&](const Reading& x) { return x.producer == r.producer; }) == 1;
      if (once && !is_output(d.program(), d.stage(r.producer)) &&
          readers_of(d.program(), d.stage(r.producer)) == std::vector<Id>{result})
        found = convolved(d, r.producer);
    }
  }
  if (!found || !fresh(found->sum) || !fresh(result) || (found->rim && !fresh(found->rim))) return false;
  const Id sum = found->sum, rim = found->rim;
  if (d.sizes().extent(d.stage(sum), spatial_of(d.stage(sum))[found->o].id) < few_channels) return false;
  const std::string of = d.stage(result).name;
  if (rim) d.choice(rim);
  if (sum != result) d.choice(sum);
  if (!d.attempt(
          result,
          std::string("a convolution in one launch") + (found->cores ? " by tensor cores" : "") +
              ": tiles of image and weights in shared memory, sums in registers (schedules::gpu_conv)",
          [&] { gpu_conv(d.s, d.handle(sum), d.handle(result), {.tensor_cores = found->cores}, d.where); }, "by itself"))
    return false;
  if (sum != result) d.done(sum, "in the launch of " + of);
  if (rim) d.done(rim, "in the launch of " + of + ", where a tile is copied"), taken.insert(rim);
  taken.insert({sum, result});
  return true;
}

// ---- attention ---------------------------------------------------------------------------------------------------------

// The attention that ends with `result`, if one launch can compute it. Tensor cores add its floats in an unspecified order.
std::optional<detail::AttentionParts> attention_at(const Draft& d, Id result) {
  if (!d.options.tensor_cores || !d.options.regroup || d.s.target().device().kind != Device::Kind::cuda) return std::nullopt;
  return detail::attention_parts(d.program(), result);
}
std::vector<Id> before_result(const detail::AttentionParts& a) { return {a.weighted, a.sum, a.exps, a.maximum, a.scores}; }

bool by_attention(Draft& d, Id result, std::set<Id>& taken) {
  const auto a = attention_at(d, result);
  if (!a) return false;
  const std::vector<Id> before = before_result(*a);
  const std::string of = d.stage(result).name;
  for (const Id id : before) d.choice(id);
  if (!d.attempt(
          result, "attention in one launch: tiles of scores by tensor cores, none in global memory (schedules::gpu_attention)",
          [&] { detail::gpu_attention(d.s, *a, {}, d.where); }, "stage by stage"))
    return false;
  for (const Id id : before) d.done(id, "in the launch of " + of);
  taken.insert(result), taken.insert(before.begin(), before.end());
  return true;
}

// ---- rows --------------------------------------------------------------------------------------------------------------

// How many dimensions of a reduction enumerate rows; those after them have one point, kept for the shape.
std::size_t rows_of(const Draft& d, const ir::Stage& s) {
  const auto dims = spatial_of(s);
  std::size_t n = dims.size();
  while (n > 0 && d.sizes().constant_extent(s, dims[n - 1].id) == 1) --n;
  return n;
}

// A few results with so many terms that one block for each would read them slowly. `most`: the assumed number of terms if it is
// a Symbol.
bool in_parts(Draft& d, const ir::Stage& s, bool most = false) {
  return (most ? d.most() : d.sizes()).terms(s) >= many_terms && d.sizes().points(s) < few_results;
}

bool reduces_rows(Draft& d, Id id) {
  const ir::Stage& s = d.stage(id);
  const Family f = d.family(id).family;
  return !in_parts(d, s) && s.is_reduction() && ordinary(s) && regroups(d, s) &&
         (f == Family::row_reduction || f == Family::full_reduction) && d.sizes().terms(s) >= costs::device::few_terms;
}

bool by_rows(Draft& d, const std::vector<Id>& group) {
  std::vector<Stage> stages;
  const std::string of = d.stage(group.back()).name;
  for (const Id id : group) {
    stages.push_back(d.handle(id));
    d.choice(id);  // of what is inlined there is no stage afterwards
  }
  if (!d.attempt(
          group.back(), "a block of threads for each row (schedules::gpu_rows)", [&] { gpu_rows(d.s, stages, {}, d.where); },
          "by itself"))
    return false;
  for (std::size_t k = 0; k + 1 < group.size(); ++k) d.done(group[k], "in the launch of " + of);
  return true;
}

}  // namespace

// The stages of one launch that ends with `result`, producers first: reductions of rows that the others read at their own row,
// and elementwise stages along such rows. Only stages of the launch may read them.
std::vector<Id> rows_in_launch(Draft& d, Id result) {
  const ir::Program& p = d.program();
  std::optional<std::size_t> rows;
  if (reduces_rows(d, result))
    rows = rows_of(d, d.stage(result));
  else if (d.stage(result).is_reduction())
    return {};
  std::vector<Id> group{result};  // consumers first
  const auto has = [&](Id id) { return std::find(group.begin(), group.end(), id) != group.end(); };
  const auto read_at_rows = [&](Id id, std::size_t n) {
    for (const Id reader : readers_of(p, d.stage(id)))
      for (const Reading& r : readings_of(p, d.stage(reader)))
        if (r.producer == id && !follows_own(r, d.stage(reader), n)) return false;
    return true;
  };
  for (const Id id : analysis::consumers_first(p)) {
    const ir::Stage& s = p.stage(id);
    const std::vector<Id> readers = readers_of(p, s);
    if (has(id) || readers.empty() || !std::all_of(readers.begin(), readers.end(), has) || is_output(p, s) ||
        !is_untouched(p, s) || !ordinary(s))
      continue;
    if (reduces_rows(d, id)) {
      const std::size_t own = rows_of(d, s);
      if ((rows && *rows != own) || !read_at_rows(id, own)) continue;
      rows = own, group.push_back(id);
    } else if (d.family(id).family == Family::elementwise && s.buffers.size() == 1) {
      group.push_back(id);  // if there is something to read
    }
  }
  // What reads no reduction of the launch is better computed once, before it; then what that reads has another reader.
  for (bool again = true; again;) {
    again = false;
    for (std::size_t k = group.size(); k-- > 1;) {
      const auto readers = readers_of(p, p.stage(group[k]));
      const auto reads = readings_of(p, p.stage(group[k]));
      const bool alone =
          std::none_of(reads.begin(), reads.end(), [&](const Reading& r) { return r.producer && has(r.producer); });
      if (std::all_of(readers.begin(), readers.end(), has) && (p.stage(group[k]).is_reduction() || !alone)) continue;
      group.erase(group.begin() + static_cast<std::ptrdiff_t>(k)), again = true;
    }
  }
  if (group.size() == 1 && !reduces_rows(d, result)) return {};
  std::reverse(group.begin(), group.end());
  return group;
}

std::optional<Expr> rows_that_fit(Draft& d, const std::vector<Id>& all) {
  const ir::Program& p = d.program();
  std::set<Id> attended;  // rows that are in tiles
  for (const Id id : all)
    if (const auto a = attention_at(d, id))
      for (const Id member : before_result(*a)) attended.insert(member);
  for (const Id id : all) {
    const std::vector<Id> group = ordinary(d.stage(id)) && attended.count(id) == 0 ? rows_in_launch(d, id) : std::vector<Id>();
    std::map<Id, int> readers;
    for (const Id member : group)
      for (const Reading& r : readings_of(p, d.stage(member)))
        if (!r.producer && r.at.size() > 1) ++readers[r.buffer];
    for (const Id member : group) {
      const std::vector<ir::IterVar>& iters = d.stage(member).iters;
      if (!d.stage(member).is_reduction() || iters.back().kind != ir::IterKind::reduce) continue;
      const Expr length = iters.back().end;
      for (const auto& [buffer, count] : readers) {
        const ir::Buffer& b = p.buffer(buffer);
        if (count < 2 || b.extents.empty() || !ir::is(length, ir::Op::var) || !ir::same(b.extents.back(), length)) continue;
        const std::int64_t most = detail::most_of_rows(d.s) / std::max(1, b.type.bytes());
        if (!detail::known(d.s, ir::le(length, ir::index(most))))
          return ir::le(d.handle(member).reduction_loops(d.where).back().extent(d.where), ir::index(most));
      }
    }
  }
  return {};
}

// The rule of gpu_matmul for extents that are numbers, with parts of one length: no more of them than the chip is filled by.
std::optional<Expr> few_results_at_calls(Draft& d, const std::vector<Id>& all) {
  std::optional<Product> only;
  for (const Id id : all) {
    if (!d.stage(id).is_reduction() || !ordinary(d.stage(id))) continue;
    const auto found = large_product(d, id);
    if (found && only) return {};
    if (found) only = found;
  }
  if (!only || exactly(d, *only)) return {};
  const GpuMatmulOptions o{.transposed_a = only->transposed_a, .transposed_b = only->transposed_b};
  const auto tiles = detail::tensor_tiles(d.s, d.handle(only->stage), tensor_of(d.s, only->a, d.where),
                                          tensor_of(d.s, only->b, d.where), o, d.where);
  if (!tiles || tiles->part_k > 0) return {};
  const std::int64_t chip = d.s.target().device().multiprocessors;
  const auto few = [&](const std::vector<Expr>& dims, const Expr& terms) {
    Expr blocks = ir::index(1);
    for (std::size_t k = 0; k < dims.size(); ++k)
      blocks = blocks * (k + 2 < dims.size() ? dims[k] : (dims[k] + (small_block - 1)) / small_block);
    return blocks <= chip / 2 && terms >= 2 * terms_of_part && terms <= most_parts * terms_of_part;
  };
  std::vector<Expr> dims, of_call;
  const ir::Stage& stage = d.stage(only->stage);
  for (const ir::IterVar& v : spatial_of(stage)) dims.push_back(v.end);
  for (const Loop& l : d.handle(only->stage).spatial_loops(d.where)) of_call.push_back(l.extent(d.where));
  if (std::any_of(dims.begin(), dims.end(), [](const Expr& e) { return e.empty(); })) return {};
  if (detail::known(d.s, few(dims, reduce_of(stage)[0].end))) return {};
  return few(of_call, d.handle(only->stage).reduction(d.where).extent(d.where));
}

bool schedule_on_device_by_family(Draft& d, Id id, std::set<Id>& taken) {
  const ir::Stage s = d.stage(id);
  if (!ordinary(s) || d.family(id).family == Family::external) return false;
  if (by_attention(d, id, taken) || by_conv(d, id, taken) || by_last_step(d, id, taken)) return true;
  if (const auto product = product_before(d, id); product && by_tiles(d, *product, id)) {
    d.done(id, "computed of the sums of " + d.program().stage(product->stage).name + " in registers");
    taken.insert({id, product->stage});
    return true;
  }
  if (const auto product = large_product(d, id); product && by_tiles(d, *product, id)) return taken.insert(id), true;
  // Of a few rows of A, or of B, terms that are neighbors in memory in both.
  if (const auto product = product_at(d, id); product && has_few(d, *product) && product->transposed_b &&
                                              !product->transposed_a && regroups(d, s) &&
                                              d.sizes().terms(s) >= costs::device::few_terms && by_rows(d, {id}))
    return taken.insert(id), true;

  const Family family = d.family(id).family;
  const std::vector<Id> group = rows_in_launch(d, id);
  // A second launch costs a few microseconds where a call has few terms, and one block takes milliseconds where it has many.
  if (s.is_reduction() && regroups(d, s) && family != Family::matmul && family != Family::stencil &&
      in_parts(d, s, group.size() < 2) &&
      d.attempt(
          id, "parts of the terms, then the parts (schedules::gpu_reduction)",
          [&] { gpu_reduction(d.s, d.handle(id), {}, d.where); }, "in one launch"))
    return taken.insert(id), true;
  if (!group.empty() && by_rows(d, group)) {
    taken.insert(group.begin(), group.end());
    return true;
  }
  if (family == Family::transposition && s.values.size() == 1 && ir::is(s.values.front(), ir::Op::load) &&
      d.attempt(
          id, "tiles in shared memory (schedules::gpu_transpose)",
          [&] {
            gpu_transpose(d.s, d.handle(id), tensor_of(d.s, d.stage(id).values.front().node()->id, d.where), {}, d.where);
          },
          "a point a thread"))
    return taken.insert(id), true;
  return false;
}

}  // namespace ashlar::schedules
