#include "bench/gpu/kernels.h"

#include <algorithm>
#include <cstring>
#include <random>
#include <stdexcept>

#include <ashlar/codegen/abi_layout.h>
#include <ashlar/ir/math.h>
#include <ashlar/ir/print.h>
#include <ashlar/runtime/runtime.h>

#include "tests/cuda/every_operator.h"
#include "tests/cuda/programs.h"
#include "tests/interp/launch_attention.h"
#include "tests/interp/launch_matmul.h"
#include "tests/interp/launch_small.h"
#include "tests/schedules/gpu_programs.h"
#include "tests/support/mma_operators.h"
#include "tests/vulkan/programs.h"

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

void expand(std::vector<ir::KStmt>& list) {  // math functions as lowering leaves them
  for (ir::KStmt& s : list) {
    for_each_expr(s, [](Expr& e) { e = ir::expand_math(e); });
    for (auto* part : s.bodies()) expand(*part);
  }
}

// Arguments of a kernel for values of its symbols, by name.
enum class Data { reals, integers, bits };

Arguments arguments(const ir::Kernel& k, const std::map<std::string, std::int64_t>& sizes, Data data) {
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
    if (a.kind == ir::ArgumentKind::output)
      all.emplace_back(Array::zeros(b.type, shape));
    else
      all.emplace_back(data == Data::bits ? random_bits(b.type, shape, ++seed)
                                          : random_array(b.type, shape, ++seed, data == Data::integers));
  }
  return all;
}

using Shapes = std::vector<std::map<std::string, std::int64_t>>;

const std::map<std::string, Shapes>& operator_shapes() {
  static const std::map<std::string, Shapes> all = {
      {"add_bias", {{{"M", 3}, {"N", 64}}, {{"M", 2}, {"N", 130}}, {{"M", 1}, {"N", 1}}}},
      {"transpose", {{{"M", 32}, {"N", 64}}, {{"M", 33}, {"N", 40}}, {{"M", 1}, {"N", 1}}}},
      {"product", {{{"M", 32}, {"N", 32}, {"K", 32}}, {{"M", 33}, {"N", 35}, {"K", 17}}, {{"M", 1}, {"N", 2}, {"K", 3}}}},
      {"pipelined_product",
       {{{"M", 32}, {"N", 32}, {"K", 112}}, {{"M", 33}, {"N", 35}, {"K", 17}}, {{"M", 1}, {"N", 2}, {"K", 3}}}},
      {"softmax_tree", {{{"M", 2}, {"N", 64}}, {{"M", 3}, {"N", 100}}, {{"M", 1}, {"N", 1}}}},
      {"row_sums", {{{"M", 4}, {"N", 64}}, {{"M", 5}, {"N", 100}}, {{"M", 1}, {"N", 1}}}},
      {"sum_tree", {{{"N", 9000}}, {{"N", 100}}, {{"N", 1}}}},
      {"softmax", {{{"M", 2}, {"N", 64}}, {{"M", 3}, {"N", 100}}, {{"M", 1}, {"N", 1}}}},
      {"sum", {{{"N", 9000}}, {{"N", 100}}, {{"N", 1}}}},
      {"conv3x3", {{{"H", 8}, {"W", 16}, {"C", 2}, {"D", 2}}, {{"H", 9}, {"W", 3}, {"C", 1}, {"D", 1}}}},
      {"attention", {{{"H", 2}, {"M", 2}, {"N", 70}}, {{"H", 1}, {"M", 1}, {"N", 1}}}},
      {"argmax", {{{"M", 3}, {"N", 200}}, {{"M", 1}, {"N", 1}}}},
      {"complex_product", {{{"M", 5}, {"N", 131}}, {{"M", 1}, {"N", 1}}}},
      {"online_attention", {{{"M", 40}, {"N", 21}}, {{"M", 1}, {"N", 1}}}},
      {"differences_by_size", {{{"N", 7}}, {{"N", 100}}, {{"N", 1}}}},
      {"turned", {{{"M", 64}}, {{"M", 4}}}},
      {"ring_of_warps", {{{"M", 64}, {"K", 9}}, {{"M", 4}, {"K", 1}}}},
      {"recurrence_of_rows", {{{"R", 67}, {"T", 40}}, {{"R", 1}, {"T", 1}}}},
      {"recurrence_of_columns", {{{"R", 40}, {"T", 67}}, {{"R", 1}, {"T", 1}}}},
      {"scans_in_shared_memory", {{{"R", 33}}, {{"R", 1}}}},
      {"scans_in_blocks", {{{"R", 3}, {"T", 301}}, {{"R", 1}, {"T", 1}}}},
      {"counts_of_blocks", {{{"H", 9}, {"W", 70}}, {{"H", 1}, {"W", 1}}}},
      {"counts_in_shared_memory", {{{"H", 9}, {"W", 70}}, {{"H", 1}, {"W", 1}}}}};
  return all;
}

const Shapes& shapes_of(const std::string& name) {
  const auto known = operator_shapes().find(name);
  if (known == operator_shapes().end()) throw std::runtime_error("no shapes to run the operator " + name + " at");
  return known->second;
}

ir::Kernel mma_product(const std::string& target, const mma_operators::Options& options) {
  return cuda::lowered(mma_operators::Product(Target::parse(target), options).s);
}

}  // namespace

ir::Kernel kernel_named(const std::string& name, const std::string& target) {
  for (const auto& [known, make] : cuda::operators())
    if (known == name) return make(target);
  if (name == "mma_product")
    return mma_product(target, {.half = bf16,
                                .stages = 3,
                                .tile_m = 128,
                                .tile_n = 128,
                                .warp_m = 64,
                                .warp_n = 64,
                                .virtual_threads = false,
                                .matrices = true,
                                .whole = true});
  if (name == "matmul" && target == "cuda-sm_90a") return launches::persistent::matmul(132).k;
  throw std::runtime_error("no kernel " + name + " for " + target);
}

std::vector<Case> cases(const std::string& target) {
  std::vector<Case> all;
  auto add = [&](const std::string& name, ir::Kernel k, const Shapes& shapes, Data data = Data::reals, double relative = 0) {
    expand(k.body);
    Case c{name, std::move(k), relative, {}};
    for (const auto& s : shapes) c.data.push_back(arguments(c.kernel, s, data));
    all.push_back(std::move(c));
  };
  for (const auto& [name, make] : cuda::operators()) add(name, make(target), shapes_of(name));
  for (Type t : {bool_, i8, i16, i32, i64, u8, u16, u32, u64, f16, bf16, f32, f64, e4m3, e5m2})
    for (ir::Kernel& k : cuda::every_operator(t)) add("operators on " + ir::text(t), std::move(k), {{}}, Data::bits);
  const Shapes matrix = {{{"M", 5}, {"N", 8}}, {{"M", 40}, {"N", 64}}};
  add("elementwise", programs::elementwise().k, matrix);
  add("elementwise, vectors", programs::elementwise_vectors().k, matrix);
  add("large_sum", programs::large_sum(f32).k, {{{"N", 1}}, {{"N", 5000}}});
  add("transposition", programs::transposition().k, matrix);
  add("matmul by hand", programs::matmul().k, {{{"M", 45}, {"K", 19}, {"N", 70}}});
  add("row_softmax", programs::row_softmax().k, matrix);
  add("warp_reversed", programs::warp_reversed(f32, 32).k, {{{"M", 9}}});
  for (Type t : {f32, i64, i8, f16}) add("warp_sums of " + ir::text(t), programs::warp_sums(t, 32).k, {{{"M", 9}}});
  add("block_sum", launches::small::block_sum().k, {{{"M", 6}, {"N", 600}}, {{"M", 67}, {"N", 45}}});
  for (auto form : {launches::small::Tile::padded, launches::small::Tile::swizzled})
    add("transposition by hand", launches::small::transposition(form).k, {{{"M", 67}, {"N", 45}}});
  add("a tile of attention", launches::fragments::attention().k, {{{"S", 64}, {"T", 160}}, {{"S", 40}, {"T", 75}}}, Data::reals,
      0.02);
  for (Type half : {f16, bf16})
    for (bool matrices : {false, true})
      for (int stages : {2, 3})
        add("product by a user's instruction, " + ir::text(half) + (matrices ? ", ldmatrix, " : ", ") + std::to_string(stages),
            mma_product(target, {.half = half, .stages = stages, .matrices = matrices}),
            {{{"M", 64}, {"N", 64}, {"K", 160}}, {{"M", 80}, {"N", 72}, {"K", 48}}, {{"M", 16}, {"N", 8}, {"K", 16}}},
            Data::integers);
  add("whole tiles by a user's instruction", kernel_named("mma_product", target), {{{"M", 128}, {"N", 256}, {"K", 160}}},
      Data::integers);
  for (const schedules_test::DeviceProgram& p : schedules_test::device_programs()) {
    schedules_test::DeviceRuns r = runs_of(p, Target::parse(target));
    std::erase_if(r.given, [](const Arguments& a) {  // no memory is given out of 0 bytes
      return std::any_of(a.begin(), a.end(), [](const interp::Actual& x) { return x.array.bytes.empty(); });
    });
    all.push_back({"by family: " + p.name, std::move(r.kernel), 0, std::move(r.given)});
  }
  if (target == "cuda-sm_90a")
    add("persistent product", launches::persistent::matmul().k,
        {{{"M", 128}, {"N", 256}, {"K", 640}}, {{"M", 200}, {"N", 264}, {"K", 200}}, {{"M", 40}, {"N", 24}, {"K", 8}}},
        Data::integers);
  return all;
}

Tensors::Tensors(const Device& d, const Arguments& arguments) {
  for (const interp::Actual& a : arguments) {
    memory_.push_back(std::make_unique<Memory>(d, a.array.bytes.size()));
    memory_.back()->upload(a.array.bytes.data());
    shapes_.push_back(a.array.shape);
  }
  for (std::size_t n = 0; n < arguments.size(); ++n) {
    const codegen::TensorType type = codegen::tensor_type(arguments[n].array.type);
    ashlar_tensor t = {};
    t.data = memory_[n]->pointer(), t.device_type = 2, t.ndim = static_cast<std::int32_t>(shapes_[n].size());
    t.type_code = type.code, t.type_bits = type.bits, t.type_lanes = 1, t.shape = shapes_[n].data();
    tensors_.push_back(t);
  }
  for (const ashlar_tensor& t : tensors_) list_.push_back(&t);
}

void Tensors::read(std::size_t n, Array& a) const { memory_[n]->download(a.bytes.data()); }

Arguments arguments_of(const ir::Kernel& k, const std::map<std::string, std::int64_t>& sizes) {
  return arguments(k, sizes, Data::reals);
}

std::string last_sentence() {
  std::string text(ashlar_error_text(ashlar_last_error(), nullptr, 0), '\0');
  ashlar_error_text(ashlar_last_error(), text.data(), text.size() + 1);
  return text;
}

int check(const Device& device) {
  const std::string target = target_for(device);
  int bad = 0, runs = 0;
  for (const Case& c : cases(target)) {
    const codegen::Compiled f = codegen::compile(c.kernel, Target::parse(target));
    for (const Arguments& given : c.data) {
      Arguments expected = given;
      interp::run(c.kernel, expected);
      const Tensors tensors(device, given);
      ++runs;
      std::string wrong = f.call(tensors.list()) == ASHLAR_OK ? "" : last_sentence();
      for (std::size_t n = 0; wrong.empty() && n < given.size(); ++n) {
        Array found = given[n].array;
        tensors.read(n, found);
        wrong = c.relative == 0 ? interp::difference(found, expected[n].array)
                                : interp::difference(found, expected[n].array, c.relative, c.relative);
        if (!wrong.empty()) wrong = "argument " + std::to_string(n) + wrong;
      }
      if (!wrong.empty()) ++bad, std::printf("differs: %s: %s\n", c.name.c_str(), wrong.c_str());
    }
  }
  std::printf("%d runs on %s for %s, %d differ from the interpreter\n", runs, device.name().c_str(), target.c_str(), bad);
  return bad;
}

}  // namespace gpu_bench
