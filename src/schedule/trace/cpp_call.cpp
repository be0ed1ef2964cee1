// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "schedule/trace/cpp_call.h"

#include "schedule/primitives/primitives.h"
#include "schedule/trace/cpp_names.h"

namespace ashlar::schedule {
namespace {

std::string argument(CppCall& w, const Parameter& p, const Arg& a) {
  switch (p.type) {
    case Parameter::Type::loop:
      return w.loop(a);
    case Parameter::Type::stage:
      return w.stage_ref(a.id);
    case Parameter::Type::tensor:
      return w.buffer_ref(a.id);
    case Parameter::Type::scope:
      return scope_text(a);
    case Parameter::Type::intrinsic:
      return w.intrinsic(*a.intrinsic);
    case Parameter::Type::map:
      return w.map(a);
    case Parameter::Type::point:
    case Parameter::Type::condition:
      return w.point(a.exprs.front());
    case Parameter::Type::number:
      return spelled(p, a);
    case Parameter::Type::word:
      if (p.cpp) return a.word == p.left_out ? "" : spelled(p, a);
      break;
    case Parameter::Type::name:
    case Parameter::Type::value:
    case Parameter::Type::rescale:
      break;
  }
  throw NoForm{};
}

// ".split(j, 8)". The last argument is written first: handles are declared, and tensors become parameters of the function, in
// the order in which they are asked for. Loops that are a list keep theirs.
std::string call(CppCall& w, const Step& step, std::size_t first) {
  const Primitive& primitive = *primitive_of(step.primitive);
  const std::vector<const Parameter*> parameters = primitive.parameters.of(step);
  std::string text;
  const auto add = [&](const std::string& one) {
    if (!one.empty()) text = one + (text.empty() ? "" : ", " + text);
  };
  for (std::size_t k = step.args.size(); k-- > first;) {
    if (parameters[k]->times == Parameter::Times::any) {
      std::string list;
      for (std::size_t n = first; n <= k; ++n) list += (list.empty() ? "" : ", ") + argument(w, *parameters[n], step.args[n]);
      add(list);
      break;
    }
    add(argument(w, *parameters[k], step.args[k]));
  }
  return "." + std::string(primitive.spelling) + "(" + text + ")";
}

}  // namespace

std::string of_loop(CppCall& w, const Step& s) {
  if (s.args.empty()) throw NoForm{};
  const std::string behind = call(w, s, 0);
  return w.own(s.args[0]) + behind;
}

std::string of_stage(CppCall& w, const Step& s) {
  const std::string behind = call(w, s, 1);
  return w.stage(s.args[0].id) + behind;
}

std::string of_schedule(CppCall& w, const Step& s) {
  const std::string behind = call(w, s, 0);
  return w.schedule() + behind;
}

std::string stages_from(CppCall& w, const Step& s, std::size_t first, std::string (CppCall::*item)(Id)) {
  std::string text;
  for (std::size_t k = first; k < s.args.size(); ++k) text += (k > first ? ", " : "") + (w.*item)(s.args[k].id);
  return "{" + text + "}";
}

std::string scope_text(const Arg& a) {
  for (const Scope* own : {&Scope::global, &Scope::stack, &Scope::shared, &Scope::registers, &Scope::fragment, &Scope::tile})
    if (a.scope == *own && a.word == own->name) return "Scope::" + a.word;
  const Scope::Limits& l = a.scope.limits;
  return "Scope{" + cpp::quoted(a.scope.name) + ", {" + std::to_string(l.bytes) + ", " + std::to_string(l.align) + ", " +
         std::to_string(l.address_space) + ", " + cpp::quoted(l.c_qualifier) + "}}";
}

}  // namespace ashlar::schedule
