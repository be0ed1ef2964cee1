// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "generator/backward.h"

#include <ashlar/ir/print.h>
#include <ashlar/ir/refusal.h>
#include <ashlar/lang.h>
#include <ashlar/lang/definition.h>

namespace ashlar::generator {

namespace {

std::vector<Extent> extents_of(const Tensor& t) { return t.shape().extents(); }

// The sum over all elements of y * weight, of the type in which the parts of several outputs are added up.
Tensor part_of_loss(const Tensor& y, const Tensor& weight, Type type) {
  const lang::TensorDef& def = lang::tensor(y.id(), Where{});
  std::vector<Axis> axes;
  std::vector<Expr> at;
  for (int d = 0; d < def.rank; ++d) at.emplace_back(axes.emplace_back("a", lang::bounds_of(def, d, Where{}).end));
  const auto element = [&](const Tensor& t) {
    const Expr e = lang::access(t.id(), at, Where{});
    return e.type() == type ? e : type(e);
  };
  const Expr term = element(y) * element(weight);
  if (axes.empty()) return compute("loss", [&] { return term; });
  return compute("loss", [&] { return sum(term, AxisList(axes)); });
}

const char* interned(const std::string& name) { return ir::intern(name); }

}  // namespace

BackwardArguments backward_arguments(const std::vector<lang::ArgumentRef>& all, Where where) {
  BackwardArguments backward;
  std::vector<Tensor> outputs, inputs;
  bool wide = false;
  for (const lang::ArgumentRef& a : all) {
    if (a.tensor.empty()) {
      backward.arguments.push_back(a);
      continue;
    }
    const lang::TensorDef& t = lang::tensor(a.tensor.id(), where);
    if (t.kind == lang::TensorDef::Kind::output) {
      if (!t.type.is_float())
        refuse("backward", "outputs of floating types, which have a derivative", t.name + " of type " + ir::text(t.type),
               where);
      outputs.push_back(a.tensor);
      wide = wide || t.type == f64;
    } else {
      backward.arguments.push_back(a);
      if (t.type.is_float()) inputs.push_back(a.tensor);
    }
  }
  if (inputs.empty()) refuse("backward", "an input of a floating type", "none", where);
  backward.kept = backward.arguments.size(), backward.weights = outputs.size();
  const Type type = outputs.size() == 1 ? lang::tensor(outputs[0].id(), where).type : wide ? f64 : f32;
  std::vector<Tensor> parts;
  for (const Tensor& y : outputs) {
    const lang::TensorDef& def = lang::tensor(y.id(), where);
    const Tensor weight = lang::make_input(interned("grad_" + def.name), def.type, extents_of(y), {}, where);
    backward.arguments.emplace_back(weight);
    parts.push_back(part_of_loss(y, weight, type));
  }
  const Tensor loss = parts.size() == 1 ? parts[0] : compute("loss", [&] {
    Expr total = parts[0]();
    for (std::size_t k = 1; k < parts.size(); ++k) total = total + parts[k]();
    return total;
  });
  std::vector<Tensor> results(inputs.size());
  detail::gradient(loss, inputs.data(), inputs.size(), results.data(), nullptr, where);
  for (std::size_t k = 0; k < inputs.size(); ++k) {
    const lang::TensorDef& def = lang::tensor(inputs[k].id(), where);
    const Tensor result = lang::make_output(interned("grad_" + def.name), def.type, extents_of(inputs[k]), {}, where);
    lang::bind(result, results[k], where);
    backward.arguments.emplace_back(result);
  }
  return backward;
}

}  // namespace ashlar::generator
