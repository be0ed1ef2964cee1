#pragma once
// Schedules for tiles, lowered and run block by block against the algorithm: by the interpreter of the tile form, and as
// bytecode by the executor of the tests.
#include <doctest/doctest.h>

#include <string>

#include <ashlar/ir/refusal.h>
#include <ashlar/lang.h>
#include <ashlar/lang/build_program.h>
#include <ashlar/lower/tiles.h>
#include <ashlar/schedule/schedule.h>
#include <ashlar/schedule/step.h>

#include "tests/lower/check.h"
#include "tests/tileir/calls.h"

namespace tiles {

using namespace ashlar;
using handmade::Sizes;

// The launches of the general program. A variant has others.
inline std::vector<TileLaunch> lowered(const Schedule& s, const TileOptions& options = {}) {
  schedule::finish(s.scheduled(), s.target());
  ir::Program general = s.scheduled().program;
  general.variants.clear();
  return lower_to_tiles(general, options);
}
inline std::vector<TileLaunch> lowered_variant(const Schedule& s, std::size_t k = 0, const TileOptions& options = {}) {
  schedule::finish(s.scheduled(), s.target());
  return lower_to_tiles(*s.scheduled().program.variants.at(k).program, options);
}

inline Schedule scheduled(const lang::Built& built) { return Schedule(built, Target::parse("cuda-tile-sm_90")); }

// C(i, j) = sum of `term(A(i, k), B(k, j))`, in tiles of `rows` x `columns` and of `depth` terms: an mma in a loop over k.
struct TiledProduct {
  lang::DefinitionScope scope;
  Symbol M{"M"}, N{"N"}, K{"K"};
  Tensor A, B, C, result;
  lang::Built built;
  Schedule s;
  template <class Term>
  TiledProduct(Type a, Type b, Type c, Term term, int rows, int columns, int depth)
      : A(lang::make_input("A", a, {M, K})),
        B(lang::make_input("B", b, {K, N})),
        C(lang::make_output("C", c, {M, N})),
        result(defined(term)),
        built((lang::bind(C, result), lang::build_program("product", {A, B, C}))),
        s(scheduled(built)) {
    auto [i, j] = s[result].template spatial<2>();
    auto [io, jo, ii, ji] = s[result].tile(i, j, rows, columns);
    auto [ko, ki] = s[result].split(s[result].reduction(), depth);
    s[result].reorder(io, jo, ko, ii, ji, ki).bind(io, gpu::block_x).bind(jo, gpu::block_y).as_tile(ii, ji, ki);
  }
  std::string kernel() const { return ir::tile::text(lowered(s)[0].kernel); }

 private:
  template <class Term>
  Tensor defined(Term term) {
    Axis k{"k", K};
    return compute("result", {M, N}, [&](Var i, Var j) { return sum(term(Expr(A(i, k)), Expr(B(k, j))), k); });
  }
};

// The larger of two pairs (value, place), of equal values that with the first place.
inline auto larger_of_pairs() {
  return reducer(
      "larger", {f32, i32}, {-1e30, 1 << 30},
      [](Values<2> a, Values<2> b) {
        const Expr takes = b[0] > a[0] || (b[0] == a[0] && b[1] < a[1]);
        return values(select(takes, b[0], a[0]), select(takes, b[1], a[1]));
      },
      Order::any);
}

// What blocks store is what the algorithm says: to the bit without bounds. Aligned: with rows that begin at multiples of a
// line.
inline void same(const lang::Built& built, const Schedule& s, const std::vector<Sizes>& shapes, double relative = 0,
                 double absolute = 0, const TileOptions& options = {.aligned = false}) {
  schedule::finish(s.scheduled(), s.target());
  for (const Sizes& shape : shapes) {
    std::string at;
    for (const auto& [name, n] : shape) at += name + " = " + std::to_string(n) + " ";
    CAPTURE(at);
    interp::Arguments given = handmade::arguments_for(built.program, shape);
    for (interp::Actual& a : given)
      if (options.aligned && !a.is_scalar) a.array = in_lines(a.array);
    const ir::Program program = taken(s.scheduled().program, given);
    const std::vector<TileLaunch> launches = lower_to_tiles(program, options);
    REQUIRE(may_take(program, launches, given));
    interp::Arguments expected = given;
    interp::run_algorithm(built.program, expected);
    for (const bool executed : {false, true}) {
      CAPTURE(executed);
      interp::Arguments found = given;
      REQUIRE_NOTHROW(executed ? execute(program, launches, found, 7) : run(program, launches, found));
      for (std::size_t n = 0; n < expected.size(); ++n)
        CHECK((relative || absolute ? interp::difference(found[n].array, expected[n].array, relative, absolute)
                                    : interp::difference(found[n].array, expected[n].array)) == "");
    }
  }
}

// The refusal of a schedule or of its lowering.
template <class F>
std::string refusal(F&& f) {
  try {
    f();
  } catch (const RefusalError& e) { return e.what(); }
  return "";
}

}  // namespace tiles
