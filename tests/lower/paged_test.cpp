// Regions that begin where a table says: a page of a cache, copied where a loop over pages is.
#include <ashlar/lang.h>
#include <ashlar/lang/build_program.h>
#include <ashlar/ir/print.h>
#include <ashlar/schedule/step.h>

#include "check.h"
#include "launched.h"

#include "tests/support/text_parts.h"

using namespace ashlar;
using handmade::Sizes;

namespace {

struct Pages {  // scores[b, m, s] = sum over d of q[b, d] * K[table[b, m], s, d]: the m-th page of sequence b
  lang::DefinitionScope scope;
  Symbol B{"B"}, M{"M"}, P{"P"};
  Tensor q = lang::make_input("q", f32, {B, 8}), K = lang::make_input("K", f32, {P, 4, 8}),
         table = lang::make_input("table", u8, {B, M}), out = lang::make_output("out", f32, {B, M, 4});
  Axis d{"d", 8};
  Tensor scores = compute("scores", {{"b", B}, {"m", M}, {"s", 4}},
                          [&](Var b, Var m, Var slot) { return sum(q(b, d) * K(in_range(table(b, m), 0, P), slot, d), d); });
  lang::Built built = (lang::bind(out, scores), lang::build_program("pages", {q, K, table, out}));
  Schedule s;
  explicit Pages(const char* target = "x86-64-v3") : s(built, Target::parse(target)) {}
  std::string text() const { return ir::text(s.scheduled().program); }
  void same() {
    const std::vector<Sizes> shapes{{{"B", 2}, {"M", 3}, {"P", 16}},
                                    {{"B", 1}, {"M", 1}, {"P", 40}},
                                    {{"B", 3}, {"M", 0}, {"P", 16}},
                                    {{"B", 0}, {"M", 2}, {"P", 16}}};
    if (s.target().is_gpu()) return handmade::same_on_device(built.program, s, shapes);
    schedule::finish(s.scheduled(), s.target());
    handmade::check_kernel(built.program, lower(s.scheduled().program, handmade::options_for(s.target())), shapes);
  }
};

using text_parts::has;

}  // namespace

TEST_CASE("a copy of one page, where the loop over pages is") {
  Pages t;
  auto [b, m, slot] = t.s[t.out].spatial<3>();
  Stage page = t.s.cache_read(t.K, {t.out}, Scope::stack);
  page.compute_at(m);  // constant bytes: 1 x 4 x 8
  auto [p0, p1, p2] = page.spatial<3>();
  page.vectorize(p2);
  t.s[t.out].parallel(b);
  CAPTURE(t.text());
  CHECK(has(t.text(), "table[b, m]"));
  t.same();
}

TEST_CASE("two pages of one step have no common origin: the box is all that the table may name") {
  Pages t;
  auto [b, m, slot] = t.s[t.out].spatial<3>();
  Stage page = t.s.cache_read(t.K, {t.out}, Scope::global);
  page.compute_at(b);
  CAPTURE(t.text());
  CHECK(has(t.text(), "[0, +min(P, 256))"));
  t.same();
}

TEST_CASE("past the end of the table nothing says where a page begins") {
  Pages t;
  auto [b, m, slot] = t.s[t.out].spatial<3>();
  auto [mo, mi] = t.s[t.out].split(m, 2);  // guarded
  Stage page = t.s.cache_read(t.K, {t.out}, Scope::global);
  page.compute_at(mi);
  t.same();
  Pages u;
  auto [ub, um, us] = u.s[u.out].spatial<3>();
  auto [uo, ui] = u.s[u.out].split(um, 2);
  u.s[u.out].tighten(ui);  // inside the table again
  Stage own = u.s.cache_read(u.K, {u.out}, Scope::stack);
  own.compute_at(ui);
  u.same();
}

TEST_CASE("a page in the memory that a block shares") {
  Pages t("cuda-sm_80");
  auto [b, m, slot] = t.s[t.out].spatial<3>();
  t.s[t.out].bind(b, gpu::block_y).bind(m, gpu::block_x).bind(slot, gpu::thread_x);
  Stage page = t.s.cache_read(t.K, {t.out}, Scope::shared);
  page.compute_at(m);
  auto [p0, p1, p2] = page.spatial<3>();
  page.bind(page.fuse(p1, p2), gpu::threads);
  CAPTURE(t.text());
  t.same();
}

namespace {

// Where a condition does not hold a table may hold anything: entries from P on are none of a page.
const std::vector<Sizes> few{{{"B", 3}, {"M", 7}, {"P", 4}}, {{"B", 1}, {"M", 1}, {"P", 1}}, {{"B", 2}, {"M", 5}, {"P", 9}}};

struct Filled {  // y[b, m] = the element of page table[b, m], where there is such a page
  lang::DefinitionScope scope;
  Symbol B{"B"}, M{"M"}, P{"P"};
  Tensor K = lang::make_input("K", i32, {P}), table = lang::make_input("table", u8, {B, M}),
         y = lang::make_output("y", i32, {B, M});
  lang::Built built =
      (lang::bind(y, compute("y", {{"b", B}, {"m", M}},
                             [&](Var b, Var m) {
                               return select(i32(table(b, m)) * 2 < i32(P) * 2, K(in_range(table(b, m), 0, P)) * 2 + 1, 3);
                             })),
       lang::build_program("filled", {K, table, y}));
  Schedule s{built, Target::parse("x86-64-v3")};
  void same() { handmade::check_kernel(built.program, lower(s.scheduled().program, handmade::options_for(s.target())), few); }
};

}  // namespace

TEST_CASE("a promise that stands under a condition holds where the condition does") {
  Filled plain;
  plain.same();
  Filled lanes;
  lanes.s[lanes.y].vectorize(lanes.s[lanes.y].spatial<2>()[1], 8);
  lanes.same();
  Filled unrolled;
  unrolled.s[unrolled.y].unroll(unrolled.s[unrolled.y].spatial<2>()[1], 4);
  unrolled.same();
}

TEST_CASE("a page that is read under a condition is no window: the copy reads nothing that the algorithm does not") {
  Filled t;
  auto [b, m] = t.s[t.y].spatial<2>();
  Stage page = t.s.cache_read(t.K, {t.y}, Scope::global);
  page.compute_at(m);
  CHECK(ir::text(t.s.scheduled().program).find("[0, +min(P, 256))") != std::string::npos);
  t.same();

  // so it is where the loops that read may be empty, and where a scatter may keep nothing
  lang::DefinitionScope scope;
  const Symbol B{"B", {.min = 1}}, M{"M"}, P{"P"};
  const Tensor K = lang::make_input("K", i32, {P}), table = lang::make_input("table", u8, {B}),
               z = lang::make_input("z", u8, {M}), y = lang::make_output("y", i32, {B});
  const Axis k{"k", in_range(select(table(0) < 0, 1, 0), 0, 2)};
  lang::bind(y, compute("y", {{"b", B}}, [&](Var i) { return sum(K(in_range(table(i), 0, P)), k); }));
  Schedule s(lang::build_program("nothing", {K, table, z, y}), Target::parse("x86-64-v3"));
  Stage copy = s.cache_read(K, {y}, Scope::global);
  copy.compute_at(s[y].spatial<1>()[0]);
  handmade::check_kernel(s.algorithm(), lower(s.scheduled().program, handmade::options_for(s.target())), few);
}

TEST_CASE("a page with a fill, copied asynchronously: its table keeps it inside, and no condition is left") {
  Pages t("cuda-sm_80");
  auto [b, m, slot] = t.s[t.out].spatial<3>();
  t.s[t.out].bind(b, gpu::block_x).bind(slot, gpu::thread_x);
  Stage page = t.s.cache_read(t.K, {t.out}, Scope::shared, 0);
  page.compute_at(m);
  auto [p0, p1, p2] = page.spatial<3>();
  page.bind(page.fuse(p1, p2), gpu::threads);
  t.s[t.out].pipeline(m, {.stages = 3, .loads = {page}, .async_copy = true});
  const std::string kernel = ir::text(handmade::launched(t.s));
  CAPTURE(kernel);
  CHECK(has(kernel, "valid=1"));
  t.same();
}
