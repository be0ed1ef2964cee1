// y[i, j] = max(x[i, j] - low, 0) for rows of 4, by an intrinsic of the test's own.
#pragma once

#include <ashlar/lang/build_program.h>
#include <ashlar/schedule/schedule.h>

namespace clamped {

using namespace ashlar;

// `texts` gives the intrinsic its text for each back end: m.emit(Backend::llvm, "…").
template <class Texts>
Schedule schedule(const Target& target, Where where, Texts&& texts) {
  lang::DefinitionScope scope;
  Symbol N{"N"};
  Tensor x = lang::make_input("x", i32, {N, 4}), y = lang::make_output("y", i32, {N, 4});
  Expr low = lang::make_scalar("low", i32);
  lang::bind(y, compute("y", {{"i", N}, {"j", 4}}, [&](Var i, Var j) { return max(x(i, j) - low, 0); }));
  Schedule s(lang::build_program("clamped", {x, low, y}), target);
  const Intrinsic f = intrinsic(
      "clamp4",
      [&](Meaning& m) {
        Tensor src = m.read("src", i32, {4}), dst = m.write("dst", i32, {4});
        Expr p = m.parameter("p", i32);
        m.means(dst, [&](Var k) { return max(src(k) - p, 0); });
        texts(m);
      },
      where);
  s[y].tensorize(s[y].spatial<2>()[1], f);
  return s;
}

}  // namespace clamped
