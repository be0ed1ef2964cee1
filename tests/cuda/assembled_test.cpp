// Every operator with a GPU schedule, for every chip, through ptxas: no error, no warning, no spill, no stack frame.
#include <doctest/doctest.h>

#include <ashlar/ir/print.h>
#include <ashlar/ir/refusal.h>

#include "tests/cuda/assembler.h"
#include "tests/cuda/programs.h"
#include "tests/vulkan/programs.h"

using namespace ashlar;

namespace {

std::string complaints(const ir::Kernel& k, const std::string& target) {
  const Target t = Target::parse(target);
  return cuda::complaints(codegen::ptx::translate(k, t).text, t.device().chip);
}

// A launch for each operator on a type, one lane and vectors of 4.
ir::Kernel every_operator(Type t) {
  using ir::Op;
  using launches::num;
  launches::Builder b("operators");
  const ir::Id x = b.input("x", t, {num(128)}), y = b.input("y", t, {num(128)}), z = b.input("z", t, {num(128)});
  int n = 0;
  for (int lanes : {1, 4})
    b.launch(num(1), 32, 0, [&](const Expr&, const Expr& thread) {
      const Expr at = lanes == 1 ? thread : ir::ramp(ir::mul(thread, num(4)), num(1), 4);
      auto load = [&](ir::Id id) { return ir::load(id, "", t.with_lanes(lanes), {&at, 1}); };
      auto put = [&](const Expr& v) { b.store(b.output("o" + std::to_string(n++), v.type().element(), {num(128)}), at, v); };
      auto binary = [&](std::initializer_list<Op> ops) {
        for (Op op : ops) put(ir::binary(op, load(x), load(y)));
      };
      auto unary = [&](std::initializer_list<Op> ops) {
        for (Op op : ops) put(ir::unary(op, load(x)));
      };
      for (Type to : {i8, i16, i32, i64, u8, u16, u32, u64, f16, bf16, f32, f64, bool_, e4m3, e5m2}) {
        put(ir::cast(to.with_lanes(lanes), load(x)));
        if (!t.is_bool()) {
          const Expr v = load(x);
          put(ir::make(Op::saturate, to.with_lanes(lanes), {&v, 1}));
        }
      }
      binary({Op::eq, Op::ne});
      put(ir::select(ir::eq(load(x), load(y)), load(x), load(z)));
      if (t.is_bool()) {
        binary({Op::logic_and, Op::logic_or});
        return;
      }
      binary({Op::lt, Op::le, Op::gt, Op::ge, Op::add, Op::sub, Op::mul, Op::div, Op::min, Op::max});
      put(ir::fma(load(x), load(y), load(z)));
      unary({Op::neg, Op::abs});
      if (t.is_float()) {
        binary({Op::copysign});
        unary({Op::sqrt, Op::floor, Op::ceil, Op::round, Op::trunc, Op::isnan, Op::isinf});
      } else {
        binary({Op::mod, Op::trunc_div, Op::trunc_rem, Op::bit_and, Op::bit_or, Op::bit_xor, Op::shl, Op::shr, Op::rounding_shr,
                Op::mul_high_rounding});
        unary({Op::bit_not, Op::popcount, Op::clz, Op::ctz});
      }
    });
  return b.k;
}

}  // namespace

TEST_CASE("every operator on every type is an instruction or some, never a call") {
  for (Type t : {bool_, i8, i16, i32, i64, u8, u16, u32, u64, f16, bf16, f32, f64, e4m3, e5m2}) {
    CAPTURE(ir::text(t));
    const codegen::ptx::Code code = codegen::ptx::translate(every_operator(t), Target::parse("cuda-sm_80"));
    CHECK(code.text.find("call") == std::string::npos);
    CHECK(cuda::complaints(code.text, "sm_80") == "");
  }
}

TEST_CASE("programs by hand assemble without a complaint") {
  for (const std::string& target : cuda::targets())
    for (const launches::Builder& b :
         {programs::elementwise(), programs::elementwise_vectors(), programs::large_sum(f32), programs::large_sum(i32),
          programs::transposition(), programs::matmul(), programs::row_softmax(), programs::warp_sums(f32, 32),
          programs::warp_sums(i64, 32), programs::warp_sums(i8, 32), programs::warp_sums(f16, 32)}) {
      CAPTURE(target);
      CAPTURE(b.k.name);
      CHECK(complaints(b.k, target) == "");
    }
}

TEST_CASE("nvJitLink, where it is here, makes machine code of the same text, the same each time") {
  const codegen::ptx::Code code =
      codegen::ptx::translate(cuda::kernel_of<gpu_operators::Product>("cuda-sm_90a"), Target::parse("cuda-sm_90a"));
  const auto cubin = codegen::ptx::cubin(code.text, "sm_90a");
  if (!cubin) {
    MESSAGE("libnvJitLink is not on this machine: nothing was assembled by it");
    return;
  }
  CHECK(cubin->substr(0, 4) == "\177ELF");
  CHECK(cubin->find(".text.product") != std::string::npos);
  CHECK(*cubin == *codegen::ptx::cubin(code.text, "sm_90a"));
  CHECK_THROWS_AS(codegen::ptx::cubin("no PTX", "sm_90a"), InternalError);
}

TEST_CASE("operators with GPU schedules assemble without a complaint") {
  for (const std::string& target : cuda::targets())
    for (const auto& [name, make] : cuda::operators()) {
      CAPTURE(target);
      CAPTURE(name);
      CHECK(complaints(make(target), target) == "");
    }
}
