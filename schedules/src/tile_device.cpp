// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Programs for targets with tiles (docs/tiles.md): cheap stages are inlined, and each other one is a launch, in which a block
// computes a rectangle of it. Families take products with what is computed of their results, and reductions of rows with what
// is computed along the rows; everything else is points, whose terms are added one after the other.
//
// Scatters are two launches, and recurrences one whose blocks run step after step. Recurrences along several dimensions, or
// with stages inside, are refused.
#include <algorithm>
#include <set>

#include <ashlar/ir/print.h>
#include <ashlar/ir/recurrence.h>
#include <ashlar/ir/refusal.h>
#include <ashlar/schedules/lanes.h>
#include <ashlar/schedules/tile_matmul.h>
#include <ashlar/schedules/tile_points.h>
#include <ashlar/schedules/tile_rows.h>

#include "schedules/src/costs.h"
#include "schedules/src/draft.h"
#include "schedules/src/families/tiles/tile_attention.h"
#include "schedules/src/families/tiles/tile_order.h"
#include "schedules/src/families/tiles/tiles.h"

namespace ashlar::schedules {

namespace {

using namespace costs::device;

class OnTiles {
 public:
  explicit OnTiles(Draft& draft) : d(draft) {}

  static bool ordinary(const ir::Stage& s) { return !s.scatters() && !s.is_recurrence(); }

  void refuse_stages_in_order() {
    for (const auto& [id, s] : d.program().stages) {
      const Type type = s.values.front().type();
      if (s.scatters() && !d.options.regroup && type.is_float())  // memory combines them in any order
        refuse("schedule_by_default",
               "scatters of integers, or sums that may be regrouped (.regroup), for " + std::string(d.s.target().text()),
               s.name + ", of " + ir::text(type), s.where);
      if (s.is_recurrence() && (s.along.size() > 1 || !ir::stages_inside(d.program(), s).empty()))
        refuse("schedule_by_default",
               "recurrences along one dimension, without stages inside of a step, for " + std::string(d.s.target().text()),
               s.name, s.where);
    }
  }

  // ---- products ----------------------------------------------------------------------------------------------------------

  std::optional<detail::TileProduct> product_at(Id id) {
    const auto found = detail::tile_product(d.stage(id));
    const bool floats = found && found->sum.is_float();
    if (!found || (floats && (!d.options.regroup || !d.options.tensor_cores))) return std::nullopt;
    return found;
  }

  // What is computed of each element of one factor alone is computed where the factor is read: a tile of it is read by all of a
  // block's rows, or columns.
  void inline_factors() {
    for (bool again = true; again;) {
      again = false;
      for (const Id id : analysis::consumers_first(d.program())) {
        const auto at = d.program().stages.find(id);
        if (at == d.program().stages.end()) continue;
        const ir::Stage& s = at->second;
        const std::vector<Id> readers = readers_of(d.program(), s);
        if (readers.size() != 1 || s.is_reduction() || !ordinary(s) || s.buffers.size() != 1 || is_output(d.program(), s) ||
            !is_untouched(d.program(), s) || !product_at(readers.front()) || d.family(id).family == Family::external)
          continue;
        const std::string name = d.stage(readers.front()).name;
        if (d.attempt(
                id, "inlined into " + name + ", whose blocks compute tiles of it", [&] { d.handle(id).inline_(d.where); },
                "stored")) {
          again = true;
          break;
        }
      }
    }
  }

  // The product that the stage, which computes each point by itself, reads once, at that point; nothing else reads it.
  std::optional<Id> product_before(Id id) {
    const ir::Stage& s = d.stage(id);
    if (s.is_reduction() || s.buffers.size() != 1) return std::nullopt;
    const auto reads = readings_of(d.program(), s);
    const auto dims = spatial_of(s);
    for (const Reading& r : reads) {
      if (!r.producer || r.at.size() != dims.size() || !is_untouched(d.program(), d.stage(r.producer))) continue;
      bool own = true;
      for (std::size_t k = 0; k < dims.size(); ++k) own = own && r.at[k].plain(dims[k].id);
      if (!own || is_output(d.program(), d.stage(r.producer)) ||
          readers_of(d.program(), d.stage(r.producer)) != std::vector<Id>{id} ||
          std::count_if(reads.begin(), reads.end(), [&](const Reading& x) { return x.producer == r.producer; }) > 1)
        continue;
      if (product_at(r.producer)) return r.producer;
    }
    return std::nullopt;
  }

  // Does a family give several blocks a part of the terms each?
  bool in_parts_of(const std::optional<detail::FewBlocks>& few) const {
    return d.part_k > 0 || (few && detail::known(d.s, few->declared) == true);
  }

  // The calls in which several blocks should have parts of the terms of the only product or attention, if that is not known of
  // all calls. What it is, for the choices.
  std::optional<std::pair<Expr, std::string>> few_at_calls(const std::vector<Id>& all) {
    std::vector<std::pair<detail::FewBlocks, std::string>> found;
    std::set<Id> taken;
    for (const Id id : all) {
      if (taken.count(id) || !ordinary(d.stage(id))) continue;
      if (const auto a = attention_at(id)) {
        taken.insert({a->weighted, a->sum, a->exps, a->maximum, a->scores});
        if (const auto few = detail::few_blocks_of_attention(d.s, *a, d.where))
          found.emplace_back(*few, "keys are split among blocks, then combined");
      } else if (product_at(id)) {
        if (const auto few = detail::few_blocks_of_matmul(d.s, d.handle(id), d.where))
          found.emplace_back(*few, "terms are added in parts, then the parts");
      }
    }
    if (found.size() != 1 || detail::known(d.s, found.front().first.declared)) return std::nullopt;
    return std::pair(found.front().first.of_call, found.front().second);
  }

  bool by_product(Id id, std::set<Id>& taken) {
    const std::optional<Id> before = product_before(id);
    if (!before && !product_at(id)) return false;
    const Id product = before.value_or(id);
    if (before) d.choice(*before);
    const auto few = detail::few_blocks_of_matmul(d.s, d.handle(product), d.where);
    const std::string parts = in_parts_of(few) ? ", of a part of the terms, then the sum of the parts" : "";
    if (!d.attempt(
            product, "a tile of sums for each block, by mma" + parts + " (schedules::tile_matmul)",
            [&] { tile_matmul(d.s, d.handle(product), d.handle(id), {.part_k = d.part_k}, d.where); }, "term by term"))
      return false;
    if (before) d.done(id, "computed of the tiles of " + d.stage(product).name);
    taken.insert({id, product});
    return true;
  }

  // ---- attention ---------------------------------------------------------------------------------------------------------

  std::string approximates(Id exps) const {
    bool any = false;
    ir::walk(d.stage(exps).values.front(), [&](const Expr& e) { return any |= ir::is(e, ir::Op::approximate_exp2), !any; });
    return any ? "; exponentials by the target's own instruction, as `approximate` permits" : "";
  }

  std::optional<detail::AttentionParts> attention_at(Id id) const {
    if (!d.options.tensor_cores || !d.options.regroup) return std::nullopt;
    const auto a = detail::attention_parts(d.program(), id, true);
    return a && !a->skips ? a : std::nullopt;
  }

  // One that is computed in one launch, or in two. Its sums and products are floats that an mma adds in an order of its own.
  bool by_attention(Id id, std::set<Id>& taken) {
    const auto a = attention_at(id);
    if (!a) return false;
    const std::vector<Id> before{a->weighted, a->sum, a->exps, a->maximum, a->scores};
    const std::string of = d.stage(id).name;
    for (const Id member : before) d.choice(member);
    const std::string launches = in_parts_of(detail::few_blocks_of_attention(d.s, *a, d.where))
                                     ? "attention in two launches, keys split among blocks, then combined"
                                     : "attention in one launch";
    if (!d.attempt(
            id, launches + ": tiles of scores, none in memory (schedules::tile_attention)" + approximates(a->exps),
            [&] { detail::tile_attention(d.s, *a, {.part_keys = d.part_k}, d.where); }, "stage by stage"))
      return false;
    for (const Id member : before) d.done(member, "in the launch of " + of);
    taken.insert(id), taken.insert(before.begin(), before.end());
    return true;
  }

  // ---- rows --------------------------------------------------------------------------------------------------------------

  // Are results that are neighbors computed of neighbors in memory, v[j, e] for w[i, e]? Then a tile has some of both. What
  // each row has one of, such as its mean, does not count.
  bool reads_along_results(Id id) const {
    const ir::Stage& s = d.stage(id);
    const auto dims = spatial_of(s), terms = reduce_of(s);
    const auto reads = readings_of(d.program(), s);
    const auto of_terms = [&](const Reading& r) {
      return std::any_of(r.at.begin(), r.at.end(), [&](const auto& index) {
        return std::any_of(terms.begin(), terms.end(), [&](const auto& t) { return index.moves_with(t.id); });
      });
    };
    return s.is_reduction() && !dims.empty() && std::any_of(reads.begin(), reads.end(), [&](const Reading& r) {
             return !r.of_init && !r.at.empty() && r.at.back().moves_with(dims.back().id) && of_terms(r);
           });
  }

  bool by_rows(Id id, std::set<Id>& taken) {
    const std::vector<Id> group = rows_in_launch(d, id);
    if (group.empty() || std::any_of(group.begin(), group.end(), [&](Id m) { return reads_along_results(m); })) return false;
    if (!std::all_of(group.begin(), group.end(), [&](Id m) { return ordinary(d.stage(m)); })) return false;
    std::vector<Stage> stages;
    const std::string of = d.stage(id).name;
    for (const Id member : group) stages.push_back(d.handle(member)), d.choice(member);
    if (!d.attempt(
            id, "rows in tiles, in one launch (schedules::tile_rows)", [&] { tile_rows(d.s, stages, {}, d.where); },
            "by itself"))
      return false;
    for (const Id member : group)
      if (member != id) d.done(member, "in the launch of " + of);
    taken.insert(group.begin(), group.end());
    return true;
  }

  // A few results of so many terms that blocks for them alone would read them slowly: parts of the terms, then the parts.
  bool in_parts(Id id, std::set<Id>& taken) {
    const ir::Stage& s = d.stage(id);
    const Family f = d.family(id).family;
    if (!s.is_reduction() || !regroups(d, s) || f == Family::matmul || f == Family::stencil || d.most().terms(s) < many_terms ||
        d.sizes().points(s) >= few_results)
      return false;
    const bool done = d.attempt(
        id, "parts of the terms, in a launch of their own, then the parts (schedules::tile_rows)",
        [&] {
          const Stage stage = d.handle(id);
          const Split parts = stage.split(whole_loops(d, stage, true).front(), Parts{many_parts}, Tail::guard, d.where);
          const Stage part = stage.rfactor(parts.outer, d.where);
          d.made(part.id(), id);
          tile_rows(d.s, {part}, {}, d.where);
          tile_rows(d.s, {stage}, {}, d.where);
        },
        "in one launch");
    if (done) taken.insert(id);
    return done;
  }

  void in_order(Id id) {
    d.choice(id);
    const bool scatters = d.stage(id).scatters();
    scatters ? detail::tile_updates(d.s, d.handle(id), d.where)
             : detail::tile_steps(d.s, d.handle(id), d.options.regroup, d.where);
    d.done(id, scatters ? "tiles of starting values, then tiles of updates in memory" : "step after step, in tiles");
  }

  // What cannot be done is refused as a whole: nothing else is left to try.
  void points(Id id) {
    d.choice(id);
    tile_points(d.s, d.handle(id), {}, d.where);
    d.done(id, d.stage(id).is_reduction() ? "tiles of points, term by term (schedules::tile_points)"
                                          : "tiles of points (schedules::tile_points)");
  }

  void launches(const std::vector<Id>& all, bool families) {
    std::set<Id> taken;
    for (const Id id : all) {
      if (taken.count(id)) continue;
      if (!ordinary(d.stage(id))) {
        in_order(id);
        continue;
      }
      if (families && (by_attention(id, taken) || by_product(id, taken) || in_parts(id, taken) || by_rows(id, taken))) continue;
      points(id);
    }
    schedule::finish(d.s.scheduled(), d.s.target());
  }

 private:
  Draft& d;
};

// With families, or without where they are refused as a whole.
void take(Draft& d, const std::vector<Id>& all) {
  OnTiles on(d);
  const Draft::Told before = d.told();
  const auto refused = d.s.attempt([&] { on.launches(all, true); });
  if (!refused) return;
  d.take_back(before);
  for (const Id id : all)
    d.why(id,
          "no families for tiles (" + refused->primitive + " expects " + refused->expected + ", found " + refused->found + ")");
  on.launches(all, false);
}

}  // namespace

void schedule_on_tiles(Draft& d) {
  OnTiles on(d);
  on.refuse_stages_in_order();
  inline_stages(d);
  on.inline_factors();
  std::vector<Id> all;
  for (const Id id : analysis::consumers_first(d.program()))
    if (is_fresh(d.program(), d.stage(id))) all.push_back(id);
  if (const auto few = all.empty() ? std::nullopt : on.few_at_calls(all)) {
    Schedule* variant = nullptr;
    if (d.attempt(
            all.front(), "a variant for " + ir::text(few->first) + ", whose " + few->second,
            [&] { variant = &d.s.specialize(few->first, d.where); }, "all of them by one block")) {
      Draft of_variant(*variant, d.options, d.where);
      of_variant.part_k = detail::terms_of_tile_part;
      take(of_variant, all);
    }
  }
  take(d, all);
}

}  // namespace ashlar::schedules
