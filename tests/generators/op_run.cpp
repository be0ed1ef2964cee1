#include "tests/generators/op_run.h"

#include <algorithm>
#include <cstring>

#include <ashlar/analysis/simplify.h>
#include <ashlar/ashlar.h>
#include <ashlar/ir/build.h>
#include <ashlar/ir/function.h>
#include <ashlar/ir/print.h>
#include <ashlar/runtime/runtime.h>

#include "generator/select.h"

namespace op_tests {

using namespace ashlar;

namespace {

// What an extent is at the sizes of the symbols.
std::int64_t extent_at(const Expr& e, const ir::Substitution& sizes) {
  std::int64_t v = -1;
  if (!ir::is_int(analysis::simplify(ir::substitute(e, sizes)), &v) || v < 0)
    throw std::runtime_error("the extent " + ir::text(e) + " is no size");
  return v;
}

class Numbers {  // a linear congruential generator, Knuth's constants
 public:
  double next(Type t) {
    state_ = state_ * 6364136223846793005u + 1442695040888963407u;
    const auto r = static_cast<std::int64_t>(state_ >> 40);
    if (t == bool_) return static_cast<double>(r % 2);
    if (t.is_float()) return static_cast<double>(r % 1024 - 512) / 256;
    return static_cast<double>(t.is_unsigned() ? r % 4 : r % 7 - 3);
  }

 private:
  std::uint64_t state_ = 1;
};

// Dense; of elements of 4 bits the rows start on bytes.
interp::Array made(Type t, const std::vector<std::int64_t>& shape, Numbers& numbers) {
  std::vector<std::int64_t> stored = shape;
  if (t.is_packed() && !stored.empty()) stored.back() += stored.back() % 2;
  interp::Array a = interp::Array::make(t, stored, [&](auto) { return numbers.next(t); });
  if (stored == shape) return a;
  a.shape = shape;
  a.strides.assign(shape.size(), 1);
  for (std::size_t d = shape.size() - 1; d-- > 0;) a.strides[d] = a.strides[d + 1] * stored[d + 1];
  return a;
}

#ifdef ASHLAR_TEST_LLVM
ashlar_tensor seen(interp::Array& a) {
  if (a.type.is_packed()) {  // two to a byte, where the interpreter has one
    std::vector<std::byte> bytes((a.bytes.size() + 1) / 2);
    for (std::size_t k = 0; k < a.bytes.size(); ++k)
      bytes[k / 2] |= static_cast<std::byte>((static_cast<unsigned>(a.bytes[k]) & 15u) << (k % 2 * 4));
    a.bytes = std::move(bytes);
  }
  ashlar_tensor t{};
  t.data = a.bytes.data(), t.device_type = 1, t.ndim = static_cast<std::int32_t>(a.shape.size());
  const ir::TensorCode type = ir::tensor_code(a.type);
  t.type_code = type.code, t.type_bits = type.bits, t.type_lanes = 1, t.shape = a.shape.data();
  t.strides = a.strides.empty() ? nullptr : a.strides.data();
  return t;
}
#endif

}  // namespace

Run run_op(const std::string& name, const Params& params, const Sizes& sizes, [[maybe_unused]] bool compiled) {
  const detail::Registration& r = generator::find_generator(name);
  const detail::AnyInstance op(r.make, name.c_str(), Target::host(), params, r.where);
  const ir::Program& p = op.algorithm();
  ir::Substitution at;
  std::int64_t some = 5;
  for (const auto& [id, s] : p.symbols) {
    const auto given = sizes.find(s.name);
    std::int64_t size = given != sizes.end() ? given->second : std::max(s.min, some++);
    if (given == sizes.end()) size = (size + s.multiple_of - 1) / s.multiple_of * s.multiple_of;
    at.emplace_back(id, ir::index(size));
  }
  Numbers numbers;
  interp::Arguments arguments;
  Run run;
  for (const ir::Argument& a : p.arguments) {
    if (a.kind == ir::ArgumentKind::scalar) {
      const Type t = p.scalars.at(a.id).type;
      arguments.emplace_back(t.is_float() ? ir::float_value(t, 0.75) : ir::int_value(t, 1));
      continue;
    }
    const ir::Buffer& b = p.buffers.at(a.id);
    std::vector<std::int64_t> shape;
    for (const Expr& e : b.extents) shape.push_back(extent_at(e, at));
    if (a.kind == ir::ArgumentKind::input)
      arguments.emplace_back(made(b.type, shape, numbers));
    else
      arguments.emplace_back(interp::Array::zeros(b.type, shape));
    if (a.kind == ir::ArgumentKind::input) run.inputs.push_back(arguments.back().array);
  }
  interp::Arguments meant = arguments;
  interp::run_algorithm(p, meant);
  for (std::size_t k = 0; k < p.arguments.size(); ++k)
    if (p.arguments[k].kind == ir::ArgumentKind::output) run.results.push_back(meant[k].array);
#ifdef ASHLAR_TEST_LLVM
  if (!compiled) return run;
  std::vector<ashlar_tensor> tensors(arguments.size());
  std::vector<std::uint64_t> scalars(arguments.size());
  std::vector<const void*> pointers;
  for (std::size_t k = 0; k < arguments.size(); ++k) {
    if (!arguments[k].is_scalar) {
      tensors[k] = seen(arguments[k].array);
      pointers.push_back(&tensors[k]);
      continue;
    }
    const ir::Value& v = arguments[k].scalar;
    const interp::Array one =
        interp::Array::make(v.type, {1}, [&](auto) { return v.type.is_float() ? v.f : static_cast<double>(v.i); });
    std::memcpy(&scalars[k], one.bytes.data(), one.bytes.size());
    pointers.push_back(&scalars[k]);
  }
  if (op.call(pointers.data(), pointers.size()) != ASHLAR_OK) {
    char text[400];
    ashlar_error_text(ashlar_last_error(), text, sizeof text);
    run.wrong = text;
  }
  for (std::size_t k = 0, result = 0; k < arguments.size() && run.wrong.empty(); ++k) {
    if (p.arguments[k].kind != ir::ArgumentKind::output) continue;
    const Type t = meant[k].array.type;
    const double bound = !t.is_float() ? 0 : t.bits == 64 ? 1e-12 : t.bits == 32 ? 1e-5 : t == f16 ? 4e-3 : 3e-2;
    run.wrong = interp::difference(arguments[k].array, meant[k].array, bound, bound);
    if (!run.wrong.empty()) run.wrong = "result " + std::to_string(result) + ": " + run.wrong;
    ++result;
  }
#endif
  return run;
}

std::vector<std::string> op_names() {
  std::vector<std::string> names;
  for (const detail::Registration* r : generator::registered()) names.push_back(r->name);
  return names;
}

}  // namespace op_tests
