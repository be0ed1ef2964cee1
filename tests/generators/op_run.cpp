#include "tests/generators/op_run.h"

#include <cstring>

#include <ashlar/ashlar.h>
#include <ashlar/ir/function.h>
#include <ashlar/runtime/runtime.h>

#include "generator/select.h"
#include "tests/generators/op_arguments.h"
#include "tests/support/sentence.h"

namespace op_tests {

using namespace ashlar;

namespace {

#ifdef ASHLAR_TEST_LLVM
ashlar_tensor seen(interp::Array& a) {
  if (a.type.is_packed()) a.bytes = packed_bytes(a);
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
  interp::Arguments arguments = op_arguments(p, sizes, 5);
  Run run;
  for (std::size_t k = 0; k < p.arguments.size(); ++k)
    if (p.arguments[k].kind == ir::ArgumentKind::input) run.inputs.push_back(arguments[k].array);
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
  if (op.call(pointers.data(), pointers.size()) != ASHLAR_OK) run.wrong = test::last_error();
  for (std::size_t k = 0, result = 0; k < arguments.size() && run.wrong.empty(); ++k) {
    if (p.arguments[k].kind != ir::ArgumentKind::output) continue;
    const double bound = bound_of(meant[k].array.type);
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
