// (i) a fictional accelerator: a scratchpad, a strided DMA with completion tokens, and a 16x16x16 int8 matrix engine. Here its
// functions are in npu.c, and the host calls them.
#include <ashlar/ashlar.h>
using namespace ashlar;

namespace {
const TargetFeature npu{"npu"};
const Scope spad{"npu.spad", {.bytes = 64 * 1024, .align = 64, .c_qualifier = "__attribute__((section(\".spad\")))"}};
const Scope accumulators{"npu.acc", {.bytes = 16 * 1024, .align = 64}};

Intrinsic npu_load() {  // a copy is an intrinsic like any other: its meaning is dst = src
  return intrinsic("npu_load", [](Meaning& m) {
    Symbol rows{"rows", {.min = 1, .max = 256}};
    Tensor src = m.read("src", i8, {rows, 16});
    Tensor dst = m.write("dst", i8, {rows, 16}, spad);
    m.means(dst, [&](Var r, Var c) { return src(r, c); });
    m.asynchronous(Backend::c, "npu_wait({token});");
    m.emit(Backend::c, "{token} = npu_dma_2d({dst.ptr}, {src.ptr}, {rows}, 16, {src.stride0});");
    m.asynchronous(Backend::llvm, "call void @npu_wait(i32 {token})");
    m.emit(Backend::llvm,
           "{token} = call i32 @npu_dma_2d(ptr {dst.ptr}, ptr {src.ptr}, i64 {rows}, i64 16, i64 {src.stride0})");
    m.needs("npu");
  });
}

Intrinsic npu_gemm() {
  return intrinsic("npu_gemm", [](Meaning& m) {
    Tensor A = m.read("A", i8, {16, 16}, spad), B = m.read("B", i8, {16, 16}, spad);
    Tensor C = m.accumulate("C", i32, {16, 16}, accumulators);
    Expr zero = m.parameter("zero", i32);  // unified with whatever the site subtracts
    Axis k{"k", 16};
    m.means(C, [&](Var i, Var j) { return sum((i32(A(i, k)) - zero) * i32(B(k, j)), k).from(C(i, j)); });
    m.emit(Backend::c, "npu_gemm16({C.ptr}, {A.ptr}, {B.ptr}, {zero});");
    m.emit(Backend::llvm, "call void @npu_gemm16(ptr {C.ptr}, ptr {A.ptr}, ptr {B.ptr}, i32 {zero})");
    m.needs("npu");
  });
}

class NpuMatmul : public Generator {
 public:
  Symbol M{"M", {.multiple_of = 16}}, N{"N", {.multiple_of = 16}}, K{"K", {.multiple_of = 16}};
  Input A{"A", i8, {M, K}}, B{"B", i8, {K, N}};
  Scalar zero{"zero", i32};
  Output C{"C", i32, {M, N}};
  void algorithm() override {
    Axis k{"k", K};
    C = compute("C", {M, N}, [&](Var i, Var j) { return sum((i32(A(i, k)) - zero) * i32(B(k, j)), k); });
  }
  void schedule(Schedule& s) override {
    Stage acc = s.cache_write(C, accumulators);
    auto [i, j] = s[C].spatial<2>();
    auto [io, jo, ii, ji] = s[C].tile(i, j, 16, 16, Tail::exact);
    acc.compute_at(jo);
    auto [ko, ki] = acc.split(acc.reduction(), 16, Tail::exact);
    auto [ai, aj] = acc.spatial<2>();
    acc.reorder(ko, ai, aj, ki);
    Stage a = s.cache_read(A, {acc}, spad), b = s.cache_read(B, {acc}, spad);
    for (Stage t : {a, b}) t.compute_at(ko).tensorize(t.spatial<2>()[0], npu_load());
    acc.decompose_init(ko);
    acc.tensorize(ai, npu_gemm());
    (void)io;
    (void)ii;
    (void)ji;
  }
};
ASHLAR_GENERATOR(NpuMatmul, "npu_matmul");
}  // namespace
