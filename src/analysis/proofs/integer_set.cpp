// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The only unit that sees isl. A question is written in isl's own notation, over variables numbered by first appearance; that
// text is also the key under which its answer is remembered, so renamed copies of one question are asked once.
#include <ashlar/analysis/integer_set.h>

#include <cstring>
#include <algorithm>
#include <memory>
#include <unordered_map>

#include <isl/ctx.h>
#include <isl/options.h>
#include <isl/point.h>
#include <isl/set.h>
#include <isl/space.h>
#include <isl/val.h>

#include <ashlar/ir/print.h>
#include <ashlar/ir/refusal.h>

#include "analysis/simplify/engine.h"
#include <ashlar/analysis/evaluate.h>
#include <ashlar/ir/work.h>

#include "analysis/nodes.h"

namespace ashlar::analysis {

namespace {

constexpr std::size_t longest_question = 16'384;  // characters
constexpr std::size_t most_remembered = 4'096;    // answers; then the memo starts afresh

struct TooLong {};

// Conditions as text. Terms outside of Presburger arithmetic become variables u0, u1, ... within their constant bounds.
class Writer {
 public:
  explicit Writer(const Facts& facts) : engine_(facts) {}

  void require(const Expr& condition) {
    if (!body_.empty()) body_ += " and ";
    truth(condition);
  }

  std::string finish() {
    std::string head;
    for (std::size_t k = 0; k < vars_.size(); ++k) head += (k ? ", v" : "v") + std::to_string(k);
    for (std::size_t k = 0; k < replaced_.size(); ++k) {
      head += (head.empty() ? "u" : ", u") + std::to_string(k);
      Range r = engine_.range(replaced_[k]);
      if (replaced_[k].node()->type.is_bool()) r = {0, 1};
      if (r.has_lo()) body_ += " and u" + std::to_string(k) + " >= " + std::to_string(r.lo);
      if (r.has_hi()) body_ += " and u" + std::to_string(k) + " <= " + std::to_string(r.hi);
    }
    for (int k = 0; k < choices_; ++k) head += (head.empty() ? "s" : ", s") + std::to_string(k);
    return "{ [" + head + "] : " + body_ + tied_ + " }";
  }

  const std::vector<Expr>& vars() const { return vars_; }
  const std::vector<Expr>& replaced() const { return replaced_; }

 private:
  void put(const char* s) {
    body_ += s;
    written_ += std::strlen(s);
    if (written_ > longest_question) throw TooLong{};
  }

  void number(const Expr& e) {
    const ir::Node* n = e.node();
    const auto two = [&](const char* before, const char* between, const char* after) {
      put(before);
      number(n->args[0]);
      put(between);
      number(n->args[1]);
      put(after);
    };
    std::int64_t c = 0;
    if (is_scalar_index(e)) switch (n->op) {
        case Op::int_const:
          put(("(" + std::to_string(n->i) + ")").c_str());
          return;
        case Op::var:
          return variable(e);
        case Op::add:
          return two("(", " + ", ")");
        case Op::sub:
          return two("(", " - ", ")");
        case Op::min:
          return two("min(", ", ", ")");
        case Op::max:
          return two("max(", ", ", ")");
        case Op::neg:
          put("(-");
          number(n->args[0]);
          return put(")");
        case Op::mul:
          if (!ir::is_int(n->args[0], &c) && !ir::is_int(n->args[1], &c)) break;
          put(("(" + std::to_string(c) + " * ").c_str());
          number(n->args[ir::is(n->args[1], Op::int_const) ? 0 : 1]);
          return put(")");
        case Op::div:
        case Op::mod:
          if (!ir::is_int(n->args[1], &c) || c <= 0) break;
          put(n->op == Op::div ? "floor((" : "((");
          number(n->args[0]);
          return put(((n->op == Op::div ? ")/" : ") mod ") + std::to_string(c) + ")").c_str());
        case Op::select:
          return choice(e);
        case Op::in_range:
          return number(n->args[0]);
        case Op::cast:
          if (const Expr next = engine_.lifted(e); !next.empty()) return number(next);
          break;
        default:
          break;
      }
    replace(e);
  }

  // A variable of its own, tied to the arm that the condition takes.
  void choice(const Expr& e) {
    const std::string name = "s" + std::to_string(choices_++);
    put(name.c_str());
    std::string outer;
    outer.swap(body_);
    const auto args = ir::args_of(e);
    put("((");
    truth(args[0]);
    put((" and " + name + " = ").c_str());
    number(args[1]);
    put(") or (not ");
    truth(args[0]);
    put((" and " + name + " = ").c_str());
    number(args[2]);
    put("))");
    tied_ += " and " + body_;
    body_ = std::move(outer);
  }

  void truth(const Expr& e) {
    const ir::Node* n = e.node();
    const auto joined = [&](const char* between) {
      put("(");
      truth(n->args[0]);
      put(between);
      truth(n->args[1]);
      put(")");
    };
    const auto compared = [&](const char* between) {
      put("(");
      number(n->args[0]);
      put(between);
      number(n->args[1]);
      put(")");
    };
    switch (n->op) {
      case Op::int_const:
        return put(n->i ? "(0 = 0)" : "(0 = 1)");
      case Op::logic_and:
        return joined(" and ");
      case Op::logic_or:
        return joined(" or ");
      case Op::logic_not:
        put("(not ");
        truth(n->args[0]);
        return put(")");
      default:
        break;
    }
    if (ir::is_comparison(n->op) && is_scalar_index(n->args[0])) switch (n->op) {
        case Op::eq:
          return compared(" = ");
        case Op::ne:
          return compared(" != ");
        case Op::lt:
          return compared(" < ");
        case Op::le:
          return compared(" <= ");
        case Op::gt:
          return compared(" > ");
        default:
          return compared(" >= ");
      }
    put("(");
    replace(e);
    put(" = 1)");
  }

  void variable(const Expr& e) {
    std::size_t k = 0;
    while (k < vars_.size() && vars_[k].node()->id != e.node()->id) ++k;
    if (k == vars_.size()) vars_.push_back(e);
    put(("v" + std::to_string(k)).c_str());
  }

  void replace(const Expr& e) {
    std::size_t k = 0;
    while (k < replaced_.size() && !ir::same(replaced_[k], e)) ++k;
    if (k == replaced_.size()) replaced_.push_back(e);
    put(("u" + std::to_string(k)).c_str());
  }

  Engine engine_;
  std::vector<Expr> vars_, replaced_;
  std::string body_, tied_;
  std::size_t written_ = 0;
  int choices_ = 0;
};

// What isl says of a question: empty, the coordinates of a point, or nothing within the budget.
struct RawAnswer {
  enum { empty, point, spent, not_understood } kind = spent;
  std::vector<std::int64_t> at;
};

class Isl {
 public:
  Isl() : ctx_(isl_ctx_alloc()) { isl_options_set_on_error(ctx_, ISL_ON_ERROR_CONTINUE); }
  ~Isl() { isl_ctx_free(ctx_); }
  Isl(const Isl&) = delete;
  Isl& operator=(const Isl&) = delete;

  RawAnswer ask(const std::string& question, unsigned long budget) {
    ++counters.asked;
    const std::string key = std::to_string(budget) + question;
    if (const auto it = memo_.find(key); it != memo_.end()) {
      ++counters.remembered;
      return it->second;
    }
    const RawAnswer a = solve(question, budget);
    if (memo_.size() >= most_remembered) memo_.clear();
    memo_.emplace(key, a);
    return a;
  }

  IntegerSetCounters counters;

 private:
  RawAnswer solve(const std::string& question, unsigned long budget) {
    ++ir::work.sets;
    isl_ctx_reset_operations(ctx_);
    isl_ctx_set_max_operations(ctx_, budget);
    isl_ctx_reset_error(ctx_);
    RawAnswer a;
    isl_point* p = isl_set_sample_point(isl_set_read_from_str(ctx_, question.c_str()));
    if (p) {
      const isl_bool none = isl_point_is_void(p);
      if (none == isl_bool_true) {
        a.kind = RawAnswer::empty;
      } else if (none == isl_bool_false) {
        a.kind = RawAnswer::point;
        isl_space* space = isl_point_get_space(p);
        const isl_size dims = isl_space_dim(space, isl_dim_set);
        isl_space_free(space);
        for (int k = 0; k < dims; ++k) {
          isl_val* v = isl_point_get_coordinate_val(p, isl_dim_set, k);
          if (!v || isl_val_n_abs_num_chunks(v, 8) > 1)
            a.kind = RawAnswer::spent;  // beyond 64 bits: no witness
          else
            a.at.push_back(isl_val_get_num_si(v));
          isl_val_free(v);
        }
      }
      isl_point_free(p);
    } else if (isl_ctx_last_error(ctx_) != isl_error_quota && !spent()) {
      a.kind = RawAnswer::not_understood;
    }
    isl_ctx_set_max_operations(ctx_, 0);
    return a;
  }

  // Were all operations used up? A question that runs out of them while it is read is reported as one with a mistake in it, so
  // another one, of a few operations, tells.
  bool spent() {
    isl_ctx_reset_error(ctx_);
    isl_point* p = isl_set_sample_point(isl_set_read_from_str(ctx_, "{ [a] : a = 0 }"));
    isl_point_free(p);
    return !p && isl_ctx_last_error(ctx_) == isl_error_quota;
  }

  isl_ctx* ctx_;
  std::unordered_map<std::string, RawAnswer> memo_;
};

Isl& isl() {
  thread_local Isl instance;
  return instance;
}

}  // namespace

IntegerSetCounters integer_set_counters() { return isl().counters; }

PointSearch find_point(std::span<const Expr> conditions, const Facts& facts, unsigned long budget) {
  PointSearch result;
  Writer writer(facts);
  std::string question;
  try {
    for (const Expr& c : conditions) {
      if (ir::is_int(c) && c.node()->i == 0) {
        result.found = PointSearch::Found::none;
        return result;
      }
      if (!ir::is_int(c)) writer.require(c);
    }
    if (writer.vars().empty() && writer.replaced().empty()) {
      result.found = PointSearch::Found::point;
      return result;
    }
    question = writer.finish();
  } catch (const TooLong&) {
    result.why = "the conditions are too large for integer sets";
    return result;
  }
  const RawAnswer a = isl().ask(question, budget);
  switch (a.kind) {
    case RawAnswer::empty:
      result.found = PointSearch::Found::none;
      return result;
    case RawAnswer::spent:
      result.why = "integer sets gave no answer within their budget";
      return result;
    case RawAnswer::not_understood:
      throw InternalError("isl does not read " + question);
    case RawAnswer::point:
      break;
  }
  Assignment at;
  for (std::size_t k = 0; k < writer.vars().size(); ++k) {
    const ir::Node* n = writer.vars()[k].node();
    at.push_back({n->id, n->name, a.at[k]});
  }
  // A point of replaced terms is a point only if the terms really have those values there: conditions decide.
  for (const Expr& c : conditions) {
    const auto v = evaluate(c, at);
    if (v && *v) continue;
    const Expr& term = writer.replaced().empty() ? c : writer.replaced().front();
    result.why = "integer sets do not hold the term " + ir::text(term);
    return result;
  }
  result.found = PointSearch::Found::point;
  result.point = std::move(at);
  return result;
}

std::vector<Expr> conditions_of_facts(std::span<const Expr> expressions, const Facts& facts) {
  const Sampler about(expressions, facts);  // closes the set of variables over the facts about them
  std::vector<Expr> out;
  for (const Binding& b : about.assignment()) {
    const VarFacts* f = facts.of(b.id);
    if (!f) continue;
    const Expr v = ir::var(b.id, b.name ? b.name : "");
    if (f->min) out.push_back(ir::ge(v, ir::index(*f->min)));
    if (f->max) out.push_back(ir::le(v, ir::index(*f->max)));
    if (!f->lo.empty()) out.push_back(ir::le(f->lo, v));
    if (!f->hi.empty()) out.push_back(ir::le(v, f->hi));
    if (f->multiple_of > 1) out.push_back(ir::eq(ir::mod(v, ir::index(f->multiple_of)), ir::index(0)));
  }
  for (const Expr& c : facts.conditions()) {
    bool ours = false;
    ir::walk(c, [&](const Expr& x) {
      for (const Binding& b : about.assignment()) ours = ours || (ir::is(x, Op::var) && x.node()->id == b.id);
      return !ours;
    });
    if (ours) out.push_back(c);
  }
  return out;
}

bool none_without_data(std::span<const Expr> asked, std::span<const Expr> stated, const Facts& facts) {
  std::vector<Expr> some;
  bool changed = false;
  for (const Expr& c : asked)
    if (!ir::has_load(c)) {
      some.push_back(simplify(c, facts));
      changed = changed || !ir::same(some.back(), c);
    }
  for (const Expr& c : stated)
    if (!ir::has_load(c)) some.push_back(c);
  changed = changed || some.size() < asked.size() + stated.size();
  return changed && find_point(some, facts).found == PointSearch::Found::none;
}

}  // namespace ashlar::analysis
