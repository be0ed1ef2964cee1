#include "bench/gpu/kernels.h"

#include <algorithm>
#include <cstring>
#include <random>
#include <stdexcept>

#include <ashlar/codegen/abi_layout.h>
#include <ashlar/ir/function.h>
#include <ashlar/lang.h>
#include <ashlar/lang/build_program.h>
#include <ashlar/ops.h>
#include <ashlar/runtime/cuda.h>
#include <ashlar/runtime/runtime.h>
#include <ashlar/schedules.h>

#include "bench/gpu/library_cases.h"
#include "bench/gpu/tile_kernels.h"
#include "tests/cuda/programs.h"
#include "tests/generators/op_arguments.h"
#include "tests/interp/launch_matmul.h"

namespace gpu_bench {

using namespace ashlar;
using interp::Arguments;
using interp::Array;

std::string target_for(const Device& d) {
  if (d.capability() == 90) return "cuda-sm_90a";
  if (d.capability() == 100) return "cuda-sm_100a";
  return d.capability() >= 80 ? "cuda-sm_80" : "";
}

Array random_array(Type t, std::vector<std::int64_t> shape, unsigned seed, bool integers) {
  std::mt19937 random(seed);
  return Array::make(t, std::move(shape), [&](std::span<const std::int64_t>) {
    if (integers || !t.is_float()) return static_cast<double>(static_cast<int>(random() % 5) - (t.is_unsigned() ? 0 : 2));
    return static_cast<double>(static_cast<int>(random() % 20001) - 10000) / 4096;
  });
}

namespace {

// Any bits there are: infinities, NaNs, subnormal numbers, the largest integers.
Array random_bits(Type t, std::vector<std::int64_t> shape, unsigned seed) {
  Array a = Array::zeros(t, std::move(shape));
  std::mt19937 random(seed);
  for (std::byte& b : a.bytes) b = static_cast<std::byte>(t.is_bool() ? random() % 2 : random() % 256);
  return a;
}

}  // namespace

// Outputs hold a pattern, so that what is not written is seen.
Arguments arguments_of(const ir::Kernel& k, const Sizes& sizes, Data data) {
  ir::Substitution values;
  for (const auto& [id, s] : k.symbols) values.emplace_back(id, ir::index(sizes.at(s.name)));
  Arguments all;
  unsigned seed = 1;
  for (const ir::Argument& a : k.arguments) {
    const ir::Buffer& b = k.argument_buffers.at(a.id);
    std::vector<std::int64_t> shape;
    for (const Expr& e : b.extents) {
      std::int64_t n = 0;
      if (!ir::is_int(ir::substitute(e, values), &n)) throw std::runtime_error(k.name + ": an extent that is no constant");
      shape.push_back(n);
    }
    if (a.kind == ir::ArgumentKind::output) {
      all.emplace_back(Array::zeros(b.type, shape));
      std::fill(all.back().array.bytes.begin(), all.back().array.bytes.end(),
                b.type.is_bool() ? std::byte{1} : std::byte{0x5b});
    } else
      all.emplace_back(data == Data::bits ? random_bits(b.type, shape, ++seed)
                                          : random_array(b.type, shape, ++seed, data == Data::integers));
  }
  return all;
}

ir::Kernel mma_product(const std::string& target, const mma_operators::Options& options) {
  return cuda::lowered(mma_operators::Product(Target::parse(target), options).s);
}

namespace {

// schedules::gpu_matmul as a user calls it, with its own tiles.
ir::Kernel product_by_family(Type type, const std::string& target) {
  lang::DefinitionScope scope;
  const Symbol M{"M"}, N{"N"}, K{"K"};
  const Tensor A = lang::make_input("A", type, {M, K}), B = lang::make_input("B", type, {K, N});
  const ops::Product p = ops::matmul(A, B);
  const Tensor C = lang::make_output("C", p.result.type(), p.result.shape().extents());
  lang::bind(C, p.result);
  const lang::Built built =
      lang::build_program("gpu_matmul", {lang::ArgumentRef(A), lang::ArgumentRef(B), lang::ArgumentRef(C)});
  Schedule s(built, Target::parse(target));
  if (p.sum.type() == p.result.type())
    schedules::gpu_matmul(s, s[p.sum], A, B);
  else
    schedules::gpu_matmul(s, s[p.sum], A, B, s[p.result]);
  return cuda::lowered(s);
}

// A persistent kernel has a block for each.
std::int64_t multiprocessors() {
  int count = 0;
  ashlar_error error = {};
  if (ashlar_cuda_multiprocessors(nullptr, &count, &error) == ASHLAR_OK) return count;
  std::string why(ashlar_error_text(&error, nullptr, 0), '\0');
  ashlar_error_text(&error, why.data(), why.size() + 1);
  throw std::runtime_error(why);
}

}  // namespace

ir::Kernel kernel_named(const std::string& name, const std::string& target) {
  for (const auto& [known, make] : cuda::operators())
    if (known == name) return make(target);
  if (name.rfind("tile_", 0) == 0) return tile_kernel(name, target).kernel;
  if (name == "mma_product") return mma_product(target, mma_operators::whole_tiles(bf16));
  if (name.rfind("ashlar-ops ", 0) == 0) return library_kernel(name.substr(11), target);
  if (name == "gpu_matmul f32") return product_by_family(f32, target);
  if (name == "gpu_matmul bf16") return product_by_family(bf16, target);
  if (name == "matmul" && target == "cuda-sm_90a") return launches::persistent::matmul(multiprocessors()).k;
  if (name.rfind("matmul ", 0) == 0 && target == "cuda-sm_90a")
    return launches::persistent::matmul(std::stoll(name.substr(7))).k;
  throw std::runtime_error("no kernel " + name + " for " + target);
}

namespace {

constexpr std::size_t kBand = 256;  // bytes on both sides of a tensor: no kernel may write them
constexpr std::byte kUntouched{0xa5};

std::vector<std::byte> in_memory(const interp::Actual& a) {
  return a.array.type.is_packed() ? op_tests::packed_bytes(a.array) : a.array.bytes;
}

}  // namespace

Tensors::Tensors(const Device& d, const Arguments& arguments) {
  parts_.resize(arguments.size());
  for (std::size_t n = 0; n < arguments.size(); ++n) {
    Part& p = parts_[n];
    if (arguments[n].is_scalar) {
      p.scalar = ir::to_bits(arguments[n].scalar);
      list_.push_back(&p.scalar);
      continue;
    }
    const Array& a = arguments[n].array;
    const std::vector<std::byte> bytes = in_memory(arguments[n]);
    p.bytes = bytes.size();
    std::vector<std::byte> all(p.bytes + 2 * kBand, kUntouched);
    std::copy(bytes.begin(), bytes.end(), all.begin() + kBand);
    p.memory = std::make_unique<Memory>(d, all.size());
    p.memory->upload(all.data());
    p.shape = a.shape, p.strides = a.strides;
    const codegen::TensorType type = codegen::tensor_type(a.type);
    ashlar_tensor& t = p.tensor;
    t.data = p.bytes == 0 ? nullptr : pointer(n), t.device_type = 2, t.ndim = static_cast<std::int32_t>(p.shape.size());
    t.type_code = type.code, t.type_bits = type.bits, t.type_lanes = 1, t.shape = p.shape.data();
    t.strides = p.strides.empty() ? nullptr : p.strides.data();
    list_.push_back(&t);
  }
}

void* Tensors::pointer(std::size_t n) const { return static_cast<std::byte*>(parts_[n].memory->pointer()) + kBand; }

std::string Tensors::read(std::size_t n, Array& a) const {
  const Part& p = parts_[n];
  std::vector<std::byte> all(p.bytes + 2 * kBand);
  p.memory->download(all.data());
  const auto begin = all.begin() + kBand, end = begin + static_cast<std::ptrdiff_t>(p.bytes);
  if (a.type.is_packed())
    for (std::size_t k = 0; k < a.bytes.size(); ++k) {
      const unsigned half = static_cast<unsigned>(begin[static_cast<std::ptrdiff_t>(k / 2)]) >> (k % 2 * 4) & 15u;
      a.bytes[k] = static_cast<std::byte>(!a.type.is_unsigned() && half > 7 ? half | 0xf0u : half);
    }
  else
    std::copy(begin, end, a.bytes.begin());
  const auto untouched = [](std::byte b) { return b == kUntouched; };
  return std::all_of(all.begin(), begin, untouched) && std::all_of(end, all.end(), untouched)
             ? ""
             : "bytes in front of it or behind it were written";
}

std::string last_sentence() {
  std::string text(ashlar_error_text(ashlar_last_error(), nullptr, 0), '\0');
  ashlar_error_text(ashlar_last_error(), text.data(), text.size() + 1);
  return text;
}

}  // namespace gpu_bench
