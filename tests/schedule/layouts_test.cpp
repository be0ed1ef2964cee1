// Layouts of what is staged: swizzle permutes, pad leaves room, and both mean the same program; what is no layout is refused.
#include "programs.h"

#include <functional>

#include "tests/golden.h"
#include "tests/support/transposition.h"

namespace ashlar::test {
namespace {

// B = A transposed, over tiles of 32 x 32 that are copied first.
struct Turn : Transposition {
  Schedule s{built, Target::parse("x86-64-v3")};
  Stage tile = s.cache_read(A, {s[B]}, Scope::stack);
  Loop jo, io, ji, ii;

  explicit Turn(Tail tail = Tail::guard) {
    auto [j, i] = s[B].spatial<2>();
    const Tiles t = s[B].tile(j, i, 32, 32, tail);
    jo = t.outer_i, io = t.outer_j, ji = t.inner_i, ii = t.inner_j;
    tile.compute_at(io);
  }
  void same() const {
    for (const auto& [m, n] : {std::pair<std::int64_t, std::int64_t>{64, 96}, {1, 1}, {33, 70}, {5, 64}})
      means_the_same(built.program, s, {{m, n}, {n, m}});
  }
  std::string tree() const {
    const std::string text = s.text();
    return text.substr(text.find("\nnest") + 1);
  }
};

}  // namespace

TEST_CASE("a swizzle permutes granules by row") {
  Turn t;
  const int columns = 32;
  t.tile.swizzle([&](Var r, Var c) { return at(r, c ^ (r % (columns / 8) * 8)); });
  CHECK(golden("schedule/golden/swizzle.txt", t.tree()) == "");
  t.same();
  t.tile.split(t.tile.spatial<2>()[1], 8);  // granules stay whole
  t.same();
}

TEST_CASE("a swizzle of a whole tensor, and of one of odd size") {
  Product p;
  Stage b = p.s.cache_read(p.B, {p.product}, Scope::global);
  says(refusal(p.s, [&] { b.swizzle([](Var r, Var c) { return at(r, c ^ r % 4); }); }),
       {"swizzle: expected a permutation of the stored elements: dimension 1 of B_cache holds N", "which needs (N + 3) / 4 * 4",
        "conflict: N = "});
  b.transform_layout([](Var r, Var c) { return at(r, c ^ r % 4); });  // storage grows to whole granules
  p.same(), p.same(3, 1, 7), p.same(4, 8, 4);
}

TEST_CASE("padding moves the rows apart") {
  Turn t;
  t.tile.pad(1, 1);
  CHECK(golden("schedule/golden/pad.txt", t.tree()) == "");
  t.same();
  Turn u;
  says(refusal(u.s, [&] { u.tile.pad(0, 1); }),
       {"pad: expected a dimension of A_cache with one outside of it, 1 to 1, found 0"});
  says(refusal(u.s, [&] { u.tile.pad(1, 0); }), {"pad: expected at least 1 element, found 0"});
  says(refusal(u.s, [&] { u.tile.compute_root().pad(1, 1); }), {"a constant extent of dimension 1 of A_cache, found N"});
  Product p;
  says(refusal(p.s, [&] { p.s[p.C].pad(1, 1); }), {"a stage with storage of its own (cache_write gives an output one)"});
}

TEST_CASE("what maps two elements to one place is no layout") {
  Turn t;
  says(
      refusal(t.s, [&] { t.tile.swizzle([](Var r, Var c) { return at(r, c ^ (c / 8 % 4 * 8)); }); }),  // clears bits 3 and 4
      {"swizzle: expected a map that sends different elements of A_cache to different places", "conflict: (", "both map to ("});
  says(refusal(t.s, [&] { t.tile.swizzle([](Var r, Var c) { return at(r, c / 2); }); }), {"both map to ("});
  says(refusal(t.s, [&] { t.tile.swizzle([](Var r, Var c) { return at(r, c ^ (r % 8 * 8)); }); }),
       {"a permutation of the stored elements: dimension 1 of A_cache holds 32", "which needs 64"});
  says(refusal(t.s, [&] { t.tile.swizzle([](Var r, Var c) { return at(r * 32 + c); }); }),
       {"to as many coordinates as it has dimensions, 2, found 1"});
  says(refusal(t.s, [&] { t.tile.compute_root().transform_layout([](Var r, Var c) { return at(r, c ^ r); }); }),
       {"a map whose coordinates have bounds over the symbols"});
  t.tile.swizzle([](Var r, Var c) { return at(r, c ^ (r % 4 * 8)); });
  says(refusal(t.s, [&] { t.tile.swizzle([](Var r, Var c) { return at(r, c); }); }), {"a tensor whose layout was not set yet"});
}

TEST_CASE("a layout is proved again where its box changes") {
  Turn u;
  u.tile.transform_layout([](Var r, Var c) { return at(r, c % 32 ^ (r % 4 * 8)); });  // right within a tile
  u.same();
  says(refusal(u.s, [&] { u.tile.compute_root(); }),
       {"compute_root: expected a map that sends different elements of A_cache to different places", "both map to ("});
}

TEST_CASE("storage without a bound is neither permuted nor a tile") {
  lang::DefinitionScope scope;
  Symbol N{"N"};
  Tensor x = lang::make_input("x", f32, {N, 16}), y = lang::make_output("y", f32, {N, N, 16});
  lang::bind(y, compute("y", {N, N, 16}, [&](Var i, Var, Var c) { return x(i, c) * 2.0f; }));
  Schedule s = scheduled({x, y});
  auto [i, j, c] = s[y].spatial<3>();
  const Loop ij = s[y].fuse(i, j);
  const Stage cache = s.cache_read(x, {s[y]}, Scope::global);
  cache.compute_at(ij);
  // Boxes that steps derive have bounds. This one begins at row 0 and ends at row ij / (N - 1), which has none where N may
  // be 1.
  const auto unbounded = [&] {
    schedule::Scheduled state = s.scheduled();
    ir::Program& p = state.program;
    for (const auto& [id, stage] : s.scheduled().program.stages) {
      if (stage.name != "x_cache") continue;
      const auto path = ir::path_to(p, ir::nests_of(p, id).front()->id);
      ir::Root& rows = const_cast<ir::Stmt&>(*path.back()).get<ir::NestStmt>().roots.front();
      CHECK(path.size() == 3);
      const auto row = ir::args_of(rows.begin);  // ij / N
      rows.extent = ir::add(ir::div(row[0], ir::sub(row[1], ir::index(1))), ir::index(1));
      rows.begin = ir::index(0);
      p.axes.at(rows.axis).extent = rows.extent;
    }
    return state;
  };
  const auto refused = [&](const std::function<void()>& step) {  // of the box as it is, the step is taken
    schedule::Step last;
    CHECK(s.attempt([&] {
             step();
             last = s.scheduled().trace.back();
             throw RefusalError({.primitive = "undone"});
           })->primitive == "undone");
    schedule::Scheduled state = unbounded();
    try {
      schedule::apply(state, last, s.target());
    } catch (const RefusalError& e) { return e.refusal.text(); }
    return std::string("nothing was refused");
  };
  says(refused([&] { cache.swizzle([](Var r, Var k) { return at(r, k ^ 1); }); }),
       {"swizzle: expected storage of x_cache with a bound over the symbols, found a box that has none"});
  const Intrinsic twice = intrinsic("twice", [](Meaning& m) {
    Tensor a = m.read("a", f32, {16}), b = m.write("b", f32, {16});
    m.means(b, [&](Var k) { return a(k) * 2.0f; });
    m.emit(Backend::llvm, "call void @twice(ptr {b.ptr}, ptr {a.ptr})");
  });
  says(refused([&, c = c] { s[y].tensorize(c, twice); }),
       {"tensorize: expected a of twice in storage of known size, found x_cache, whose box has no bound"});
}

TEST_CASE("a swizzled schedule is saved and replayed") {
  Turn t;
  t.tile.swizzle([](Var r, Var c) { return at(r, c ^ (r % 4 * 8)); });
  Schedule again(t.built, Target::parse("x86-64-v3"));
  again.replay(t.s.json());
  CHECK(again.text() == t.s.text());
}

}  // namespace ashlar::test
