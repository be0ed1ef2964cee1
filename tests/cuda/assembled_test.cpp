// Every operator with a GPU schedule, for every chip, through ptxas: no error, no warning, no spill, no stack frame. The one
// kernel that may spill is named in the test.
#include <algorithm>
#include <doctest/doctest.h>

#include <ashlar/ir/print.h>
#include <ashlar/ir/refusal.h>
#include <ashlar/lang/build_program.h>
#include <ashlar/ops.h>
#include <ashlar/schedules.h>

#include "tests/cuda/assembler.h"
#include "tests/cuda/every_operator.h"
#include "tests/cuda/programs.h"
#include "tests/schedules/gpu_programs.h"
#include "tests/skip.h"
#include "tests/vulkan/programs.h"

using namespace ashlar;

namespace {

std::string complaints(const ir::Kernel& k, const std::string& target) {
  const Target t = Target::parse(target);
  return cuda::complaints(codegen::ptx::translate(k, t).text, t.device().chip);
}

}  // namespace

TEST_CASE("every operator on every type is an instruction or some, never a call") {
  for (Type t : {bool_, i8, i16, i32, i64, u8, u16, u32, u64, f16, bf16, f32, f64, e4m3, e5m2}) {
    CAPTURE(ir::text(t));
    for (const ir::Kernel& k : cuda::every_operator(t, 100)) {
      const codegen::ptx::Code code = codegen::ptx::translate(k, Target::parse("cuda-sm_80"));
      CHECK(code.text.find("call") == std::string::npos);
      CHECK(cuda::complaints(code.text, "sm_80") == "");
    }
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

TEST_CASE("families of schedules for devices, and programs by default, assemble without a complaint") {
  for (const schedules_test::DeviceProgram& p : schedules_test::device_programs()) {
    CAPTURE(p.name);
    CHECK(complaints(runs_of(p, Target::parse("cuda-sm_80")).kernel, "cuda-sm_80") == "");
  }
}

TEST_CASE("products by default assemble without a complaint for every chip there is a target for") {
  for (const Device& d : Target::devices()) {
    if (d.kind != Device::Kind::cuda) continue;
    for (const Type type : {bf16, i8, f32}) {
      CAPTURE(d.name);
      CAPTURE(ir::text(type));
      const lang::DefinitionScope scope;
      const Symbol M{"M"}, N{"N"}, K{"K"};
      const Tensor A = lang::make_input("A", type, {M, K}), B = lang::make_input("B", type, {K, N});
      const ops::Product p = ops::matmul(A, B);
      const Tensor C = lang::make_output("C", p.result.type(), {M, N});
      lang::bind(C, p.result);
      Schedule s(lang::build_program("product", {lang::ArgumentRef(A), lang::ArgumentRef(B), lang::ArgumentRef(C)}),
                 Target::parse(d.name));
      schedule_by_default(s);
      const std::string text = codegen::ptx::translate(cuda::lowered(s), s.target()).text;
      CHECK((text.find("mma.sync") != std::string::npos) == (type != f32));
      const std::string found = cuda::complaints(text, d.chip);
      // On chips with 48 warps, ptxas 13.0 aims at 72 registers for the sums of parts of i8. It stores one number of the setup
      // before the loop and loads it there too.
      const std::string chip = d.chip;
      if (type == i8 && (chip == "sm_86" || chip == "sm_87" || chip == "sm_89") && found != "") {
        CHECK(found.find("spilled to local memory in function 'product', 4 bytes spill stores, 4 bytes spill loads") !=
              std::string::npos);
        CHECK(std::count(found.begin(), found.end(), '\n') == 3);
      } else {
        CHECK(found == "");
      }
    }
  }
}

TEST_CASE("no chip but those of targets is asked for: for sm_1 libnvJitLink ends the process") {
  for (const char* chip : {"sm_1", "sm_999", "sm_", "", "vulkan"}) {
    CAPTURE(chip);
    CHECK_FALSE(codegen::ptx::assembles(chip));
    CHECK_FALSE(codegen::ptx::cubin(".version 8.0\n.target sm_80\n.address_size 64\n", chip).has_value());
  }
  for (const char* target : {"cuda-sm_1", "cuda-sm_1-linux", "cuda-sm_80a", "cuda-sm_91", "cuda-sm_80f", "cuda"}) {
    CAPTURE(target);
    CHECK_THROWS_WITH_AS(Target::parse(target), doctest::Contains(target), RefusalError);
  }
}

TEST_CASE("nvJitLink, where it is here, makes machine code of the same text, the same each time") {
  const codegen::ptx::Code code =
      codegen::ptx::translate(cuda::kernel_of<gpu_operators::Product>("cuda-sm_90a"), Target::parse("cuda-sm_90a"));
  const auto cubin = codegen::ptx::cubin(code.text, "sm_90a");
  CHECK(codegen::ptx::assembles("sm_90a") == cubin.has_value());
  if (!cubin) return skip::because("machine code by nvJitLink", "libnvJitLink is not on this machine");
  CHECK(cubin->substr(0, 4) == "\177ELF");
  CHECK(cubin->find(".text.product") != std::string::npos);
  CHECK(*cubin == *codegen::ptx::cubin(code.text, "sm_90a"));
  CHECK_THROWS_WITH_AS(codegen::ptx::cubin("no PTX", "sm_90a"), doctest::Contains("codegen: nvJitLink for sm_90a ("),
                       InternalError);
}

TEST_CASE("operators with GPU schedules assemble without a complaint") {
  for (const std::string& target : cuda::targets())
    for (const auto& [name, make] : cuda::operators()) {
      CAPTURE(target);
      CAPTURE(name);
      CHECK(complaints(make(target), target) == "");
    }
}
