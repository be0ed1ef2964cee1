// Tensorized loops lowered: one call, whose kernel computes what the algorithm says.
#include <ashlar/ir/print.h>
#include <ashlar/lower/lower.h>

#include "check.h"
#include "tests/golden.h"
#include "tests/schedule/npu.h"

using namespace ashlar;

TEST_CASE("the accelerator's product is two copies and a product a step") {
  test::Npu t;
  const ir::Kernel k = lower(t.s.scheduled().program, {});
  CHECK(golden("lower/golden/tensorize.txt", ir::text(k)) == "");
  handmade::check_kernel(
      t.built.program, k,
      {{{"M", 32}, {"N", 48}, {"K", 64}}, {{"M", 16}, {"N", 16}, {"K", 16}}, {{"M", 16}, {"N", 16}, {"K", 0}}});
}

TEST_CASE("tiles of each worker's own") {
  test::Npu t;
  const Stage c = t.s[t.C];
  c.parallel(c.nest()[0]);
  handmade::check_kernel(t.built.program, lower(t.s.scheduled().program, {}), {{{"M", 64}, {"N", 32}, {"K", 48}}});
}

TEST_CASE("ragged tiles are sizes, calls stand under the conditions of their loops") {
  lang::DefinitionScope scope;
  Symbol N{"N", {.min = 1}};
  Tensor x = lang::make_input("x", i32, {N, 8}), y = lang::make_output("y", i32, {N, 8});
  lang::bind(y, compute("y", {{"i", N}, {"j", 8}}, [&](Var i, Var j) { return x(i, j); }));
  const lang::Built program = lang::build_program("copy", {x, y});
  const Intrinsic rows = intrinsic("copy_rows", [](Meaning& m) {
    Symbol n{"n", {.max = 4}};
    Tensor src = m.read("src", i32, {n, 8}), dst = m.write("dst", i32, {n, 8});
    m.means(dst, [&](Var r, Var c) { return src(r, c); });
    m.emit(Backend::llvm, "call void @copy(ptr {dst.ptr}, ptr {src.ptr}, i64 {src.stride0}, i64 {dst.stride0}, i64 {n})");
  });
  const std::vector<handmade::Sizes> shapes{{{"N", 1}}, {{"N", 4}}, {{"N", 10}}, {{"N", 17}}};
  Schedule s(program, Target::parse("x86-64"));
  const Split i = s[y].split(s[y].spatial<2>()[0], 4);
  s[y].tighten(i.inner).tensorize(i.inner, rows).parallel(i.outer);
  handmade::check_kernel(program.program, lower(s.scheduled().program, {}), shapes);
  // columns one at a time, below an unrolled loop: the calls' addresses follow it
  const Intrinsic column = intrinsic("column", [](Meaning& m) {
    Symbol n{"n"};
    Tensor src = m.read("src", i32, {n}), dst = m.write("dst", i32, {n});
    m.means(dst, [&](Var r) { return src(r); });
    m.emit(Backend::llvm, "call void @column(ptr {dst.ptr}, i64 {dst.stride0}, ptr {src.ptr}, i64 {src.stride0}, i64 {n})");
  });
  Schedule columns(program, Target::parse("x86-64"));
  auto [r, c] = columns[y].spatial<2>();
  columns[y].reorder(c, r).tensorize(r, column).unroll(c);
  handmade::check_kernel(program.program, lower(columns.scheduled().program, {}), shapes);
}

TEST_CASE("a call that starts its sums stands beside loops that are begun for (seed 20934)") {
  lang::DefinitionScope scope;
  Symbol N{"N", {.min = 1}};
  Tensor x = lang::make_input("x", i32, {N, 4}), y = lang::make_output("y", i32, {N});
  Axis k{"k", 4};
  lang::bind(y, compute("y", {{"i", N}}, [&](Var i) { return sum(x(i, k), k); }));
  const lang::Built program = lang::build_program("sums", {x, y});
  const Intrinsic four = intrinsic("sum_of_four", [](Meaning& m) {
    Tensor A = m.read("A", i32, {4}), W = m.write("W", i32, {1});
    Axis l{"l", 4};
    m.means(W, [&](Var) { return sum(A(l), l); });
    m.emit(Backend::llvm, "call void @sum_of_four(ptr {W.ptr}, ptr {A.ptr}, i64 {A.stride0})");
  });
  Schedule s(program, Target::parse("x86-64"));
  const Loop all = s[y].spatial<1>()[0], terms = s[y].reduction();
  s[y].peel(all);
  s[y].tensorize(terms, four);
  handmade::check_kernel(program.program, lower(s.scheduled().program, {}), {{{"N", 1}}, {{"N", 2}}, {{"N", 5}}});
}

TEST_CASE("where a call goes on with sums inside a loop over terms, these begin with plain loops") {
  lang::DefinitionScope scope;
  Symbol N{"N"};
  Tensor x = lang::make_input("x", i32, {N, 4}), y = lang::make_output("y", i32, {4});
  Axis k{"k", N};
  lang::bind(y, compute("y", {{"i", 4}}, [&](Var i) { return sum(x(k, i), k); }));
  const lang::Built program = lang::build_program("rows", {x, y});
  const Intrinsic add = intrinsic("add_four", [](Meaning& m) {
    Tensor A = m.read("A", i32, {4}), W = m.accumulate("W", i32, {4});
    Axis l{"l", 1};
    m.means(W, [&](Var i) { return sum(A(i), l).from(W(i)); });
    m.emit(Backend::llvm, "call void @add_four(ptr {W.ptr}, ptr {A.ptr}, i64 {A.stride0})");
  });
  Schedule s(program, Target::parse("x86-64"));
  s[y].reorder(s[y].reduction(), s[y].spatial<1>()[0]).tensorize(s[y].spatial<1>()[0], add);
  handmade::check_kernel(program.program, lower(s.scheduled().program, {}), {{{"N", 0}}, {{"N", 1}}, {{"N", 5}}});
}

TEST_CASE("an init that is a call knows nothing of the loops over terms (seed 60203)") {
  lang::DefinitionScope scope;
  Symbol N{"N"};
  Tensor x = lang::make_input("x", i32, {4, N}), y = lang::make_output("y", i32, {4});
  Axis k{"k", N};
  lang::bind(y, compute("y", {{"i", 4}}, [&](Var i) { return sum(x(i, k), k); }));
  const lang::Built program = lang::build_program("sums", {x, y});
  const Intrinsic clear = intrinsic("clear_four", [](Meaning& m) {
    Tensor W = m.write("W", i32, {4});
    m.means(W, [&](Var) { return i32(0); });
    m.emit(Backend::llvm, "call void @clear_four(ptr {W.ptr})");
  });
  Schedule s(program, Target::parse("x86-64"));
  const Stage sums = s.cache_write(y, Scope::stack);
  const Stage init = sums.decompose_init(sums.nest().front()).init();
  sums.split(sums.reduction(), 3);
  init.tensorize(init.nest().front(), clear);
  interp::Arguments expected = handmade::arguments_for(program.program, {{"N", 7}}), found = expected;
  interp::run_algorithm(program.program, expected);
  interp::run(s.scheduled().program, found);
  CHECK(interp::difference(found[1].array, expected[1].array) == "");
  handmade::check_kernel(program.program, lower(s.scheduled().program, {}), {{{"N", 0}}, {{"N", 1}}, {{"N", 7}}});
}

TEST_CASE("a sum that goes on from what its own init stored, outside of the call") {
  lang::DefinitionScope scope;
  Symbol M{"M", {.multiple_of = 8}}, K{"K", {.multiple_of = 4}};
  const Tensor A = lang::make_input("A", i8, {M, K}), x = lang::make_input("x", i8, {K}), y = lang::make_output("y", i32, {M});
  const Axis k{"k", K};
  lang::bind(y, compute("y", {M}, [&](Var i) { return sum(i32(A(i, k)) * i32(x(k)), k); }));
  const lang::Built built = lang::build_program("rows", {A, x, y});
  const Intrinsic rows = intrinsic("rows_of_4", [](Meaning& m) {
    const Tensor a = m.read("a", i8, {8, 4}), b = m.read("b", i8, {4}), c = m.accumulate("c", i32, {8});
    const Axis q{"q", 4};
    m.means(c, [&](Var i) { return sum(i32(a(i, q)) * i32(b(q)), q).from(c(i)); });
    m.emit(Backend::llvm, "call void @rows(ptr {c.ptr}, ptr {a.ptr}, i64 {a.stride0}, ptr {b.ptr})");
  });
  for (const bool sums_outside : {false, true}) {
    Schedule s(built, Target::parse("x86-64"));
    auto [io, ii] = s[y].split(s[y].spatial<1>()[0], 8, Tail::exact);
    auto [ko, ki] = s[y].split(s[y].reduction(), 4, Tail::exact);
    if (sums_outside)
      s[y].reorder(ko, io, ii, ki);
    else
      s[y].reorder(io, ko, ii, ki);
    s[y].tensorize(ii, rows);
    handmade::check_kernel(built.program, lower(s.scheduled().program, {}),
                           {{{"M", 16}, {"K", 12}}, {{"M", 8}, {"K", 0}}, {{"M", 0}, {"K", 4}}});
    const auto refused = s.attempt([&, ii = ii, ki = ki] { s[y].reorder(ki, ii); });  // the call's own loops
    REQUIRE(refused);
    CHECK(refused->text().find("reorder: expected ") != std::string::npos);
  }
}

TEST_CASE("a call in the variant for calls without elements (seed 944001660)") {
  lang::DefinitionScope scope;
  Symbol M{"M"};
  Tensor x = lang::make_input("x", i32, {M, 4}), y = lang::make_output("y", i32, {M, 4});
  const Tensor next = compute("next", {M, 4}, [&](Var i, Var j) { return x(i, j) + 1; });
  lang::bind(y, compute("y", {M, 4}, [&](Var i, Var j) { return next(i, j) * 2; }));
  const lang::Built program = lang::build_program("rows", {x, y});
  const Intrinsic twice = intrinsic("twice_four", [](Meaning& m) {
    Tensor A = m.read("A", i32, {4}), W = m.write("W", i32, {4});
    m.means(W, [&](Var j) { return A(j) * 2; });
    m.emit(Backend::llvm, "call void @twice_four(ptr {W.ptr}, ptr {A.ptr})");
  });
  Schedule s(program, Target::parse("x86-64"));
  const Stage doubled = s[y].fuse_into(s[next].spatial<2>()[0]);
  doubled.tensorize(doubled.nest().front(), twice);
  s.specialize(M < 1);
  for (const std::int64_t rows : {0, 3}) {
    interp::Arguments expected = handmade::arguments_for(program.program, {{"M", rows}}), found = expected;
    interp::run_algorithm(program.program, expected);
    REQUIRE_NOTHROW(interp::run(s.scheduled().program, found));
    CHECK(interp::difference(found[1].array, expected[1].array) == "");
  }
}

TEST_CASE("the values of a call are each its own, whatever stood in memory before (fuzz seed 949001786)") {
  lang::DefinitionScope scope;
  Tensor m = lang::make_input("m", i64, {1}), x = lang::make_input("x", i64, {3}), y = lang::make_output("y", f32, {1});
  lang::bind(y, compute("y", {1}, [&](Var i) {
               Axis k{"k", 3};
               return sum(select(i32(m(i)) < i32(x(k)), f32(m(i)), f32(i8(m(i)))) + f32(i16(m(i))), k);
             }));
  const lang::Built program = lang::build_program("chosen", {m, x, y});
  const Intrinsic tile = intrinsic("chosen_sum", [](Meaning& q) {
    const Expr a = q.parameter("a", i32), b = q.parameter("b", f32), c = q.parameter("c", i8), d = q.parameter("d", i16);
    Tensor X = q.read("X", i64, {3}), W = q.write("W", f32, {1});
    Axis k{"k", 3};
    q.means(W, [&](Var) { return sum(select(a < i32(X(k)), b, f32(c)) + f32(d), k); });
    q.emit(Backend::llvm, "call void @chosen_sum(ptr {W.ptr}, ptr {X.ptr}, i32 {a}, float {b}, i8 {c}, i16 {d})");
  });
  Schedule s(program, Target::parse("x86-64"));
  s[y].tensorize(s[y].reduction(), tile);
  const ir::Kernel k = lower(s.scheduled().program, {});
  CHECK(ir::text(k).find("a=i32(m[0]), b=f32(m[0]), c=i8(m[0]), d=i16(m[0])") != std::string::npos);
  handmade::check_kernel(program.program, k, {{}});
}
