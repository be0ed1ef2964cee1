// clone: a stage for some readers, placed on its own.
#include "programs.h"

#include <ashlar/ir/print.h>

#include "tests/golden.h"

namespace ashlar::test {
namespace {

struct Two {  // y = half + half of neighbors, z = half of x squared: both read `half`
  lang::DefinitionScope scope;
  Symbol N{"N"};
  Tensor x = lang::make_input("x", i32, {N}), y = lang::make_output("y", i32, {N}), z = lang::make_output("z", i32, {N});
  Tensor wide = boundary::repeat(x);
  Tensor half = compute("half", [&](Var i) { return wide(i) * 3 + 1; });
  lang::Built built = build();
  Schedule s{built, Target::parse("x86-64-v3")};

  void same() const {
    for (const std::int64_t n : {13, 1, 0}) means_the_same(built.program, s, {{n}, {n}, {n}});
  }

 private:
  lang::Built build() {
    lang::bind(y, compute("y", {{"i", N}}, [&](Var i) { return half(i) + half(i + 1); }));
    lang::bind(z, compute("z", {{"i", N}}, [&](Var i) { return half(i) * half(i); }));
    return lang::build_program("two", {x, y, z});
  }
};

}  // namespace

TEST_CASE("a copy for one reader, computed at its loop, and the stage for the other") {
  Two t;
  Stage own = t.s.clone(t.half, {t.z});
  auto [zo, zi] = t.s[t.z].split(t.s[t.z].spatial<1>()[0], 4);
  own.compute_at(zo);
  t.s[t.half].compute_at(t.s[t.y].spatial<1>()[0]);
  CHECK(golden("schedule/golden/clone.txt", ir::text(t.s.scheduled().program)) == "");
  t.same();
  replays<Two>(t.s);
  Two u;
  u.s.clone(u.half, {u.y}).inline_();
  u.same();
}

TEST_CASE("a reduction is cloned with what it reduces") {
  lang::DefinitionScope scope;
  Symbol M{"M"}, N{"N"};
  Tensor x = lang::make_input("x", i32, {M, N}), y = lang::make_output("y", i32, {M}), z = lang::make_output("z", i32, {M});
  Axis k{"k", N};
  Tensor rows = compute("rows", {{"i", M}}, [&](Var i) { return sum(x(i, k), k); });
  lang::bind(y, compute("y", {{"i", M}}, [&](Var i) { return rows(i) + 1; }));
  lang::bind(z, compute("z", {{"i", M}}, [&](Var i) { return rows(i) * 2; }));
  const lang::Built built = lang::build_program("p", {x, y, z});
  Schedule s(built, Target::parse("x86-64-v3"));
  Stage own = s.clone(rows, {z});
  own.compute_at(s[z].spatial<1>()[0]);
  auto [ko, ki] = own.split(own.reduction(), 4);
  own.rfactor(ki);
  for (const auto& [m, n] : {std::pair<std::int64_t, std::int64_t>{5, 9}, {1, 1}, {3, 0}})
    means_the_same(built.program, s, {{m, n}, {m}, {m}});
}

TEST_CASE("what clone refuses") {
  Two t;
  says(refusal(t.s, [&] { t.s.clone(t.half, {t.y, t.z}); }),
       {"clone: expected a reader that keeps half, found all of them named"});
  says(refusal(t.s, [&] { t.s.clone(t.half, {}); }), {"stages that read half, found none"});
  says(refusal(t.s, [&] { t.s.clone(t.half, {t.half}); }), {"stages that read half, found half, which does not"});
  says(refusal(t.s, [&] { t.s.clone(t.x, {t.y}); }), {"a tensor that is computed, found x, an input"});
}

}  // namespace ashlar::test
