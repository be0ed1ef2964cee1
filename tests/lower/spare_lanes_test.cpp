// Accumulators whose last vector ends in padding are stored whole; where the lanes beyond the end are another row's elements,
// or another step's, they keep their masks. The interpreter compares each kernel with the algorithm.
#include <ashlar/lang.h>
#include <ashlar/lang/build_program.h>
#include <ashlar/lower/lower.h>
#include <ashlar/schedule/schedule.h>
#include <ashlar/schedule/step.h>

#include "check.h"

using namespace ashlar;
using handmade::Sizes;

namespace {

struct Found {
  int masked = 0, whole = 0;  // stores of vectors to temporaries on the stack
  int read_masked = 0;        // what they read of such temporaries under a mask
  std::int64_t elements = 0;  // of these temporaries
};
void count(const ir::Kernel& k, const std::vector<ir::KStmt>& list, Found& all) {
  const auto on_stack = [&](ir::Id id) { return k.buffers.at(id).storage == ir::Storage::stack; };
  for (const ir::KStmt& s : list) {
    if (const auto* store = s.as<ir::KStore>(); store && on_stack(store->buffer) && store->address.type().lanes > 1) {
      ++(store->mask.empty() ? all.whole : all.masked);
      ir::walk(store->value, [&](const Expr& e) {
        all.read_masked += ir::is(e, ir::Op::load) && on_stack(e.node()->id) && ir::args_of(e).size() == 2;
        return true;
      });
    }
    for (const auto* part : s.bodies()) count(k, *part, all);
  }
}
Found of_kernel(const ir::Program& program, Schedule& s, const std::vector<Sizes>& shapes) {
  schedule::finish(s.scheduled(), s.target());
  const ir::Kernel k = lower(s.scheduled().program, options_for(s.target()));
  CAPTURE(ir::text(k));
  handmade::check_kernel(program, k, shapes);
  Found found;
  count(k, k.body, found);
  for (const auto& [id, b] : k.buffers)
    if (std::int64_t n = 0; b.storage == ir::Storage::stack && ir::is_int(b.elements, &n)) found.elements += n;
  return found;
}

// y(i, j) = sum over k of a(i, k) b(k, j), summed in rows on the stack, in vectors of 8 along j.
struct Rows {
  lang::DefinitionScope scope;
  const Symbol M{"M"}, N{"N"}, K{"K"};
  const Axis k{"k", K};
  const Expr columns;
  Tensor a, b, y, made;
  lang::Built built;
  explicit Rows(int fixed)  // columns; 0: a Symbol
      : columns(fixed > 0 ? ir::index(fixed) : Expr(N)),
        a(lang::make_input("a", f32, {M, K})),
        b(lang::make_input("b", f32, {K, columns})),
        y(lang::make_output("y", f32, {M, columns})),
        made(compute("made", {{"i", M}, {"j", columns}}, [&](Var i, Var j) { return sum(a(i, k) * b(k, j), k); })),
        built((lang::bind(y, made), lang::build_program("rows", {a, b, y}))) {}

  // So many rows at a time, in tiles of `by` columns.
  Found summed(int rows, int by, bool aligned, const std::vector<Sizes>& shapes) {
    Schedule s(built, Target::parse("x86-64-v3"));
    const Stage acc = s.cache_write(made, Scope::stack);
    auto [i, j] = s[made].spatial<2>();
    auto [io, ii] = s[made].split(i, rows, Tail::guard);
    auto [jo, ji] = s[made].split(j, by, Tail::guard);
    s[made].reorder(io, jo, ii, ji);
    acc.compute_at(jo);
    auto [ai, aj] = acc.spatial<2>();
    const auto [tile, column] = acc.split(aj, by, Tail::guard);
    const auto [half, lane] = acc.split(column, 8, Tail::exact);
    acc.reorder(tile, acc.reduction(), ai, half, lane).unroll(half).vectorize(lane);
    if (aligned) acc.align(1, 8);
    return of_kernel(built.program, s, shapes);
  }
};

const std::vector<Sizes> shapes = {{{"M", 0}, {"N", 5}, {"K", 3}},  {{"M", 1}, {"N", 0}, {"K", 2}},
                                   {{"M", 3}, {"N", 20}, {"K", 0}}, {{"M", 4}, {"N", 20}, {"K", 7}},
                                   {{"M", 5}, {"N", 37}, {"K", 4}}, {{"M", 2}, {"N", 64}, {"K", 5}}};

}  // namespace

TEST_CASE("rows that begin at whole vectors are summed whole") {
  Rows r(20);
  const Found found = r.summed(4, 24, true, shapes);
  CHECK(found.masked == 0);
  CHECK(found.whole > 0);
  CHECK(found.read_masked == 0);
}

TEST_CASE("the last row has its padding, too: less than a vector behind the buffer") {
  Rows r(20);
  const Found found = r.summed(1, 24, false, shapes);
  CHECK(found.masked == 0);
  CHECK(found.read_masked == 0);
  CHECK(found.elements == 24);
}

TEST_CASE("extents that calls give: a tile is whole, or masked alike from its init to its end") {
  Rows r(0);
  const Found found = r.summed(4, 16, true, shapes);
  CHECK(found.masked == 0);
  CHECK(found.whole > 0);
}

TEST_CASE("rows beside each other: the lanes beyond the end are the next row's, and stay masked") {
  Rows r(20);
  const Found found = r.summed(4, 24, false, shapes);
  CHECK(found.masked > 0);
}
