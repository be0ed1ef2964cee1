// Tiles by value, compiled: the elements come in row-major order and go back to their places, however they lie in memory.
#include <doctest/doctest.h>

#include <ashlar/codegen/emit.h>
#include <ashlar/codegen/jit.h>
#include <ashlar/ir/refusal.h>

#include "tests/instructions/call.h"
#include "tests/instructions/site.h"
#ifdef ASHLAR_TEST_IN_C
#include "tests/in_c/c_compiled.h"
#endif

using namespace ashlar;

namespace {

// y[i, j] = x[j, i] of tiles of 2 x 4 by a text that names lanes: an exchange of rows and columns.
Intrinsic transposed() {
  return intrinsic("transposed", [](Meaning& m) {
    Tensor x = m.read("x", i32, {4, 2}), y = m.write("y", i32, {2, 4});
    m.means(y, [&](Var i, Var j) { return x(j, i); });
    m.emit(Backend::llvm,
           "{y.result} = shufflevector <8 x i32> {x.value}, <8 x i32> poison, <8 x i32> <i32 0, i32 2, i32 4, i32 6, i32 1, "
           "i32 3, i32 5, i32 7>");
    m.emit(Backend::c, "for (int i = 0; i < 2; ++i)\nfor (int j = 0; j < 4; ++j) {y.ptr}[i * 4 + j] = {x.ptr}[j * 2 + i];");
  });
}

struct Transposing {  // y of 2 x 4 tiles: from = x in a layout, to = its transposition in another one, y = to
  lang::DefinitionScope scope;
  Tensor x = lang::make_input("x", i32, {12, 2}), y = lang::make_output("y", i32, {2, 12});
  Tensor from = compute("from", {{"j", 12}, {"i", 2}}, [&](Var j, Var i) { return x(j, i); });
  Tensor to = compute("to", {{"i", 2}, {"j", 12}}, [&](Var i, Var j) { return from(j, i); });
  lang::Built built = (lang::bind(y, compute("y", {{"i", 2}, {"j", 12}}, [&](Var i, Var j) { return to(i, j); })),
                       lang::build_program("tiles", {x, y}));
  Schedule s{built, Target::host()};

  template <class From, class To>
  Transposing(From&& from_layout, To&& to_layout) {
    s[from].transform_layout(from_layout);
    s[to].transform_layout(to_layout);
    auto [i, j] = s[to].spatial<2>();
    auto [jo, ji] = s[to].split(j, 4, Tail::exact);
    s[to].reorder(jo, i, ji).tensorize(i, transposed());
    schedule::finish(s.scheduled(), s.target());
  }
  ir::Kernel kernel() const { return lower(s.scheduled().program, options_for(s.target())); }
  interp::Arguments arguments() const {
    interp::Arguments all;
    all.emplace_back(interp::Array::make(i32, {12, 2}, [](auto at) { return static_cast<double>(at[0] * 10 + at[1]); }));
    all.emplace_back(interp::Array::zeros(i32, {2, 12}));
    return all;
  }
  void check() const {
    interp::Arguments expected = arguments(), lowered = expected, found = expected;
    interp::run_algorithm(built.program, expected);
    const ir::Kernel k = kernel();
    interp::run(k, lowered);
    CHECK(interp::difference(lowered.back().array, expected.back().array) == "");
    REQUIRE(instructions::call(codegen::compile(k, s.target()), found) == 0);
    CHECK(interp::difference(found.back().array, expected.back().array) == "");
  }
};

const auto plain_from = [](Var j, Var i) { return at(j, i); };
const auto plain_to = [](Var i, Var j) { return at(i, j); };

}  // namespace

TEST_CASE("dense tiles, and rows that lie apart") {
  Transposing(plain_from, plain_to).check();
  Transposing([](Var j, Var i) { return at(j * 3 + i); }, plain_to).check();  // a gap behind each row
  Transposing([](Var j, Var i) { return at(j / 4, j % 4 * 5 + i); }, [](Var i, Var j) { return at(j / 4, i, j % 4); }).check();
}

TEST_CASE("rows and columns exchanged, and elements backwards") {
  Transposing([](Var j, Var i) { return at(j / 4, i, j % 4); }, plain_to).check();
  Transposing([](Var j, Var i) { return at(j, 1 - i); }, plain_to).check();
  Transposing([](Var j, Var i) { return at(j / 4, 3 - j % 4, 1 - i); }, [](Var i, Var j) { return at(j / 4, 3 - j % 4, i); })
      .check();
  Transposing(plain_from, [](Var i, Var j) { return at(j / 4, 3 - j % 4, 1 - i); }).check();
  Transposing(plain_from, [](Var i, Var j) { return at(j * 3 + i); }).check();  // nothing is written into the gaps
}

#ifdef ASHLAR_TEST_IN_C
TEST_CASE("in C a tile has an address: one with gaps is refused where the text takes it for dense") {
  const Transposing dense([](Var j, Var i) { return at(j / 4, j % 4, i); }, [](Var i, Var j) { return at(j / 4, i, j % 4); });
  {
    const in_c::Compiler cc = in_c::compilers().front();
    interp::Arguments expected = dense.arguments(), found = expected;
    interp::run_algorithm(dense.built.program, expected);
    REQUIRE(instructions::call(in_c::compile(dense.kernel(), Target::host(), cc), found) == 0);
    CHECK(interp::difference(found.back().array, expected.back().array) == "");
    const Transposing gaps([](Var j, Var i) { return at(j * 3 + i); }, plain_to);
    CHECK_THROWS_WITH_AS(in_c::compile(gaps.kernel(), Target::host(), cc),
                         doctest::Contains("{x.stride0} in the text of transposed for c, where"), RefusalError);
  }
}
#endif
