#pragma once
// A product on a fictional accelerator, as in tests/uses/i_accelerator.cpp: two scratchpads, a copy, and a 16x16x16 engine.
#include "programs.h"

namespace ashlar::test {

inline const TargetFeature npu_feature{"npu"};
inline const Scope spad{"npu.spad", {.bytes = 64 * 1024, .align = 64}};
inline const Scope accumulators{"npu.acc", {.bytes = 16 * 1024, .align = 64}};

inline Intrinsic npu_load() {
  return intrinsic("npu_load", [](Meaning& m) {
    Symbol rows{"rows", {.min = 1, .max = 256}};
    Tensor src = m.read("src", i8, {rows, 16});
    Tensor dst = m.write("dst", i8, {rows, 16}, spad);
    m.means(dst, [&](Var r, Var c) { return src(r, c); });
    m.asynchronous(Backend::llvm, "call void @npu_wait(i32 {token})");
    m.emit(Backend::llvm,
           "{token} = call i32 @npu_dma_2d(ptr {dst.ptr}, ptr {src.ptr}, i64 {rows}, i64 16, i64 {src.stride0})");
    m.needs("npu");
  });
}

inline Intrinsic npu_gemm() {
  return intrinsic("npu_gemm", [](Meaning& m) {
    Tensor A = m.read("A", i8, {16, 16}, spad), B = m.read("B", i8, {16, 16}, spad);
    Tensor C = m.accumulate("C", i32, {16, 16}, accumulators);
    Expr zero = m.parameter("zero", i32);
    Axis k{"k", 16};
    m.means(C, [&](Var i, Var j) { return sum((i32(A(i, k)) - zero) * i32(B(k, j)), k).from(C(i, j)); });
    m.emit(Backend::c, "npu_gemm16({C.ptr}, {A.ptr}, {B.ptr}, {zero});");
    m.emit(Backend::llvm, "call void @npu_gemm16(ptr {C.ptr}, ptr {A.ptr}, ptr {B.ptr}, i32 {zero})");
    m.needs("npu");
  });
}

struct Npu {  // C = (A - zero) B
  lang::DefinitionScope scope;
  Symbol M{"M", {.multiple_of = 16}}, N{"N", {.multiple_of = 16}}, K{"K", {.multiple_of = 16}};
  Tensor A = lang::make_input("A", i8, {M, K}), B = lang::make_input("B", i8, {K, N});
  Expr zero = lang::make_scalar("zero", i32);
  Tensor C = lang::make_output("C", i32, {M, N});
  lang::Built built = build();
  Schedule s{built, Target::parse("x86-64+npu")};
  std::optional<Stage> acc, a, b;
  Loop ko, ai, aj, ki;

  explicit Npu(bool tensorized = true) {
    acc = s.cache_write(C, accumulators);
    auto [i, j] = s[C].spatial<2>();
    auto [io, jo, ii, ji] = s[C].tile(i, j, 16, 16, Tail::exact);
    (void)io, (void)ii, (void)ji;
    acc->compute_at(jo);
    const Split k = acc->split(acc->reduction(), 16, Tail::exact);
    ko = k.outer, ki = k.inner;
    ai = acc->spatial<2>()[0], aj = acc->spatial<2>()[1];
    acc->reorder(ko, ai, aj, ki);
    a = s.cache_read(A, {*acc}, spad), b = s.cache_read(B, {*acc}, spad);
    for (const Stage& t : {*a, *b}) t.compute_at(ko);
    acc->decompose_init(ko);
    if (!tensorized) return;
    for (const Stage& t : {*a, *b}) t.tensorize(t.spatial<2>()[0], npu_load());
    acc->tensorize(ai, npu_gemm());
  }

  // The product by the meaning of the intrinsics and by the loops they stand for.
  void same(std::int64_t m, std::int64_t n, std::int64_t k) const {
    const auto arguments = [&] {
      interp::Arguments args;
      std::uint32_t seed = 1;
      const auto random = [&](auto) {
        seed = seed * 1664525u + 1013904223u;
        return static_cast<double>(seed >> 24) - 128;
      };
      args.emplace_back(interp::Array::make(i8, {m, k}, random));
      args.emplace_back(interp::Array::make(i8, {k, n}, random));
      args.emplace_back(ir::int_value(i32, -5));
      args.emplace_back(interp::Array::zeros(i32, {m, n}));
      return args;
    };
    interp::Arguments expected = arguments(), described = arguments(), erased = arguments();
    interp::run_algorithm(built.program, expected);
    const auto n1 = interp::run(s.scheduled().program, described);
    const auto n2 = interp::run(s.scheduled().program, erased, {.intrinsics = interp::Options::Intrinsics::erased});
    CHECK(interp::difference(described[3].array, expected[3].array) == "");
    CHECK(interp::difference(erased[3].array, expected[3].array) == "");
    CHECK(n1.evaluations == n2.evaluations);
  }

 private:
  lang::Built build() {
    Axis k{"k", K};
    lang::bind(C, compute("product", {{"i", M}, {"j", N}},
                          [&](Var i, Var j) { return sum((i32(A(i, k)) - zero) * i32(B(k, j)), k); }));
    return lang::build_program("npu_matmul", {A, B, zero, C});
  }
};

}  // namespace ashlar::test
