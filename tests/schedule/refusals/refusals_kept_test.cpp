// Refusals that a random program was first to need; each names its seed.
#include "tests/schedule/programs.h"

namespace ashlar::test {

TEST_CASE("lanes over overlapping tiles and what is in them meet (fuzz seed 13030)") {
  lang::DefinitionScope scope;
  Tensor x = lang::make_input("x", f32, {7}), y = lang::make_output("y", f32, {7});
  lang::bind(y, compute("y", {{"i", 7}}, [&](Var i) { return x(i) * 2; }));
  const lang::Built program = lang::build_program("lanes", {x, y});
  Schedule s(program, Target::parse("x86-64"));
  auto [io, ii] = s[y].split(s[y].spatial<1>()[0], 2, Tail::shift);
  Schedule whole = s;
  whole[y].vectorize(whole[y].nest()[0]);  // lanes over tiles: each begins elsewhere
  means_the_same(program.program, whole, {{7}, {7}});
  const Loop both = s[y].fuse(io, ii);
  says(refusal(s, [&] { s[y].vectorize(both); }),
       {"lanes that store to places of their own", "a fusion of tiles that overlap by Tail::shift"});
  s[y].parallel(both);
  means_the_same(program.program, s, {{7}, {7}});
}

TEST_CASE("a stage is put where a box of its producer is finished, not parts with gaps (fuzz seed 35613)") {
  lang::DefinitionScope scope;
  Symbol N{"N", {.min = 1}};
  Tensor x = lang::make_input("x", f32, {12, N}), y = lang::make_output("y", f32, {12, N});
  Tensor t = compute("t", {{"i", 12}, {"j", N}}, [&](Var i, Var j) { return x(i, j) + 1; });
  lang::bind(y, compute("y", {{"i", 12}, {"j", N}}, [&](Var i, Var j) { return t(i, j) * 2; }));
  const lang::Built program = lang::build_program("after", {x, y});
  Schedule s(program, Target::parse("x86-64"));
  auto [i, j] = s[t].spatial<2>();
  auto [io, ii] = s[t].split(i, 3);
  Schedule fused = s;
  s[t].reorder(ii, j, io);
  says(refusal(s, [&, ii = ii] { s[y].fuse_into(ii); }), {"to finish a box of it", "i, parts of which they finish with gaps"});
  s[t].reorder(io, j, ii);
  s[y].fuse_into(io);
  means_the_same(program.program, s, {{12, 5}, {12, 5}});

  const auto at = fused[t].nest();
  fused[t].fuse(at[1], at[2]);
  fused[y].fuse_into(at[0]);
  means_the_same(program.program, fused, {{12, 5}, {12, 5}});
  Schedule pieces(program, Target::parse("x86-64"));
  auto [pi, pj] = pieces[t].spatial<2>();
  auto [po, pr] = pieces[t].split(pieces[t].fuse(pi, pj), 4);
  says(refusal(pieces, [&, po = po] { pieces[y].fuse_into(po); }), {"to finish a box of it"});
}

TEST_CASE("a ring is not a coordinate beside another of the same dimension (fuzz seed 31325)") {
  lang::DefinitionScope scope;
  Symbol N{"N"};
  Tensor x = lang::make_input("x", f32, {N, N}), y = lang::make_output("y", f32, {N, N});
  Tensor t = compute("t", {{"i", N}, {"j", N}}, [&](Var i, Var j) { return x(i, j) + 1; });
  lang::bind(y, compute("y", {{"i", N}, {"j", N}}, [&](Var i, Var j) { return t(i, j) * 2; }));
  Schedule s(lang::build_program("ring", {x, y}), Target::parse("x86-64"));
  s[t].transform_layout([&](Var i, Var j) { return at(i, i + j); });
  says(refusal(s, [&] { s[t].fold(0, 1); }), {"a dimension that is stored as it is", "dimension 0 of t"});
}

TEST_CASE("lanes do not share an element of a ring (fuzz seed 21728)") {
  lang::DefinitionScope scope;
  Symbol N{"N"};
  Tensor x = lang::make_input("x", f32, {N}), y = lang::make_output("y", f32, {N});
  Tensor t = compute("t", {{"i", N}}, [&](Var i) { return x(i) + 1; });
  lang::bind(y, compute("y", {{"i", N}}, [&](Var i) { return t(i) * 2; }));
  Schedule s(lang::build_program("ring", {x, y}), Target::parse("x86-64"));
  s[t].compute_at(s[y].spatial<1>()[0]).fold(0, 1);
  auto [io, ii] = s[t].split(s[t].spatial<1>()[0], 2);
  says(refusal(s, [&, ii = ii] { s[t].vectorize(ii); }),
       {"lanes that store to places of their own", "ii of t, while t keeps one element for all of them"});
}

}  // namespace ashlar::test
