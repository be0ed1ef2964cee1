// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <ashlar/analysis/evaluate.h>

#include <algorithm>
#include <unordered_map>

#include "analysis/simplify/linear.h"
#include <ashlar/ir/pairs.h>

#include "analysis/nodes.h"

namespace ashlar::analysis {

namespace {

// An evaluation that goes on for long remembers what shared nodes are.
class Evaluation {
 public:
  explicit Evaluation(const Assignment& at) : at_(at) {}
  std::optional<std::int64_t> evaluate(const Expr& e) {
    if (e.node()->count == 0 || ++steps_ < 64 || !ir::is_shared(e.node())) return value(e);
    if (const auto it = known_.find(e.node()); it != known_.end()) return it->second;
    return known_.emplace(e.node(), value(e)).first->second;
  }

 private:
  std::optional<std::int64_t> value(const Expr&);
  const Assignment& at_;
  int steps_ = 0;
  std::unordered_map<const ir::Node*, std::optional<std::int64_t>> known_;
};

std::optional<std::int64_t> Evaluation::value(const Expr& e) {
  const ir::Node* n = e.node();
  if (n->type.lanes != 1 || !(n->type.is_index() || n->type.is_bool())) {
    if (n->op == Op::int_const) return n->i;
    return std::nullopt;
  }
  switch (n->op) {
    case Op::int_const:
      return n->i;
    case Op::var:
      for (const Binding& b : at_)
        if (b.id == n->id) return b.value;
      return std::nullopt;
    case Op::load:
      return std::nullopt;
    case Op::logic_and:
    case Op::logic_or: {
      const auto a = evaluate(n->args[0]);
      const bool deciding = n->op == Op::logic_or;
      if (a && (*a != 0) == deciding) return deciding;
      const auto b = evaluate(n->args[1]);
      if (b && (*b != 0) == deciding) return deciding;
      if (!a || !b) return std::nullopt;
      return !deciding;
    }
    case Op::select: {
      const auto c = evaluate(n->args[0]);
      if (!c) return std::nullopt;
      return evaluate(n->args[*c ? 1 : 2]);
    }
    case Op::cast:
      return evaluate(n->args[0]);
    case Op::in_range:
      return evaluate(n->args[0]);
    default:
      break;
  }
  std::int64_t v[3] = {0, 0, 0};
  if (n->count > 2) return std::nullopt;
  for (std::uint32_t k = 0; k < n->count; ++k) {
    const auto a = evaluate(n->args[k]);
    if (!a) return std::nullopt;
    v[k] = *a;
  }
  std::int64_t r = 0;
  switch (n->op) {
    case Op::neg:
      return __builtin_sub_overflow(0, v[0], &r) ? std::nullopt : std::optional(r);
    case Op::add:
      return __builtin_add_overflow(v[0], v[1], &r) ? std::nullopt : std::optional(r);
    case Op::sub:
      return __builtin_sub_overflow(v[0], v[1], &r) ? std::nullopt : std::optional(r);
    case Op::mul:
      return __builtin_mul_overflow(v[0], v[1], &r) ? std::nullopt : std::optional(r);
    case Op::div:
    case Op::mod:
      if (v[1] == 0) return 0;
      if (v[0] == INT64_MIN && v[1] == -1) return std::nullopt;
      return n->op == Op::div ? floor_div(v[0], v[1]) : floor_mod(v[0], v[1]);
    case Op::min:
      return std::min(v[0], v[1]);
    case Op::max:
      return std::max(v[0], v[1]);
    case Op::abs:
      return v[0] == INT64_MIN ? std::nullopt : std::optional(v[0] < 0 ? -v[0] : v[0]);
    case Op::bit_and:
      return v[0] & v[1];
    case Op::bit_or:
      return v[0] | v[1];
    case Op::bit_xor:
      return v[0] ^ v[1];
    case Op::bit_not:
      return ~v[0];
    case Op::shl:
      return v[1] < 0 || v[1] > 62 || __builtin_mul_overflow(v[0], std::int64_t{1} << v[1], &r) ? std::nullopt
                                                                                                : std::optional(r);
    case Op::shr:
      return v[1] < 0 || v[1] > 63 ? std::nullopt : std::optional(v[0] >> v[1]);
    case Op::eq:
      return v[0] == v[1];
    case Op::ne:
      return v[0] != v[1];
    case Op::lt:
      return v[0] < v[1];
    case Op::le:
      return v[0] <= v[1];
    case Op::gt:
      return v[0] > v[1];
    case Op::ge:
      return v[0] >= v[1];
    case Op::logic_not:
      return !v[0];
    default:
      return std::nullopt;
  }
}

}  // namespace

std::optional<std::int64_t> evaluate(const Expr& e, const Assignment& at) { return Evaluation(at).evaluate(e); }

std::string text(const Assignment& at) {
  std::string s;
  for (const Binding& b : at) {
    if (!s.empty()) s += ", ";
    s += b.name && *b.name ? b.name : "_";
    s += " = " + std::to_string(b.value);
  }
  return s;
}

// ---- drawing assignments -----------------------------------------------------------------------------------------------

namespace {

std::uint64_t scramble(std::uint64_t v) {  // splitmix64
  v += 0x9e3779b97f4a7c15ull;
  v = (v ^ (v >> 30)) * 0xbf58476d1ce4e5b9ull;
  v = (v ^ (v >> 27)) * 0x94d049bb133111ebull;
  return v ^ (v >> 31);
}

void collect(const Expr& e, std::vector<Expr>& vars, ir::Pairs& met) {
  const ir::Node* n = e.node();
  if (n->op == Op::var) {
    if (!n->type.is_index() && !n->type.is_bool()) return;
    for (const Expr& v : vars)
      if (v.node()->id == n->id) return;
    vars.push_back(e);
    return;
  }
  if (n->count == 0 || met.again(n)) return;
  for (std::uint32_t k = 0; k < n->count; ++k) collect(n->args[k], vars, met);
}
void collect(const Expr& e, std::vector<Expr>& vars) {
  ir::Pairs met;
  collect(e, vars, met);
}

bool mentions_any(const Expr& e, const std::vector<Expr>& vars) {
  std::vector<Expr> own;
  collect(e, own);
  return std::any_of(own.begin(), own.end(), [&](const Expr& v) {
    return std::any_of(vars.begin(), vars.end(), [&](const Expr& w) { return w.node()->id == v.node()->id; });
  });
}

}  // namespace

Sampler::Sampler(std::span<const Expr> expressions, const Facts& facts) : facts_(facts) {
  std::vector<Expr> vars;
  for (const Expr& e : expressions) collect(e, vars);
  // What facts about these variables mention belongs to the assignment, too.
  for (std::size_t before = 0; before != vars.size();) {
    before = vars.size();
    for (std::size_t k = 0; k < vars.size(); ++k) {
      const VarFacts* f = facts.of(vars[k].node()->id);
      if (f && !f->lo.empty()) collect(f->lo, vars);
      if (f && !f->hi.empty()) collect(f->hi, vars);
    }
    for (const Expr& c : facts.conditions())
      if (mentions_any(c, vars)) collect(c, vars);
  }
  // In the order in which they were bound, so that symbolic ends are known when they are needed; unbound ones first.
  const auto position = [&](const Expr& v) -> std::ptrdiff_t {
    const VarFacts* f = facts.of(v.node()->id);
    return f ? f - facts.vars().data() : -1;
  };
  std::stable_sort(vars.begin(), vars.end(), [&](const Expr& a, const Expr& b) { return position(a) < position(b); });
  for (const Expr& v : vars) {
    values_.push_back({v.node()->id, v.node()->name, 0});
    known_.push_back(facts.of(v.node()->id));
  }
}

bool Sampler::complete(std::int64_t limit) const {
  std::int64_t points = 1;
  for (const VarFacts* f : known_) {
    if (!f || !f->min || !f->max) return false;
    std::int64_t width = 0;
    if (__builtin_sub_overflow(*f->max, *f->min, &width) || width < 0 || width >= limit) return false;
    points *= width + 1;
    if (points > limit) return false;
  }
  return true;
}

bool Sampler::next_point() {
  for (;;) {
    if (!started_) {
      started_ = true;
      for (std::size_t k = 0; k < values_.size(); ++k) values_[k].value = *known_[k]->min;
    } else {
      std::size_t k = values_.size();
      while (k > 0 && values_[k - 1].value == *known_[k - 1]->max) {
        values_[k - 1].value = *known_[k - 1]->min;
        --k;
      }
      if (k == 0) return false;
      ++values_[k - 1].value;
    }
    if (check(values_) != Allowed::no) return true;
  }
}

Sampler::Allowed Sampler::check(const Assignment& at) const {
  Allowed answer = Allowed::yes;
  for (std::size_t k = 0; k < at.size(); ++k) {
    const VarFacts* f = known_[k];
    const std::int64_t v = at[k].value;
    if (!f) continue;
    if ((f->min && v < *f->min) || (f->max && v > *f->max) || floor_mod(v, f->multiple_of) != 0) return Allowed::no;
    for (const bool low : {true, false}) {
      const Expr& end = low ? f->lo : f->hi;
      if (end.empty()) continue;
      const auto v_end = analysis::evaluate(end, at);
      if (!v_end)
        answer = Allowed::perhaps;
      else if (low ? v < *v_end : v > *v_end)
        return Allowed::no;
    }
  }
  for (const Expr& c : facts_.conditions()) {
    const auto holds = analysis::evaluate(c, at);
    if (holds && !*holds) return Allowed::no;
    if (!holds) {
      // A condition over variables that do not matter here binds nothing; one that reads data cannot be checked.
      bool ours = false;
      ir::walk(c, [&](const Expr& x) {
        for (const Binding& b : at) ours = ours || (ir::is(x, Op::var) && x.node()->id == b.id);
        return !ours;
      });
      if (ours) answer = Allowed::perhaps;
    }
  }
  return answer;
}

bool Sampler::sample(std::uint64_t seed) {
  std::uint64_t state = scramble(seed + 1);
  const auto draw = [&](std::uint64_t below) {
    state = scramble(state);
    return static_cast<std::int64_t>(state % below);
  };
  for (std::size_t k = 0; k < values_.size(); ++k) {
    const VarFacts* f = known_[k];
    std::optional<std::int64_t> lo, hi;
    if (f) {
      lo = f->min;
      hi = f->max;
      const Assignment so_far(values_.begin(), values_.begin() + static_cast<std::ptrdiff_t>(k));
      if (!f->lo.empty()) {
        const auto v = analysis::evaluate(f->lo, so_far);
        if (!v) return false;
        lo = lo ? std::max(*lo, *v) : *v;
      }
      if (!f->hi.empty()) {
        const auto v = analysis::evaluate(f->hi, so_far);
        if (!v) return false;
        hi = hi ? std::min(*hi, *v) : *v;
      }
      if (lo && hi && *lo > *hi) return false;
    }
    const std::int64_t step = f ? f->multiple_of : 1;
    constexpr std::int64_t reach[] = {3, 10, 40, 300};
    const std::int64_t spread = reach[draw(4)] * step;
    std::int64_t a = lo ? *lo : hi ? *hi - spread : -spread, b = hi ? *hi : lo ? *lo + spread : spread;
    if (lo && b - a > spread && draw(2))
      b = a + spread;
    else if (hi && b - a > spread && draw(2))
      a = b - spread;
    std::int64_t v = 0;
    switch (draw(4)) {
      case 0:
        v = a;
        break;
      case 1:
        v = b;
        break;
      default:
        v = a + draw(static_cast<std::uint64_t>(b - a) + 1);
    }
    v = floor_div(v, step) * step;
    if (v < a) v += step;
    values_[k].value = v;
  }
  return allows(values_);
}

}  // namespace ashlar::analysis
