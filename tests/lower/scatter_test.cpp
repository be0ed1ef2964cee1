// Scatters, lowered: kernels for processors, and launches, which run with the search for races on.
#include <cstring>

#include <ashlar/lang.h>
#include <ashlar/lang/build_program.h>
#include <ashlar/report/explain.h>
#include <ashlar/schedule/step.h>

#include "check.h"
#include "launched.h"

using namespace ashlar;
using handmade::Sizes;

namespace {

struct Bins {  // counts of the values of an image
  lang::DefinitionScope scope;
  Symbol H{"H"}, W{"W"};
  Tensor in = lang::make_input("in", u8, {H, W}), out = lang::make_output("out", u32, {256});
  Tensor counts = scatter("counts", {{"b", 256}}, Combine::add, u32(0), {{"y", H}, {"x", W}},
                          [&](Var y, Var x) { return put(u32(1), in(y, x)); });
  lang::Built built = (lang::bind(out, counts), lang::build_program("bins", {in, out}));
  Schedule s;
  explicit Bins(const char* target) : s(built, Target::parse(target)) {}
  void same() {
    const std::vector<Sizes> shapes{{{"H", 9}, {"W", 21}}, {{"H", 40}, {"W", 3}}, {{"H", 1}, {"W", 1}}, {{"H", 0}, {"W", 4}}};
    if (s.target().is_gpu()) return handmade::same_on_device(built.program, s, shapes);
    handmade::check_kernel(built.program, lower(s.scheduled().program, handmade::options_for(s.target())), shapes);
  }
};

struct Rows {  // out[rows[n], d] += g[n, d], where rows[n] is one
  lang::DefinitionScope scope;
  Symbol N{"N"}, D{"D"}, V{"V"};
  Tensor g = lang::make_input("g", f32, {N, D}), rows = lang::make_input("rows", i32, {N}),
         out = lang::make_output("out", f32, {V, D});
  Tensor grad = scatter("grad", {{"v", V}, {"c", D}}, Combine::add, 0.f, {{"n", N}, {"d", D}}, [&](Var n, Var d) {
    return puts(put_if(rows(n) >= 0 && rows(n) < V, g(n, d), rows(n), d), put_if(n < V, 1.f, n, D - 1 - d));
  });
  lang::Built built = (lang::bind(out, grad), lang::build_program("rows", {g, rows, out}));
  Schedule s;
  explicit Rows(const char* target) : s(built, Target::parse(target)) {}
  void same() {
    const std::vector<Sizes> shapes{{{"N", 9}, {"D", 21}, {"V", 6}},
                                    {{"N", 30}, {"D", 1}, {"V", 2}},
                                    {{"N", 3}, {"D", 4}, {"V", 0}},
                                    {{"N", 0}, {"D", 5}, {"V", 3}},
                                    {{"N", 7}, {"D", 0}, {"V", 3}}};
    if (s.target().is_gpu()) return handmade::same_on_device(built.program, s, shapes);
    handmade::check_kernel(built.program, lower(s.scheduled().program, handmade::options_for(s.target())), shapes);
  }
};

}  // namespace

TEST_CASE("as defined, on a processor") {
  Bins("x86-64-v3").same();
  Rows("x86-64-v3").same();
}

TEST_CASE("private counts of threads and blocks, and their sum") {
  for (const char* target : {"vulkan", "cuda-sm_80"}) {
    Bins t(target);
    auto [y, x] = t.s[t.counts].reduction<2>();
    auto [yo, yi] = t.s[t.counts].split(y, 8);
    Stage partial = t.s[t.counts].rfactor(yi);
    partial.bind(partial.spatial<2>()[1], gpu::thread_x);
    auto [bo, bi] = t.s[t.counts].split(t.s[t.counts].spatial<1>()[0], 32);
    t.s[t.counts].bind(bo, gpu::block_x).bind(bi, gpu::thread_x);
    t.same();
  }
}

TEST_CASE("lanes whose puts are dropped, and lanes past the end, read nothing") {
  const lang::DefinitionScope scope;
  const Symbol N{"N"}, K{"K"}, B{"B"};
  const Tensor x = lang::make_input("x", i32, {N}), w = lang::make_input("w", i32, {K}),
               out = lang::make_output("out", i32, {B});
  // where n < K alone may w be read
  const Tensor t = scatter("t", {{"b", B}}, Combine::add, 0, {{"n", N}}, [&](Var n) {
    const Expr at = select(n < K, w(n), -1);
    return put_if(at >= 0 && at < B && x(n) > -5, x(n), at);
  });
  lang::bind(out, t);
  const lang::Built built = lang::build_program("lanes", {x, w, out});
  Schedule s(built, Target::parse("x86-64-v3"));
  auto [no, ni] = s[t].split(s[t].reduction(), 8);
  Stage lanes = s[t].rfactor(ni);
  lanes.vectorize(lanes.spatial<2>()[1]);
  handmade::check_kernel(built.program, lower(s.scheduled().program, handmade::options_for(s.target())),
                         {{{"N", 21}, {"K", 13}, {"B", 6}}, {{"N", 3}, {"K", 9}, {"B", 4}}, {{"N", 8}, {"K", 0}, {"B", 0}}});
}

TEST_CASE("lanes whose puts are dropped point anywhere, more than 63 bits away too (fuzz seed 972003232)") {
  const lang::DefinitionScope scope;
  const Tensor to = lang::make_input("to", i64, {3, 4}), out = lang::make_output("out", i32, {3, 4});
  const Tensor t = scatter("t", {{"r", 3}, {"n", 4}}, Combine::add, 0, {{"p", 3}, {"q", 4}},
                           [&](Var p, Var q) { return put_if(to(p, q) >= 0 && to(p, q) < 3, i32(q) + 1, to(p, q), q); });
  lang::bind(out, t);
  const lang::Built built = lang::build_program("far", {to, out});
  Schedule s(built, Target::parse("x86-64-v3"));
  s[t].vectorize(s[t].reduction<2>()[1], 4);
  const std::vector<std::int64_t> rows{0, INT64_MAX, 2, -1, std::int64_t{1} << 61, 1, INT64_MIN, 2, 0, 1, -7, INT64_MAX / 2};
  interp::Arguments expected{interp::Array::zeros(i64, {3, 4}), interp::Array::zeros(i32, {3, 4})};
  std::memcpy(expected[0].array.bytes.data(), rows.data(), rows.size() * sizeof rows[0]);
  interp::Arguments found = expected;
  interp::run_algorithm(built.program, expected);
  const ir::Kernel kernel = lower(s.scheduled().program, handmade::options_for(s.target()));
  REQUIRE_NOTHROW(interp::run(kernel, found));
  CHECK(interp::difference(found[1].array, expected[1].array) == "");
}

TEST_CASE("puts that are dropped point anywhere in loops of numbers, and read there (fuzz seed 5000968)") {
  const lang::DefinitionScope scope;
  const Symbol N{"N", {.min = 2}}, M{"M", {.min = 2}};
  const Tensor c = lang::make_input("c", i64, {N, M}), w = lang::make_input("w", i64, {N, M}),
               out = lang::make_output("out", i64, {N, M});
  const Tensor t = scatter("t", {N, M}, Combine::bit_xor, i64(0), {N, M}, [&](Var p, Var q) {
    const Expr to = c(p, q);
    return put_if(to >= 0 && to < N - 1, w(clamp(to + 1, 0, N - 1), q) + to * 3, to, q);
  });
  lang::bind(out, t);
  const lang::Built built = lang::build_program("far", {c, w, out});
  const std::vector<std::int64_t> rows{0, INT64_MAX, 1, -1, std::int64_t{1} << 61, 1, INT64_MIN, 0, 0, 1, -7, INT64_MAX / 2};
  for (const char* target : {"x86-64-v2", "x86-64-v4"})
    for (int form = 0; form < 5; ++form) {
      CAPTURE(target);
      CAPTURE(form);
      Schedule s(built, Target::parse(target));
      const auto [p, q] = s[t].reduction<2>();
      if (form == 1) s[t].split(q, 3);
      if (form == 2) s[t].vectorize(q, 4);
      if (form == 3) s[t].reorder(q, p);
      if (form == 4) s.cache_write(t, Scope::global);
      interp::Arguments expected;
      for (int k = 0; k < 3; ++k) expected.emplace_back(interp::Array::zeros(i64, {3, 4}));
      for (int k = 0; k < 2; ++k)
        std::memcpy(expected[static_cast<std::size_t>(k)].array.bytes.data(), rows.data(), rows.size() * sizeof rows[0]);
      interp::Arguments found = expected;
      interp::run_algorithm(built.program, expected);
      const ir::Kernel kernel = lower(s.scheduled().program, handmade::options_for(s.target()));
      const std::string text = ir::text(kernel);
      CAPTURE(text);
      REQUIRE_NOTHROW(interp::run(kernel, found));
      CHECK(interp::difference(found[2].array, expected[2].array) == "");
    }
}

TEST_CASE("what a scatter takes is counted") {
  Bins t("x86-64-v3");
  const std::string text = explain(t.s, {{"H", 100}, {"W", 10}});
  CAPTURE(text);
  CHECK(text.find("out store") != std::string::npos);
}

TEST_CASE("threads start the counts, one of them counts") {
  for (const char* target : {"vulkan", "cuda-sm_80"}) {
    Bins t(target);
    auto [bo, bi] = t.s[t.counts].split(t.s[t.counts].spatial<1>()[0], 64);
    t.s[t.counts].bind(bi, gpu::thread_x);
    CHECK(handmade::barriers(handmade::launched(t.s)) == 1);  // all have started before the first is counted
    t.same();
  }
}

TEST_CASE("columns of the chosen rows belong to threads of their own") {
  for (const char* target : {"vulkan", "cuda-sm_80"}) {
    Rows t(target);
    auto [n, d, put] = t.s[t.grad].reduction<3>();
    // the second put goes to a column of its own
    CHECK_THROWS_WITH_AS(t.s[t.grad].bind(d, gpu::block_x), doctest::Contains("conflict: iterations"), RefusalError);
    auto [v, c] = t.s[t.grad].spatial<2>();
    auto [co, ci] = t.s[t.grad].split(c, 16);
    t.s[t.grad].bind(ci, gpu::thread_x);
    t.same();
  }
}
