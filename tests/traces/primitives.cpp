// Every step there is, on programs small enough to read: the examples of docs/primitives.md, the schedules of tests/schedule's
// goldens, and what those leave out.
#include "cases.h"

#include <limits>

#include "tests/docs/examples.h"
#include "tests/schedule/npu.h"
#include "tests/schedule/programs.h"
#include "tests/support/atomic_gpu_operators.h"

namespace traces {
namespace {

using namespace ashlar;
using test::Blur;
using test::Product;

template <class Program, class Steps>
Case of(const char* name, Steps steps) {
  return {name, [=](const Use& use) {
            Program p;
            steps(p, p.s);
            use(p.built, p.s);
          }};
}

// y = x + 1, scheduled by the steps
template <class Steps>
Case elementwise(const char* name, Steps steps, const char* target = "x86-64-v3", Type type = f32) {
  return {name, [=](const Use& use) {
            lang::DefinitionScope scope;
            Symbol M{"M", {.min = 8}}, N{"N", {.min = 64, .multiple_of = 64}};
            Tensor x = lang::make_input("x", type, {M, N}), y = lang::make_output("y", type, {M, N});
            lang::bind(y, compute("y", {{"i", M}, {"j", N}}, [&](Var i, Var j) { return x(i, j) + 1; }));
            const lang::Built built = lang::build_program("plus", {x, y});
            Schedule s(built, Target::parse(target));
            steps(s, x, y);
            use(built, s);
          }};
}

}  // namespace

std::vector<Case> primitives() {
  std::vector<Case> all;
  all.push_back(of<Product>("tiles", [](Product& t, Schedule& s) {
    auto [i, j] = s[t.product].spatial<2>();
    auto [io, jo, ii, ji] = s[t.product].tile(i, j, 4, 8);
    auto [ko, ki] = s[t.product].split(s[t.product].reduction(), 2);
    s[t.product].reorder(io, jo, ko, ki, ii, ji).vectorize(ji).unroll(ii).parallel(io);
    auto [ci, cj] = s[t.C].spatial<2>();  // of the same names
    s[t.C].vectorize(cj, 8).unroll(ci, 2).parallel(ci);
    s[t.C].stream_store();
  }));
  all.push_back(of<Product>("tails", [](Product& t, Schedule& s) {
    auto [i, j] = s[t.C].spatial<2>();
    s[t.C].split(j, Parts{3});
    s[t.C].split(i, 4, Tail::peel);
    Stage b = s.cache_read(t.B, {t.product}, Scope::global, 0), a = s.cache_read(t.A, {t.product}, Scope::global, 0);
    auto [pi, pj] = s[t.product].spatial<2>();
    s[t.product].split(pi, 4, Tail::pad);
    s[t.product].split(pj, 8, Tail::predicate);
    (void)a, (void)b;
  }));
  all.push_back(elementwise("exact and shifting tails", [](Schedule& s, const Tensor&, const Tensor& y) {
    auto [i, j] = s[y].spatial<2>();
    s[y].split(j, 64, Tail::exact);
    s[y].split(i, 8, Tail::shift);
  }));
  all.push_back(of<Product>("fused, with what is prefetched", [](Product& u, Schedule& s) {
    auto [i, j] = s[u.product].spatial<2>();
    s[u.product].reorder(s[u.product].reduction(), i, j).prefetch(j, u.B, 2);
    s[u.product].split(s[u.product].fuse(i, j), 4);
    s[u.C].prefetch(s[u.C].spatial<2>()[1], s[u.product], 4);
  }));
  all.push_back(of<Blur>("peeled at both ends", [](Blur& b, Schedule& s) {
    auto [y, x] = s[b.out].spatial<2>();
    auto [xo, xi] = s[b.out].split(x, 4);
    const Ends ends = s[b.out].peel(xo);
    s[b.out].unroll(s[b.out].copy(xi, ends.first)).vectorize(xi).parallel(y);
    const Loop last = s[b.across].peel(s[b.across].spatial<2>()[0], Peel::last);
    s[b.across].parallel(last);
  }));
  all.push_back(of<Blur>("cut in three", [](Blur& b, Schedule& s) {
    auto [y, x] = s[b.out].spatial<2>();
    auto [xo, xi] = s[b.out].split(x, 8);
    const Loop inside = s[b.out].partition(xo, 1);
    const Loop right = s[b.out].partition(inside, max((b.W + 7) / 8 - 1, 1));
    s[b.out].reverse(y).vectorize(s[b.out].copy(xi, inside)).parallel(y);
    (void)right;
  }));
  all.push_back(of<Product>("beside its producer", [](Product& t, Schedule& s) {
    auto [i, j] = s[t.product].spatial<2>();
    auto [io, ii] = s[t.product].split(i, 4);
    s[t.C].split(s[t.C].spatial<2>()[0], 4);
    s[t.C].fuse_siblings(io);
    s[t.product].parallel(io);
    (void)ii, (void)j;
  }));
  all.push_back(of<Blur>("diagonals", [](Blur& b, Schedule& s) {
    auto [y, x] = s[b.out].spatial<2>();
    const Loop w = s[b.out].skew(y, x, 2);
    s[b.out].reorder(w, y).tighten(y).parallel(y);
    auto [ay, ax] = s[b.across].spatial<2>();
    s[b.across].split(s[b.across].skew(ax, ay, -1), 4);
  }));
  all.push_back(of<Blur>("a window in a ring", [](Blur& b, Schedule& s) {
    auto [y, x] = s[b.out].spatial<2>();
    auto [yo, yi] = s[b.out].split(y, 64);
    s[b.out].tighten(yi);
    s[b.across].compute_at(x).compute_root();  // tried and taken back
    s[b.across].store_at(yo).compute_at(yi).slide(yi).fold(0, 4);
  }));
  all.push_back(of<Product>("fused into the last step", [](Product& t, Schedule& s) {
    auto [i, j] = s[t.product].spatial<2>();
    auto [ko, ki] = s[t.product].split(s[t.product].reduction(), 2);
    auto [io, ii] = s[t.product].split(i, 4);
    s[t.product].reorder(io, ko, ii, j, ki);
    s[t.C].fuse_into(ko);
    s[t.product].store_at(io);
  }));
  all.push_back(of<Product>("caches and layouts", [](Product& t, Schedule& s) {
    Stage b = s.cache_read(t.B, {t.product}, Scope::global, 0.5);
    b.transform_layout([](Var k, Var n) { return at(n / 4, k, n % 4, 0 * n + 0); });
    Stage made = s.cache_write(t.C, Scope::stack);
    auto [i, j] = s[t.C].spatial<2>();
    made.compute_at(s[t.C].tile(i, j, 4, 4).outer_j).align(1, 8).store_in(Scope::registers);
    s.pack_argument(t.A, [](Var m, Var k) { return at(m / 8, k, m % 8); }, Pack::by_caller);
  }));
  for (const double fill :
       {std::numeric_limits<double>::infinity(), -std::numeric_limits<double>::infinity(), -0.0, 0.1, 1e300})
    all.push_back(elementwise(
        "filled", [fill](Schedule& s, const Tensor& x, const Tensor& y) { s.cache_read(x, {y}, Scope::global, fill); },
        "x86-64-v3", f64));
  for (const std::int64_t fill : {INT64_MIN, INT64_MIN + 1, INT64_MAX, std::int64_t{-3}})
    all.push_back(elementwise(
        "filled by whole numbers",
        [fill](Schedule& s, const Tensor& x, const Tensor& y) { s.cache_read(x, {y}, Scope::global, fill); }, "x86-64-v3",
        i64));
  all.push_back(of<Product>("through memory", [](Product& u, Schedule& s) {
    auto [i, j] = s[u.product].spatial<2>();
    auto [uo, ui] = s[u.product].split(s[u.product].reduction(), 2);
    s[u.product].reorder(uo, i, j, ui).tighten(ui);
    Stage partial = s[u.product].rfactor(uo);
    partial.compute_at(j).store_in(Scope::registers);
  }));
  all.push_back(of<Product>("factored, first", [](Product& t, Schedule& s) {
    Stage partial = s[t.product].rfactor(s[t.product].split(s[t.product].reduction(), 4).inner, Place::first);
    partial.parallel(partial.spatial<3>()[0]);
  }));
  all.push_back({"a scan in blocks", [](const Use& use) {
                   lang::DefinitionScope scope;
                   Symbol N{"N"};
                   Tensor x = lang::make_input("x", i32, {N}), y = lang::make_output("y", i32, {N});
                   Tensor t = scan("t", {{"i", N}}, Along{0}, Combine::add, [&](Var i) { return x(i); });
                   lang::bind(y, t);
                   const lang::Built built = lang::build_program("running", {x, y});
                   Schedule s(built, Target::parse("x86-64-v3"));
                   auto [o, n] = s[t].split(s[t].spatial<1>()[0], 8);
                   auto [total, carry, block] = s[t].associative_scan(o);
                   block.compute_at(o);
                   s[t].parallel(o).vectorize(n);
                   total.parallel(total.spatial<1>()[0]);
                   (void)carry;
                   use(built, s);
                 }});
  all.push_back(of<Product>("init apart", [](Product& t, Schedule& s) {
    auto [i, j] = s[t.product].spatial<2>();
    const Loop k = s[t.product].reduction();
    s[t.product].reorder(i, k, j).decompose_init(k);
    s[t.product].init().parallel(s[t.product].init().spatial<2>()[1]);
  }));
  all.push_back({"one definition, two places", [](const Use& use) {
                   lang::DefinitionScope scope;
                   Symbol N{"N", {.min = 1}};
                   Tensor x = lang::make_input("x", f32, {N}), y = lang::make_output("y", f32, {N}),
                          z = lang::make_output("z", f32, {N});
                   const Tensor t = compute("class", {{"int", N}}, [&](Var i) { return x(i) * 2; });  // C++'s own words
                   lang::bind(y, compute("y", {{"s", N}}, [&](Var i) { return t(i) + 1; }));
                   lang::bind(z, compute("z", {{"s", N}}, [&](Var i) { return t(N - 1 - i) + x(i); }));
                   const lang::Built built = lang::build_program("two", {x, y, z});
                   Schedule s(built, Target::parse("x86-64"));
                   Stage other = s.clone(t, {z});
                   other.compute_at(s[z].spatial<1>()[0]);
                   s[t].vectorize(s[t].spatial<1>()[0], 4);
                   use(built, s);
                 }});
  all.push_back({"zero points and promises", [](const Use& use) {
                   lang::DefinitionScope scope;
                   Symbol N{"N"}, K{"K"};
                   Tensor x = lang::make_input("x", u8, {K}), w = lang::make_input("w", i8, {K, N}),
                          z = lang::make_input("z", i32, {2}), y = lang::make_output("y", i32, {N});
                   const Axis k{"k", K};
                   const Tensor t =
                       compute("t", {{"j", N}}, [&](Var j) { return sum((i32(x(k)) - z(0)) * (i32(w(k, j)) - z(1)), k); });
                   lang::bind(y, t);
                   const lang::Built built = lang::build_program("zeros", {x, w, z, y});
                   Schedule s(built, Target::parse("x86-64"));
                   s.assume((N % 8 == 0 && N >= 8) || !(K + 1 < N * 2));
                   s.assume(N % 8 == 0);
                   auto [product, of_w, of_x] = s[t].distribute<3>();
                   auto [jo, ji] = s[t].split(s[t].spatial<1>()[0], 8, Tail::exact);
                   product.compute_at(jo);
                   of_x.split(of_x.reduction(), 4);
                   (void)of_w, (void)ji;
                   use(built, s);
                 }});
  all.push_back(of<Blur>("variants", [](Blur& t, Schedule& s) {
    auto [y, x] = s[t.out].spatial<2>();
    auto [yo, yi] = s[t.out].split(y, 4);
    Stage copy = s.cache_read(t.in, {t.across}, Scope::global);
    Schedule& narrow = s.specialize(t.W < 8 && t.H > 2);
    Schedule& whole = s.specialize(t.W % 8 == 0);
    narrow[t.across].compute_at(yo);
    narrow[copy].compute_at(yo);
    narrow[t.out].unroll(yi);
    auto [xo, xi] = whole[t.out].split(x, 8, Tail::exact);
    whole[t.out].vectorize(xi).parallel(yo);
    Schedule& square = whole.specialize(t.H == t.W);
    square[t.out].unroll(yi);
    square.cache_write(t.across, Scope::global).compute_root();
    s[t.out].vectorize(x, 8);
    s.assume(t.H > 0);
    s.specialize(t.H == 7);  // without steps of its own
  }));
  all.push_back(elementwise(
      "vectors as long as the machine has them",
      [](Schedule& s, const Tensor&, const Tensor& y) {
        auto [i, j] = s[y].spatial<2>();
        s[y].vectorize(j, Scalable{4}).parallel(i);
      },
      "aarch64+sve"));
  all.push_back({"three passes in one", [](const Use& use) {
                   lang::DefinitionScope scope;
                   Symbol M{"M"}, N{"N", {.min = 1}};
                   Tensor x = lang::make_input("x", f32, {M, N}), y = lang::make_output("y", f32, {M});
                   Axis k{"k", N}, l{"l", N}, m{"m", N};
                   Tensor top = compute("top", {{"i", M}}, [&](Var i) { return maximum(x(i, k), k); });
                   Tensor total = compute("total", {{"i", M}}, [&](Var i) { return sum(exp((x(i, l) - top(i)) * 0.5), l); });
                   Tensor mixed = compute("mixed", {{"i", M}}, [&](Var i) { return sum(exp2(x(i, m) - top(i)) * x(i, m), m); });
                   lang::bind(y, compute("y", {{"i", M}}, [&](Var i) { return mixed(i) / total(i); }));
                   const lang::Built built = lang::build_program("passes", {x, y});
                   Schedule s(built, Target::parse("x86-64-v3"));
                   s[total].roll(top, [](Expr old, Expr now) { return exp((old - now) * 0.5); });
                   Stage all_three = s[mixed].roll(s[top], [](Expr old, Expr now) { return exp2(-(now - old)); });
                   all_three.split(all_three.reduction(), 8);
                   use(built, s);
                 }});
  all.push_back({"an accelerator", [](const Use& use) {
                   const test::Npu p;
                   use(p.built, p.s);
                 }});
  all.push_back(elementwise(
      "two buffers",
      [](Schedule& s, const Tensor& x, const Tensor& y) {
        auto [i, j] = s[y].spatial<2>();
        auto [jo, ji] = s[y].split(j, 64, Tail::exact);
        Stage tile = s.cache_read(x, {y}, Scope::shared);
        tile.compute_at(jo);
        tile.bind(tile.spatial<2>()[1], gpu::thread_x);
        tile.double_buffer();
        s[y].bind(i, gpu::block_x).bind(ji, gpu::thread_x);
      },
      "vulkan"));
  all.push_back(elementwise("nothing", [](Schedule&, const Tensor&, const Tensor&) {}));
  for (const primitives_page::Group& g : primitives_page::groups())
    for (const primitives_page::Example& e : g.examples)
      all.push_back({std::string(e.primitive) + ", as docs/primitives.md has it", [run = e.run](const Use& use) {
                       primitives_page::Show show(use);
                       run(show);
                     }});
  return all;
}

}  // namespace traces
