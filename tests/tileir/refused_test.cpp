// What cannot be a tile is refused, at the line of the step, with the reason.
#include "tests/tileir/programs.h"

using namespace tiles;

namespace {

#define CHECK_REFUSED(call, expected)                 \
  do {                                                \
    const std::string found = refusal(call);          \
    CAPTURE(found);                                   \
    CHECK(found.find(expected) != std::string::npos); \
  } while (false)

struct Plus {
  lang::DefinitionScope scope;
  Symbol M{"M"}, N{"N"};
  Tensor x = lang::make_input("x", f32, {M, N}), y = lang::make_output("y", f32, {M, N});
  Tensor result = compute("result", {M, N}, [&](Var i, Var j) { return x(i, j) + 1; });
  lang::Built built = (lang::bind(y, result), lang::build_program("plus", {x, y}));
  Schedule s = scheduled(built);
};

}  // namespace

TEST_CASE("extents and widths") {
  Plus p;
  auto [i, j] = p.s[p.result].spatial<2>();
  CHECK_REFUSED([&] { p.s[p.result].as_tile(j); },
                "as_tile: expected a constant extent that is a power of two (split by one first, or give a width, which is "
                "padded to), "
                "found i1 of result in N");
  CHECK_REFUSED([&] { p.s[p.result].as_tile(j, 48); }, "expected a width that is a power of two, found 48");
  CHECK_REFUSED([&] { p.s[p.result].as_tile(j, 64); }, "expected at most 64 iterations, found i1 of result in N");
  auto [jo, ji] = p.s[p.result].split(j, 24);
  CHECK_REFUSED([&] { p.s[p.result].as_tile(ji); }, "found i1i of result in 24");
  CHECK(refusal([&] { p.s[p.result].as_tile(ji, 32); }) == "");
  (void)i;
}

TEST_CASE("other targets, threads, and orders that must be kept") {
  Plus p;
  Schedule elsewhere(p.built, Target::parse("x86-64"));
  auto [i, j] = elsewhere[p.result].spatial<2>();
  auto [jo, ji] = elsewhere[p.result].split(j, 16);
  CHECK_REFUSED([&] { elsewhere[p.result].as_tile(ji); }, "expected a target with tiles, such as cuda-tile-sm_90");
  Plus q;
  CHECK_REFUSED([&] { q.s[q.result].bind(q.s[q.result].spatial<2>()[1], gpu::thread_x); },
                "expected an axis of the grid (blocks of cuda-tile-sm_90 compute tiles: as_tile), found gpu::thread_x");

  lang::DefinitionScope scope;
  Symbol R{"R"};
  Tensor x = lang::make_input("x", f32, {R, 64}), y = lang::make_output("y", f32, {R});
  Axis c{"c", 64};
  Tensor total = compute("total", {R}, [&](Var r) { return strict_sum(x(r, c), c); });
  const lang::Built built = (lang::bind(y, total), lang::build_program("strict", {x, y}));
  Schedule s = scheduled(built);
  CHECK_REFUSED([&] { s[total].as_tile(s[total].reduction()); }, "expected a reduction that may be regrouped");
  (void)i;
}

TEST_CASE("what a block cannot keep as tiles") {
  {
    Plus p;  // a loop inside of a dimension
    auto [io, jo, ii, ji] = p.s[p.result].tile(p.s[p.result].spatial<2>()[0], p.s[p.result].spatial<2>()[1], 8, 8);
    p.s[p.result].bind(io, gpu::block_x).bind(jo, gpu::block_y).as_tile(ii);
    CHECK_REFUSED([&] { lowered(p.s); }, "expected loops inside of a dimension that are dimensions too, found i1i of result");
  }
  {
    Plus p;  // two dimensions of one variable
    auto [i, j] = p.s[p.result].spatial<2>();
    auto [jo, ji] = p.s[p.result].split(j, 64);
    auto [ja, jb] = p.s[p.result].split(ji, 8);
    p.s[p.result].bind(i, gpu::block_x).bind(jo, gpu::block_y).as_tile(ja, jb);
    CHECK_REFUSED([&] { lowered(p.s); }, "expected one dimension of a tile for each index variable");
  }
  {  // the sums of a loop over points inside of one over terms
    lang::DefinitionScope scope;
    Symbol R{"R"};
    Tensor x = lang::make_input("x", f32, {R, 64}), y = lang::make_output("y", f32, {R});
    Axis c{"c", 64};
    Tensor total = compute("total", {R}, [&](Var r) { return sum(x(r, c), c); });
    const lang::Built built = (lang::bind(y, total), lang::build_program("rows", {x, y}));
    Schedule s = scheduled(built);
    auto [ro, ri] = s[total].split(s[total].spatial<1>()[0], 32);
    auto [co, ci] = s[total].split(s[total].reduction(), 16);
    s[total].reorder(ro, co, ri, ci).bind(ro, gpu::block_x).as_tile(ci);
    CHECK_REFUSED([&] { lowered(s); }, "no loop over points inside of one over terms, but as a dimension, found i0i of total");
  }
  {  // a stencil of a value
    lang::DefinitionScope scope;
    Symbol N{"N"};
    Tensor x = lang::make_input("x", f32, {N}), y = lang::make_output("y", f32, {N});
    Tensor twice = compute("twice", {N}, [&](Var i) { return x(i) * 2; });
    Tensor result = compute("result", {N}, [&](Var i) { return twice(i) + select(i < 1, 0.f, twice(i - 1)); });
    const lang::Built built = (lang::bind(y, result), lang::build_program("stencil", {x, y}));
    Schedule s = scheduled(built);
    auto [io, ii] = s[result].split(s[result].spatial<1>()[0], 16);
    s[result].bind(io, gpu::block_x).as_tile(ii);
    s[twice].compute_at(io).as_tile(s[twice].spatial<1>()[0], 32);
    CHECK_REFUSED([&] { lowered(s); }, "expected a read of twice at the points of its tile, each in its place");
  }
  {  // points that are computed again
    lang::DefinitionScope scope;
    Tensor x = lang::make_input("x", f32, {4, 40}), y = lang::make_output("y", f32, {4, 40});
    Tensor result = compute("result", {4, 40}, [&](Var i, Var j) { return x(i, j) + 1; });
    const lang::Built built = (lang::bind(y, result), lang::build_program("shifted", {x, y}));
    Schedule s = scheduled(built);
    auto [i, j] = s[result].spatial<2>();
    auto [jo, ji] = s[result].split(j, 16, Tail::shift);
    s[result].bind(i, gpu::block_x);
    CHECK_REFUSED([&] { lowered(s); }, "expected loops that compute each point once, found i1o of result, whose last part");
    (void)jo, (void)ji;
  }
  {  // memory that an input may have
    lang::DefinitionScope scope;
    Symbol N{"N"};
    Tensor x = lang::make_input("x", f32, {N}),
           y = lang::make_output("y", f32, {N}, lang::ArgumentLayout{.may_alias_inputs = true});
    Tensor result = compute("result", {N}, [&](Var i) { return x(i) + 1; });
    const lang::Built built = (lang::bind(y, result), lang::build_program("in_place", {x, y}));
    Schedule s = scheduled(built);
    auto [io, ii] = s[result].split(s[result].spatial<1>()[0], 16);
    s[result].bind(io, gpu::block_x).as_tile(ii);
    CHECK_REFUSED([&] { lower_tiles(s.scheduled().program); }, "expected outputs with memory of their own");
  }
}

TEST_CASE("constant extents and strides beyond 32 bits") {
  for (const auto& [rows, columns, number] :
       {std::tuple<std::int64_t, std::int64_t, const char*>{3'000'000'000, 1, "3000000000"},
        {2, 2'130'706'433, "2130706433"}}) {
    lang::DefinitionScope scope;
    Symbol N{"N"};
    Tensor x = lang::make_input("x", f32, {rows, columns}), y = lang::make_output("y", f32, {N});
    Tensor result = compute("result", {N}, [&](Var i) { return x(clamp(i, 0, 1), 0); });
    const lang::Built built = (lang::bind(y, result), lang::build_program("far", {x, y}));
    Schedule s = scheduled(built);
    auto [io, ii] = s[result].split(s[result].spatial<1>()[0], 16);
    s[result].bind(io, gpu::block_x).as_tile(ii);
    CHECK_REFUSED([&] { lowered(s); },
                  std::string("expected extents and strides of at most 2^31 - 2^24, found x with ") + number);
  }
}
