// From definitions to programs: what the text of a program shows, which outputs are computed in place, and that nothing
// depends on the order in which C++ objects were made.
#include <doctest/doctest.h>

#include <ashlar/ashlar.h>
#include <ashlar/ir/print.h>
#include <ashlar/ir/refusal.h>
#include <ashlar/lang/build_program.h>

#include "tests/lang/refused.h"

using namespace ashlar;

namespace {

struct Arguments {
  lang::DefinitionScope scope;
  Symbol M{"M"}, N{"N"}, K{"K", {.multiple_of = 16}};
  Tensor A = lang::make_input("A", f32, {M, K}), B = lang::make_input("B", f32, {K, N});
  Tensor C = lang::make_output("C", f32, {M, N});
};

Tensor matmul(const Tensor& A, const Tensor& B) {
  Axis k{"k", A.extent(1)};
  return compute("C", {{"i", A.extent(0)}, {"j", B.extent(1)}}, [&](Var i, Var j) { return sum(A(i, k) * B(k, j), k); });
}

}  // namespace

TEST_CASE("a matrix product is one stage that writes the output") {
  Arguments a;
  lang::bind(a.C, matmul(a.A, a.B));
  const lang::Built b = lang::build_program("matmul", {a.A, a.B, a.C});
  const std::string text = ir::text(b.program);
  CHECK(text.substr(0, text.find("nest")) == R"(program matmul
  symbol M
  symbol K, multiple of 16
  symbol N
  input A: f32[M, K]
  input B: f32[K, N]
  output C: f32[M, N]
  C[i, j] = sum over k in [0, K) of A[i, k] * B[k, j] from 0.0
)");
  const ir::Stmt& nest = b.program.body.at(0);
  CHECK(nest.kind == ir::Stmt::Kind::nest);
  CHECK(nest.roots.size() == 3);
  CHECK(nest.body.at(0).body.at(0).body.at(0).body.at(0).kind == ir::Stmt::Kind::block);
  CHECK(b.program.stages.size() == 1);
  const ir::Stage& s = b.program.stages.begin()->second;
  CHECK(s.reducer.kind == ir::ReducerKind::sum);
  CHECK(s.reducer.fused);
  CHECK(b.stage_of.at(a.C.id()) == s.id);
  CHECK(b.buffer_of.at(a.C.id()) == s.buffers.front());
}
