// Operators with GPU schedules, from the schedule to the C entries: compiled into this process for the target vulkan, called on
// tensors in the device's memory, equal to the interpreter's run of the same lowered kernel.
#include <cmath>
#include <cstring>
#include <utility>

#include <doctest/doctest.h>

#include <ashlar/codegen/jit.h>
#include <ashlar/codegen/spirv.h>
#include <ashlar/instructions/shader.h>
#include <ashlar/ir/refusal.h>
#include <ashlar/lower/lower.h>
#include <ashlar/schedule/step.h>
#include <ashlar/schedules/gpu_matmul.h>

#include "tests/lower/check.h"
#include "tests/skip.h"
#include "tests/support/atomic_gpu_operators.h"
#include "tests/support/variant_operators.h"
#include "tests/support/gpu_operators.h"
#include "tests/support/recurrence_gpu_operators.h"
#include "tests/support/tuple_operators.h"
#include "tests/vulkan/device.h"
#include "tests/vulkan/fused_halves.h"
#include "tests/vulkan/programs.h"

using namespace ashlar;
using handmade::Sizes;
using interp::Array;
using vulkan::OnDevice;
using vulkan::TestDevice;

namespace {

#define NEEDS_DEVICE \
  if (!TestDevice::get()) return

ir::Kernel lowered(const Schedule& s) {
  schedule::finish(s.scheduled(), s.target());
  return lower(s.scheduled().program, options_for(s.target()));
}

std::string spirv_text(const ir::Kernel& k) { return codegen::spirv::disassemble(codegen::spirv::translate(k).words); }

std::string last_sentence() { return vulkan::sentence(*ashlar_last_error()); }

void agree(const ir::Kernel& k, const ir::Program& program, const std::vector<Sizes>& shapes,
           const Target& target = Target::parse("vulkan")) {
  const codegen::Compiled f = codegen::compile(k, target);
  for (const Sizes& shape : shapes) {
    std::string at = k.name;
    for (const auto& [s, n] : shape) at += " " + s + " = " + std::to_string(n);
    CAPTURE(at);
    interp::Arguments expected = handmade::arguments_for(program, shape);
    std::vector<std::unique_ptr<OnDevice>> tensors;
    std::vector<const void*> arguments;
    for (const interp::Actual& a : expected) {
      tensors.push_back(std::make_unique<OnDevice>(a.array));
      arguments.push_back(&tensors.back()->tensor);
    }
    interp::run(k, expected);
    REQUIRE_MESSAGE(f.call(arguments) == ASHLAR_OK, last_sentence());
    for (std::size_t n = 0; n < expected.size(); ++n) {
      Array found = expected[n].array;
      tensors[n]->read(found);
      CHECK(interp::difference(found, expected[n].array) == "");
    }
  }
  CHECK(TestDevice::get()->said() == "");
  TestDevice::get()->forget();
}

template <class Operator, class... How>
void check(const std::vector<Sizes>& shapes, How... how) {
  Operator op{Target::parse("vulkan"), how...};
  agree(lowered(op.s), op.built.program, shapes);
}

}  // namespace

TEST_CASE("elementwise with broadcasting") {
  NEEDS_DEVICE;
  check<gpu_operators::AddBias>({{{"M", 3}, {"N", 64}}, {{"M", 2}, {"N", 130}}, {{"M", 1}, {"N", 1}}, {{"M", 0}, {"N", 5}}});
}

TEST_CASE("a device without 64-bit integers runs what fits into 32, and is told of the rest") {
  NEEDS_DEVICE;
  gpu_operators::AddBias op{Target::parse("vulkan")};
  const ir::Kernel k = lowered(op.s);
  const Expr condition = codegen::spirv::indices_of_32_bits(k);
  CHECK(!ir::is_int(condition));  // it depends on the call
  CHECK((codegen::spirv::translate(k, {.index32 = true}).features & ASHLAR_VULKAN_INT64) == 0);
  CHECK((codegen::spirv::translate(k).features & ASHLAR_VULKAN_INT64) != 0);
  const codegen::Compiled f = codegen::compile(k, Target::parse("vulkan"));
  ashlar_vulkan_given given = TestDevice::get()->given();
  given.features &= ~static_cast<std::uint32_t>(ASHLAR_VULKAN_INT64);
  ashlar_vulkan_queue* queue = nullptr;
  ashlar_error error = {};
  REQUIRE(ashlar_vulkan_open(&given, &queue, &error) == ASHLAR_OK);
  {
    interp::Arguments expected = handmade::arguments_for(op.built.program, {{"M", 3}, {"N", 70}});
    std::vector<std::unique_ptr<OnDevice>> tensors;
    std::vector<const void*> arguments;
    for (const interp::Actual& a : expected) {
      tensors.push_back(std::make_unique<OnDevice>(a.array, queue));
      arguments.push_back(&tensors.back()->tensor);
    }
    interp::run(k, expected);
    REQUIRE_MESSAGE(f.call(arguments) == ASHLAR_OK, last_sentence());
    Array found = expected.back().array;
    tensors.back()->read(found);
    CHECK(interp::difference(found, expected.back().array) == "");
    // Rows 2^30 bytes apart: the third lies 2^31 behind the first.
    std::int64_t apart[] = {std::int64_t{1} << 28, 1};
    tensors[0]->tensor.strides = apart;
    const std::uint64_t bytes = std::exchange(tensors[0]->buffer->bytes, std::uint64_t{1} << 40);  // nothing is read
    CHECK(f.call(arguments) == ASHLAR_E_TARGET);
    CHECK(last_sentence().find("lacks 64-bit integers (shaderInt64)") != std::string::npos);
    tensors[0]->buffer->bytes = bytes;
  }
  ashlar_vulkan_close(queue);
  CHECK(TestDevice::get()->said() == "");
  TestDevice::get()->forget();
}

TEST_CASE("transposition through shared memory") {
  NEEDS_DEVICE;
  check<gpu_operators::Transpose>({{{"M", 32}, {"N", 64}}, {{"M", 33}, {"N", 40}}, {{"M", 1}, {"N", 1}}});
}

TEST_CASE("a product with shared tiles and register tiles") {
  NEEDS_DEVICE;
  check<gpu_operators::Product>(
      {{{"M", 32}, {"N", 32}, {"K", 32}}, {{"M", 33}, {"N", 35}, {"K", 17}}, {{"M", 1}, {"N", 2}, {"K", 3}}});
}

TEST_CASE("row softmax") {
  NEEDS_DEVICE;
  check<gpu_operators::Softmax>({{{"M", 2}, {"N", 64}}, {{"M", 3}, {"N", 100}}, {{"M", 1}, {"N", 1}}});
}

TEST_CASE("the sum of a vector, in two launches") {
  NEEDS_DEVICE;
  check<gpu_operators::Sum>({{{"N", 9000}}, {{"N", 100}}, {{"N", 1}}});
}

TEST_CASE("3x3 convolution") {
  NEEDS_DEVICE;
  check<gpu_operators::Conv3x3>({{{"H", 8}, {"W", 16}, {"C", 2}, {"D", 2}}, {{"H", 9}, {"W", 3}, {"C", 1}, {"D", 1}}});
}

TEST_CASE("attention") {
  NEEDS_DEVICE;
  check<gpu_operators::Attention>({{{"H", 2}, {"M", 2}, {"N", 70}}, {{"H", 1}, {"M", 1}, {"N", 1}}});
}

TEST_CASE("reductions to several values") {
  NEEDS_DEVICE;
  check<gpu_operators::ArgMax>({{{"M", 3}, {"N", 200}}, {{"M", 1}, {"N", 1}}, {{"M", 2}, {"N", 0}}});
  check<gpu_operators::ComplexProduct>({{{"M", 5}, {"N", 131}}, {{"M", 1}, {"N", 1}}, {{"M", 2}, {"N", 0}}});
  check<gpu_operators::OnlineAttention>({{{"M", 40}, {"N", 21}}, {{"M", 1}, {"N", 1}}, {{"M", 33}, {"N", 16}}});
}

TEST_CASE("variants: the entry chooses the launches") {
  NEEDS_DEVICE;
  check<variant_operators::ByLaunches>({{{"N", 7}}, {{"N", 8}}, {{"N", 100}}, {{"N", 1}}, {{"N", 0}}});
}

TEST_CASE("recurrences, a thread for each row") {
  NEEDS_DEVICE;
  const std::vector<Sizes> shapes{{{"R", 33}, {"T", 17}}, {{"R", 1}, {"T", 1}}, {{"R", 5}, {"T", 0}}};
  for (const char* name : {"smooth", "biquad", "running_sum", "backwards", "two_states", "composed"})
    check<gpu_operators::Rows>(shapes, name);
  check<gpu_operators::Columns>(shapes);
  check<gpu_operators::TwoLaunches>(shapes);
  check<gpu_operators::SharedRows>({{{"R", 33}}, {{"R", 1}}});
  check<gpu_operators::ScanInBlocks>(
      {{{"R", 3}, {"T", 301}}, {{"R", 1}, {"T", 1}}, {{"R", 5}, {"T", 0}}, {{"R", 40}, {"T", 8}}});
}

TEST_CASE("blocks and threads that combine in memory") {
  NEEDS_DEVICE;
  using gpu_operators::AtomicCounts;
  for (const auto how : {AtomicCounts::How::blocks, AtomicCounts::How::threads, AtomicCounts::How::shared})
    check<AtomicCounts>({{{"H", 90}, {"W", 121}}, {{"H", 1}, {"W", 1}}, {{"H", 3}, {"W", 0}}}, how);
  const std::vector<Sizes> shapes{{{"M", 5}, {"N", 300}}, {{"M", 33}, {"N", 1}}, {{"M", 2}, {"N", 0}}};
  for (const Type type : {i32, u32}) {
    check<gpu_operators::AtomicRows>(shapes, type, [](const Expr& e, const Axis& k) { return sum(e, k); });
    check<gpu_operators::AtomicRows>(shapes, type, [](const Expr& e, const Axis& k) { return minimum(e, k); });
    check<gpu_operators::AtomicRows>(shapes, type, [](const Expr& e, const Axis& k) { return maximum(e, k); });
  }
}

TEST_CASE("reductions over threads") {
  NEEDS_DEVICE;
  check<gpu_operators::SoftmaxTree>({{{"M", 2}, {"N", 64}}, {{"M", 3}, {"N", 100}}, {{"M", 1}, {"N", 1}}});
  check<gpu_operators::RowSums>({{{"M", 5}, {"N", 100}}, {{"M", 1}, {"N", 1}}, {{"M", 2}, {"N", 0}}});
  check<gpu_operators::SumTree>({{{"N", 9000}}, {{"N", 100}}, {{"N", 1}}});
}

// Products of bytes, four steps of k at once: with signs or without, in any of both ways that factors lie.
TEST_CASE("products of bytes by dot products") {
  NEEDS_DEVICE;
  const Target target = Target::parse("vulkan+dot8");
  if ((ashlar_vulkan_features(TestDevice::get()->queue()) & ASHLAR_VULKAN_DOT8) == 0)
    return skip::because("dot products of bytes", "the device lacks shaderIntegerDotProduct");
  for (const auto& [ta, tb] : {std::pair{i8, i8}, {u8, u8}, {u8, i8}, {i8, u8}})
    for (const bool transposed_a : {false, true})
      for (const bool transposed_b : {false, true}) {
        CAPTURE(ir::text(ta));
        CAPTURE(ir::text(tb));
        lang::DefinitionScope scope;
        Symbol M{"M"}, N{"N"}, K{"K"};
        const auto shape = [](bool turned, const Extent& x, const Extent& y) {
          return turned ? std::vector<Extent>{y, x} : std::vector<Extent>{x, y};
        };
        Tensor A = lang::make_input("A", ta, shape(transposed_a, M, K)),
               B = lang::make_input("B", tb, shape(transposed_b, K, N)), C = lang::make_output("C", i32, {M, N});
        Axis k{"k", K};
        Tensor product = compute("product", {M, N}, [&](Var i, Var j) {
          return sum(i32(transposed_a ? A(k, i) : A(i, k)) * i32(transposed_b ? B(j, k) : B(k, j)), k);
        });
        lang::bind(C, product);
        const lang::Built built = lang::build_program("bytes", {A, B, C});
        Schedule s(built, target);
        schedules::gpu_matmul(s, s[product], A, B,
                              {.threads_i = 4, .threads_j = 4, .transposed_a = transposed_a, .transposed_b = transposed_b});
        const ir::Kernel lowered_kernel = lowered(s);
        const char* instruction = ta != tb ? "OpSUDot" : ta == i8 ? "OpSDot" : "OpUDot";
        CHECK(spirv_text(lowered_kernel).find(instruction) != std::string::npos);
        agree(lowered_kernel, built.program, {{{"M", 32}, {"N", 32}, {"K", 64}}, {{"M", 33}, {"N", 35}, {"K", 70}}}, target);
      }
}

namespace {

// y[n] = sum over k of i32(a[k]) * i32(b[n, k]), a thread for four n: by an instruction, its tiles in registers or not.
std::string refusal_of(const char* target, const Intrinsic& f, bool in_registers) {
  lang::DefinitionScope scope;
  const Symbol N{"N", {.multiple_of = 4}}, K{"K", {.multiple_of = 4}};
  Tensor a = lang::make_input("a", i8, {K}), b = lang::make_input("b", i8, {N, K}), y = lang::make_output("y", i32, {N});
  Axis k{"k", K};
  Tensor product = compute("product", {N}, [&](Var n) { return sum(i32(a(k)) * i32(b(n, k)), k); });
  lang::bind(y, product);
  const lang::Built built = lang::build_program("dots", {a, b, y});
  try {
    Schedule s(built, Target::parse(target));
    const Stage sums = s.cache_write(product, Scope::registers);
    auto [block, lane] = s[product].split(s[product].spatial<1>()[0], 4, Tail::exact);
    s[product].bind(block, gpu::block_x).vectorize(lane);
    sums.compute_at(block);
    auto [steps, four] = sums.split(sums.reduction(), 4, Tail::exact);
    sums.reorder(steps, sums.spatial<1>()[0], four).decompose_init(steps);
    if (in_registers)
      for (const Tensor& t : {a, b}) {
        const Stage copy = s.cache_read(t, {sums}, Scope::registers);
        copy.compute_at(steps);
        const std::vector<Loop> loops = copy.spatial_loops();
        for (std::size_t l = 0; l + 1 < loops.size(); ++l) copy.unroll(loops[l]);
        copy.vectorize(loops.back());
      }
    sums.tensorize(sums.spatial<1>()[0], f);
    sums.init().vectorize(sums.init().spatial<1>()[0]);
    (void)spirv_text(lowered(s));
  } catch (const RefusalError& e) { return e.what(); }
  return "";
}

}  // namespace

TEST_CASE("instructions of shaders are refused where they cannot be") {
  const auto has = [](const std::string& text, const char* part) { CHECK_MESSAGE(text.find(part) != std::string::npos, text); };
  const Intrinsic dot = shader::dot4(i8, i8);
  CHECK(refusal_of("vulkan+dot8", dot, true) == "");
  has(refusal_of("vulkan", dot, true), "expected a target with dot8, which dot4_i8_i8_i32 needs, found vulkan");
  has(refusal_of("vulkan+dot8", dot, false),
      "in Scope::registers and taken by value ({a.value}), as Vulkan has it, found a in ");
  const auto of_text = [](const char* text) {
    return intrinsic("own", [&](Meaning& m) {
      Tensor a = m.read("a", i8, {4}), b = m.read("b", i8, {4, 4}), c = m.accumulate("c", i32, {4});
      Axis k{"k", 4};
      m.means(c, [&](const Var& i) { return sum(i32(a(k)) * i32(b(i, k)), k).from(c(i)); });
      m.emit(Backend::spirv, text);
    });
  };
  CHECK(refusal_of("vulkan", of_text("{c.result} = OpSDot {a.value} {b.value} {c.value}"), true) == "");
  has(refusal_of("vulkan", of_text("{c.result} = OpFMul {a.value} {b.value} {c.value}"), true),
      "as the text of own for spirv, found {c.result} = OpFMul {a.value}");
  has(refusal_of("vulkan", of_text("{c.result} = OpSDot {a.value} {b.value}"), true), "as the text of own for spirv, found");
  CHECK_THROWS_WITH_AS((void)shader::dot4(f16, i8), doctest::Contains("expected bytes, i8 or u8, found f16 and i8"),
                       RefusalError);
  CHECK_THROWS_WITH_AS((void)shader::dot4(i8, i8, i64), doctest::Contains("expected sums in i32 or u32, found i64"),
                       RefusalError);
}

TEST_CASE("a product of f16 by the device's fused multiply-add, on request") {
  lang::DefinitionScope scope;
  constexpr std::int64_t m = 128, n = 256, steps = 64;
  Tensor A = lang::make_input("A", f16, {m, steps}), B = lang::make_input("B", f16, {steps, n}),
         C = lang::make_output("C", f16, {m, n});
  Axis k{"k", steps};
  Tensor product = compute("product", {m, n}, [&](Var i, Var j) { return sum(A(i, k) * B(k, j), k); });
  lang::bind(C, product);
  const lang::Built built = lang::build_program("halves", {A, B, C});
  const auto kernel = [&](const char* target) {
    Schedule s(built, Target::parse(target));
    fused_halves(s, product, A, B);
    return lowered(s);
  };
  CHECK_THROWS_WITH_AS((void)kernel("vulkan"), doctest::Contains("expected a target with float16, which fma4_f16 needs"),
                       RefusalError);
  const ir::Kernel fused = kernel("vulkan+float16");
  const std::string text = codegen::spirv::disassemble(codegen::spirv::translate(fused, {.float16 = true}).words);
  CHECK(text.find(" Fma ") != std::string::npos);
  NEEDS_DEVICE;
  if ((ashlar_vulkan_features(TestDevice::get()->queue()) & ASHLAR_VULKAN_FLOAT16) == 0)
    return skip::because("fused multiply-adds of f16", "the device lacks shaderFloat16");
  const codegen::Compiled f = codegen::compile(fused, Target::parse("vulkan+float16"));
  for (const bool whole : {true, false}) {  // small whole numbers are exact; else every step rounds once or twice
    std::uint64_t seed = 1;
    const auto next = [&](auto) {
      seed = seed * 6364136223846793005u + 1442695040888963407u;  // Knuth's linear congruence
      return whole ? static_cast<double>(seed >> 60 & 3) - 1 : static_cast<double>(seed >> 53) / 1024 - 1;
    };
    interp::Arguments expected{Array::make(f16, {m, steps}, next), Array::make(f16, {steps, n}, next),
                               Array::zeros(f16, {m, n})};
    const OnDevice a(expected[0].array), b(expected[1].array), c(expected[2].array);
    const std::vector<const void*> arguments = {&a.tensor, &b.tensor, &c.tensor};
    REQUIRE_MESSAGE(f.call(arguments) == ASHLAR_OK, last_sentence());
    interp::run(fused, expected);
    Array found = expected[2].array;
    c.read(found);
    if (whole) CHECK(interp::difference(found, expected[2].array) == "");
    for (std::int64_t i = 0; i < m; ++i)
      for (std::int64_t j = 0; j < n; ++j) {
        double exact = 0, magnitudes = 0;
        for (std::int64_t r = 0; r < steps; ++r) {
          const double term = expected[0].array.real({i, r}) * expected[1].array.real({r, j});
          exact += term, magnitudes += std::abs(term);
        }
        if (std::abs(found.real({i, j}) - exact) > 2 * steps * 0x1p-11 * magnitudes) FAIL_CHECK("element " << i << ", " << j);
      }
  }
  CHECK(TestDevice::get()->said() == "");
  TestDevice::get()->forget();
}

// Warps are the subgroups of the size that the target names, which the pipeline asks for.
TEST_CASE("reductions over threads by shuffles of a subgroup") {
  NEEDS_DEVICE;
  const std::string lanes = std::to_string(ashlar_vulkan_subgroup(TestDevice::get()->queue()));
  const Target target = Target::parse("vulkan+subgroup" + lanes);
  const auto by_shuffles = [&]<class Operator>(Operator op, const std::vector<Sizes>& shapes) {
    const ir::Kernel k = lowered(op.s);
    CHECK(spirv_text(k).find("OpGroupNonUniformShuffleXor") != std::string::npos);
    agree(k, op.built.program, shapes, target);
  };
  by_shuffles(gpu_operators::SoftmaxTree(target), {{{"M", 2}, {"N", 64}}, {{"M", 3}, {"N", 100}}, {{"M", 1}, {"N", 1}}});
  by_shuffles(gpu_operators::RowSums(target), {{{"M", 5}, {"N", 100}}, {{"M", 1}, {"N", 1}}, {{"M", 2}, {"N", 0}}});
  by_shuffles(gpu_operators::SumTree(target), {{{"N", 9000}}, {{"N", 100}}, {{"N", 1}}});
}

TEST_CASE("subgroups of a size that the device does not have are refused") {
  NEEDS_DEVICE;
  const std::uint32_t own = ashlar_vulkan_subgroup(TestDevice::get()->queue());
  const Target target = Target::parse(own == 4 ? "vulkan+subgroup64" : "vulkan+subgroup4");
  gpu_operators::RowSums op(target);
  const codegen::Compiled f = codegen::compile(lowered(op.s), target);
  const Array x = Array::zeros(f32, {4, 8}), y = Array::zeros(f32, {4});
  const OnDevice in(x), out(y);
  const std::vector<const void*> arguments = {&in.tensor, &out.tensor};
  if (const int rc = f.call(arguments); rc == ASHLAR_OK)
    return skip::because("subgroups of another size", "the device has several");
  else
    CHECK(rc == ASHLAR_E_TARGET);
  CHECK_MESSAGE(last_sentence().find("needs subgroups of ") != std::string::npos, last_sentence());
}

TEST_CASE("pipelined products, and virtual threads") {
  NEEDS_DEVICE;
  const std::vector<Sizes> shapes{
      {{"M", 32}, {"N", 32}, {"K", 80}}, {{"M", 33}, {"N", 35}, {"K", 17}}, {{"M", 1}, {"N", 2}, {"K", 3}}};
  check<gpu_operators::PipelinedProduct>(shapes, 2, false, 1);
  check<gpu_operators::PipelinedProduct>(shapes, 3, true, 1);  // plain copies: Vulkan has no others
  check<gpu_operators::PipelinedProduct>(shapes, 1, false, 2);
  check<gpu_operators::PipelinedProduct>(shapes, 3, false, 2);
}

// ---- the entries -----------------------------------------------------------------------------------------------------
TEST_CASE("tensors in host memory, outside their buffer or of another device are refused, and nothing is written") {
  NEEDS_DEVICE;
  const codegen::Compiled f = codegen::compile(programs::elementwise().k, Target::parse("vulkan"));
  const Array ones = Array::make(f32, {2, 3}, [](auto) { return 1; }), row = Array::make(f32, {3}, [](auto) { return 2; });
  OnDevice a(ones), b(row), out(Array::zeros(f32, {2, 3}));
  const void* arguments[] = {&a.tensor, &b.tensor, &out.tensor};
  REQUIRE(f.call(arguments) == ASHLAR_OK);

  a.tensor.device_type = 1;
  CHECK(f.call(arguments) == ASHLAR_E_DEVICE);
  CHECK(last_sentence().find("expected a Vulkan device") != std::string::npos);
  a.tensor.device_type = 7;
  a.tensor.byte_offset = 4;
  CHECK(f.call(arguments) == ASHLAR_E_MEMORY);
  CHECK(last_sentence() == "elementwise: a lies outside its buffer, which has 24 bytes, expected at least 28");
  a.tensor.byte_offset = 0;
  out.tensor.data = a.buffer;
  CHECK(f.call(arguments) == ASHLAR_E_ALIAS);
  CHECK(last_sentence() == "elementwise: out overlaps a, expected memory of its own");
  out.tensor.data = out.buffer;

  ashlar_vulkan_queue* other = nullptr;
  ashlar_error error = {};
  REQUIRE(ashlar_vulkan_open(nullptr, &other, &error) == ASHLAR_OK);
  {
    OnDevice elsewhere(row, other);
    arguments[1] = &elsewhere.tensor;
    CHECK(f.call(arguments) == ASHLAR_E_DEVICE);
    CHECK(last_sentence().find("row lies on another device than the queue of the call") != std::string::npos);
  }
  ashlar_vulkan_close(other);
  Array result = Array::zeros(f32, {2, 3});
  out.read(result);
  CHECK(result.real({1, 2}) == 3.5);
  CHECK(TestDevice::get()->said() == "");
}

TEST_CASE("with a queue in the context nothing is waited for; the workspace is the caller's") {
  NEEDS_DEVICE;
  const ir::Kernel k = programs::large_sum(i32).k;
  const codegen::Compiled f = codegen::compile(k, Target::parse("vulkan"));
  const Array x = Array::make(i32, {100}, [](auto) { return 3; });
  OnDevice in(x), out(Array::zeros(i32, {1})), workspace(Array::zeros(u8, {64})), small(Array::zeros(u8, {32}));
  ashlar_error error = {};
  ashlar_context context = {};
  context.size = sizeof context;
  context.stream = TestDevice::get()->queue();
  context.workspace = workspace.buffer;
  context.error = &error;
  const void* arguments[] = {&in.tensor, &out.tensor};
  for (int n = 0; n < 40; ++n) REQUIRE(f.call(arguments, &context) == ASHLAR_OK);  // more than there are command buffers
  REQUIRE(ashlar_vulkan_wait(TestDevice::get()->queue(), &error) == ASHLAR_OK);
  Array result = Array::zeros(i32, {1});
  out.read(result);
  CHECK(result.integer({0}) == 300);
  context.workspace = small.buffer;
  CHECK(f.call(arguments, &context) == ASHLAR_E_MEMORY);
  CHECK(vulkan::sentence(error) == "large_sum: the workspace has 32 bytes, expected at least 64");
  CHECK(TestDevice::get()->said() == "");

  // the entry on pointers takes device addresses
  struct {
    std::uint64_t x, sum;
    std::int64_t n;
  } args = {in.buffer->address, out.buffer->address, 50};
  CHECK(f.workspace_bytes(&args, nullptr) == 64);
  context.workspace = nullptr;
  REQUIRE(f.run(&args, &context) == ASHLAR_OK);
  REQUIRE(ashlar_vulkan_wait(TestDevice::get()->queue(), &error) == ASHLAR_OK);
  out.read(result);
  CHECK(result.integer({0}) == 150);
}

TEST_CASE("scalars travel as push constants, of every width") {
  NEEDS_DEVICE;
  kernels::Maker m("scalars");
  const ir::Id out = m.tensor("out", f64, {ir::index(1)}, true);
  Expr sum = ir::float_const(f64, 0);
  for (Type t : {i8, u16, i32, u64, f32, f64, f16, bool_})
    sum = ir::add(sum, ir::cast(f64, m.scalar("s" + std::to_string(m.k.next_id), t)));
  const vulkan::Launching l(m, "scalars", 1);
  m.k.body = {vulkan::launch(l, {ir::index(1)}, {kernels::store(out, ir::index(0), sum)})};
  const codegen::Compiled f = codegen::compile(m.k, Target::parse("vulkan"));
  OnDevice tensor(Array::zeros(f64, {1}));
  const std::int8_t a = -5;
  const std::uint16_t b = 60000, g = ir::f16_bits(0.5f);
  const std::int32_t c = -70000;
  const std::uint64_t d = 1u << 20;
  const float e = 0.25f;
  const double h = 1e6;
  const bool yes = true;
  const void* arguments[] = {&tensor.tensor, &a, &b, &c, &d, &e, &h, &g, &yes};
  REQUIRE_MESSAGE(f.call(arguments) == ASHLAR_OK, last_sentence());
  Array result = Array::zeros(f64, {1});
  tensor.read(result);
  CHECK(result.real({0}) == -5 + 60000 - 70000 + (1 << 20) + 0.25 + 1e6 + 0.5 + 1);
  CHECK(TestDevice::get()->said() == "");
}

TEST_CASE("what the host of a device cannot do is refused") {
  kernels::Maker m("host_store");
  const ir::Id out = m.tensor("out", f32, {ir::index(1)}, true);
  m.k.body = {kernels::store(out, ir::index(0), ir::float_const(f32, 1))};
  CHECK_THROWS_WITH_AS(
      codegen::emit(m.k, Target::parse("vulkan"), codegen::Output::object),
      doctest::Contains("expected a schedule that binds loops to blocks and threads, found kernel `host_store`"), RefusalError);
  CHECK_THROWS_WITH_AS(codegen::emit(programs::elementwise().k, Target::parse("x86-64"), codegen::Output::object),
                       doctest::Contains("expected a target with a device, for the launches of kernel"), RefusalError);
  CHECK_THROWS_WITH_AS(codegen::emit(programs::elementwise().k, Target::parse("x86-64"), codegen::Output::spirv),
                       doctest::Contains("expected a target with a device, for the launches of kernel"), RefusalError);
  const std::string words = codegen::emit(programs::elementwise().k, Target::parse("vulkan"), codegen::Output::spirv);
  CHECK(words.size() > 400);
  CHECK(words.substr(0, 4) == std::string("\x03\x02\x23\x07", 4));
  CHECK(words == codegen::emit(programs::elementwise().k, Target::parse("vulkan"), codegen::Output::spirv));
}

TEST_CASE("constants are data of the shader, and numbers where the index is known") {
  NEEDS_DEVICE;
  for (const Type t : {f32, f16, i32, u8, i64})
    for (const bool unrolled : {false, true}) {
      const lang::DefinitionScope scope;
      const Symbol N{"N", {.min = 1}};
      const Tensor x = lang::make_input("x", t, {N + 2}), y = lang::make_output("y", t, {N});
      const Tensor taps = constant("taps", t, {3, 1, 2}), table = constant("table", t, {4}, std::vector<int>{5, 0, 7, 1});
      const Axis k{"k", 3};
      const Tensor z = compute("z", {N}, [&](Var i) { return sum(x(i + k) * taps(k) + table(i % 4), k); });
      lang::bind(y, z);
      const lang::Built built = lang::build_program("constants", {x, y});
      Schedule s(built, Target::parse("vulkan"));
      auto [o, i] = s[z].split(s[z].spatial<1>()[0], 32);
      s[z].bind(o, gpu::block_x).bind(i, gpu::thread_x);
      if (unrolled) s[z].unroll(s[z].reduction());
      agree(lowered(s), built.program, {{{"N", 70}}, {{"N", 1}}});
    }
}

TEST_CASE("amounts of a shift that a constant bounds") {
  NEEDS_DEVICE;
  for (const Type t : {i32, u8}) {
    const lang::DefinitionScope scope;
    const Tensor x = lang::make_input("x", t, {64}), y = lang::make_output("y", t, {64});
    const Tensor amounts = constant("amounts", t, {4}, std::vector<int>{1, 2, 4, 3});
    const Tensor z = compute("z", {64}, [&](Var i) { return rounding_shr(x(i), amounts(i % 4)); });
    lang::bind(y, z);
    const lang::Built built = lang::build_program("shifts", {x, y});
    Schedule s(built, Target::parse("vulkan"));
    auto [o, i] = s[z].split(s[z].spatial<1>()[0], 32);
    s[z].bind(o, gpu::block_x).bind(i, gpu::thread_x);
    agree(lowered(s), built.program, {{}});
  }
}

TEST_CASE("numbers extended to 64 bits against constants (fuzz seeds 7105, 8108)") {
  // Mesa 22.3 narrows such a comparison itself, and gets it wrong; also where it finds the extension behind x * 1.
  NEEDS_DEVICE;
  const std::int64_t far = std::int64_t{1} << 40;
  for (bool times_one : {false, true})
    for (std::int64_t c : {std::int64_t{0}, std::int64_t{2}, std::int64_t{-3}, far, -far}) {
      CAPTURE(times_one);
      CAPTURE(c);
      lang::DefinitionScope scope;
      Tensor x = lang::make_input("x", i32, {64}), y = lang::make_output("y", i64, {64});
      lang::bind(y, compute("y", {64}, [&](Var i) {
                   Expr wide = i64(x(i) - 5);
                   if (times_one) wide = wide * i64(1);
                   const Expr found = select(wide < c, 1, 0) + select(wide <= c, 2, 0) + select(wide > c, 4, 0) +
                                      select(wide >= c, 8, 0) + select(i64(c) < wide, 16, 0);
                   return i64(found) + min(wide, i64(c)) * 32 + max(wide, i64(c)) * 3 + abs(wide);
                 }));
      const lang::Built built = lang::build_program("extended", {x, y});
      Schedule s{built, Target::parse("vulkan")};
      auto [io, ii] = s[y].split(s[y].spatial<1>()[0], 32);
      s[y].bind(io, gpu::block_x).bind(ii, gpu::thread_x);
      agree(lowered(s), built.program, {{}});
    }
}
