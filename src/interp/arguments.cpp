// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Arrays, and what entry checks: shapes against the declared extents, symbols solved from them, facts and assumptions.
#include <algorithm>
#include <cmath>
#include <optional>

#include <ashlar/interp/interpreter.h>
#include <ashlar/ir/build.h>
#include <ashlar/ir/print.h>
#include <ashlar/ir/refusal.h>

#include "interp/arguments.h"
#include <ashlar/interp/tape.h>

namespace ashlar::interp {

using ir::Id;

// ---- arrays ------------------------------------------------------------------------------------------------------------

Array Array::zeros(Type type, std::vector<std::int64_t> shape) {
  Array a{type, std::move(shape), {}, {}};
  a.bytes.resize(static_cast<std::size_t>(a.elements() * type.bytes()));
  return a;
}

Array Array::make(Type type, std::vector<std::int64_t> shape,
                  const std::function<double(std::span<const std::int64_t>)>& value) {
  Array a = zeros(type, std::move(shape));
  for_each_index(a.shape, [&](std::span<const std::int64_t> at) {
    const double x = value(at);
    a.set(at, type.is_float() ? ir::float_value(type, x) : ir::int_value(type, static_cast<std::int64_t>(x)));
  });
  return a;
}

Array constant_array(Type type, const std::vector<Expr>& extents, const std::vector<std::byte>& data) {
  Array a{type, {}, {}, data};
  for (const Expr& e : extents) {
    std::int64_t n = 0;
    if (!ir::is_int(e, &n)) throw InternalError("interpreter: a constant whose extents are not numbers");
    a.shape.push_back(n);
  }
  return a;
}

std::int64_t Array::elements() const {
  std::int64_t n = 1;
  for (std::int64_t e : shape) n *= e;
  return n;
}

std::int64_t Array::offset(std::span<const std::int64_t> index) const {
  if (index.size() != shape.size()) throw InternalError("Array: an index of the wrong rank");
  std::int64_t at = 0;
  for (std::size_t d = 0; d < shape.size(); ++d) {
    if (index[d] < 0 || index[d] >= shape[d]) throw InternalError("Array: an index outside the shape");
    at = strides.empty() ? at * shape[d] + index[d] : at + index[d] * strides[d];
  }
  return at;
}

ir::Value Array::at(std::span<const std::int64_t> index) const {
  return ir::read_value(type, bytes.data() + offset(index) * type.bytes());
}

double Array::real(std::initializer_list<std::int64_t> index) const {
  const ir::Value v = at({index.begin(), index.size()});
  return type.is_float() ? v.f : static_cast<double>(v.i);
}

std::int64_t Array::integer(std::initializer_list<std::int64_t> index) const {
  const ir::Value v = at({index.begin(), index.size()});
  return type.is_float() ? static_cast<std::int64_t>(v.f) : v.i;
}

void Array::set(std::span<const std::int64_t> index, const ir::Value& v) {
  if (v.type != type) throw InternalError("Array: a value of another type");
  ir::write_value(bytes.data() + offset(index) * type.bytes(), v);
}

// ---- comparing ---------------------------------------------------------------------------------------------------------

namespace {

std::string difference_where(const Array& found, const Array& expected,
                             const std::function<bool(const ir::Value&, const ir::Value&)>& equal) {
  if (found.type != expected.type || found.shape != expected.shape) return "different types or shapes";
  std::int64_t count = 0;
  std::string first;
  for_each_index(found.shape, [&](std::span<const std::int64_t> at) {
    const ir::Value a = found.at(at), b = expected.at(at);
    if (equal(a, b)) return;
    if (count++ == 0) first = text_of_index(at) + ": " + ir::text(a) + ", expected " + ir::text(b);
  });
  return count == 0 ? "" : first + "; " + std::to_string(count) + " of " + std::to_string(found.elements()) + " differ";
}

}  // namespace

std::string difference(const Array& found, const Array& expected) { return difference_where(found, expected, ir::same_value); }

std::string difference(const Array& found, const Array& expected, double relative, double absolute) {
  return difference_where(found, expected, [&](const ir::Value& a, const ir::Value& b) {
    if (ir::same_value(a, b)) return true;
    if (!a.type.is_float()) return false;
    if (!std::isfinite(a.f) || !std::isfinite(b.f)) return false;
    return std::fabs(a.f - b.f) <= std::max(absolute, relative * std::max(std::fabs(a.f), std::fabs(b.f)));
  });
}

std::string text_of_index(std::span<const std::int64_t> index) {
  std::string s = "[";
  for (std::size_t d = 0; d < index.size(); ++d) s += (d ? ", " : "") + std::to_string(index[d]);
  return s + "]";
}

// ---- entry -------------------------------------------------------------------------------------------------------------

namespace {

[[noreturn]] void bad_argument(const std::string& text) { throw RunError(RunError::Kind::arguments, text); }

class NoMemory final : public Memory {
 public:
  int resolve(Id, const char* name) override {
    throw InternalError(std::string("a shape reads ") + (name ? name : "a buffer"));
  }
  Value read(int, const std::int64_t*, int) override { throw InternalError("a shape reads a buffer"); }
  std::string where() const override { return "a shape"; }
};

std::int64_t value_with(const Expr& e, const std::map<Id, std::int64_t>& symbols) {
  Slots slots;
  NoMemory none;
  for (const auto& [id, value] : symbols) slots.set(id, ir::int_value(ir::index_type, value));
  Tape tape(e, slots, none, Select::lazy);
  return tape.run().i;
}

void check_injective(const std::string& name, const Array& a) {
  std::map<std::int64_t, std::vector<std::int64_t>> seen;  // value -> where
  for_each_index(a.shape, [&](std::span<const std::int64_t> at) {
    const std::vector<std::int64_t> here(at.begin(), at.end());
    const auto [there, fresh] = seen.emplace(a.at(at).i, here);
    if (!fresh)
      bad_argument(name + " is promised to be injective, but its elements " + text_of_index(there->second) + " and " +
                   text_of_index(here) + " are both " + std::to_string(there->first));
  });
}

}  // namespace

std::map<Id, std::int64_t> solve_symbols(const std::vector<ir::Argument>& arguments, const std::map<Id, ir::Buffer>& buffers,
                                         const std::map<Id, ir::Symbol>& symbols, const std::vector<Expr>& assumptions,
                                         const Arguments& actual) {
  if (actual.size() != arguments.size())
    bad_argument("expected " + std::to_string(arguments.size()) + " arguments, found " + std::to_string(actual.size()));
  std::map<Id, std::int64_t> solved;
  struct Equation {
    const ir::Buffer* buffer;
    std::size_t dim;
    std::int64_t extent;
    bool done;
  };
  std::vector<Equation> equations;
  for (std::size_t k = 0; k < arguments.size(); ++k) {
    if (arguments[k].kind == ir::ArgumentKind::scalar) continue;
    const ir::Buffer& b = buffers.at(arguments[k].id);
    const Array& a = actual[k].array;
    if (actual[k].is_scalar) bad_argument(b.name + ": expected an array, found a scalar");
    if (a.type != b.type) bad_argument(b.name + ": expected elements of " + ir::text(b.type) + ", found " + ir::text(a.type));
    if (a.shape.size() != b.extents.size())
      bad_argument(b.name + ": expected rank " + std::to_string(b.extents.size()) + ", found " +
                   std::to_string(a.shape.size()));
    for (std::size_t d = 0; d < b.extents.size(); ++d) equations.push_back({&b, d, a.shape[d], false});
  }
  for (bool progress = true; progress;) {
    progress = false;
    for (Equation& q : equations) {
      if (q.done) continue;
      const Expr& e = q.buffer->extents[q.dim];
      std::vector<Id> open;
      for (Id id : ir::free_vars(e))
        if (!solved.count(id)) open.push_back(id);
      if (open.size() > 1) continue;
      auto name = [&] { return q.buffer->name + ", dimension " + std::to_string(q.dim); };
      if (open.size() == 1) {  // one unknown: tried as an affine function of it, then checked
        auto at = [&](std::int64_t x) {
          auto trial = solved;
          trial[open[0]] = x;
          return value_with(e, trial);
        };
        const std::int64_t base = at(0), slope = at(1) - base;
        if (slope == 0) continue;
        const std::int64_t x = ir::floor_div(q.extent - base, slope);
        if (at(x) != q.extent) bad_argument(name() + ": no value of a symbol gives extent " + std::to_string(q.extent));
        solved[open[0]] = x;
      } else if (const std::int64_t expected = value_with(e, solved); expected != q.extent) {
        bad_argument(name() + ": expected extent " + std::to_string(expected) + ", found " + std::to_string(q.extent));
      }
      q.done = progress = true;
    }
  }
  for (const auto& [id, symbol] : symbols) {
    const auto at = solved.find(id);
    if (at == solved.end()) bad_argument("the symbol " + symbol.name + " follows from no argument's shape");
    const std::int64_t x = at->second;
    if (x < 0 || x < symbol.min || x > symbol.max || ir::floor_mod(x, std::max<std::int64_t>(symbol.multiple_of, 1)) != 0)
      bad_argument("the symbol " + symbol.name + " is " + std::to_string(x) + ", which contradicts its declaration");
  }
  for (const Equation& q : equations)
    if (!q.done) bad_argument(q.buffer->name + ", dimension " + std::to_string(q.dim) + ": its extent could not be solved");
  for (std::size_t k = 0; k < arguments.size(); ++k)
    if (arguments[k].kind == ir::ArgumentKind::input && buffers.at(arguments[k].id).injective)
      check_injective(buffers.at(arguments[k].id).name, actual[k].array);
  for (const Expr& condition : assumptions)
    if (!value_with(condition, solved)) bad_argument("an assumption does not hold: " + ir::text(condition));
  return solved;
}

const ir::Program& taken(const ir::Program& p, const Arguments& actual) {
  if (p.variants.empty()) return p;
  const auto solved = solve_symbols(p.arguments, p.buffers, p.symbols, {}, actual);
  for (const ir::Variant& v : p.variants)
    if (value_with(v.condition, solved)) return taken(*v.program, actual);
  return p;
}

bool nothing_to_do(const std::vector<ir::Argument>& arguments, const Arguments& actual) {
  for (std::size_t k = 0; k < arguments.size(); ++k)
    if (arguments[k].kind == ir::ArgumentKind::output && actual[k].array.elements() != 0) return false;
  return true;
}

void bind_values(const std::vector<ir::Argument>& arguments, const std::map<Id, ir::ScalarArg>& scalars,
                 const std::map<Id, std::int64_t>& symbols, const Arguments& actual, Slots& slots) {
  for (const auto& [id, value] : symbols) slots.set(id, ir::int_value(ir::index_type, value));
  for (std::size_t k = 0; k < arguments.size(); ++k) {
    if (arguments[k].kind != ir::ArgumentKind::scalar) continue;
    const ir::ScalarArg& s = scalars.at(arguments[k].id);
    if (!actual[k].is_scalar || actual[k].scalar.type != s.type)
      bad_argument(s.name + ": expected a scalar of " + ir::text(s.type) + ", found " +
                   (actual[k].is_scalar ? "one of " + ir::text(actual[k].scalar.type) : "an array"));
    slots.set(s.id, actual[k].scalar);
  }
}

}  // namespace ashlar::interp
