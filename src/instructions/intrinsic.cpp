// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What a description says, gathered; and the checks that make it well formed.
#include <ashlar/instructions/kept.h>

#include <algorithm>
#include <bit>
#include <cctype>
#include <cstdio>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>

#include <ashlar/analysis/fragment.h>
#include <ashlar/ir/emit_text.h>
#include <ashlar/ir/print.h>
#include <ashlar/ir/refusal.h>

#include <ashlar/lang/definition.h>
#include <ashlar/lang/operand_types.h>

namespace ashlar {

using ir::Id;
using Operand_ = ir::IntrinsicOperand;

namespace detail {

struct Described {
  struct Tile {
    Id tensor = 0;  // of the language
    Operand_ operand;
    std::vector<Expr> extents;
    Where where;
    int lanes = 0;
    bool addressed = false;  // by its lanes, in memory
    std::vector<Expr> vars;
    Held held;
  };
  struct Parameter {
    Id variable = 0;
    std::string name;
    Type type;
    Where where;
  };
  struct Text {
    Backend back_end;
    std::string text;
    Where where;
  };
  std::string name;
  Where where;
  lang::DefinitionScope scope;  // definitions of a description end with it
  std::vector<Tile> tiles;
  std::vector<Parameter> parameters;
  std::vector<Text> emits, waits;
  std::vector<std::string> needs;
  Id result = 0, meaning = 0;  // tensors
  std::optional<Where> rounds_freely;
  Where means_where = {};
};

}  // namespace detail

namespace {

using detail::Described;

bool is_identifier(const std::string& s) {
  if (s.empty() || std::isdigit(static_cast<unsigned char>(s[0]))) return false;
  return std::all_of(s.begin(), s.end(), [](unsigned char c) { return std::isalnum(c) || c == '_'; });
}

// ---- from the language to the intrinsic ------------------------------------------------------------------------------------

class Sealer {
 public:
  explicit Sealer(const Described& d) : d_(d), stage_(nullptr) {}

  ir::Intrinsic run() {
    f_.name = d_.name;
    f_.where = d_.where;
    for (const auto& t : d_.tiles) tile(t);
    for (const auto& p : d_.parameters) parameter(p);
    value();
    fragments();
    for (const auto& t : d_.emits) text(t, false);
    for (const auto& t : d_.waits) text(t, true);
    for (const std::string& n : d_.needs) f_.needs += (f_.needs.empty() ? "" : " ") + n;
    return std::move(f_);
  }

 private:
  [[noreturn]] void no(const std::string& expected, const std::string& found, Where where) const {
    refuse(d_.name, expected, found, where);
  }
  Id fresh() { return next_++; }

  void tile(const Described::Tile& t) {
    Operand_ o = t.operand;
    o.id = fresh();
    for (const Expr& e : t.extents) {
      std::int64_t n = 0;
      if (ir::is_int(e, &n)) {
        if (n < 1) no("extents of at least 1", std::to_string(n) + " in " + o.name, t.where);
        o.extents.push_back(e);
        o.shape.push_back(n);
        continue;
      }
      o.extents.push_back(size(e, o.name, t.where));
      o.shape.clear();
    }
    if (o.shape.size() != o.extents.size()) o.shape.clear();
    operands_[t.tensor] = f_.operands.size();
    tiles_.push_back(&t);
    f_.operands.push_back(std::move(o));
  }

  // A Symbol among the extents is a size of the intrinsic.
  Expr size(const Expr& e, const std::string& of, Where where) {
    const lang::VariableDef* v = ir::is(e, ir::Op::var) ? lang::find_variable(e.node()->id) : nullptr;
    if (!v || v->kind != lang::VariableDef::Kind::symbol)
      no("extents that are numbers or Symbols", ir::text(e) + " in " + of, where);
    const auto [it, fresh_one] = sizes_.emplace(e.node()->id, Expr());
    if (fresh_one) {
      Operand_ o;
      o.kind = Operand_::Kind::size;
      o.name = v->name;
      o.type = ir::index_type;
      o.id = fresh();
      o.min = std::max<std::int64_t>(v->facts.min, 1);  // a tile has an element
      o.max = v->facts.max;
      o.multiple_of = v->facts.multiple_of;
      it->second = ir::var(o.id, o.name);
      later_.push_back(std::move(o));
    }
    return it->second;
  }

  void parameter(const Described::Parameter& p) {
    Operand_ o;
    o.kind = Operand_::Kind::value;
    o.name = p.name;
    o.type = p.type;
    o.id = fresh();
    parameters_[p.variable] = ir::var(o.id, o.name, o.type);
    f_.operands.push_back(std::move(o));
  }

  // ---- the description
  void value() {
    if (!d_.meaning) no("a meaning: m.means(result, [&](Var i, ...) { return ...; })", "none", d_.where);
    const Where where = d_.means_where;
    stage_ = &lang::stage(lang::tensor(d_.meaning, where).stage, where);
    std::size_t written = 0;
    for (const auto& o : f_.operands) written += o.kind == Operand_::Kind::tile && o.access != Operand_::Access::read;
    if (written != 1) no("one tensor that is written or accumulated", std::to_string(written), where);
    const std::size_t result = operands_.at(d_.result);
    if (f_.operands[result].access == Operand_::Access::read)
      no("the meaning of the written tensor", "that of " + f_.operands[result].name + ", which is read", where);
    if (!(lang::tensor(d_.meaning, where).type == f_.operands[result].type))
      no("values of type " + ir::text(f_.operands[result].type), ir::text(lang::tensor(d_.meaning, where).type), where);
    for (std::size_t k = 0; k < stage_->dimensions.size(); ++k)
      variable(stage_->dimensions[k], f_.operands[result].extents[k], f_.spatial);
    f_.spatial_extents = f_.operands[result].extents;
    for (Id a : stage_->axes) {
      const lang::VariableDef& v = lang::variable(a, where);
      if (!ir::is_int(v.begin, std::int64_t{0})) no("an Axis from 0", v.name + " from " + ir::text(v.begin), where);
      Expr extent = v.end;
      if (!ir::is_int(extent)) {
        const auto known = ir::is(extent, ir::Op::var) ? sizes_.find(extent.node()->id) : sizes_.end();
        if (known == sizes_.end())
          no("an Axis whose end is a number, or a Symbol of an operand", v.name + " to " + ir::text(v.end), where);
        extent = known->second;
      }
      variable(a, extent, f_.reduce);
      f_.reduce_sizes.push_back(extent);
      std::int64_t n = 0;
      if (ir::is_int(extent, &n)) f_.reduce_extents.push_back(n);
    }
    if (!stage_->conditions.empty()) no("a sum over whole axes", "one with a condition", where);
    const ir::ReducerKind kind = stage_->reducer.kind;
    if (kind != ir::ReducerKind::none && kind != ir::ReducerKind::sum && kind != ir::ReducerKind::strict_sum)
      no("an elementwise value or a sum", "another reduction", where);
    f_.accumulates = f_.operands[result].access == Operand_::Access::accumulate;
    start(kind != ir::ReducerKind::none, result);
    f_.rounds_freely = d_.rounds_freely.has_value();
    if (f_.rounds_freely && (kind != ir::ReducerKind::sum || !f_.operands[result].type.is_float()))
      no("a sum of floats, which m.rounds_freely is about",
         kind == ir::ReducerKind::strict_sum ? "a strict_sum"
         : kind == ir::ReducerKind::none     ? "a value without a sum"
                                             : "a sum of " + ir::text(f_.operands[result].type),
         *d_.rounds_freely);
    f_.value = described(stage_->values.front());
    for (std::size_t k = 0; k < tiles_.size(); ++k)
      if (f_.operands[k].access == Operand_::Access::read && !used_.count(f_.operands[k].id))
        no("a meaning that uses each operand", f_.operands[k].name + ", which it does not read", tiles_[k]->where);
    for (const auto& p : d_.parameters)
      if (!used_.count(parameters_.at(p.variable).node()->id))
        no("a meaning that uses each parameter", p.name + ", which it does not", p.where);
    for (Operand_& o : later_) f_.operands.push_back(std::move(o));
  }

  void variable(Id of_language, const Expr& extent, std::vector<Id>& list) {
    const std::string name = lang::variable(of_language, d_.means_where).name;
    const Id id = fresh();
    list.push_back(id);
    variables_.emplace(of_language, std::make_pair(ir::var(id, name), extent));
  }

  // Where a sum starts: from what was there, if the result is accumulated, else from 0.
  void start(bool sums, std::size_t result) const {
    const Where where = d_.means_where;
    const Operand_& o = f_.operands[result];
    const std::string itself = o.name + "(" + names_of_point() + ")";
    if (!sums) {
      if (f_.accumulates)
        no("a sum .from(" + itself + "), since " + o.name + " is accumulated", "a value without a sum", where);
      return;
    }
    const Expr& init = stage_->inits.front();
    if (!f_.accumulates) {
      const bool zero = ir::is_int(init, std::int64_t{0}) || (ir::is(init, ir::Op::float_const) && init.node()->f == 0);
      if (!zero)
        no("a sum from 0, since " + o.name + " is written (m.accumulate starts from what was there)", ir::text(init), where);
      return;
    }
    bool same = ir::is(init, ir::Op::load) && init.node()->id == d_.result;
    for (std::size_t k = 0; same && k < stage_->dimensions.size(); ++k)
      same = ir::is(ir::args_of(init)[k], ir::Op::var) && ir::args_of(init)[k].node()->id == stage_->dimensions[k];
    if (!same) no("a sum .from(" + itself + "), since " + o.name + " is accumulated", "one from " + ir::text(init), where);
  }

  std::string names_of_point() const {
    std::string s;
    for (Id v : stage_->dimensions) s += (s.empty() ? "" : ", ") + lang::variable(v, d_.means_where).name;
    return s;
  }

  // The value in the intrinsic's own ids. Indices are variables of the description, each dimension its own.
  Expr described(const Expr& e) {
    const Where where = d_.means_where;
    if (ir::is(e, ir::Op::var)) {
      if (const auto p = parameters_.find(e.node()->id); p != parameters_.end()) {
        used_.insert(p->second.node()->id);
        return p->second;
      }
      if (variables_.count(e.node()->id)) no("indices as indices only", std::string(e.node()->name) + " as a value", where);
      no("values over operands and parameters (m.parameter)", ir::text(e), where);
    }
    if (ir::is(e, ir::Op::load)) return element(e);
    if (ir::is(e, ir::Op::call)) no("values that operators compute", ir::text(e), where);
    const auto args = ir::args_of(e);
    if (args.empty()) return e;
    std::vector<Expr> fresh_args;
    for (const Expr& a : args) fresh_args.push_back(described(a));
    return ir::make(ir::op_of(e), e.type(), fresh_args, e.node()->where);
  }

  Expr element(const Expr& e) {
    const Where where = d_.means_where;
    const auto it = operands_.find(e.node()->id);
    if (it == operands_.end()) no("elements of its operands", ir::text(e), where);
    const Operand_& o = f_.operands[it->second];
    if (o.access != Operand_::Access::read)
      no("operands that are read (the start of a sum apart)", ir::text(e) + ", which is written", where);
    used_.insert(o.id);
    std::vector<Expr> at;
    std::set<Id> seen;
    const auto args = ir::args_of(e);
    for (std::size_t k = 0; k < args.size(); ++k) {
      const auto v = ir::is(args[k], ir::Op::var) ? variables_.find(args[k].node()->id) : variables_.end();
      if (v == variables_.end() || !seen.insert(v->first).second)
        no("a variable of its own as each index of " + o.name, ir::text(e), where);
      if (!ir::same(v->second.second, o.extents[k]))
        no(ir::text(e) + " over the extent of " + ir::text(args[k]) + ", " + ir::text(v->second.second),
           o.name + " of extent " + ir::text(o.extents[k]), where);
      at.push_back(v->second.first);
    }
    return ir::load(o.id, o.name, o.type, at, e.node()->where);
  }

  // ---- who holds what
  void fragments() {
    for (std::size_t k = 0; k < tiles_.size(); ++k) {
      const Described::Tile& t = *tiles_[k];
      Operand_& o = f_.operands[k];
      const bool fragment = o.scope == Scope::fragment;
      if (!fragment && !t.lanes) continue;
      if (!fragment && !t.addressed) no("m.holds of an operand in Scope::fragment", o.name + " in " + o.scope.name, t.where);
      if (t.addressed && !(o.scope == Scope::shared))
        no("m.address of an operand in Scope::shared", o.name + " in " + o.scope.name, t.where);
      const std::string call = t.addressed ? "m.address" : "m.holds";
      if (!t.lanes) no("m.holds(" + o.name + ", lanes, ...): who holds its elements", "none", t.where);
      if (o.shape.empty()) no(fragment ? "a fragment of constant extents" : "a tile of constant extents", o.name, t.where);
      if (t.vars.size() != o.shape.size())
        no(std::to_string(o.shape.size()) + " indices in " + call + " of " + o.name, std::to_string(t.vars.size()), t.where);
      if (f_.group != 1 && f_.group != t.lanes)
        no("the same number of lanes for all fragments, " + std::to_string(f_.group),
           std::to_string(t.lanes) + " for " + o.name, t.where);
      f_.group = t.lanes;
      if (fragment) o.place = Operand_::Place::registers;
      ir::Substitution own;
      for (const Expr& v : t.vars) {
        o.vars.push_back(fresh());
        own.emplace_back(v.node()->id, ir::var(o.vars.back(), v.node()->name));
      }
      for (const Expr* e : {&t.held.lane, &t.held.slot})
        o.map.push_back(ir::substitute(lang::to_index(Operand(*e, t.where), "held of " + o.name), own));
      const analysis::FragmentRead read =
          fragment ? analysis::fragment(o, f_.group) : analysis::fragment(o.vars, o.shape, o.map[0], o.map[1], f_.group);
      if (!read.fragment) no("a place of its own for each element of " + o.name, read.why, t.where);
      std::int64_t elements = 1;
      for (std::int64_t n : o.shape) elements *= n;
      std::int64_t lanes = read.fragment->threads >> std::popcount(static_cast<unsigned>(read.fragment->copies));
      if (t.addressed) {  // those that give an address, from the first on
        lanes = 0;
        while (lanes < read.fragment->threads && analysis::element_of(*read.fragment, static_cast<int>(lanes), 0)) ++lanes;
      }
      if (elements != lanes * read.fragment->registers)
        no(t.addressed ? "a run of as many elements of " + o.name + " behind the address of each lane"
                       : "a bijection between the elements of " + o.name + " and its lanes' registers",
           std::to_string(elements) + " elements in " + std::to_string(lanes) + " lanes of " +
               std::to_string(read.fragment->registers) + (t.addressed ? "" : " registers"),
           t.where);
    }
  }

  // ---- texts
  void text(const Described::Text& t, bool waits) {
    const std::string end = schedule::name_of(t.back_end);
    const ir::Placeholders named = ir::placeholders_of(t.text);
    if (!named.wrong.empty())
      no("braces around names ({{ for a brace itself)", "`" + named.wrong + "` in the text for " + end, t.where);
    const bool asynchronous =
        std::any_of(d_.waits.begin(), d_.waits.end(), [&](const auto& w) { return w.back_end == t.back_end; });
    bool token = false;
    for (const ir::Placeholder& p : named.list) {
      if (p.name == "token" && p.field.empty()) {
        if (!asynchronous) no("{token} in a text whose completion is waited for (m.asynchronous)", "one without", t.where);
        token = true;
        continue;
      }
      known(p, end, t.where);
    }
    one_way(t, named.list);
    if (asynchronous && !token)
      no("{token} in the text for " + end + ", by which its completion is waited for", "`" + t.text + "`", t.where);
    auto& texts = waits ? f_.wait : f_.emit;
    if (waits && !f_.emit.count(end)) no("m.emit for " + end + " beside its m.asynchronous", "none", t.where);
    if (!texts.emplace(end, t.text).second) no("one text for " + end, "a second one", t.where);
  }

  void known(const ir::Placeholder& p, const std::string& end, Where where) const {
    const std::string shown = shown_as(p);
    std::string names;
    for (const Operand_& o : f_.operands) {
      const bool tile = o.kind == Operand_::Kind::tile, fragment = tile && o.scope == Scope::fragment;
      names += (names.empty() ? "{" : ", {") + o.name + (tile && !fragment ? ".ptr}" : "}");
      if (o.name != p.name) continue;
      if (!tile || fragment) {
        if (p.field.empty() || (fragment && registers(o, p, end, where))) return;
        no(fragment ? "the registers of a fragment, {" + o.name + "}, {" + o.name + ".0} or {" + o.name + ".0-1}"
                    : "a value, {" + o.name + "}",
           shown, where);
      }
      if (p.field == "ptr") return;
      if (p.field == "value" || p.field == "result") return taken_by_value(o, p, end, where);
      for (std::size_t d = 0; d < o.extents.size(); ++d)
        if (p.field == "stride" + std::to_string(d)) return;
      no("{" + o.name + ".ptr} or {" + o.name + ".stride0}" +
             (o.extents.size() > 1 ? " to {" + o.name + ".stride" + std::to_string(o.extents.size() - 1) + "}" : ""),
         shown, where);
    }
    no("names of operands in the text for " + end + ": " + names, shown, where);
  }

  // {A.2}, {A.2-3}: registers of a lane, of 32 bits.
  bool registers(const Operand_& o, const ir::Placeholder& p, const std::string& end, Where where) const {
    const auto range = ir::registers_named(p);
    if (!range) return false;
    const std::int64_t count = std::int64_t{analysis::fragment(o, f_.group).fragment->registers} * o.type.bits / 32;
    if (range->last >= count)
      no("registers from 0 to " + std::to_string(count - 1) + " of " + o.name + " in the text for " + end, shown_as(p), where);
    return true;
  }

  static std::string shown_as(const ir::Placeholder& p) { return "{" + p.name + (p.field.empty() ? "" : "." + p.field) + "}"; }

  // {A.value} and {A.result}: all elements, of a constant number, which the texts for LLVM and SPIR-V take.
  void taken_by_value(const Operand_& o, const ir::Placeholder& p, const std::string& end, Where where) const {
    if (end != schedule::name_of(Backend::llvm) && end != schedule::name_of(Backend::spirv))
      no("{" + o.name + ".ptr} in the text for " + end, shown_as(p), where);
    if (o.shape.empty())
      no("constant extents of " + o.name + ", which the text for " + end + " takes by value", "a Symbol", where);
    if (p.field == "value" && o.access == Operand_::Access::write)
      no("{" + o.name + ".result}, since " + o.name + " is written", shown_as(p), where);
    if (p.field == "result" && o.access == Operand_::Access::read)
      no("{" + o.name + ".value}, since " + o.name + " is read", shown_as(p), where);
  }

  // A tile has an address in a text, or is a value there.
  void one_way(const Described::Text& t, const std::vector<ir::Placeholder>& list) const {
    for (const Operand_& o : f_.operands) {
      bool value = false, result = false, address = false;
      for (const ir::Placeholder& p : list) {
        if (p.name != o.name) continue;
        value = value || p.field == "value";
        result = result || p.field == "result";
        address = address || p.field == "ptr" || p.field.starts_with("stride");
      }
      if (address && (value || result))
        no(o.name + " by its address or by its value", "both in the text for " + std::string(schedule::name_of(t.back_end)),
           t.where);
      if (value && !result && o.access != Operand_::Access::read)
        no("{" + o.name + ".result} beside {" + o.name + ".value}, since " + o.name + " is accumulated", "none", t.where);
    }
  }

  const Described& d_;
  const lang::StageDef* stage_;
  ir::Intrinsic f_;
  Id next_ = 1;
  std::map<Id, std::size_t> operands_;  // tensor of the language -> operand
  std::map<Id, Expr> parameters_, sizes_;
  std::map<Id, std::pair<Expr, Expr>> variables_;  // Var or Axis -> the intrinsic's own, its extent
  std::vector<const Described::Tile*> tiles_;      // in step with the first operands
  std::vector<Operand_> later_;                    // sizes: behind the parameters
  std::set<Id> used_;
};

}  // namespace

// ---- Meaning ---------------------------------------------------------------------------------------------------------------

Meaning::Meaning(const char* name, Where where) : state_(nullptr) {
  if (!name || !is_identifier(name))
    refuse("intrinsic", "a name of letters, digits and _", name && *name ? name : "none", where);
  state_ = new detail::Described;
  state_->name = name;
  state_->where = where;
}
Meaning::~Meaning() { delete state_; }

namespace {
void new_name(const Described& d, const char* name, Where where) {
  if (!name || !is_identifier(name))
    refuse(d.name, "a name of letters, digits and _ for each operand", name && *name ? name : "none", where);
  bool taken = std::string_view(name) == "token";
  for (const auto& t : d.tiles) taken = taken || t.operand.name == name;
  for (const auto& p : d.parameters) taken = taken || p.name == name;
  if (taken)
    refuse(d.name, "a name of its own for each operand", std::string(name) + " twice, or a name that texts use", where);
}
}  // namespace

Tensor Meaning::operand(const char* name, Type type, const Extent* extents, std::size_t rank, const Scope& scope, int access,
                        Where where) {
  new_name(*state_, name, where);
  if (scope == Scope::registers || scope == Scope::tile)
    refuse(state_->name, "an operand in memory or in Scope::fragment", std::string(name) + " in " + scope.name, where);
  if (type.is_packed())
    refuse(state_->name, "operands of 8 bits or more, whose elements have addresses",
           std::string(name) + " of " + ir::text(type), where);
  const Tensor t = lang::make_input(name, type, {extents, extents + rank}, {}, where);
  Described::Tile tile;
  tile.tensor = t.id();
  tile.where = where;
  tile.operand.name = name;
  tile.operand.type = type;
  tile.operand.scope = scope;
  tile.operand.access = static_cast<Operand_::Access>(access);
  tile.operand.place = scope == Scope::shared ? Operand_::Place::shared : Operand_::Place::global;
  for (int d = 0; d < t.rank(); ++d) tile.extents.push_back(lang::bounds_of(lang::tensor(t.id(), where), d, where).end);
  state_->tiles.push_back(std::move(tile));
  return t;
}

Expr Meaning::parameter(const char* name, Type type, Where where) {
  new_name(*state_, name, where);
  const Expr e = lang::make_scalar(name, type, where);
  state_->parameters.push_back({e.node()->id, name, type, where});
  return e;
}

namespace {
Described::Tile& operand_of(Described& d, const Tensor& t, Where where) {
  for (auto& tile : d.tiles)
    if (tile.tensor == t.id()) return tile;
  refuse(d.name, "an operand of this description", t.empty() ? "an empty Tensor" : t.name(where), where);
}
}  // namespace

std::vector<Extent> Meaning::extents_of(const Tensor& result, std::size_t rank, Where where) {
  const Described::Tile& t = operand_of(*state_, result, where);
  if (t.extents.size() != rank)
    refuse(state_->name, std::to_string(t.extents.size()) + " indices, as " + t.operand.name + " has", std::to_string(rank),
           where);
  std::vector<Extent> extents;
  for (const Expr& e : t.extents) extents.emplace_back(e);
  return extents;
}

void Meaning::means_(const Tensor& result, const Tensor& value, Where where) {
  if (state_->meaning) refuse(state_->name, "one meaning", "a second one", where);
  state_->result = result.id();
  state_->meaning = value.id();
  state_->means_where = where;
}

namespace {
void hold(Described& d, Described::Tile& t, const char* call, int lanes, const std::vector<Expr>& vars, const Held& h,
          Where where) {
  if (t.lanes) refuse(d.name, std::string("one ") + call + " of " + t.operand.name, "a second one", where);
  if (lanes < 1 || (lanes & (lanes - 1)) != 0 || lanes > 128)
    refuse(d.name, "a power of two of lanes, up to 128", std::to_string(lanes), where);
  t.lanes = lanes;
  t.vars = vars;
  t.held = h;
  t.where = where;
}
}  // namespace

void Meaning::holds_(const Tensor& of, int lanes, const std::vector<Expr>& vars, const Held& h, Where where) {
  hold(*state_, operand_of(*state_, of, where), "m.holds", lanes, vars, h, where);
}

void Meaning::address_(const Tensor& of, int lanes, const std::vector<Expr>& vars, const Held& h, Where where) {
  Described::Tile& t = operand_of(*state_, of, where);
  hold(*state_, t, "m.address", lanes, vars, h, where);
  t.addressed = true;
}

void Meaning::rounds_freely(Where where) { state_->rounds_freely = where; }
void Meaning::emit(Backend b, const char* text, Where where) { state_->emits.push_back({b, text ? text : "", where}); }
void Meaning::asynchronous(Backend b, const char* wait, Where where) { state_->waits.push_back({b, wait ? wait : "", where}); }
void Meaning::needs(const char* feature, Where where) {
  if (!feature || !*feature) refuse(state_->name, "the name of a feature", "none", where);
  state_->needs.emplace_back(feature);
}

// ---- what is kept ----------------------------------------------------------------------------------------------------------

Intrinsic Intrinsic::seal(const Meaning& m) { return Intrinsic(schedule::keep_intrinsic(Sealer(*m.state_).run())); }
std::string_view Intrinsic::name() const { return node_->name; }

namespace schedule {

const char* name_of(Backend b) {
  static constexpr const char* names[] = {"c", "llvm", "ptx", "spirv"};
  return names[static_cast<int>(b)];
}

std::string digest_of(const ir::Intrinsic& f) {
  std::uint64_t h = 0xCBF29CE484222325u;  // FNV-1a
  for (const unsigned char c : ir::meaning(f)) h = (h ^ c) * 0x100000001B3u;
  char text[17];
  std::snprintf(text, sizeof text, "%016llx", static_cast<unsigned long long>(h));
  return text;
}

namespace {
struct Kept {
  std::mutex mutex;
  std::map<std::pair<std::string, std::string>, std::unique_ptr<const ir::Intrinsic>> by_meaning;
};
Kept& kept() {
  static Kept* k = new Kept;  // outlives whatever uses it
  return *k;
}
}  // namespace

const ir::Intrinsic* keep_intrinsic(ir::Intrinsic f) {
  Kept& k = kept();
  const std::lock_guard lock(k.mutex);
  auto& entry = k.by_meaning[{f.name, digest_of(f)}];
  if (!entry) entry = std::make_unique<const ir::Intrinsic>(std::move(f));
  return entry.get();
}

const ir::Intrinsic* find_intrinsic(const std::string& name, const std::string& digest) {
  Kept& k = kept();
  const std::lock_guard lock(k.mutex);
  const auto it = k.by_meaning.find({name, digest});
  return it == k.by_meaning.end() ? nullptr : it->second.get();
}

}  // namespace schedule
}  // namespace ashlar
