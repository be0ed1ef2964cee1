// Choices between two reads by the index: tiles whose points all take one arm read without masks.
#include <ashlar/lang.h>
#include <ashlar/lang/build_program.h>
#include <ashlar/lower/lower.h>
#include <ashlar/schedule/schedule.h>
#include <ashlar/schedule/step.h>

#include "check.h"

using namespace ashlar;
using handmade::Sizes;

namespace {

// Stores of vectors: those with a masked read or store, and the others.
struct Stores {
  int masked = 0, plain = 0;
};
void count(const std::vector<ir::KStmt>& list, Stores& all) {
  for (const ir::KStmt& s : list) {
    if (const auto* store = s.as<ir::KStore>(); store && store->address.type().lanes > 1) {
      bool masked = !store->mask.empty();
      ir::walk(store->value, [&](const Expr& e) {
        masked = masked || (ir::is(e, ir::Op::load) && ir::args_of(e).size() == 2);
        return true;
      });
      ++(masked ? all.masked : all.plain);
    }
    for (const auto* part : s.bodies()) count(*part, all);
  }
}

using Formula = std::function<Expr(const Tensor& x, Var t, Var d)>;

// y(t, d) for t in [0, N), d in [0, width), in vectors of 8.
struct Rows {
  lang::DefinitionScope scope;
  Symbol N{"N"};
  Tensor x, y;
  lang::Built built;
  Schedule s;

  Rows(int width, const Formula& f)
      : x(lang::make_input("x", f32, {N, width})),
        y(lang::make_output("y", f32, {N, width})),
        built(build(width, f)),
        s(built, Target::parse("x86-64-v3")) {}
  Stores stores() const {
    const ir::Kernel k = lower(s.scheduled().program, options_for(s.target()));
    CAPTURE(ir::text(k));
    handmade::check_kernel(built.program, k, {{{"N", 0}}, {{"N", 1}}, {{"N", 3}}, {{"N", 40}}});
    Stores all;
    count(k.body, all);
    return all;
  }

 private:
  lang::Built build(int width, const Formula& f) {
    lang::bind(y, compute("y", {{"t", N}, {"d", width}}, [&](Var t, Var d) { return f(x, t, d); }));
    return lang::build_program("rows", {x, y});
  }
};

}  // namespace

TEST_CASE("halves that change places, as rotary embeddings have them") {
  const Formula turned = [](const Tensor& x, Var t, Var d) { return select(d < 64, -x(t, d + 64), x(t, d - 64)); };
  {
    Rows r(128, turned);
    auto [t, d] = r.s[r.y].spatial<2>();
    r.s[r.y].vectorize(d, 8);
    const Stores all = r.stores();
    CHECK(all.masked == 0);
    CHECK(all.plain == 2);
  }
  {  // the loop over the halves is there already
    Rows r(128, turned);
    auto [t, d] = r.s[r.y].spatial<2>();
    auto [half, of_half] = r.s[r.y].split(d, 64);
    r.s[r.y].vectorize(of_half, 8);
    CHECK(r.stores().masked == 0);
  }
  {  // a tile of several vectors, unrolled
    Rows r(128, turned);
    auto [t, d] = r.s[r.y].spatial<2>();
    auto [outer, inner] = r.s[r.y].split(d, 32);
    auto [vectors, lanes] = r.s[r.y].split(inner, 8);
    r.s[r.y].unroll(vectors).vectorize(lanes);
    CHECK(r.stores().masked == 0);
  }
}

TEST_CASE("a border inside of a vector leaves one vector with masks") {
  for (const int at : {1, 7, 60, 63, 100}) {
    CAPTURE(at);
    Rows r(128, [&](const Tensor& x, Var t, Var d) { return select(d < at, x(t, d + (128 - at)), x(t, d - at)); });
    auto [t, d] = r.s[r.y].spatial<2>();
    r.s[r.y].vectorize(d, 8);
    const Stores all = r.stores();
    CHECK(all.plain == (at < 8 ? 1 : 2));  // all vectors before the border, if any, and all behind it
    CHECK(all.masked == 1);
  }
}

TEST_CASE("a border that moves with the row, and one that never comes") {
  {
    Rows r(64, [](const Tensor& x, Var t, Var d) { return select(d > t, x(t, d), x(t, 63 - d)); });
    auto [t, d] = r.s[r.y].spatial<2>();
    r.s[r.y].vectorize(d, 8);
    const Stores all = r.stores();
    CHECK(all.plain == 3);  // before the diagonal, behind it, and the vector on it, whose reads are inside the row either way
    CHECK(all.masked == 0);
  }
  {
    Rows r(64, [](const Tensor& x, Var t, Var d) { return select(d >= 64, x(t, 0), x(t, d)); });
    auto [t, d] = r.s[r.y].spatial<2>();
    r.s[r.y].vectorize(d, 8);
    const Stores all = r.stores();
    CHECK(all.plain == 1);
    CHECK(all.masked == 0);
  }
}

TEST_CASE("two borders: three thirds that change places") {
  Rows r(96, [](const Tensor& x, Var t, Var d) {
    return select(d < 32, x(t, d + 32), select(d < 64, x(t, d + 32), x(t, d - 64)));
  });
  auto [t, d] = r.s[r.y].spatial<2>();
  r.s[r.y].vectorize(d, 8);
  r.stores();  // values alone: of two borders one tile may keep masks
}

TEST_CASE("beyond a diagonal vectors compute nothing, beyond a border they have no version of their own") {
  const auto versions = [](int width, const Formula& f) {
    Rows r(width, f);
    auto [t, d] = r.s[r.y].spatial<2>();
    r.s[r.y].vectorize(d, 8);
    const Stores all = r.stores();
    return all.masked + all.plain;
  };
  // Below the diagonal, on it, and above it.
  CHECK(versions(32, [](const Tensor& x, Var t, Var d) { return select(d <= t, x(t, d) * 2, 0); }) == 3);
  CHECK(versions(32, [](const Tensor& x, Var t, Var d) { return select(d > t, 1, x(t, d) * 2); }) == 3);
  // The last vector has a mask on either side.
  CHECK(versions(29, [](const Tensor& x, Var t, Var d) { return select(d <= t, x(t, d) * 2, 0); }) >= 3);
  // A choice that all lanes share stands before that of the diagonal.
  CHECK(versions(
            32, [](const Tensor& x, Var t, Var d) { return select(t % 3 == 1, x(t, d), select(d < t, x(t, d) * 2, 7)); }) >= 3);
  CHECK(versions(32, [](const Tensor& x, Var t, Var d) { return select(d > 0, x(t, max(d - 1, 0)), 0); }) == 2);
}
