// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "schedules/src/costs.h"
#include "schedules/src/classify.h"

#include <algorithm>
#include <cmath>

#include <ashlar/ir/function.h>

namespace ashlar::schedules {
namespace {

using namespace costs::classify;

std::string names(const std::vector<std::string>& list) {
  std::string r;
  for (std::size_t k = 0; k < list.size(); ++k) r += (k == 0 ? "" : k + 1 == list.size() ? " and " : ", ") + list[k];
  return r;
}

bool uses(const Reading& r, Id variable) {
  return std::any_of(r.at.begin(), r.at.end(),
                     [&](const Index& x) { return std::find(x.uses.begin(), x.uses.end(), variable) != x.uses.end(); });
}

// Neighbors in memory belong to neighboring values of the variable.
bool runs_along(const Reading& r, Id variable) {
  if (r.at.empty()) return false;
  const auto at = r.at.back().coefficients.find(variable);
  return at != r.at.back().coefficients.end() && (at->second == 1 || at->second == -1);
}

// A product, where it is chosen or converted too.
bool is_product(const Expr& e) {
  if (ir::is(e, ir::Op::select)) return is_product(ir::args_of(e)[1]) || is_product(ir::args_of(e)[2]);
  return ir::is(e, ir::Op::mul) || (ir::is(e, ir::Op::cast) && is_product(ir::args_of(e)[0]));
}

// Of v + k: neighboring v have terms in common, or few of their own.
bool overlap(const Index& x, Id v, Id k, double terms) {
  const auto a = x.coefficients.find(v), b = x.coefficients.find(k);
  if (a == x.coefficients.end() || b == x.coefficients.end() || a->second == 0 || b->second == 0) return false;
  return terms <= costs::classify::few_terms ||
         std::abs(static_cast<double>(a->second)) <= std::abs(static_cast<double>(b->second)) * (terms - 1);
}

// Elements that a read reaches: those of a window are read again and again.
double distinct(const Reading& r, const ir::Stage& s, const Sizes& sizes) {
  double all = 1;
  for (const Index& x : r.at) {
    double reach = 1, points = 1;
    for (const Id v : x.uses) {
      const double n = std::max(1., sizes.extent(s, v));
      const auto at = x.coefficients.find(v);
      points *= n;
      reach += at == x.coefficients.end() ? INFINITY : std::abs(static_cast<double>(at->second)) * (n - 1);
    }
    all *= std::min(points, reach);
  }
  return all;
}

// Each result of a window has a row of weights of its own, with neighbors in memory: its terms count, not what results share.
//
//   guess(t) = sum over k of weight(t, k) * far(t + k)
bool has_terms_of_its_own(const std::vector<Reading>& loads, const ir::Stage& s, const Sizes& sizes, double in_windows,
                          Classified& c) {
  for (const Reading& r : loads)
    for (const auto& k : reduce_of(s))
      if (runs_along(r, k.id) && r.at.back().plain(k.id) && distinct(r, s, sizes) > in_windows &&
          (spatial_of(s).empty() || !r.at.back().moves_with(spatial_of(s).back().id))) {
        c.contiguous = k.id;
        return true;
      }
  return false;
}

// Neighboring results have the same terms, each with an element of its own beside them: every pair of two lists is looked at.
// Results in lanes read a term once for all of them, and nothing is added up across lanes.
//
//   rank(i) = sum over j of x(j) < x(i)
bool looks_at_pairs(const std::vector<Reading>& loads, const ir::Stage& s, const Sizes& sizes) {
  const auto spatial = spatial_of(s), terms = reduce_of(s);
  if (spatial.empty() || sizes.extent(s, spatial.back().id) < many_results) return false;
  for (const ir::IterVar& k : terms)
    if (sizes.from_data(s, k.id)) return false;
  for (const ir::IterVar& v : spatial)
    if (bounds_terms(s, v.id)) return false;
  bool shared = false, own = false;
  for (const Reading& r : loads) {
    const bool of_terms = std::any_of(terms.begin(), terms.end(), [&](const auto& k) { return uses(r, k.id); });
    const bool of_results = uses(r, spatial.back().id);
    if (of_terms && of_results) return false;
    shared = shared || of_terms, own = own || (of_results && runs_along(r, spatial.back().id));
  }
  return shared && own;
}

void reduction(const ir::Program& p, const ir::Stage& s, const Sizes& sizes, Classified& c) {
  const auto spatial = spatial_of(s), terms = reduce_of(s);
  std::vector<Reading> loads;
  for (Reading& r : readings_of(p, s))
    if (!r.of_init) loads.push_back(std::move(r));
  std::vector<std::string> windows;
  double in_windows = 0;
  for (const Reading& r : loads) {
    const std::size_t before = windows.size();
    for (const Index& x : r.at)
      for (const auto& v : spatial)
        for (const auto& k : terms)
          if (overlap(x, v.id, k.id, sizes.extent(s, k.id)))
            c.window = true, c.over.push_back(v.id), windows.push_back(v.name + " + " + k.name);
    if (windows.size() > before) in_windows = std::max(in_windows, distinct(r, s, sizes));
  }
  // What neighbors in memory are, the largest load says.
  double largest = 0;
  bool beside = false;  // neighboring results read neighbors
  const auto of_terms = [&](const Reading& r) {
    return std::any_of(terms.begin(), terms.end(), [&](const auto& k) { return uses(r, k.id); });
  };
  const bool some = std::any_of(loads.begin(), loads.end(), of_terms);
  for (const Reading& r : loads) {
    if (some && !of_terms(r)) continue;  // once a result, as the bounds of a ragged row are
    double touched = 1;
    for (const ir::IterVar& v : s.iters)
      if (uses(r, v.id)) touched *= sizes.extent(s, v.id);
    if (touched < largest) continue;
    if (touched > largest) c.contiguous = 0, beside = false;
    largest = touched;
    for (const auto& k : terms)
      if (runs_along(r, k.id)) c.contiguous = k.id;
    beside = beside || (!spatial.empty() && runs_along(r, spatial.back().id));
  }
  if (beside) c.contiguous = 0;
  const bool pairs = c.contiguous && !c.window && looks_at_pairs(loads, s, sizes);
  if (pairs) c.contiguous = 0;
  const bool own_terms = c.window && has_terms_of_its_own(loads, s, sizes, in_windows, c);

  // Two factors, each with a dimension of its own, that share what is summed over.
  const bool multiplies = s.values.size() == 1 && is_product(s.values.front()) &&
                          (s.reducer.kind == ir::ReducerKind::sum || s.reducer.kind == ir::ReducerKind::strict_sum);
  if (multiplies) {
    const auto only_in = [&](const Reading& a, const Reading& b) {
      Id found = 0;
      for (const auto& v : spatial)
        if (uses(a, v.id) && !uses(b, v.id) && sizes.constant_extent(s, v.id).value_or(2) > 1) found = v.id;
      return found;
    };
    for (const Reading& a : loads)
      for (const Reading& b : loads) {
        if (&a == &b || c.rows) continue;
        const Id of_a = only_in(a, b), of_b = only_in(b, a);
        const bool shared =
            std::any_of(terms.begin(), terms.end(), [&](const auto& k) { return uses(a, k.id) && uses(b, k.id); });
        if (of_a && of_b && shared) c.rows = of_a, c.columns = of_b;
      }
    if (c.rows && c.rows == spatial.back().id) std::swap(c.rows, c.columns);
  }
  const auto name_of_variable = [&](Id id) {
    for (const ir::IterVar& v : s.iters)
      if (v.id == id) return v.name;
    return std::string();
  };
  if (c.rows) {
    c.family = Family::matmul;
    c.why = std::string(c.window ? "a convolution: " : "") + "two factors that share what is summed over, one with " +
            name_of_variable(c.rows) + ", one with " + name_of_variable(c.columns) + " of its own";
  } else if (std::all_of(spatial.begin(), spatial.end(), [&](const auto& v) { return sizes.constant_extent(s, v.id) == 1; })) {
    c.family = Family::full_reduction;
    c.why = "one result of all terms";
  } else if (c.window && !own_terms) {
    c.family = Family::stencil;
    c.why = "a window is taken together: " + windows.front();
  } else if (c.contiguous) {
    c.family = Family::row_reduction;
    c.why = "terms along " + name_of_variable(c.contiguous) + " are neighbors in memory";
  } else {
    c.family = Family::column_reduction;
    c.why = pairs ? "neighboring results share their terms" : "terms lie apart in memory; results are neighbors";
  }
}

void pointwise(const ir::Program& p, const ir::Stage& s, const Sizes& sizes, Classified& c) {
  const auto spatial = spatial_of(s);
  const std::vector<Reading> loads = readings_of(p, s);
  for (const Reading& r : loads)
    for (const Index& x : r.at)
      if (x.from_data) {
        c.family = Family::gather, c.why = "an index of " + p.buffer(r.buffer).name + " is read from data";
        return;
      }
  for (std::size_t a = 0; a < loads.size(); ++a)
    for (std::size_t b = a + 1; b < loads.size(); ++b) {
      if (loads[a].buffer != loads[b].buffer) continue;
      std::vector<std::string> along;
      bool same = true;
      for (std::size_t d = 0; d < loads[a].at.size(); ++d) {
        const Index &x = loads[a].at[d], &y = loads[b].at[d];
        same = same && x.coefficients == y.coefficients;
        if (x.constant != y.constant && !x.coefficients.empty())
          for (const auto& v : spatial)
            if (x.moves_with(v.id)) along.push_back(v.name);
      }
      if (same && !along.empty()) {
        c.family = Family::stencil, c.why = "neighbors of " + p.buffer(loads[a].buffer).name + " along " + names(along);
        return;
      }
    }
  if (spatial.size() >= 2)
    for (const Reading& r : loads) {
      if (r.at.size() < 2) continue;
      const Id last = spatial.back().id;
      bool other = false, turned = false;
      for (const auto& v : spatial)
        if (v.id != last && runs_along(r, v.id) && sizes.constant_extent(s, v.id).value_or(INT64_MAX) > few_apart)
          other = true, c.turned = v.id;
      for (std::size_t d = 0; d + 1 < r.at.size(); ++d) turned = turned || r.at[d].moves_with(last);
      if (other && turned && !r.at.back().moves_with(last)) {
        c.family = Family::transposition;
        c.why = "rows of the result are columns of " + p.buffer(r.buffer).name;
        return;
      }
    }
  c.family = Family::elementwise;
  c.why = loads.empty() ? "reads nothing" : "each point by itself";
}

}  // namespace

Classified classify(const ir::Program& p, const ir::Stage& s, const Sizes& sizes) {
  Classified c;
  if (const ir::Function* f = ir::computed_by(s.values))
    c.family = Family::external, c.why = f->symbol + ", a function in C, computes it";
  else if (s.is_recurrence())
    c.family = Family::recurrence, c.why = "a point reads what was computed before it";
  else if (s.scatters())
    c.family = Family::scatter, c.why = "data, or a formula, says which element a step changes";
  else if (s.is_reduction())
    reduction(p, s, sizes, c);
  else
    pointwise(p, s, sizes, c);
  return c;
}

const char* name_of(Family f) {
  static constexpr const char* words[] = {"elementwise", "row reduction", "column reduction", "full reduction",
                                          "matmul-like", "stencil",       "transposition",    "gather",
                                          "scatter",     "recurrence",    "external",         "other"};
  return words[static_cast<int>(f)];
}

}  // namespace ashlar::schedules
