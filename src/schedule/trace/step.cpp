// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Steps as text and as JSON.
//
//   {"primitive": "split", "args": [{"loop": 12}, 32, "guard"], "place": "matmul.cpp:31", "results": [17, 18]}
//
// Index maps are saved node by node: {"map": [...], "vars": [...]}, an expression being a number, {"var": id} or
// {"op": name, "args": [...]}.
#include <ashlar/schedule/step.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include <nlohmann/json.hpp>

#include <ashlar/ir/numeric.h>
#include <ashlar/ir/operation.h>

#include <ashlar/instructions/kept.h>
#include "schedule/primitives/primitives.h"

namespace ashlar::schedule {
namespace {

using Json = nlohmann::ordered_json;

struct Entry {  // of the array that is read
  std::size_t number;
  Where where;
};
[[noreturn]] void bad(Entry entry, const std::string& expected, const Json& found) {
  refuse("schedule JSON", expected + " in entry " + std::to_string(entry.number), found.dump().substr(0, 80), entry.where);
}

Json expr_json(const Expr& e) {
  std::int64_t n = 0;
  if (e.type().is_index() && ir::is_int(e, &n)) return n;
  if (ir::is(e, ir::Op::var) && e.type().is_float()) return Json{{"var", e.node()->id}, {"type", ir::text(e.type())}};
  if (ir::is(e, ir::Op::var)) return Json{{"var", e.node()->id}};
  Json j{{"op", ir::op_name(ir::op_of(e))}};
  if (!e.type().is_index() && (!e.type().is_bool() || ir::is(e, ir::Op::int_const))) j["type"] = ir::text(e.type());
  if (ir::is(e, ir::Op::int_const)) j["value"] = e.node()->i;
  if (ir::is(e, ir::Op::float_const)) {
    const double v = e.node()->f;  // JSON has no number for what is not finite
    if (std::isfinite(v))
      j["value"] = v;
    else
      j["value"] = std::isnan(v) ? "nan" : v < 0 ? "-inf" : "inf";
  }
  Json args = Json::array();
  for (const Expr& a : ir::args_of(e)) args.push_back(expr_json(a));
  if (!args.empty()) j["args"] = args;
  return j;
}

Type type_from(const std::string& name, Entry entry) {
  for (Type t : {i4, u4, i8, i16, i32, i64, u8, u16, u32, u64, f16, f32, f64, bf16, e4m3, e5m2, bool_})
    if (ir::text(t) == name) return t;
  bad(entry, "a type", name);
}

Expr expr_from(const Json& j, Entry entry, int depth = 0) {
  if (depth > 64) bad(entry, "an expression of at most 64 levels", j);
  if (j.is_number_integer()) return ir::index(j.get<std::int64_t>());
  if (!j.is_object()) bad(entry, "an expression", j);
  if (j.contains("var")) {
    if (!j["var"].is_number_unsigned()) bad(entry, "the id of a variable", j);
    const auto id = j["var"].get<Id>();
    if (!j.contains("type")) return ir::var(id, "d" + std::to_string(id));
    const Type t = j["type"].is_string() ? type_from(j["type"], entry) : type_from("", entry);
    if (!t.is_float()) bad(entry, "the floating type of a variable", j);
    return ir::var(id, "d" + std::to_string(id), t);
  }
  if (!j.contains("op") || !j["op"].is_string()) bad(entry, "an operator", j);
  const std::string op = j["op"];
  if (op == "int_const" || op == "float_const") {
    if (!j.contains("type") || !j["type"].is_string() || !j.contains("value") ||
        !(j["value"].is_number() || j["value"].is_string()))
      bad(entry, "a typed constant", j);
    const Type t = type_from(j["type"], entry);
    if (j["value"].is_string()) {
      const std::string word = j["value"];
      const bool known = word == "nan" || word == "inf" || word == "-inf";
      if (!known || !t.is_float() || op != "float_const") bad(entry, "a constant of its type", j);
      const double inf = std::numeric_limits<double>::infinity();
      return ir::float_const(t, word == "nan" ? std::numeric_limits<double>::quiet_NaN() : word == "inf" ? inf : -inf);
    }
    if (t.is_float() && op == "float_const") return ir::float_const(t, j["value"].get<double>());
    if (t.is_float() || op == "float_const" || !j["value"].is_number_integer()) bad(entry, "a constant of its type", j);
    const auto value = j["value"].get<std::int64_t>();
    if (!(t == u64) && (value < ir::lowest_of(t) || value > ir::highest_of(t)))
      bad(entry, "a constant in the range of its type", j);
    return ir::int_const(t, value);
  }
  if (!j.contains("args") || !j["args"].is_array()) bad(entry, "operands", j);
  std::vector<Expr> args;
  for (const Json& a : j["args"]) args.push_back(expr_from(a, entry, depth + 1));
  for (const ir::Operation& row : ir::operations()) {
    if (op != row.name) continue;
    const ir::Op o = row.op;
    const bool arithmetic = o == ir::Op::min || o == ir::Op::max ||
                            (*row.laws.sign && row.kind != ir::Kind::comparison && row.kind != ir::Kind::logic);
    const bool compares = ir::is_comparison(o) && args.size() == 2 && (args[0].type().is_index() || args[0].type().is_float());
    const bool joins = (o == ir::Op::logic_and || o == ir::Op::logic_or) && args.size() == 2 && args[0].type().is_bool();
    if ((arithmetic || compares || joins) && args.size() == 2 && args[0].type() == args[1].type())
      return ir::binary(o, args[0], args[1]);
    if ((o == ir::Op::neg || o == ir::Op::abs || o == ir::Op::bit_not) && args.size() == 1 && args[0].type().is_index())
      return ir::unary(o, args[0]);
    if (o == ir::Op::select && args.size() == 3 && args[0].type().is_bool() && args[1].type() == args[2].type() &&
        (args[1].type().is_index() || args[1].type().is_float()))
      return ir::select(args[0], args[1], args[2]);
    const bool floats = !args.empty() && args[0].type().is_float();
    const bool real_binary =
        o == ir::Op::add || o == ir::Op::sub || o == ir::Op::mul || o == ir::Op::div || o == ir::Op::min || o == ir::Op::max;
    const bool real_unary = row.operands == 1 && ir::computes_reals(row.kind);
    if (floats && ((real_binary && args.size() == 2 && args[0].type() == args[1].type()) || (real_unary && args.size() == 1)))
      return ir::make(o, args[0].type(), args);
    if (o == ir::Op::logic_not && args.size() == 1 && args[0].type().is_bool()) return ir::unary(o, args[0]);
  }
  bad(entry,
      "arithmetic (add, sub, mul, div, min, max, neg, abs; of indices also mod, bit operations and select; of floats also "
      "functions of one number and select) or a condition",
      j);
}

// ---- scopes: the language's own by name, a user's with its limits --------------------------------------------------------
constexpr const Scope* own_scopes[] = {&Scope::global,    &Scope::stack,    &Scope::shared,
                                       &Scope::registers, &Scope::fragment, &Scope::tile};

bool is_users(const Scope& s) {
  return std::none_of(std::begin(own_scopes), std::end(own_scopes), [&](const Scope* o) { return s == *o; });
}

Scope scope_from(const Json& j, Entry entry) {
  const bool whole = j["scope"].is_string() && j.contains("bytes") && j["bytes"].is_number_integer() && j.contains("align") &&
                     j["align"].is_number_integer() && j.contains("address_space") && j["address_space"].is_number_integer() &&
                     j.contains("c_qualifier") && j["c_qualifier"].is_string();
  if (!whole) bad(entry, "a scope with its bytes, align, address_space and c_qualifier", j);
  return {ir::intern(j["scope"].get<std::string>()),
          {j["bytes"].get<std::int64_t>(), j["align"].get<int>(), j["address_space"].get<int>(),
           ir::intern(j["c_qualifier"].get<std::string>())}};
}

const char* key_of(Arg::Kind k) {
  switch (k) {
    case Arg::Kind::stage:
      return "stage";
    case Arg::Kind::loop:
      return "loop";
    case Arg::Kind::buffer:
      return "tensor";
    default:
      return "";
  }
}

std::string show(const Scheduled& s, const Arg& a) {
  const Program& p = s.program;
  switch (a.kind) {
    case Arg::Kind::integer:
      return std::to_string(a.value);
    case Arg::Kind::word:
      return a.word;
    case Arg::Kind::intrinsic:
      return a.intrinsic->name;
    case Arg::Kind::exprs: {
      std::string t = a.vars.empty() ? "" : "(";
      for (std::size_t k = 0; k < a.exprs.size(); ++k) t += (k ? ", " : "") + ir::text(a.exprs[k]);
      return t + (a.vars.empty() ? "" : ")");
    }
    case Arg::Kind::buffer:
      return p.buffers.count(a.id) ? p.buffer(a.id).name : "?";
    case Arg::Kind::stage:
      if (p.stages.count(a.id)) return p.stage(a.id).name;
      break;
    case Arg::Kind::loop:
      if (const Stmt* l = ir::find(p, a.id); l && l->is<LoopStmt>()) return name_of(p, *l);
      break;
  }
  const auto it = s.consumed.find(a.id);
  return it == s.consumed.end() ? "?" : it->second.name;
}

}  // namespace

std::string call_text(const Scheduled& s, const Step& step) {
  const Primitive& primitive = *primitive_of(step.primitive);
  if (primitive.text) return primitive.text(step);
  const std::vector<const Parameter*> parameters = primitive.parameters.of(step);
  std::string t = std::string(primitive.spelling) + "(";
  for (std::size_t k = 0; k < step.args.size(); ++k) {
    const bool count = step.args[k].kind == Arg::Kind::integer;  // "Parts{4}"
    t += (k ? ", " : "") + (count ? spelled(*parameters[k], step.args[k]) : show(s, step.args[k]));
  }
  return t + ")";
}

std::string result_text(const Scheduled& s, const Step& step) {
  std::vector<std::string> names;
  for (Id r : step.results) names.push_back(show(s, s.program.stages.count(r) ? Arg::stage(r) : Arg::loop(r)));
  return list_names(names);
}

std::string text(const Step& step) {
  std::string t = step.text;
  if (t.size() < 60) t.append(60 - t.size(), ' ');
  return t + "  " + step.place;
}

std::string json(const std::vector<Step>& steps) {
  Json list = Json::array();
  for (const Step& s : steps) {
    Json j{{"primitive", s.primitive}, {"args", Json::array()}, {"place", s.place}, {"results", s.results}};
    if (s.variant) j["variant"] = s.variant;
    for (const Arg& a : s.args) {
      if (a.kind == Arg::Kind::integer) {
        j["args"].push_back(a.value);
      } else if (a.kind == Arg::Kind::word && is_users(a.scope)) {
        const Scope::Limits& l = a.scope.limits;
        j["args"].push_back(Json{{"scope", a.scope.name},
                                 {"bytes", l.bytes},
                                 {"align", l.align},
                                 {"address_space", l.address_space},
                                 {"c_qualifier", l.c_qualifier}});
      } else if (a.kind == Arg::Kind::word) {
        j["args"].push_back(a.word);
      } else if (a.kind == Arg::Kind::intrinsic) {
        j["args"].push_back(Json{{"intrinsic", a.intrinsic->name}, {"meaning", digest_of(*a.intrinsic)}});
      } else if (a.kind == Arg::Kind::exprs) {
        Json map = Json::array();
        for (const Expr& e : a.exprs) map.push_back(expr_json(e));
        j["args"].push_back(Json{{"map", map}, {"vars", a.vars}});
      } else {
        j["args"].push_back(Json{{key_of(a.kind), a.id}});
      }
    }
    list.push_back(j);
  }
  return list.dump(2) + "\n";
}

namespace {
// How deep lists and objects stand in each other: the parser recurses.
int depth_of(std::string_view json) {
  int depth = 0, most = 0;
  bool quoted = false;
  for (std::size_t k = 0; k < json.size(); ++k) {
    const char ch = json[k];
    if (ch == '"') quoted = !quoted;
    if (quoted && ch == '\\') ++k;
    if (quoted) continue;
    if (ch == '[' || ch == '{') most = std::max(most, ++depth);
    if (ch == ']' || ch == '}') --depth;
  }
  return most;
}
}  // namespace

std::vector<Step> steps_from_json(std::string_view source, Where where) {
  if (depth_of(source) > 256) refuse("schedule JSON", "steps nested at most 256 deep", "deeper ones", where);
  const Json list = Json::parse(source, nullptr, false);
  if (list.is_discarded() || !list.is_array())
    refuse("schedule JSON", "an array of steps", "\"" + std::string(source.substr(0, 40)) + "\"", where);
  std::vector<Step> steps;
  for (std::size_t n = 0; n < list.size(); ++n) {
    const Json& j = list[n];
    const Entry entry{n, where};
    if (!j.is_object() || !j.contains("primitive") || !j["primitive"].is_string() || !j.contains("args") ||
        !j["args"].is_array())
      bad(entry, "a step with \"primitive\" and \"args\"", j);
    Step s;
    s.primitive = j["primitive"];
    if (j.contains("place") && j["place"].is_string()) s.place = j["place"];
    if (j.contains("variant")) {
      if (!j["variant"].is_number_unsigned()) bad(entry, "the number of a variant", j);
      s.variant = j["variant"].get<std::size_t>();
    }
    for (const Json& a : j["args"]) {
      if (a.is_number_integer()) {
        s.args.push_back(Arg::integer(a.get<std::int64_t>()));
      } else if (a.is_string()) {
        Arg w = Arg::text(a.get<std::string>());
        for (const Scope* scope : own_scopes)
          if (w.word == scope->name) w.scope = *scope;
        s.args.push_back(w);
      } else if (a.is_object() && a.contains("scope")) {
        s.args.push_back(Arg::place(scope_from(a, entry)));
      } else if (a.is_object() && a.contains("intrinsic")) {
        if (!a["intrinsic"].is_string() || !a.contains("meaning") || !a["meaning"].is_string())
          bad(entry, "an intrinsic with its \"meaning\"", a);
        const ir::Intrinsic* f = find_intrinsic(a["intrinsic"], a["meaning"]);
        if (!f) bad(entry, "an intrinsic that was described before the replay, with the same meaning", a);
        s.args.push_back(Arg::call_of(*f));
      } else if (a.is_object() && a.contains("map") && a["map"].is_array() && a.contains("vars") && a["vars"].is_array()) {
        std::vector<Id> vars;
        std::vector<Expr> exprs;
        for (const Json& v : a["vars"]) {
          if (!v.is_number_unsigned()) bad(entry, "ids of variables", a);
          vars.push_back(v.get<Id>());
        }
        for (const Json& e : a["map"]) exprs.push_back(expr_from(e, entry));
        s.args.push_back(Arg::map(vars, exprs));
      } else {
        bool known = false;
        for (Arg::Kind k : {Arg::Kind::stage, Arg::Kind::loop, Arg::Kind::buffer})
          if (a.is_object() && a.contains(key_of(k)) && a[key_of(k)].is_number_unsigned()) {
            Arg id;
            id.kind = k;
            id.id = a[key_of(k)].get<Id>();
            s.args.push_back(id);
            known = true;
          }
        if (!known)
          bad(entry, "an argument: a number, a word, {\"loop\": id}, {\"stage\": id}, {\"tensor\": id} or {\"map\": ...}", a);
      }
    }
    steps.push_back(std::move(s));
  }
  return steps;
}

}  // namespace ashlar::schedule
