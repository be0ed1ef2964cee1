// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <ashlar/lang/constant.h>

#include <ashlar/ir/numeric.h>
#include <ashlar/ir/print.h>
#include <ashlar/ir/refusal.h>
#include <ashlar/lang/compute.h>

#include <ashlar/lang/definition.h>
#include <ashlar/lang/operand_types.h>

namespace ashlar {
namespace {

std::string shape_text(const std::vector<std::int64_t>& shape) {
  std::string s = "[";
  for (std::size_t d = 0; d < shape.size(); ++d) s += (d ? ", " : "") + std::to_string(shape[d]);
  return s + "]";
}

// The shape that the first elements have, which all must have.
std::vector<std::int64_t> shape_of(const Elements& e) {
  std::vector<std::int64_t> shape;
  for (const Elements* at = &e; !at->is_number(); at = &at->rows().front()) {
    shape.push_back(static_cast<std::int64_t>(at->rows().size()));
    if (at->rows().empty()) break;
  }
  return shape;
}

void collect(const char* name, const Elements& e, const std::vector<std::int64_t>& shape, std::size_t depth,
             const std::string& place, std::vector<Operand>& list, Where where) {
  if (e.is_number() != (depth == shape.size()) ||
      (!e.is_number() && static_cast<std::int64_t>(e.rows().size()) != shape[depth]))
    refuse(name, "rows of one shape, " + shape_text(shape) + " as the first elements say",
           place + (e.is_number() ? " a number" : " of " + std::to_string(e.rows().size())), where);
  if (e.is_number()) {
    list.push_back(e.number());
    return;
  }
  for (std::size_t k = 0; k < e.rows().size(); ++k)
    collect(name, e.rows()[k], shape, depth + 1, place + "[" + std::to_string(k) + "]", list, where);
}

}  // namespace

namespace detail {

Tensor constant(const char* name, Type type, const std::vector<std::int64_t>& shape, const std::vector<Operand>& elements,
                Where where) {
  if (!name || !*name) refuse("constant", "a name", "none", where);
  lang::require_data_type(type, name, where);
  if (shape.size() > static_cast<std::size_t>(max_rank))
    refuse(name, "at most 8 dimensions", std::to_string(shape.size()), where);
  std::int64_t count = 1;
  for (const std::int64_t n : shape) {
    if (n < 1) refuse(name, "extents of at least 1", shape_text(shape), where);
    if (__builtin_mul_overflow(count, n, &count)) refuse(name, "a shape of fewer than 2^63 elements", shape_text(shape), where);
  }
  if (count != static_cast<std::int64_t>(elements.size()))
    refuse(name, std::to_string(count) + " elements, as the shape " + shape_text(shape) + " has",
           std::to_string(elements.size()), where);
  lang::TensorDef t;
  t.kind = lang::TensorDef::Kind::constant;
  t.name = name;
  t.type = type;
  t.rank = static_cast<int>(shape.size());
  t.where = where;
  for (const std::int64_t n : shape) t.shape.push_back({ir::index(0), ir::index(n), ""});
  const auto size = static_cast<std::size_t>(type.bytes());
  auto data = std::make_shared<std::vector<std::byte>>(elements.size() * size);
  for (std::size_t k = 0; k < elements.size(); ++k)
    ir::write_value(data->data() + k * size, ir::value_of(lang::adopt(type, elements[k], name)));
  t.data = std::move(data);
  return Access::tensor(lang::add(std::move(t)));
}

}  // namespace detail

Tensor constant(const char* name, Type type, const Elements& elements, Where where) {
  const std::vector<std::int64_t> shape = shape_of(elements);
  for (const std::int64_t n : shape)
    if (n == 0) refuse(name ? name : "constant", "at least one element in every row", "an empty row", where);
  std::vector<Operand> list;
  collect(name ? name : "constant", elements, shape, 0, "element ", list, where);
  return detail::constant(name, type, shape, list, where);
}

}  // namespace ashlar
