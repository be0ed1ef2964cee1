// Kernels as C: what the file holds, which compilers and flags take it, and what is refused. That it computes what it should is
// asked by test_codegen_in_c, by test_gallery_in_c and by the fuzzer.
#include <cstring>

#include <doctest/doctest.h>

#include <ashlar/ashlar.h>
#include <ashlar/codegen/c.h>
#include <ashlar/interp/interpreter.h>
#include <ashlar/ir/function.h>
#include <ashlar/lang/build_program.h>
#include <ashlar/lower/lower.h>
#include <ashlar/schedule/step.h>

#include "tests/codegen/kernels.h"
#include "tests/golden.h"
#include "tests/in_c/c_compiled.h"
#include "tests/support/clamped.h"
#include "tests/support/refused.h"
#include "tests/support/text_parts.h"

using namespace ashlar;
using kernels::Maker;

namespace {

const Target target = Target::parse("x86-64-v3");

ir::Kernel lowered(const Schedule& s) {
  schedule::finish(s.scheduled(), s.target());
  return lower(s.scheduled().program, options_for(s.target()));
}

// C = A B in tiles, rows of tiles in parallel, a tail in each dimension.
ir::Kernel product() {
  const lang::DefinitionScope scope;
  const Symbol M{"M"}, N{"N"}, K{"K"};
  const Tensor A = lang::make_input("A", f32, {M, K}), B = lang::make_input("B", f32, {K, N}),
               C = lang::make_output("C", f32, {M, N});
  const Axis k{"k", K};
  const Tensor P = compute("P", {{"i", M}, {"j", N}}, [&](Var i, Var j) { return sum(A(i, k) * B(k, j), k); });
  lang::bind(C, P);
  Schedule s(lang::build_program("product", {A, B, C}), target);
  auto [i, j] = s[P].spatial<2>();
  auto [io, jo, ii, ji] = s[P].tile(i, j, 4, 8);
  s[P].vectorize(ji).parallel(io);
  return lowered(s);
}

// Only the lines from the body's workers on, where the kernel's own code begins.
std::string own_code(const std::string& text) { return text.substr(text.find("/* The loop over")); }

using text_parts::has;

// out[i] = a[i] * b[i] + c[i], and the same by fma.
ir::Kernel multiply_add(const std::string& name = "multiply_add") {
  Maker m(name);
  const Expr N = m.symbol("N");
  const ir::Id a = m.tensor("a", f32, {N}), out = m.tensor("out", f32, {N}, true), fused = m.tensor("fused", f32, {N}, true);
  const Expr i = ir::var(m.fresh(), "i"), x = m.load(a, i);
  m.k.body = {
      kernels::loop(i, N, {kernels::store(out, i, ir::add(ir::mul(x, x), x)), kernels::store(fused, i, ir::fma(x, x, x))})};
  return m.k;
}

}  // namespace

TEST_CASE("a file reads as C: loops, names and lines of the user's") {
  const std::string text = codegen::c::source(product(), target);
  CHECK(golden("in_c/product.c.txt", own_code(text)) == "");
  CHECK(codegen::c::source(product(), target) == text);
}

TEST_CASE("every file compiles without a warning, alone and beside its header, optimized or not") {
  for (const in_c::Compiler& cc : in_c::compilers()) {
    CAPTURE(cc.name);
    const std::string text = codegen::c::source(product(), target);
    for (const char* flags : {"-O0", "-O2", "-O3 -march=native"}) CHECK_NOTHROW(in_c::compile_text(text, cc, flags));
  }
}

TEST_CASE("products and sums are fused where fma is written and nowhere else, whatever the compiler may do") {
  for (in_c::Compiler cc : in_c::compilers())
    for (const char* flags : {"-O2", "-O2 -mfma", "-O2 -mfma -std=gnu99"}) {
      if (!Target::parse("x86-64-v3").runs_here() && std::string(flags) != "-O2") continue;
      CAPTURE(flags);
      cc.flags = flags;
      const in_c::Compiled f = in_c::compile(multiply_add(), target, cc);
      const float x[1] = {1 + 0x1p-12f};  // x x loses its last bit where it is rounded
      float out[1] = {0}, fused[1] = {0};
      const struct {
        const float* a;
        float *out, *fused;
        std::int64_t N;
      } args = {x, out, fused, 1};
      REQUIRE(f.run(&args, nullptr) == ASHLAR_OK);
      interp::Arguments expected;
      expected.emplace_back(interp::Array::make(f32, {1}, [&](auto) { return static_cast<double>(x[0]); }));
      expected.emplace_back(interp::Array::zeros(f32, {1}));
      expected.emplace_back(interp::Array::zeros(f32, {1}));
      interp::run(multiply_add(), expected);
      CHECK(std::memcmp(expected[1].array.bytes.data(), out, 4) == 0);
      CHECK(std::memcmp(expected[2].array.bytes.data(), fused, 4) == 0);
    }
}

TEST_CASE("flags that change results are an error of the file") {
  for (const in_c::Compiler& cc : in_c::compilers()) {
    CAPTURE(cc.name);
    std::string said;
    try {
      in_c::compile_text(codegen::c::source(multiply_add(), target), cc, "-ffast-math");
    } catch (const std::exception& e) { said = e.what(); }
    CHECK(has(said, "compile without -ffast-math"));
  }
}

TEST_CASE("without an operating system a file has the two entries on pointers, and needs no runtime") {
  const Target bare = Target::parse("x86-64-none");
  const std::string text = codegen::c::source(multiply_add(), bare);
  CHECK(!has(text, "ashlar_abi1"));
  CHECK(has(text, "int multiply_add_run("));
  for (const in_c::Compiler& cc : in_c::compilers()) CHECK_NOTHROW(in_c::compile_text(text, cc, "-ffreestanding"));
}

TEST_CASE("where addresses have 32 bits a file refuses what they do not count, as objects do") {
  const std::string refusal = "> 2147418112)\n    return multiply_add_fail(context, ASHLAR_E_OVERFLOW, -1, -1, 2147418112, ";
  CHECK(has(codegen::c::source(multiply_add(), Target::parse("cortex-m4")), refusal));
  CHECK(!has(codegen::c::source(multiply_add(), Target::parse("x86-64-none")), "2147418112"));
}

TEST_CASE("names of the user's that C or the file has are changed, and stay apart") {
  Maker m("names");
  const ir::Id x = m.tensor("int", i32, {ir::index(4)}), y = m.tensor("add_i32", i32, {ir::index(4)}, true);
  const Expr i = ir::var(m.fresh(), "lane"), j = ir::var(m.fresh(), "lane"), n = ir::var(m.fresh(), "NAN");
  m.k.body = {kernels::let(
      n, ir::index(1),
      {kernels::loop(i, ir::index(2),
                     {kernels::loop(j, ir::index(2),
                                    {kernels::store(y, ir::add(ir::add(ir::mul(i, ir::index(2)), j), ir::sub(n, n)),
                                                    ir::add(m.load(x, ir::add(ir::mul(i, ir::index(2)), j)),
                                                            ir::int_const(i32, INT32_MAX)))})})})};
  for (const in_c::Compiler& cc : in_c::compilers()) {
    const in_c::Compiled f = in_c::compile(m.k, target, cc);
    const std::int32_t in[4] = {0, 1, 2, 3};
    std::int32_t out[4] = {};
    const void* args[] = {in, out};
    REQUIRE(f.run(args, nullptr) == ASHLAR_OK);
    CHECK(out[0] == INT32_MAX);
    CHECK(out[3] == INT32_MIN + 2);  // it wraps
  }
}

namespace {

ir::Kernel clamped_by(const char* text, Where where = Where::current()) {
  return lowered(clamped::schedule(target, where, [&](Meaning& m) {
    m.emit(Backend::llvm, "call void @never_called(ptr {dst.ptr})");
    if (text) m.emit(Backend::c, text);
  }));
}

}  // namespace

TEST_CASE("a user's intrinsic is the text that it has for c") {
  const ir::Kernel k = clamped_by(
      "#include <stdlib.h>\n"
      "for (int n = 0; n < 4; ++n)\n"
      "  {dst.ptr}[n] = {src.ptr}[n] > {p} ? abs({src.ptr}[n] - {p}) : 0;");
  for (const in_c::Compiler& cc : in_c::compilers()) {
    const in_c::Compiled f = in_c::compile(k, target, cc);
    CHECK(f.text().find("#include <stdlib.h>") < f.text().find("static"));
    std::int32_t in[12], out[12];
    for (int i = 0; i < 12; ++i) in[i] = i * 37 % 23 - 9, out[i] = -1;
    const std::int32_t low = -2;
    std::int64_t shape[2] = {3, 4};
    ashlar_tensor x{}, y{};
    x.data = in, y.data = out;
    for (ashlar_tensor* t : {&x, &y})
      t->device_type = 1, t->ndim = 2, t->type_code = 0, t->type_bits = 32, t->type_lanes = 1, t->shape = shape;
    const void* arguments[] = {&x, &low, &y};
    REQUIRE(f.call(arguments) == 0);
    for (int i = 0; i < 12; ++i) CHECK(out[i] == std::max(in[i] + 2, 0));
  }
}

TEST_CASE("what C cannot say is refused at the line that asks for it") {
  const Where here = Where::current();  // where the intrinsic is described
  const std::string line = location(here);
  const std::string none = refused([&] { codegen::c::source(clamped_by(nullptr, here), target); });
  CAPTURE(none);
  CHECK(none.find(line + ": c: expected a text of clamp4 for c (m.emit(Backend::c, ...)), found none") == 0);

  // vectors of a length that the machine knows
  const Target sve = Target::parse("aarch64+sve");
  lang::DefinitionScope scope;
  const Symbol N{"N"};
  const Tensor x = lang::make_input("x", f32, {N}), y = lang::make_output("y", f32, {N});
  const Tensor z = compute("z", {N}, [&](Var i) { return x(i) + 1; });
  lang::bind(y, z);
  Schedule s(lang::build_program("scaled", {x, y}), sve);
  s[z].vectorize(s[z].spatial<1>()[0], Scalable{4});
  const std::string scalable = refused([&] { codegen::c::source(lowered(s), sve); });
  CHECK(has(scalable, "kernels_test.cpp:"));
  CHECK(has(scalable, "c: expected vectors of a known length, found lanes counted by vscale, which C cannot say"));

  // launches
  Schedule device(lang::build_program("launched", {x, y}), Target::parse("cuda-sm_80"));
  auto [o, i] = device[z].split(device[z].spatial<1>()[0], 128);
  device[z].bind(o, gpu::block_x).bind(i, gpu::thread_x);
  CHECK(has(refused([&] { codegen::c::source(lowered(device), device.target()); }),
            "c: expected a target that is a processor, found cuda-sm_80"));

  // names of helpers
  CHECK(has(refused([&] { codegen::c::source(multiply_add("at_least_one"), target); }),
            "c: expected a name that no helper function of the file has, found at_least_one"));
}
