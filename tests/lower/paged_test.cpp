// Regions that begin where a table says: a page of a cache, copied where a loop over pages is.
#include <ashlar/lang.h>
#include <ashlar/lang/build_program.h>
#include <ashlar/ir/print.h>
#include <ashlar/schedule/step.h>

#include "check.h"
#include "launched.h"

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

bool has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

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
