// What a machine has an instruction for is that instruction, and gives what the interpreter gives: the table of
// tests/support/instruction_rows.h, read in assembly for every target, and run: here, or those of ARM in an emulator.
#include <doctest/doctest.h>

#include <ashlar/codegen/emit.h>
#include <ashlar/codegen/jit.h>
#include <ashlar/ir/function.h>

#include "tests/codegen/kernels.h"
#include "tests/emulated/emulator.h"
#include "tests/support/instruction_check.h"

using namespace ashlar;

namespace {

void call(const codegen::Compiled& code, interp::Arguments& arguments) {
  std::vector<ashlar_tensor> tensors;
  for (interp::Actual& a : arguments) {
    const ir::TensorCode type = ir::tensor_code(a.array.type);
    ashlar_tensor t{};
    t.data = a.array.bytes.data(), t.device_type = 1, t.ndim = static_cast<std::int32_t>(a.array.shape.size());
    t.type_code = type.code, t.type_bits = type.bits, t.type_lanes = 1, t.shape = a.array.shape.data();
    tensors.push_back(t);
  }
  std::vector<const void*> pointers;
  for (const ashlar_tensor& t : tensors) pointers.push_back(&t);
  REQUIRE(code.call(pointers) == ASHLAR_OK);
}

}  // namespace

TEST_CASE("expressions are the instructions that a machine has for them") {
  int rows = 0;
  for (const instructions::Row& row : instructions::rows())
    for (const instructions::Wanted& wanted : row.wanted) {
      const instructions::Made made(row, Target::parse(wanted.target));
      const std::string text = codegen::emit(made.kernel(), made.schedule.target(), codegen::Output::assembly);
      const std::string missing = std::string(row.name) + " on " + wanted.target + " without " + wanted.mnemonic + " " +
                                  wanted.operand + ":\n" + instructions::body(text);
      CHECK_MESSAGE(instructions::has(text, wanted), missing);
      ++rows;
    }
  CHECK(rows >= 380);
}

TEST_CASE("and give what the interpreter gives") {
  for (const char* base : {"aarch64", "cortex-m4", "cortex-m55"})
    if (const char* why = emulated::missing(Target::parse(base))) std::printf("skipped: instructions of %s, %s\n", base, why);
  for (const instructions::Row& row : instructions::rows())
    for (const instructions::Wanted& wanted : row.wanted) {
      const Target target = Target::parse(wanted.target);
      const bool arm = target.architecture() == Architecture::aarch64 || target.architecture() == Architecture::thumb;
      if (arm ? emulated::missing(target) != nullptr : kernels::runnable({wanted.target}).empty()) continue;
      const instructions::Made made(row, target);
      const ir::Kernel kernel = made.kernel();
      const std::string what = std::string(row.name) + " on " + wanted.target;
      CAPTURE(what);
      CHECK(made.difference([&](interp::Arguments& arguments) {
        if (arm)
          emulated::run(kernel, target, arguments);
        else
          call(codegen::compile(kernel, target), arguments);
      }) == "");
    }
}

TEST_CASE("of what is counted no number is made before") {
  for (const instructions::Row& row : instructions::rows())
    if (std::string(row.name) == "two comparisons counted")
      for (const char* target : {"x86-64-v3", "x86-64-v4"}) {
        const instructions::Made made(row, Target::parse(target));
        const std::string text = codegen::emit(made.kernel(), made.schedule.target(), codegen::Output::assembly);
        CHECK(instructions::has(text, {target, "vpsubd"}));
        CHECK(!instructions::has(text, {target, "vpsrld"}));
      }
}

TEST_CASE("amounts of a table within the width are not clamped") {
  int rows = 0;
  for (const instructions::Row& row : instructions::rows()) {
    const std::string name = row.name;
    const bool within = name == "rounding_shr by a long table without 0";
    if (!within && name != "rounding_shr by a long table with amounts past the width") continue;
    ++rows;
    const Target target = Target::parse("x86-64-v3");
    const instructions::Made made(row, target);
    const std::string text = codegen::emit(made.kernel(), target, codegen::Output::assembly);
    CHECK_MESSAGE(instructions::has(text, {"x86-64-v3", "cmov[a-z]+"}) == !within, instructions::body(text));
  }
  CHECK(rows == 2);
}

TEST_CASE("of two roundings from f64 LLVM does not make one") {
  int rows = 0;
  for (const instructions::Row& row : instructions::rows())
    for (const auto& [name, target] : {std::pair{"f64 to bf16", "aarch64+bf16"}, std::pair{"f64 to f16", "x86-64-v3"}}) {
      if (std::string(row.name) != name) continue;
      const instructions::Made made(row, Target::parse(target));
      const std::string text = codegen::emit(made.kernel(), made.schedule.target(), codegen::Output::llvm);
      CHECK_MESSAGE(text.find("call <" + std::to_string(row.lanes) + " x float> @llvm.arithmetic.fence") != text.npos, text);
      ++rows;
    }
  CHECK(rows == 2);
}
