// What every primitive does to the loop tree (tests/schedule/golden), and that the program still means its algorithm.
#include <ashlar/analysis/regions.h>
#include <ashlar/ir/print.h>

#include "programs.h"

#include "tests/golden.h"

namespace ashlar::test {
namespace {

// The tree alone, without the definitions above it.
std::string tree(const Schedule& s) {
  const std::string text = s.text();
  const auto at = std::min(text.find("\nalloc"), text.find("\nnest"));
  return text.substr(at + 1);
}

void check(const char* name, const Schedule& s) {
  CHECK(golden(std::string("schedule/golden/") + name + ".txt", tree(s)) == "");
}

}  // namespace

TEST_CASE("split, by each tail") {
  for (const auto& [name, tail] :
       {std::pair{"split_guard", Tail::guard}, {"split_peel", Tail::peel}, {"split_pad", Tail::pad}}) {
    Product t;
    if (tail == Tail::pad) t.s.cache_read(t.A, {t.product}, Scope::global, 0);  // what is read past the end must be there
    t.s[t.product].split(t.s[t.product].spatial<2>()[0], 4, tail);
    check(name, t.s);
    t.same(), t.same(1, 1, 1), t.same(8, 3, 2);
  }
  lang::DefinitionScope scope;
  Symbol N{"N", {.min = 4, .multiple_of = 4}};
  Tensor x = lang::make_input("x", i32, {N}), y = lang::make_output("y", i32, {N});
  lang::bind(y, compute("y", {{"i", N}}, [&](Var i) { return x(i) * 3; }));
  const lang::Built built = lang::build_program("scale", {x, y});
  for (const auto& [name, tail] : {std::pair{"split_exact", Tail::exact}, {"split_shift", Tail::shift}}) {
    Schedule s(built, Target::parse("x86-64"));
    s[y].split(s[y].spatial<1>()[0], 4, tail);
    check(name, s);
    means_the_same(built.program, s, {{12}, {12}});
  }
  Product t;
  t.s[t.product].split(t.s[t.product].spatial<2>()[0], Parts{3});
  check("split_parts", t.s);
  t.same();
}

TEST_CASE("fuse, reorder, tile") {
  Product t;
  auto [i, j] = t.s[t.product].spatial<2>();
  auto [io, jo, ii, ji] = t.s[t.product].tile(i, j, 4, 2);
  check("tile", t.s);
  t.s[t.product].fuse(io, jo);
  check("fuse", t.s);
  t.s[t.product].reorder(t.s[t.product].reduction(), ii, ji);
  check("reorder", t.s);
  t.same(), t.same(4, 2, 1);
}

TEST_CASE("peel and tighten") {
  Product t;
  const Loop k = t.s[t.product].reduction();
  t.s[t.product].peel(k, Peel::last);
  check("peel_last", t.s);
  t.same(), t.same(2, 2, 1);
  Blur b;
  auto [y, x] = b.s[b.out].spatial<2>();
  auto [xo, xi] = b.s[b.out].split(x, 4);
  b.s[b.out].tighten(xi);
  check("tighten", b.s);
  b.s[b.out].peel(xo);
  check("peel_both", b.s);
  b.same(), b.same(3, 1), b.same(3, 4), b.same(3, 9), b.same(1, 0);
  // each part of a tightened reduction takes its own terms
  for (const int end : {0, 1, 2}) {
    Product p;
    auto [ko, ki] = p.s[p.product].split(p.s[p.product].reduction(), 4);
    p.s[p.product].tighten(ki);
    end < 2 ? static_cast<void>(p.s[p.product].peel(ki, end ? Peel::last : Peel::first))
            : static_cast<void>(p.s[p.product].peel(ki));
    p.same(), p.same(1, 1, 1), p.same(1, 2, 3), p.same(2, 1, 8);
  }
}

TEST_CASE("kinds") {
  Blur b;
  auto [y, x] = b.s[b.out].spatial<2>();
  b.s[b.out].parallel(y).vectorize(x, 4);
  auto [ay, ax] = b.s[b.across].spatial<2>();
  b.s[b.across].unroll(ax, 2);
  check("kinds", b.s);
  b.same(), b.same(1, 1);
}

TEST_CASE("placement") {
  Blur b;
  auto [y, x] = b.s[b.out].spatial<2>();
  auto [yo, yi] = b.s[b.out].split(y, 4);
  b.s[b.across].compute_at(yi);
  check("compute_at", b.s);
  b.same();
  b.s[b.across].compute_root();
  check("compute_root", b.s);
  b.s[b.across].store_at(yo).compute_at(yi);
  check("store_at", b.s);
  b.same(), b.same(9, 1);
  Blur c;
  c.s[c.across].inline_();
  check("inline", c.s);
  c.same();
}

TEST_CASE("what only an inlined stage read is dropped where its readers have no use for it") {
  lang::DefinitionScope scope;
  Symbol N{"N", {.min = 8}};
  Tensor x = lang::make_input("x", i32, {N}), y = lang::make_output("y", i32, {N});
  const Tensor first = compute("first", [&](Var i) { return x(clamp(i, 0, N - 1)) + 1; });
  const Tensor chosen = compute("chosen", {N}, [&](Var i) { return select(i == 0, first(i), x(i)); });
  lang::bind(y, compute("y", {{"i", N}}, [&](Var i) { return chosen(5) + x(i); }));
  const lang::Built built = lang::build_program("p", {x, y});
  Schedule s(built, Target::parse("x86-64"));
  const Loop i = s[y].spatial<1>()[0];
  const Stage below = s[first];
  const Loop its = below.spatial<1>()[0];
  s[chosen].compute_at(i);
  below.compute_at(i);
  {
    Schedule asked = s;
    asked[y].prefetch(asked[y].spatial<1>()[0], first, 1);
    says(refusal(asked, [&] { asked[chosen].inline_(); }),
         {"a stage that nothing prefetches (move this call before the prefetch)", "first, prefetched at primitives_test.cpp:"});
  }
  s[chosen].inline_();
  CHECK(s.scheduled().program.stages.size() == 1);
  means_the_same(built.program, s, {{9}, {9}});
  const char* const gone = "which had no reader any more when chosen was inlined at primitives_test.cpp:";
  says(refusal(s, [&] { below.compute_root(); }), {"found first, ", gone});
  says(refusal(s, [&] { s[first]; }), {"found first, ", gone});
  says(refusal(s, [&] { below.unroll(its); }), {"found i0 of first, which went with first, ", gone});
}

TEST_CASE("what says which element of an inlined stage is read goes with it (fuzz seeds 618346, 716806)") {
  lang::DefinitionScope scope;
  Symbol N{"N", {.min = 1}};
  Tensor x = lang::make_input("x", i32, {N}), y = lang::make_output("y", i32, {N});
  const Tensor deeper = compute("deeper", {N}, [&](Var i) { return x(i) * 3; });
  const Tensor which = compute("which", {N}, [&](Var i) { return deeper(i) + 2; });
  const Tensor same = compute("same", {N}, [&](Var) { return x(0) + 1; });  // of whatever element
  lang::bind(y, compute("y", {{"i", N}}, [&](Var i) { return same(clamp(which(i), 0, N - 1)) + x(i); }));
  const lang::Built built = lang::build_program("p", {x, y});
  Schedule s(built, Target::parse("x86-64"));
  Schedule kept = s;
  s[same].inline_();
  CHECK(s.scheduled().program.stages.size() == 1);
  means_the_same(built.program, s, {{9}, {9}});
  const char* const gone = "which had no reader any more when same was inlined at primitives_test.cpp:";
  const Loop i = s[y].spatial<1>()[0];
  says(refusal(s, [&] { s[which].compute_at(i); }), {"found which, ", gone});
  says(refusal(s, [&] { s[deeper]; }), {"found deeper, ", gone});
  kept[which].inline_();  // read still
  CHECK(kept.scheduled().program.stages.size() == 3);
  means_the_same(built.program, kept, {{9}, {9}});
}

TEST_CASE("a window that slides computes each row once, in a ring") {
  Blur b;
  auto [y, x] = b.s[b.out].spatial<2>();
  auto [yo, yi] = b.s[b.out].split(y, 64);
  b.s[b.out].tighten(yi);
  b.s[b.across].store_at(yo).compute_at(yi).slide(yi).fold(0, 4);
  check("slide_fold", b.s);
  b.same(), b.same(70, 3), b.same(1, 1);
  interp::Arguments args{interp::Array::zeros(i32, {20, 6}), interp::Array::zeros(i32, {20, 6})};
  const interp::Counters n = interp::run(b.s.scheduled().program, args);
  std::int64_t across = 0;
  for (const auto& [id, stage] : b.s.scheduled().program.stages)
    if (stage.name == "across") across = n.evaluations.at(id);
  CHECK(across == 22 * 6);           // rows -1 to 20, each once
  CHECK(n.peak_bytes == 4 * 6 * 4);  // a ring of 4 rows
  Blur columns;                      // stored by columns: the rows are folded, wherever they lie
  const Loop row = columns.s[columns.out].spatial<2>()[0];
  columns.s[columns.across].compute_at(row).transform_layout([](Var r, Var c) { return at(c, r); }).fold(0, 3);
  columns.same(), columns.same(3, 9);
}

TEST_CASE("a window that slides into a domain computes nothing before it (fuzz seed 835147)") {
  lang::DefinitionScope scope;
  Symbol M{"M"}, N{"N"};
  Tensor x = lang::make_input("x", i32, {M, N}), y = lang::make_output("y", i32, {M, N});
  const Tensor a = compute("a", {M, N}, [&](Var i, Var j) { return x(i, j) * 2; });
  const Tensor wide = boundary::constant(a, 0);
  lang::bind(y, compute("y", {M, N}, [&](Var i, Var j) { return wide(i, j - 3); }));
  const lang::Built built = lang::build_program("p", {x, y});
  Schedule s(built, Target::parse("x86-64"));
  auto [i, j] = s[y].spatial<2>();
  s[a].store_at(i).compute_at(j).slide(j);
  for (const std::int64_t n : {0, 1, 2, 3, 4, 9}) means_the_same(built.program, s, {{2, n}, {2, n}});
}

TEST_CASE("a reader fused into the last step of its producer") {
  Product t;
  auto [i, j] = t.s[t.product].spatial<2>();
  auto [ko, ki] = t.s[t.product].split(t.s[t.product].reduction(), 2);
  auto [io, ii] = t.s[t.product].split(i, 4);
  t.s[t.product].reorder(io, ko, ii, j, ki);
  t.s[t.C].fuse_into(ko);
  check("fuse_into", t.s);
  t.same(), t.same(1, 1, 1), t.same(8, 2, 4);
  t.s[t.product].store_at(io);
  check("store_at_own", t.s);
  t.same();
}

TEST_CASE("caches, layouts, scopes") {
  Product t;
  Stage b = t.s.cache_read(t.B, {t.product}, Scope::global, 0);
  b.transform_layout([](Var k, Var n) { return at(n / 4, k, n % 4); });
  check("cache_read_fill_layout", t.s);
  t.same();
  Product u;
  Stage made = u.s.cache_write(u.C, Scope::stack);
  auto [i, j] = u.s[u.C].spatial<2>();
  made.compute_at(u.s[u.C].tile(i, j, 4, 4).outer_j).align(1, 8);
  check("cache_write_align", u.s);
  schedule::finish(u.s.scheduled(), u.s.target());
  u.same();
  Product w;  // of a stage, computed as it is copied, and filled past its end
  Stage copy = w.s.cache_read(w.product, {w.C}, Scope::global, 0);
  copy.transform_layout([](Var r, Var c) { return at(r / 4, c, r % 4); });
  auto [rows, columns] = copy.spatial<2>();
  const Split tiles = copy.split(rows, 4, Tail::pad);
  copy.reorder(tiles.outer, columns, tiles.inner);
  w.s[w.product].compute_at(columns);
  check("cache_read_fill_of_stage", w.s);
  w.same(), w.same(1, 1, 1), w.same(8, 2, 4);
  Product v;
  v.s.pack_argument(v.B, [](Var k, Var n) { return at(n / 4, k, n % 4); }, Pack::at_entry);
  check("pack_at_entry", v.s);
  v.same();
}

TEST_CASE("rfactor, and accumulation through memory") {
  Product t;
  t.s[t.product].rfactor(t.s[t.product].split(t.s[t.product].reduction(), 4).inner);
  check("rfactor", t.s);
  t.same(), t.same(2, 3, 1);
  Product u;
  auto [i, j] = u.s[u.product].spatial<2>();
  auto [uo, ui] = u.s[u.product].split(u.s[u.product].reduction(), 2);
  u.s[u.product].reorder(uo, i, j, ui).tighten(ui);
  Stage partial = u.s[u.product].rfactor(uo);
  partial.compute_at(j).store_in(Scope::registers);
  check("rfactor_through_memory", u.s);
  u.same(), u.same(3, 2, 1);
}

TEST_CASE("prefetch") {
  Product t;
  t.s[t.product].prefetch(t.s[t.product].reduction(), t.A, 8);
  check("prefetch", t.s);
  t.same();
  // it follows the loop that it runs along
  Product u;
  auto [ui, uj] = u.s[u.product].spatial<2>();
  u.s[u.product].reorder(u.s[u.product].reduction(), ui, uj).prefetch(uj, u.B, 2);
  const Loop both = u.s[u.product].fuse(ui, uj);
  u.s[u.product].split(both, 4);
  check("prefetch_fuse_split", u.s);
  u.same();
}

TEST_CASE("what is asked for ahead is read from no table (fuzz seed 943001275)") {
  lang::DefinitionScope scope;
  Symbol N{"N"};
  Tensor ends = lang::make_input("ends", i32, {N, N}), rows = lang::make_input("rows", i32, {N}),
         x = lang::make_input("x", i32, {8}), y = lang::make_output("y", i32, {2});
  Axis k{"k", N}, l{"l", clamp(ends(k, k), 0, 8), 8}, m{"m", N};
  const Tensor sums = compute("sums", {2}, [&](Var) { return sum(x(l), {k, l}); });
  lang::bind(y, compute("y", {2}, [&](Var i) { return sum(x(clamp(rows(m), 0, 7)) + sums(i), m); }));
  Schedule s = scheduled({ends, rows, x, y});
  for (const Tensor& t : {sums, y}) {
    const Loop i = s[t].spatial<1>()[0];
    says(refusal(s, [&] { s[t].prefetch(i, x, 1); }),
         {"prefetch: expected a tensor that is read inside", "at an address that no table gives, found x, whose indices"});
  }
  s[y].prefetch(s[y].reduction(), rows, 1);
  means_the_same(s.scheduled().program, s, {{0, 0}, {0}, {8}, {2}});
  means_the_same(s.scheduled().program, s, {{3, 3}, {3}, {8}, {2}});
}

TEST_CASE("a split of the loop that a triangle follows derives the boxes of what it reads anew (fuzz seed 942007520)") {
  lang::DefinitionScope scope;
  Symbol N{"N", {.min = 2, .multiple_of = 2}};
  Tensor x = lang::make_input("x", i32, {N}), y = lang::make_output("y", i32, {N});
  const Tensor twice = compute("twice", [&](Var i) { return x(clamp(i, 0, N - 1)) * 2; });
  lang::bind(y, compute("y", {N}, [&](Var i) {
               Axis k{"k", i + 1};
               return sum(twice(k), k);
             }));
  Schedule s = scheduled({x, y});
  s[y].split(s[y].spatial<1>()[0], 16);
  ir::Program anew = s.scheduled().program;
  analysis::derive_regions(anew);
  CHECK(ir::text(anew) == ir::text(s.scheduled().program));
  means_the_same(s.scheduled().program, s, {{18}, {18}});
}

TEST_CASE("stream_store changes nothing but how an output is stored") {
  Product t;
  const std::string before = t.s.text();
  t.s[t.C].stream_store();
  std::string after = t.s.text();
  const auto at = after.find(", streamed");
  REQUIRE(at != std::string::npos);
  CHECK(after.erase(at, std::string(", streamed").size()) == before);
  t.same();
}

TEST_CASE("steps are values: saved, replayed, copied") {
  Product t;
  auto [i, j] = t.s[t.product].spatial<2>();
  Schedule copy = t.s;
  t.s[t.product].tile(i, j, 4, 4);
  t.s.cache_read(t.B, {t.product}, Scope::global, 0).transform_layout([](Var k, Var n) { return at(n / 8, k, n % 8); });
  CHECK(copy.text() != t.s.text());
  copy.replay(t.s.json());
  CHECK(copy.text() == t.s.text());
  CHECK(copy.json() == t.s.json());
  Blur other;
  const std::string saved = t.s.json(), before = other.s.text();
  says(refusal(other.s, [&] { other.s.replay(saved); }), {"replayed from primitives_test.cpp:"});
  CHECK(other.s.text() == before);
  says(refusal(other.s, [&] { other.s.replay("{}"); }), {"an array of steps"});
  says(refusal(other.s, [&] { other.s.replay("[{\"primitive\": \"split\", \"args\": [{\"what\": 1}]}]"); }),
       {"schedule JSON: expected an argument: a number, a word, {\"loop\": id}, {\"stage\": id}, {\"tensor\": id} or {\"map\": "
        "...} in entry 0, found {\"what\":1}"});
  says(refusal(other.s, [&] { other.s.replay("[{\"primitive\": \"shuffle\", \"args\": []}]"); }),
       {"split, split_parts, ", "\"shuffle\""});
}

}  // namespace ashlar::test
