#include "arguments.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <set>
#include <stdexcept>

#include <ashlar/analysis/packed.h>
#include <ashlar/codegen/abi_layout.h>
#include <ashlar/ir/print.h>
#include <ashlar/ir/refusal.h>

namespace fuzz {
namespace {

using namespace ashlar;

constexpr std::byte untouched{0xa5};

ir::Value edge_value(Random& r, Type t) {
  const std::uint64_t how = r.next() % 10;
  if (t.is_float()) {
    const double big = t == f64 ? 1e300 : t == f16 ? 6e4 : t == e4m3 ? 448 : t == e5m2 ? 57344 : 3e38;
    const double tiny = t == f64 ? 5e-324 : t == f16 ? 6e-8 : t == e4m3 ? 0x1p-9 : t == e5m2 ? 0x1p-16 : 1e-45;
    const double all[] = {std::nan(""), HUGE_VAL, -HUGE_VAL, 0.0, -0.0, tiny, -tiny, big, -big, 1.0};
    return ir::float_value(t, all[how]);
  }
  if (t.is_bool()) return ir::int_value(t, static_cast<std::int64_t>(how & 1));
  const std::int64_t all[] = {
      ir::lowest_of(t), ir::highest_of(t), 0, 1, -1, ir::lowest_of(t) + 1, 2, ir::highest_of(t) - 1, 64, 31};
  return ir::int_value(t, all[how]);
}

ir::Value draw_value(Random& r, Type t, const Values& values) {
  if (t.is_bool()) return ir::int_value(t, static_cast<std::int64_t>(r.next() % 2));
  if (values.exact) {
    const std::int64_t v = static_cast<std::int64_t>(r.next() % 5) - (t.is_unsigned() ? 0 : 2);
    return t.is_float() ? ir::float_value(t, static_cast<double>(v)) : ir::int_value(t, v);
  }
  if (values.edges && r.next() % 3 == 0) return edge_value(r, t);
  if (t.is_float())
    return ir::float_value(t, (static_cast<double>(r.next() >> 40) / (1 << 23) - 1) * (r.next() % 4 == 0 ? 100 : 4));
  if (r.next() % 2) return ir::int_value(t, static_cast<std::int64_t>(r.next() % 24) - (t.is_unsigned() ? 0 : 8));
  return ir::int_value(t, static_cast<std::int64_t>(r.next()));
}

std::int64_t offset_of(const interp::Array& a, const std::vector<std::int64_t>& at) {
  std::int64_t offset = 0, dense = 1;
  for (std::size_t d = at.size(); d-- > 0; dense *= a.shape[d]) offset += at[d] * (a.strides.empty() ? dense : a.strides[d]);
  return offset;
}

// The bytes of an array as a C entry takes them: the interpreter's arrays have a byte for each packed element.
std::vector<std::byte> in_memory(const interp::Array& a) {
  if (!a.type.is_packed()) return a.bytes;
  std::vector<std::byte> bytes((a.bytes.size() + 1) / 2, std::byte{0});
  for (std::size_t e = 0; e < a.bytes.size(); ++e) bytes[e / 2] |= (a.bytes[e] & std::byte{15}) << (e % 2 * 4);
  return bytes;
}

}  // namespace

namespace {

Sizes any_sizes(Source& s, const ir::Program& p) {
  Sizes sizes;
  for (const auto& [id, symbol] : p.symbols) {
    const std::int64_t low = (symbol.min + symbol.multiple_of - 1) / symbol.multiple_of;
    const std::int64_t usual = std::max<std::int64_t>({symbol.min, 9, 2 * symbol.multiple_of});
    const std::int64_t choices =
        std::max<std::int64_t>(std::min<std::int64_t>(symbol.max, usual) / symbol.multiple_of - low + 1, 1);
    // as small as can be, often: 0 where that is allowed
    sizes[symbol.name] = (low + (s.one_in(3) ? 0 : s.pick(static_cast<std::uint32_t>(choices)))) * symbol.multiple_of;
  }
  return sizes;
}

ir::Substitution values_of(const ir::Program& p, const Sizes& sizes) {
  ir::Substitution symbols;
  for (const auto& [id, symbol] : p.symbols) symbols.emplace_back(id, ir::index(sizes.at(symbol.name)));
  return symbols;
}

// Every element another one; false where the type has too few values.
bool fill_with_different(Random& r, interp::Array& array, Type t) {
  std::int64_t elements = 1;
  for (const std::int64_t n : array.shape) elements *= n;
  if (t.bits < 32 && elements > std::int64_t{1} << t.bits) return false;
  std::vector<std::int64_t> values;
  const std::int64_t from = t.is_unsigned() || r.next() % 2 ? 0 : std::max<std::int64_t>(-(elements / 2), ir::lowest_of(t));
  for (std::int64_t k = 0; k < elements; ++k) values.push_back(from + k);
  for (std::size_t k = values.size(); k > 1; --k) std::swap(values[k - 1], values[r.next() % k]);
  std::size_t next = 0;
  each(array.shape, [&](const auto& at) { array.set(at, ir::int_value(t, values[next++])); });
  return true;
}

}  // namespace

Shapes draw_sizes(Source& s, const ir::Program& p, const Promises& promises) {
  Shapes shapes;
  for (int n = 0; n < 40 && !shapes.kept; ++n) {
    const Sizes sizes = any_sizes(s, p);
    const ir::Substitution symbols = values_of(p, sizes);
    const bool kept = std::all_of(promises.conditions.begin(), promises.conditions.end(),
                                  [&](const Expr& c) { return ir::is_int(ir::substitute(c, symbols), 1); });
    if (kept)
      shapes.kept = sizes;
    else if (!shapes.broken)
      shapes.broken = sizes;
  }
  return shapes;
}

std::optional<interp::Arguments> draw_arguments(Source& s, const ir::Program& p, const Values& values, const Sizes& sizes,
                                                std::string& described, const Promises& promises) {
  const ir::Substitution symbols = values_of(p, sizes);
  for (const auto& [name, n] : sizes) described += name + " = " + std::to_string(n) + " ";
  Random random(s.pick(1u << 30));
  interp::Arguments args;
  for (const ir::Argument& a : p.arguments) {
    if (a.kind == ir::ArgumentKind::scalar) {
      args.emplace_back(draw_value(random, p.scalars.at(a.id).type, values));
      continue;
    }
    const ir::Buffer& b = p.buffer(a.id);
    interp::Array array;
    array.type = b.type;
    for (const Expr& e : b.extents) {
      std::int64_t n = 0;
      if (!ir::is_int(ir::substitute(e, symbols), &n)) throw InternalError("an extent that is no constant: " + ir::text(e));
      array.shape.push_back(n);
    }
    const std::uint32_t how = s.pick(5);
    std::int64_t stride = 1;
    const std::int64_t in_byte = b.type.is_packed() ? 8 / b.type.bits : 1;
    const auto rounded_up = [&](std::int64_t n) { return (n + in_byte - 1) / in_byte * in_byte; };
    const bool even = in_byte == 1 || b.rank < 2 || array.shape.back() % in_byte == 0;  // rows start on bytes
    if (b.order != ir::Buffer::Order::dense && (how >= 3 || !even) && b.rank > 0) {
      array.strides.assign(array.shape.size(), 1);
      const bool any = b.order == ir::Buffer::Order::any;
      std::vector<std::size_t> order;
      for (std::size_t d = array.shape.size(); d-- > 0;) order.push_back(d);
      if (any && how == 4) std::reverse(order.begin(), order.end());
      if (any) stride = s.between(1, 2);
      for (std::size_t d : order) {
        if (d + 1 < array.shape.size()) stride = rounded_up(stride);
        array.strides[d] = stride, stride = stride * std::max<std::int64_t>(array.shape[d], 1) + s.between(0, 2);
      }
      described += b.name + " with strides ";
      for (std::int64_t n : array.strides) described += std::to_string(n) + " ";
    }
    std::int64_t elements = 0;
    each(array.shape, [&](const auto& at) { elements = std::max(elements, offset_of(array, at) + 1); });
    array.bytes.assign(static_cast<std::size_t>(elements * b.type.bytes()), untouched);
    if (promises.injective.count(a.id)) {
      if (!fill_with_different(random, array, b.type)) return std::nullopt;
    } else if (a.kind == ir::ArgumentKind::input)
      each(array.shape, [&](const auto& at) { array.set(at, draw_value(random, b.type, values)); });
    args.emplace_back(std::move(array));
  }
  return args;
}

namespace {
void checked(int code, const ashlar_error& error) {
  char text[400];
  if (code == ASHLAR_OK) return;
  ashlar_error_text(&error, text, sizeof text);
  throw std::runtime_error(text);
}

// What the caller of a packed argument hands over: the logical array in its layout, the rest 0.
interp::Array packed(const ir::Program& p, const ir::Buffer& b, const interp::Array& logical, const ir::Substitution& symbols) {
  std::vector<std::int64_t> shape;
  for (const Expr& e : analysis::packed_extents(p.symbols, b)) {
    std::int64_t n = 0;
    if (!ir::is_int(ir::substitute(e, symbols), &n)) throw InternalError("an extent that is no constant: " + ir::text(e));
    shape.push_back(std::max<std::int64_t>(0, n));
  }
  interp::Array physical = interp::Array::zeros(logical.type, shape);
  each(logical.shape, [&](const auto& at) {
    ir::Substitution index;
    for (std::size_t d = 0; d < at.size(); ++d) index.emplace_back(b.layout.vars[d], ir::index(at[d]));
    std::vector<std::int64_t> to;
    for (const Expr& e : b.layout.map) { ir::is_int(ir::substitute(e, index), &to.emplace_back()); }
    physical.set(to, logical.at(at));
  });
  return physical;
}
}  // namespace

Guarded::Guarded(const ir::Program& p, const interp::Arguments& args, const Sizes& sizes, const OnDevice& device)
    : program_(p), blocks_(args.size()) {
  constexpr std::size_t guard = 192;
  for (std::size_t k = 0; k < args.size(); ++k) {
    Block& b = blocks_[k];
    if (args[k].is_scalar) {
      b.scalar = ir::to_bits(args[k].scalar);
      pointers_.push_back(&b.scalar);
      continue;
    }
    const interp::Array& a = args[k].array;
    const ir::Buffer& buffer = p.buffer(p.arguments[k].id);
    const bool by_layout = buffer.packed_by_caller && !buffer.layout.map.empty();
    const std::vector<std::byte> bytes = by_layout ? packed(p, buffer, a, values_of(p, sizes)).bytes : in_memory(a);
    b.memory.assign(bytes.size() + 2 * guard + 128, untouched);
    const auto address = device ? 0 : reinterpret_cast<std::uintptr_t>(b.memory.data());  // a device's is aligned enough
    b.at = guard + (64 - (address + guard) % 64) % 64 + (buffer.align ? 0 : static_cast<std::size_t>(a.type.bytes()));
    b.size = bytes.size();
    if (!bytes.empty()) std::memcpy(b.memory.data() + b.at, bytes.data(), bytes.size());
    b.before = b.memory;
    b.shape = a.shape;
    if (!by_layout) b.strides = a.strides;
    const codegen::TensorType type = codegen::tensor_type(a.type);
    b.tensor.data = a.bytes.empty() ? nullptr : b.memory.data() + b.at;
    b.tensor.device_type = 1;
    b.tensor.ndim = static_cast<std::int32_t>(a.shape.size());
    b.tensor.type_code = type.code, b.tensor.type_bits = type.bits, b.tensor.type_lanes = 1;
    b.tensor.shape = b.shape.data();
    b.tensor.strides = b.strides.empty() ? nullptr : b.strides.data();
    pointers_.push_back(&b.tensor);
    if (device.cuda) {
      b.on_cuda = std::make_unique<gpu_bench::Memory>(*device.cuda, b.memory.size());
      b.on_cuda->upload(b.memory.data());
      b.tensor.device_type = 2;
      if (b.tensor.data) b.tensor.data = static_cast<std::byte*>(b.on_cuda->pointer()) + b.at;
    }
    if (!device.vulkan) continue;
    ashlar_error error = {};
    ashlar_vulkan_buffer* made = nullptr;
    checked(ashlar_vulkan_alloc(device.vulkan, b.memory.size(), &made, &error), error);
    b.on_device.reset(made);
    checked(ashlar_vulkan_upload(made, 0, b.memory.data(), b.memory.size(), &error), error);
    b.tensor.data = made, b.tensor.device_type = 7, b.tensor.byte_offset = b.at;
  }
}

std::vector<emulated::Tensor> Guarded::tensors() const {
  std::vector<emulated::Tensor> all;
  for (std::size_t k = 0; k < blocks_.size(); ++k) {
    const Block& b = blocks_[k];
    const auto begin = b.memory.begin() + static_cast<std::ptrdiff_t>(b.at);
    all.push_back({program_.buffer(program_.arguments[k].id).type,
                   b.shape,
                   {begin, begin + static_cast<std::ptrdiff_t>(b.size)},
                   b.strides});
  }
  return all;
}

void Guarded::put(const std::vector<emulated::Tensor>& tensors) {
  for (std::size_t k = 0; k < blocks_.size(); ++k)
    std::copy(tensors[k].bytes.begin(), tensors[k].bytes.end(),
              blocks_[k].memory.begin() + static_cast<std::ptrdiff_t>(blocks_[k].at));
}

std::string Guarded::take(interp::Arguments& args) {
  for (std::size_t k = 0; k < args.size(); ++k) {
    if (args[k].is_scalar) continue;
    Block& b = blocks_[k];
    ashlar_error error = {};
    if (b.on_device) checked(ashlar_vulkan_download(b.on_device.get(), 0, b.memory.data(), b.memory.size(), &error), error);
    if (b.on_cuda) b.on_cuda->download(b.memory.data());
    interp::Array& a = args[k].array;
    std::vector<bool> ours(b.memory.size(), false);
    if (program_.arguments[k].kind == ir::ArgumentKind::output)
      each(a.shape, [&](const auto& at) {
        const std::size_t first = b.at + static_cast<std::size_t>(offset_of(a, at) * a.type.bytes());
        for (int n = 0; n < a.type.bytes(); ++n) ours[first + static_cast<std::size_t>(n)] = true;
      });
    for (std::size_t n = 0; n < b.memory.size(); ++n)
      if (!ours[n] && b.memory[n] != b.before[n])
        return "byte " + std::to_string(static_cast<std::int64_t>(n) - static_cast<std::int64_t>(b.at)) + " of " +
               program_.buffer(program_.arguments[k].id).name + " was written, which is none of its elements";
    if (program_.arguments[k].kind != ir::ArgumentKind::output) continue;
    if (!a.bytes.empty() && !a.type.is_packed()) std::memcpy(a.bytes.data(), b.memory.data() + b.at, a.bytes.size());
  }
  return "";
}

}  // namespace fuzz
