// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <ashlar/generator/generator.h>

#include <ashlar/ir/refusal.h>
#include <ashlar/schedules/by_default.h>
#include <fmt/format.h>

#include "generator/frame.h"

namespace ashlar {

namespace {

generator::GeneratorRecord& record_for(const char* what, const char* name, Where where) {
  generator::GeneratorRecord* record = generator::under_construction();
  if (!record) refuse(fmt::format("{} \"{}\"", what, name), "a member of a Generator", "an object outside one", where);
  return *record;
}

lang::ArgumentLayout layout_of(Layout layout, bool may_alias_inputs, const char* name, Where where) {
  if (layout.align < 0 || (layout.align & (layout.align - 1)) != 0)
    refuse(fmt::format("argument \"{}\"", name), "an alignment that is a power of two", fmt::format("{}", layout.align), where);
  using Order = lang::ArgumentLayout::Order;
  const Order order = layout.order == Layout::dense ? Order::dense
                      : layout.order == Layout::any ? Order::any
                                                    : Order::inner_unit_stride;
  return {order, layout.align, may_alias_inputs};
}

}  // namespace

Input::Input(const char* name, Type type, std::initializer_list<Extent> shape, Layout layout, Where where)
    : Input(name, type, Shape::of(shape, where), layout, where) {}

Input::Input(const char* name, Type type, const Shape& shape, Layout layout, Where where) {
  generator::GeneratorRecord& record = record_for("Input", name, where);
  static_cast<Tensor&>(*this) = lang::make_input(name, type, shape.extents(), layout_of(layout, false, name, where), where);
  record.arguments.emplace_back(*this);
}

Output::Output(const char* name, Type type, std::initializer_list<Extent> shape, Layout layout, May may, Where where)
    : Output(name, type, Shape::of(shape, where), layout, may, where) {}

Output::Output(const char* name, Type type, const Shape& shape, Layout layout, May may, Where where) : where_(where) {
  generator::GeneratorRecord& record = record_for("Output", name, where);
  static_cast<Tensor&>(*this) =
      lang::make_output(name, type, shape.extents(), layout_of(layout, may.alias_inputs, name, where), where);
  record.arguments.emplace_back(*this);
}

Output& Output::operator=(const Tensor& value) {
  lang::bind(*this, value, where_);
  return *this;
}

Scalar::Scalar(const char* name, Type type, Where where) : Expr() {
  generator::GeneratorRecord& record = record_for("Scalar", name, where);
  static_cast<Expr&>(*this) = lang::make_scalar(name, type, where);
  record.arguments.emplace_back(static_cast<const Expr&>(*this));
}

Generator::Generator() : record_(generator::under_construction()) {
  if (!record_ || record_->generator)
    refuse("Generator", "to be made by the generator tool or by instantiate<G>()",
           record_ ? "a generator inside another one" : "an object made in another way", Where{});
  record_->generator = this;
}

Generator::~Generator() = default;

void Generator::schedule(Schedule& s) {
  schedule_by_default(s);
  record_->by_default = true;
}

void Generator::reject(const char* param, const std::string& expected) {
  if (generator::under_construction() != record_)
    refuse("Generator::reject", "a call in the generator's constructor", "one afterwards", Where{});
  for (std::size_t k = 0; k < record_->params.size(); ++k)
    if (record_->params[k].name == param) {
      record_->rejected.push_back({k, record_->params[k].value, {}, expected});
      return;
    }
  record_->mistakes.push_back(fmt::format("\"{}\" is rejected, but is not a Param", param));
}

const Target& Generator::target() const { return record_->target; }

}  // namespace ashlar
