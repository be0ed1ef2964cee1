#pragma once
// B = A transposed, which tests schedule over tiles.
#include <ashlar/ashlar.h>
#include <ashlar/lang/build_program.h>

struct Transposition {
  ashlar::lang::DefinitionScope scope;
  ashlar::Symbol M{"M", {.min = 1}}, N{"N", {.min = 1}};
  ashlar::Tensor A = ashlar::lang::make_input("A", ashlar::f32, {M, N}),
                 B = ashlar::lang::make_output("B", ashlar::f32, {N, M});
  ashlar::lang::Built built = build();

 private:
  ashlar::lang::Built build() {
    using ashlar::Var;
    ashlar::lang::bind(B, ashlar::compute("B", {{"j", N}, {"i", M}}, [&](Var j, Var i) { return A(i, j); }));
    return ashlar::lang::build_program("turn", {A, B});
  }
};
