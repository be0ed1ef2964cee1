// What two schedules do differently: steps are compared by what they are about, not by ids.
#include <ashlar/schedule/diff.h>

#include "programs.h"

#include "tests/golden.h"

namespace ashlar::test {
namespace {

struct Settings {
  int columns = 8, rows = 32;
  bool peeled = false, cached = false;
};

void tile(Schedule& s, const Tensor& product, const Tensor& B, const Settings& o) {
  if (o.cached) s.cache_read(B, {product}, Scope::global, 0);
  auto [i, j] = s[product].spatial<2>();
  auto [io, ii] = s[product].split(i, o.rows);
  auto [jo, ji] = s[product].split(j, o.columns);
  s[product].reorder(io, jo, ii, ji).vectorize(ji);
  if (o.peeled) s[product].unroll(s[product].copy(ii, s[product].peel(ii, Peel::last)));
  s[product].parallel(io);
}

std::string of(const Settings& a, const Settings& b) {
  Product p, q;
  tile(p.s, p.product, p.B, a), tile(q.s, q.product, q.B, b);
  const ScheduleDiff d = diff(p.s, q.s);
  CHECK(d.equal == d.text.empty());
  CHECK(diff(q.s, p.s).equal == d.equal);
  return d.text;
}

// Two products behind each other; `swapped` names the outputs in the other order, so that every id is another.
struct Two {
  lang::DefinitionScope scope;
  Symbol N{"N", {.min = 1}};
  Tensor x = lang::make_input("x", f32, {N, N}), y = lang::make_output("y", f32, {N, N}),
         z = lang::make_output("z", f32, {N, N});
  Axis k{"k", N};
  Tensor product = compute("product", {{"i", N}, {"j", N}}, [&](Var i, Var j) { return sum(x(i, k) * x(k, j), k); });
  Tensor other = compute("other", {{"i", N}, {"j", N}}, [&](Var i, Var j) { return x(j, i) * 2; });
  lang::Built built;
  Schedule s;
  explicit Two(bool swapped, ir::Id further = 0) : built(build(swapped, further)), s(built, Target::parse("x86-64-v3")) {
    tile(s, product, x, {.peeled = true, .cached = true});
    s[other].parallel(s[other].spatial<2>()[0]);
  }

 private:
  lang::Built build(bool swapped, ir::Id further) {
    lang::bind(y, product), lang::bind(z, other);
    lang::Built b = swapped ? lang::build_program("two", {z, y, x}) : lang::build_program("two", {x, y, z});
    b.program.next_id += further;
    return b;
  }
};

}  // namespace

TEST_CASE("the same steps have no difference") {
  CHECK(of({}, {}) == "");
  CHECK(of({.peeled = true, .cached = true}, {.peeled = true, .cached = true}) == "");
  Product p, q;
  CHECK(diff(p.s, q.s).equal);
}

TEST_CASE("a number, a step more, a step less") {
  std::string all;
  all += "# another factor\n" + of({}, {.columns = 16});
  all += "# two other factors, and a cache\n" + of({}, {.columns = 16, .rows = 64, .cached = true});
  all += "# nothing peeled\n" + of({.peeled = true}, {});
  CHECK(golden("schedule/golden/diff.txt", all) == "");
}

TEST_CASE("ids are nothing to it") {
  const Two a(false), b(true), c(false, 1000);
  CHECK(a.s.json() != b.s.json());
  CHECK(a.s.json() != c.s.json());
  CHECK(a.s.trace_hash() != c.s.trace_hash());
  CHECK(diff(a.s, b.s).text == "");
  CHECK(diff(a.s, c.s).text == "");
  CHECK(diff(b.s, c.s).equal);
}

TEST_CASE("schedules of different algorithms") {
  Product p;
  tile(p.s, p.product, p.B, {});
  const Two two(false);
  const ScheduleDiff d = diff(p.s, two.s);
  CHECK(!d.equal);
  CHECK(golden("schedule/golden/diff_algorithms.txt", d.text) == "");
}

TEST_CASE("a loop and its copy are two") {
  const auto with = [](bool copy) {
    Product p;
    auto [i, j] = p.s[p.product].spatial<2>();
    auto [io, ii] = p.s[p.product].split(i, 4);
    const Loop last = p.s[p.product].peel(io, Peel::last);
    p.s[p.product].unroll(copy ? p.s[p.product].copy(ii, last) : ii);
    return p.s;
  };
  CHECK(diff(with(true), with(true)).equal);
  const ScheduleDiff d = diff(with(true), with(false));
  CHECK(d.text.find("- s[product].unroll(ii_copy);\n+ s[product].unroll(ii);\n") != std::string::npos);
}

TEST_CASE("layouts and cuts are compared by what they say") {
  const auto with = [](std::int64_t panel, std::int64_t at_) {
    Blur b;
    b.s[b.across].transform_layout([&](Var y, Var x) { return at(x / panel, y, x % panel); });
    b.s[b.out].partition(b.s[b.out].spatial<2>()[0], max(b.H - at_, 0));
    return b.s;
  };
  CHECK(diff(with(4, 1), with(4, 1)).equal);
  CHECK(diff(with(4, 1), with(8, 1)).text.find("at(c1 / 8, c0, c1 % 8)") != std::string::npos);
  CHECK(diff(with(4, 1), with(4, 2)).text.find("+ s[out].partition(y, max(H - 2, 0));") != std::string::npos);
}

}  // namespace ashlar::test
