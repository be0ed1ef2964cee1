#include "bench/programs/run.h"

#include <ashlar/runtime/runtime.h>
#include <fmt/core.h>

#include <stdexcept>

#include <ashlar/ir/function.h>
#include <ashlar/ir/print.h>

#include "apps/support/tensor.h"

namespace bench::programs {
namespace {

// f(T&) of element k as the C++ type that plain loops have for it
template <class F>
void as_plain(const Memory& m, std::size_t k, F f) {
  const auto at = [&]<class T>(T) -> T& { return reinterpret_cast<T*>(m.data.get())[k]; };
  const Type t = m.array->type;
  if (t == f32) return f(at(float{}));
  if (t == f64) return f(at(double{}));
  if (t == i8) return f(at(std::int8_t{}));
  if (t == i16) return f(at(std::int16_t{}));
  if (t == i32) return f(at(std::int32_t{}));
  if (t == i64) return f(at(std::int64_t{}));
  if (t == u8) return f(at(std::uint8_t{}));
  if (t == u16) return f(at(std::uint16_t{}));
  if (t == u32) return f(at(std::uint32_t{}));
  if (t == u64) return f(at(std::uint64_t{}));
  throw std::runtime_error(m.array->name + ": elements of " + ir::text(t) + "; expected f32, f64, or integers of 8 to 64 bits");
}

}  // namespace

Memory::Memory(const Program::Array& a) : array(&a) {
  for (const std::int64_t e : a.shape) elements *= static_cast<std::size_t>(e);
  bytes = elements * static_cast<std::size_t>(a.type.bytes());
  const std::size_t room = (bytes + 4095) / 4096 * 4096 + 4096;
  data.reset(static_cast<std::byte*>(std::aligned_alloc(4096, room)));
  if (!data) throw std::bad_alloc();
  std::memset(data.get(), 0x7b, room);
}

void Memory::fill(std::uint64_t seed) {
  std::mt19937_64 engine(seed);
  const std::vector<double> values = array->fill(static_cast<std::int64_t>(elements), engine);
  if (values.size() != elements)
    throw std::runtime_error(fmt::format("{}: {} elements, and {} numbers to fill them", array->name, elements, values.size()));
  for (std::size_t k = 0; k < elements; ++k) as_plain(*this, k, [&]<class T>(T& to) { to = static_cast<T>(values[k]); });
}

ashlar_tensor Memory::described() const {
  ashlar_tensor t{};
  const ir::TensorCode code = ir::tensor_code(array->type);
  t.data = data.get(), t.device_type = 1, t.ndim = static_cast<std::int32_t>(array->shape.size());
  t.shape = const_cast<std::int64_t*>(array->shape.data());
  t.type_code = code.code, t.type_bits = code.bits, t.type_lanes = 1;
  return t;
}

double Memory::value(std::size_t k) const {
  double v = 0;
  as_plain(*this, k, [&](auto& from) { v = static_cast<double>(from); });
  return v;
}

Arrays::Arrays(const Program& p) : sizes_(p.sizes.data()) {
  for (const Program::Array& a : p.inputs) inputs.emplace_back(a), inputs.back().fill(inputs.size());
  for (const Program::Array& a : p.outputs) outputs.emplace_back(a);
  for (const Memory& m : inputs) tensors_.push_back(m.described()), given_.push_back(m.data.get());
  for (const Memory& m : outputs) tensors_.push_back(m.described()), taken_.push_back(m.data.get());
  for (const lang::ArgumentRef& a : p.arguments)
    for (std::size_t k = 0; k < tensors_.size(); ++k)
      if ((k < inputs.size() ? p.inputs[k].name : p.outputs[k - inputs.size()].name) == a.tensor.name())
        pointers_.push_back(&tensors_[k]);
  workspace_.reserve(std::size_t{256} << 20);
}

std::function<void()> Arrays::call(const codegen::Compiled& code) {
  return [this, code] { apps::check(code.call(pointers_, &workspace_.context), &workspace_.error); };
}

}  // namespace bench::programs
