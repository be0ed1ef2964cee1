// Users' intrinsics as LLVM assembly: inlined where they are called, with what they call declared; and text that is none.
#include <doctest/doctest.h>

#include <algorithm>
#include <string>

#include <ashlar/ashlar.h>
#include <ashlar/codegen/jit.h>
#include <ashlar/lang/build_program.h>
#include <ashlar/lower/lower.h>
#include <ashlar/schedule/schedule.h>
#include <ashlar/schedule/step.h>

#include "tests/support/clamped.h"

using namespace ashlar;

namespace {

ir::Kernel clamped_by(const char* text, Where where = Where::current()) {
  const Schedule s = clamped::schedule(Target::host(), where, [&](Meaning& m) { m.emit(Backend::llvm, text); });
  return lower(s.scheduled().program, {});
}

constexpr const char* good = R"(
  %v = load <4 x i32>, ptr {src.ptr}, align 4
  %one = insertelement <4 x i32> poison, i32 {p}, i32 0
  %all = shufflevector <4 x i32> %one, <4 x i32> poison, <4 x i32> zeroinitializer
  %less = sub <4 x i32> %v, %all
  %r = call <4 x i32> @llvm.smax.v4i32(<4 x i32> %less, <4 x i32> zeroinitializer)
  store <4 x i32> %r, ptr {dst.ptr}, align 4
)";

struct View {
  std::int64_t shape[2];
  ashlar_tensor t{};
  View(void* data, std::int64_t rows) : shape{rows, 4} {
    t.data = data, t.device_type = 1, t.ndim = 2, t.type_code = 0, t.type_bits = 32, t.type_lanes = 1, t.shape = shape;
  }
};

}  // namespace

TEST_CASE("a text of LLVM assembly computes what it means, inlined") {
  const ir::Kernel k = clamped_by(good);
  const codegen::Compiled code = codegen::compile(k, Target::host());
  std::int32_t in[12], out[12];
  for (int i = 0; i < 12; ++i) in[i] = i * 37 % 23 - 9, out[i] = -1;
  const std::int32_t low = -2;
  const View x(in, 3), y(out, 3);
  const void* arguments[] = {&x.t, &low, &y.t};
  REQUIRE(code.call(arguments) == 0);
  for (int i = 0; i < 12; ++i) CHECK(out[i] == std::max(in[i] + 2, 0));
  const std::string text = codegen::emit(k, Target::host(), codegen::Output::llvm);
  CHECK(text.find("llvm.smax") != std::string::npos);
  CHECK(text.find("intrinsic") == std::string::npos);
}

TEST_CASE("functions that a text calls are declared as it calls them, or as it says") {
  const auto declared = [](const char* text) {
    std::string all = codegen::emit(clamped_by(text), Target::host(), codegen::Output::llvm), lines;
    for (std::size_t at = all.find("declare "); at != std::string::npos; at = all.find("declare ", at + 1))
      if (all.find("@user_", at) < all.find('\n', at)) lines += all.substr(at, all.find('\n', at) - at) + "\n";
    return lines;
  };
  CHECK(declared("call void @user_clamp(ptr {dst.ptr}, ptr {src.ptr}, i32 {p})")
            .find("declare void @user_clamp(ptr, ptr, i32)") == 0);
  CHECK(declared("%v = call fastcc <4 x i32> @user_get(ptr noundef {src.ptr}, {{ i32, i64 }} zeroinitializer)\nstore <4 x i32> "
                 "%v, ptr {dst.ptr}")
            .find("declare <4 x i32> @user_get(ptr, { i32, i64 })") == 0);
  CHECK(declared("declare i32 @user_old(ptr, ...)\n%v = call i32 (ptr, ...) @user_old(ptr {dst.ptr}, ptr {src.ptr}, i32 {p})")
            .find("declare i32 @user_old(ptr, ...)") == 0);
  CHECK(declared("call void @user_none()").find("declare void @user_none()") == 0);
}

TEST_CASE("a text that LLVM does not take is refused at its description") {
  const auto refused = [](const char* text, Where where = Where::current()) -> std::string {
    try {
      codegen::emit(clamped_by(text, where), Target::host(), codegen::Output::object);
    } catch (const RefusalError& e) {
      CHECK(e.refusal.where.line() == where.line());
      return e.what();
    }
    return "";
  };
  CHECK(refused("cal void @f()").find("LLVM assembly as the text of clamp4 for llvm") != std::string::npos);
  CHECK(refused("call void @user(ptr {src.ptr}, i64 {p})").find("LLVM assembly as the text of clamp4") != std::string::npos);
  CHECK(refused("store i32 %nothing, ptr {dst.ptr}").find("LLVM assembly") != std::string::npos);
}

TEST_CASE("in this process, a function that a text calls is one that the process exports") {
  CHECK_THROWS_WITH_AS(codegen::compile(clamped_by("call void @user_nowhere(ptr {dst.ptr})"), Target::host()),
                       doctest::Contains("functions in C that were declared with their address, or that this process exports "
                                         "(link it with -rdynamic), found user_nowhere"),
                       RefusalError);
}
