// The records of primitives: none leaves anything out, and there is one of each name.
#include <doctest/doctest.h>

#include <set>

#include "schedule/primitives/primitives.h"
#include "tests/schedule/programs.h"

namespace ashlar::test {
namespace {

using schedule::Primitive;

void nothing(schedule::Context&) {}
constexpr schedule::Traits kept{schedule::Reads::kept,   schedule::Places::kept,  schedule::Boxes::kept,
                                schedule::Layouts::kept, schedule::Callers::kept, schedule::Gives::nothing};
bool never(schedule::Draw&) { return false; }
constexpr schedule::Drawing drawn{.draw = never};

// clang-format off
template <class P> concept whole = requires { P{.name = "x", .spelling = "x", .parameters = {schedule::takes::loop()}, .traits = kept, .apply = nothing, .cpp = schedule::of_loop, .draw = drawn}; };
template <class P> concept nameless = requires { P{.spelling = "x", .parameters = {schedule::takes::loop()}, .traits = kept, .apply = nothing, .cpp = schedule::of_loop, .draw = drawn}; };
template <class P> concept unspelled = requires { P{.name = "x", .parameters = {schedule::takes::loop()}, .traits = kept, .apply = nothing, .cpp = schedule::of_loop, .draw = drawn}; };
template <class P> concept untyped = requires { P{.name = "x", .spelling = "x", .traits = kept, .apply = nothing, .cpp = schedule::of_loop, .draw = drawn}; };
template <class P> concept traitless = requires { P{.name = "x", .spelling = "x", .parameters = {schedule::takes::loop()}, .apply = nothing, .cpp = schedule::of_loop, .draw = drawn}; };
template <class P> concept idle = requires { P{.name = "x", .spelling = "x", .parameters = {schedule::takes::loop()}, .traits = kept, .cpp = schedule::of_loop, .draw = drawn}; };
template <class P> concept unwritten = requires { P{.name = "x", .spelling = "x", .parameters = {schedule::takes::loop()}, .traits = kept, .apply = nothing, .draw = drawn}; };
template <class P> concept undrawn = requires { P{.name = "x", .spelling = "x", .parameters = {schedule::takes::loop()}, .traits = kept, .apply = nothing, .cpp = schedule::of_loop}; };
template <class T> concept five_traits = requires { T{schedule::Reads::kept, schedule::Places::kept, schedule::Boxes::kept, schedule::Layouts::kept, schedule::Callers::kept}; };
// clang-format on

static_assert(whole<Primitive>);
static_assert(!nameless<Primitive> && !unspelled<Primitive> && !untyped<Primitive> && !traitless<Primitive>);
static_assert(!idle<Primitive> && !unwritten<Primitive> && !undrawn<Primitive>);
static_assert(!five_traits<schedule::Traits>);

}  // namespace

TEST_CASE("each primitive has a name of its own, and its record is found by it") {
  std::set<std::string> names;
  for (const Primitive* p : schedule::primitives()) {
    const std::string name(p->name);
    CAPTURE(name);
    CHECK(names.insert(name).second);
    CHECK(schedule::primitive_of(name) == p);
  }
  CHECK(names.size() > 40);
}

TEST_CASE("a call that makes several steps is refused by its own name") {
  Product t;
  auto [i, j] = t.s[t.product].spatial<2>();
  const Loop k = t.s[t.product].reduction();
  says(refusal(t.s, [&] { t.s[t.product].vectorize(k, 4); }), {"vectorize: expected a loop whose iterations are independent"});
  says(refusal(t.s, [&] { t.s[t.product].vectorize(j, 0); }), {"vectorize: expected a factor of at least 1, found 0"});
  says(refusal(t.s, [&] { t.s[t.product].unroll(j, 4096); }), {"unroll: expected an extent of at most 1024"});
  says(refusal(t.s, [&] { t.s[t.product].tile(i, i, 4, 4); }), {"tile: expected a loop of the program as it stands"});
  says(refusal(t.s, [&] { t.s[t.product].split(j, 0); }), {"split: expected a factor of at least 1, found 0"});
}

}  // namespace ashlar::test
