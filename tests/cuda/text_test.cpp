// What the translator writes: golden PTX of a small kernel, tables "this expression has this instruction", and refusals.
#include <doctest/doctest.h>

#include <ashlar/codegen/emit.h>
#include <ashlar/ir/print.h>
#include <ashlar/ir/refusal.h>

#include "tests/cuda/every_operator.h"
#include "tests/cuda/programs.h"
#include "tests/golden.h"
#include "tests/support/text_rows.h"
#include "tests/vulkan/programs.h"

using namespace launches;
using text_rows::has;
namespace ptx = codegen::ptx;

namespace {

std::string text_of(const ir::Kernel& k, const char* target = "cuda-sm_90a") {
  return ptx::translate(k, Target::parse(target)).text;
}

// The text of a kernel that stores f(x[thread], y[thread], z[thread]).
std::string text_of(Type t, Type result, const std::function<Expr(Expr, Expr, Expr)>& f) {
  Builder b("one");
  const Id x = b.input("x", t, {num(8)}), y = b.input("y", t, {num(8)}), z = b.input("z", t, {num(8)});
  const Id out = b.output("out", result, {num(8)});
  b.launch(num(1), 32, 0, [&](const Expr&, const Expr& thread) {
    b.store(out, thread, f(b.at(x, thread), b.at(y, thread), b.at(z, thread)));
  });
  return text_of(b.k);
}

// From the entry on: what stands above tells LLVM's release.
std::string body_of(const std::string& text) { return text.substr(text.find(".visible")); }

std::string refusal_of(const std::function<void()>& f) {
  try {
    f();
  } catch (const RefusalError& e) { return "expected " + e.refusal.expected + ", found " + e.refusal.found; }
  return "not refused";
}

}  // namespace

TEST_CASE("expressions and their instructions") {
  using ir::Op;
  using text_rows::bin, text_rows::un;
  text_rows::check(
      {
          {"a shift by any amount of 64 bits is decided by all of them (fuzz seed 482968 for cuda-sm_80)",
           u64,
           u64,
           bin(Op::shl),
           {"shl.b64", "setp", "selp"},
           {}},
          {"and to the right", u64, u64, bin(Op::shr), {"shr.u64", "setp", "selp"}, {}},
          {"a product and a sum stay two, each rounded",
           f32,
           f32,
           [](Expr x, Expr y, Expr z) { return ir::add(ir::mul(x, y), z); },
           {"mul.rn.f32", "add.rn.f32"},
           {"fma", ".ftz"}},
          {"the same of f64",
           f64,
           f64,
           [](Expr x, Expr y, Expr z) { return ir::add(ir::mul(x, y), z); },
           {"mul.rn.f64", "add.rn.f64"},
           {"fma"}},
          {"fma is fma",
           f32,
           f32,
           [](Expr x, Expr y, Expr z) { return ir::fma(x, y, z); },
           {"fma.rn.f32"},
           {"mul.rn", "add.rn", ".ftz"}},
          {"fma of f64", f64, f64, [](Expr x, Expr y, Expr z) { return ir::fma(x, y, z); }, {"fma.rn.f64"}, {}},
          {"a quotient is IEEE's", f32, f32, bin(Op::div), {"div.rn.f32"}, {"div.full", "div.approx", "rcp"}},
          {"a root is IEEE's", f32, f32, un(Op::sqrt), {"sqrt.rn.f32"}, {"sqrt.approx"}},
          {"a minimum passes NaN on", f32, f32, bin(Op::min), {"min.NaN.f32"}, {}},
          {"round to even", f32, f32, un(Op::round), {"cvt.rni.f32.f32"}, {}},
          {"f32 to bf16 has no call", f32, bf16, [](Expr x, Expr, Expr) { return ir::cast(bf16, x); }, {}, {"call"}},
          {"f16 to f32", f16, f32, [](Expr x, Expr, Expr) { return ir::cast(f32, x); }, {"cvt.f32.f16"}, {}},
          {"popcount", u32, u32, un(Op::popcount), {"popc.b32"}, {}},
          {"division by a power of two is a shift",
           i32,
           i32,
           [](Expr x, Expr, Expr) { return ir::binary(Op::div, x, ir::int_const(i32, 8)); },
           {"shr.s32"},
           {"div.s32"}},
          {"an input is read through the read-only cache", f32, f32, bin(Op::add), {"ld.global.nc.b32", "st.global.b32"}, {}},
      },
      [](Type t, Type result, const text_rows::Formula& f) { return text_of(t, result, f); });
}

// ptxas 13.0 gets min(x, 8) == 8 of 16 bits wrong (codegen/llvm/nvptx/widen.cpp); LLVM narrows one of 32 to that.
TEST_CASE("minima and maxima have 32 bits at least") {
  for (const auto op : {ir::Op::min, ir::Op::max}) {
    const std::string text = text_of(i16, i16, [&](const Expr& x, const Expr&, const Expr&) {
      const Expr m = ir::binary(op, ir::cast(u32, x), ir::int_const(u32, 8));
      const Expr is_bound = ir::eq(m, ir::int_const(u32, 8));
      return ir::select(is_bound, ir::int_const(i16, 0), ir::cast(i16, ir::mul(m, ir::int_const(u32, 7))));
    });
    CHECK_MESSAGE(has(text, op == ir::Op::min ? "min.u32" : "max.u32"), text);
  }
  for (const Type t : {i8, u8, i16, u16})
    for (const ir::Kernel& k : cuda::every_operator(t, 100)) {
      const std::string text = text_of(k);
      for (const char* narrow : {"min.u16", "min.s16", "max.u16", "max.s16"}) {
        INFO(ir::text(t));
        CHECK_MESSAGE(!has(text, narrow), std::string(narrow));
      }
    }
}

TEST_CASE("an entry: its threads, its parameters, its shared memory") {
  const Target t = Target::parse("cuda-sm_80");
  const ptx::Code code = ptx::translate(programs::transposition().k, t);
  REQUIRE(code.entries.size() == 1);
  const ptx::Entry& e = code.entries[0];
  CHECK(e.name == "transposition");
  CHECK(e.shared_bytes == 16 * 17 * 4);
  CHECK(e.parameters.size() == 4);  // in, out, M, N
  CHECK(has(code.text, ".target sm_80"));
  CHECK(has(code.text, ".reqntid 256"));
  CHECK(has(code.text, ".extern .shared .align 1024 .b8 shared_memory[]"));
  CHECK(has(code.text, "bar.sync \t0;"));
  CHECK(has(code.text, "st.shared.b32"));
  CHECK(ptx::translate(programs::large_sum(f32).k, t).entries.size() == 2);
}

TEST_CASE("what lanes of a warp exchange waits for the warp, what warps exchange for the block") {
  const std::string text = body_of(text_of(cuda::kernel_of<warp_operators::Turned>("cuda-sm_80"), "cuda-sm_80"));
  const std::size_t warp = text.find("bar.warp.sync"), block = text.find("bar.sync \t0;");
  REQUIRE(warp != std::string::npos);
  REQUIRE(block != std::string::npos);
  CHECK(warp < block);
  CHECK(text.find("bar.warp.sync", warp + 1) == std::string::npos);
  CHECK(text.find("bar.sync", block + 1) == std::string::npos);
  CHECK(text.find("st.shared") < warp);
  CHECK(text.find("ld.shared") > warp);
}

TEST_CASE("vectors: one access for four lanes, as aligned as is known") {
  Builder b = programs::elementwise_vectors();
  for (auto& [id, buffer] : b.k.buffers) buffer.align = 4;  // of an element: all that entry checks
  CHECK(!has(text_of(b.k), "ld.global.nc.v4"));
  for (auto& [id, buffer] : b.k.buffers) buffer.align = 16;
  CHECK(has(text_of(b.k), "ld.global.nc.v4"));
  CHECK(has(text_of(b.k), "st.global.v4"));
}

TEST_CASE("a register tile lives in registers") {
  const std::string text = text_of(programs::matmul().k);
  CHECK(!has(text, "__local_depot"));
  CHECK(has(text, "fma.rn.f32"));
}

TEST_CASE("shuffles of every width") {
  for (Type t : {f32, i64, i8, f16}) {
    const std::string text = text_of(programs::warp_sums(t, 32).k);
    for (const char* kind : {"bfly", "up", "down", "idx"}) CHECK(has(text, std::string("shfl.sync.") + kind + ".b32"));
  }
  CHECK(refusal_of([] { text_of(programs::warp_sums(f32, 8).k); }) ==
        "expected warps of 32 lanes, found `shuffle_xor` over 8 in kernel `warp_sums`");
}

TEST_CASE("the same kernel gives the same text, and golden bodies") {
  CHECK(text_of(programs::matmul().k) == text_of(programs::matmul().k));
  for (const Builder& b : {programs::elementwise(), programs::transposition()})
    CHECK(golden("cuda/golden/" + b.k.name + ".ptx", body_of(text_of(b.k, "cuda-sm_80"))) == "");
}

TEST_CASE("what the device does not have is refused by name") {
  Builder b("many");
  const Id out = b.output("out", f32, {num(8)});
  const Id tile = b.shared("tile", f32, 50000, 0);
  b.launch(num(1), 32, 200000, [&](const Expr&, const Expr& thread) {
    b.store(tile, thread, ir::float_const(f32, 0));
    b.store(out, thread, b.at(tile, thread));
  });
  CHECK(refusal_of([&] { text_of(b.k, "cuda-sm_80"); }) ==
        "expected at most 166912 bytes of shared memory in a block, which sm_80 has, found 200000 in launch `many`");
  CHECK(refusal_of([] { ptx::translate(programs::elementwise().k, Target::parse("vulkan")); }) ==
        "expected a target that is a CUDA device, found vulkan");
  Builder wide("wide");
  const Id y = wide.output("y", f32, {num(8)});
  wide.launch(num(1), 2048, 0, [&](const Expr&, const Expr& thread) { wide.store(y, thread, ir::float_const(f32, 0)); });
  CHECK(refusal_of([&] { text_of(wide.k); }) == "expected a block of 1 to 1024 threads, found 2048 in launch `wide`");
}

TEST_CASE("atomic updates: one instruction, of the scope that shares the memory, without an order of its own") {
  const std::string counts = text_of(cuda::atomic_counts<gpu_operators::AtomicCounts::How::shared>("cuda-sm_90a"));
  CAPTURE(counts);
  CHECK(has(counts, ".shared.add.u32"));
  CHECK(has(counts, ".global.add.u32"));
  CHECK(!has(counts, ".cas."));
  CHECK(!has(counts, ".sys."));
  CHECK(!has(counts, "fence"));
  for (const auto& [type, suffix] :
       {std::pair<Type, const char*>{i32, ".add.u32"}, {u64, ".add.u64"}, {f32, ".add.f32"}, {f64, ".add.f64"}}) {
    const std::string text = text_of(cuda::atomic_rows("cuda-sm_90a", type));
    CAPTURE(text);
    CHECK(has(text, suffix));
    CHECK(!has(text, ".cas."));
  }
  for (const auto& [type, suffix] :
       {std::pair<Type, const char*>{i32, ".min.s32"}, {u32, ".min.u32"}, {i64, ".min.s64"}, {u64, ".min.u64"}})
    CHECK(has(text_of(cuda::atomic_least("cuda-sm_90a", type)), suffix));
}

TEST_CASE("a prefetch asks for a line of the second cache") {
  Builder b("ahead");
  const Id x = b.input("x", f32, {num(64)}), out = b.output("out", f32, {num(64)});
  b.launch(num(1), 32, 0, [&](const Expr&, const Expr& thread) { b.store(out, thread, b.at(x, thread)); });
  auto& body = b.k.body[0].get<ir::KLaunch>().body;
  body.insert(body.begin(), {{}, ir::KPrefetch{x, num(32)}});
  for (const char* target : {"cuda-sm_80", "cuda-sm_90a", "cuda-sm_100a"})
    CHECK(has(text_of(b.k, target), "prefetch.global.L2"));
}

TEST_CASE("a stride that only a prefetch uses reaches its launch (fuzz seed 317918 for cuda-sm_80)") {
  lang::DefinitionScope scope;
  Tensor x = lang::make_input("x", f32, {1, 1}), y = lang::make_output("y", f32, {1, 1});
  lang::bind(y, compute("y", {1, 1}, [&](Var i, Var) { return x(i, i); }));
  Schedule s(lang::build_program("ahead", {x, y}), Target::parse("cuda-sm_80"));
  auto [i, j] = s[y].spatial<2>();
  s[y].prefetch(i, x, 1);
  s[y].bind(j, gpu::thread_x);
  CHECK(has(text_of(cuda::lowered(s)), "prefetch.global.L2"));
}

TEST_CASE("a kernel with nothing to compute, or with nothing on the device, is refused for a device") {
  using codegen::Output;
  for (const char* target : {"cuda-sm_80", "cuda-sm_90a"}) {
    const Target device = Target::parse(target);
    const auto made = [&](std::int64_t n) {
      lang::DefinitionScope scope;
      Tensor x = lang::make_input("x", f32, {n}), y = lang::make_output("y", f32, {n});
      lang::bind(y, compute("y", {n}, [&](Var i) { return x(i); }));
      Schedule s(lang::build_program("some", {x, y}), device);
      s[y].bind(s[y].spatial<1>()[0], gpu::thread_x);
      return cuda::lowered(s);
    };
    CHECK(has(codegen::emit(made(8), device, Output::ptx), ".visible .entry"));
    const ir::Kernel none = made(0);
    CHECK(none.body.empty());
    CHECK(refusal_of([&] { codegen::emit(none, device, Output::ptx); }) ==
          "expected something to compute on " + std::string(target) + ", found kernel `some`, whose outputs have no elements");
    Builder host("host");
    const Id out = host.output("out", f32, {num(8)});
    host.store(out, num(0), ir::float_const(f32, 0));
    CHECK(refusal_of([&] { codegen::emit(host.k, device, Output::ptx); }) ==
          "expected a schedule that binds loops to blocks and threads, found kernel `host`, which has no launch");
  }
}
