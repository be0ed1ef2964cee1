// Scatters: what they mean, in the definitions and in the tree, against plain loops; and what a definition refuses.
#include <cmath>

#include <ashlar/lang.h>
#include <ashlar/lang/build_program.h>

#include "tests/support/refused.h"
#include "run.h"

using namespace ashlar;

namespace {

interp::Array numbers(Type t, std::vector<std::int64_t> shape, const std::function<double(std::int64_t)>& value) {
  std::int64_t next = 0;
  return interp::Array::make(t, std::move(shape), [&](auto) { return value(next++); });
}

// The result of one scatter of `type` over the inputs.
std::vector<double> scattered(const Tensor& result, std::vector<Extent> extents, std::vector<std::int64_t> shape,
                              std::vector<Tensor> inputs, std::vector<interp::Array> actual) {
  const Tensor y = lang::make_output("y", result.type(), extents);
  lang::bind(y, result);
  std::vector<lang::ArgumentRef> arguments(inputs.begin(), inputs.end());
  arguments.push_back(y);
  interp::Arguments given(actual.begin(), actual.end());
  given.push_back(interp::Array::zeros(result.type(), std::move(shape)));
  return run(arguments, given);
}

std::int64_t pixel(std::int64_t k) { return k * 37 % 11 + k % 3 * 100; }

}  // namespace

TEST_CASE("a histogram counts the pixels of each value") {
  const lang::DefinitionScope scope;
  const Symbol H{"H"}, W{"W"};
  const Tensor in = lang::make_input("in", u8, {H, W});
  const Tensor counts =
      scatter("counts", {256}, Combine::add, u32(0), {H, W}, [&](Var y, Var x) { return put(u32(1), in(y, x)); });
  for (const auto& [h, w] : {std::pair<std::int64_t, std::int64_t>{5, 7}, {1, 1}, {0, 4}}) {
    std::vector<double> expected(256, 0);
    for (std::int64_t k = 0; k < h * w; ++k) ++expected[static_cast<std::size_t>(pixel(k))];
    CHECK(scattered(counts, {256}, {256}, {in}, {numbers(u8, {h, w}, [](auto k) { return pixel(k); })}) == expected);
  }
}

TEST_CASE("sums of floats take their terms in the order of the points, products by fma") {
  const lang::DefinitionScope scope;
  const Symbol N{"N"}, B{"B"};
  const Tensor bin = lang::make_input("bin", i32, {N}), w = lang::make_input("w", f32, {N}),
               size = lang::make_input("size", f32, {B});
  const auto weight = [](std::int64_t k) { return static_cast<float>(1.0 / static_cast<double>(k + 3)); };
  std::vector<float> plain(5, 0.5f), fused(5, 0.5f);
  for (std::int64_t k = 0; k < 40; ++k) {
    const auto b = static_cast<std::size_t>(k * k % 5);
    plain[b] = plain[b] + weight(k);
    fused[b] = std::fma(weight(k), weight(k), fused[b]);
  }
  const auto add = reducer("add", {f32}, {0.f}, [](Values<1> a, Values<1> b) { return values(a[0] + b[0]); }, Order::exact);
  const auto choose = [&](Var n) { return in_range(bin(n), 0, B); };
  const std::vector<interp::Array> given{numbers(i32, {40}, [](auto k) { return static_cast<double>(k * k % 5); }),
                                         numbers(f32, {40}, weight), interp::Array::zeros(f32, {5})};
  const auto of = [&](const Tensor& t) { return scattered(t, {B}, {5}, {bin, w, size}, given); };
  const std::vector<double> sums(plain.begin(), plain.end()), products(fused.begin(), fused.end());
  CHECK(of(scatter("any", {B}, Combine::add, 0.5f, {N}, [&](Var n) { return put(w(n), choose(n)); })) == sums);
  CHECK(of(scatter("exact", {B}, add, 0.5f, {N}, [&](Var n) { return put(w(n), choose(n)); })) == sums);
  CHECK(of(scatter("fused", {B}, Combine::add, 0.5f, {N}, [&](Var n) { return put(w(n) * w(n), choose(n)); })) == products);
}

TEST_CASE("rows chosen by a table: the gradient of an embedding") {
  const lang::DefinitionScope scope;
  const Symbol N{"N"}, D{"D"}, V{"V", {.min = 1}};
  const Tensor g = lang::make_input("g", f32, {N, D}), rows = lang::make_input("rows", i64, {N}),
               table = lang::make_input("table", f32, {V, D});
  const Tensor grad = scatter("grad", {V, D}, Combine::add, 0.f, {{"n", N}, {"d", D}},
                              [&](Var n, Var d) { return put(g(n, d), clamp(rows(n), 0, V - 1), d); });
  for (const auto& [n, d, v] : {std::tuple<std::int64_t, std::int64_t, std::int64_t>{9, 4, 6}, {3, 1, 2}, {4, 0, 3}}) {
    std::vector<double> expected(static_cast<std::size_t>(v * d), 0);
    for (std::int64_t i = 0; i < n; ++i)
      for (std::int64_t j = 0; j < d; ++j)
        expected[static_cast<std::size_t>(std::min(i * 5 % 7, v - 1) * d + j)] += static_cast<double>(i * d + j);
    CHECK(scattered(grad, {V, D}, {v, d}, {g, rows, table},
                    {numbers(f32, {n, d}, [](auto k) { return static_cast<double>(k); }),
                     numbers(i64, {n}, [](auto k) { return static_cast<double>(k * 5 % 7); }),
                     interp::Array::zeros(f32, {v, d})}) == expected);
  }
}

TEST_CASE("every way to combine") {
  const lang::DefinitionScope scope;
  const Symbol N{"N"};
  const Tensor x = lang::make_input("x", i32, {N});
  const auto value = [](std::int64_t k) { return k * 7919 % 127 - 40; };
  const auto latest = reducer(
      "latest", {i32}, {0}, [](Values<1> a, Values<1> b) { return values(select(b[0] != 0, b[0], a[0])); }, Order::exact);
  const auto check = [&](auto combine, std::int32_t init, const std::function<std::int64_t(std::int64_t, std::int64_t)>& step) {
    const Tensor t = scatter("t", {3}, combine, i32(init), {N}, [&](Var n) { return put(x(n), n % 3); });
    std::vector<double> expected(3, init);
    for (std::int64_t k = 0; k < 20; ++k) {
      double& e = expected[static_cast<std::size_t>(k % 3)];
      e = static_cast<double>(static_cast<std::int32_t>(step(static_cast<std::int64_t>(e), value(k))));
    }
    CHECK(scattered(t, {3}, {3}, {x}, {numbers(i32, {20}, [&](auto k) { return static_cast<double>(value(k)); })}) == expected);
  };
  check(Combine::add, 5, [](auto a, auto b) { return a + b; });
  check(Combine::multiply, 3, [](auto a, auto b) { return a * b; });
  check(Combine::max, 10, [](auto a, auto b) { return std::max(a, b); });
  check(Combine::min, -10, [](auto a, auto b) { return std::min(a, b); });
  check(Combine::bit_or, 64, [](auto a, auto b) { return a | b; });
  check(Combine::bit_and, -1, [](auto a, auto b) { return a & b; });
  check(Combine::bit_xor, 1, [](auto a, auto b) { return a ^ b; });
  check(latest, 0, [](auto a, auto b) { return b != 0 ? b : a; });
}

TEST_CASE("a point may be dropped, and reads nothing then") {
  const lang::DefinitionScope scope;
  const Symbol N{"N"}, K{"K"};
  const Tensor x = lang::make_input("x", i32, {N}), w = lang::make_input("w", i32, {K}),
               all = lang::make_input("all", i32, {N});
  // the value lies outside of w where n >= K, and the index outside of the result where x is not a place in it
  const Tensor t =
      scatter("t", {K}, Combine::add, i32(0), {N}, [&](Var n) { return put_if(n < K && x(n) >= 0 && x(n) < K, w(n), x(n)); });
  for (const std::int64_t k : {4, 1, 0}) {
    std::vector<double> expected(static_cast<std::size_t>(k), 0);
    const auto place = [](std::int64_t n) { return n * 5 % 9 - 2; };
    for (std::int64_t n = 0; n < std::min<std::int64_t>(k, 12); ++n)
      if (place(n) >= 0 && place(n) < k) expected[static_cast<std::size_t>(place(n))] += static_cast<double>(n + 10);
    CHECK(scattered(t, {K}, {k}, {x, w, all},
                    {numbers(i32, {12}, [&](auto n) { return static_cast<double>(place(n)); }),
                     numbers(i32, {k}, [](auto n) { return static_cast<double>(n + 10); }), interp::Array::zeros(i32, {12})}) ==
          expected);
  }
}

TEST_CASE("several puts in a step, one after the other") {
  const lang::DefinitionScope scope;
  const Symbol N{"N"};
  const Tensor x = lang::make_input("x", i32, {N});
  const auto last =
      reducer("last", {i32}, {0}, [](Values<1> a, Values<1> b) { return values(select(b[0] != 0, b[0], a[0])); }, Order::exact);
  const Tensor t = scatter("t", {8}, last, 0, {N}, [&](Var n) {
    return puts(put(x(n), n % 8), put_if(n % 2 == 0, x(n) * 10, n % 8), put(i32(n) + 1, (n + 1) % 8));
  });
  std::vector<double> expected(8, 0);
  for (std::size_t n = 0; n < 20; ++n) {
    expected[n % 8] = static_cast<double>(n + 1);
    if (n % 2 == 0) expected[n % 8] = static_cast<double>(n + 1) * 10;
    expected[(n + 1) % 8] = static_cast<double>(n + 1);
  }
  CHECK(scattered(t, {8}, {8}, {x}, {numbers(i32, {20}, [](auto n) { return static_cast<double>(n + 1); })}) == expected);
}

TEST_CASE("scatters are read like any other tensor") {
  const lang::DefinitionScope scope;
  const Symbol N{"N"};
  const Tensor x = lang::make_input("x", u8, {N});
  const Tensor counts = scatter("counts", {256}, Combine::add, 0, {N}, [&](Var n) { return put(1, x(n)); });
  const Tensor alike = compute("alike", {N}, [&](Var n) { return counts(x(n)); });
  const Tensor places = scatter("places", {N}, Combine::add, 0, {N}, [&](Var n) { return put(counts(x(n)), n); });
  std::vector<double> expected;
  for (std::int64_t n = 0; n < 9; ++n) expected.push_back(3);
  const interp::Array given = numbers(u8, {9}, [](auto n) { return static_cast<double>(n % 3 * 50); });
  CHECK(scattered(alike, {N}, {9}, {x}, {given}) == expected);
  CHECK(scattered(places, {N}, {9}, {x}, {given}) == expected);
}

TEST_CASE("what a scatter refuses") {
  const lang::DefinitionScope scope;
  const Symbol N{"N"};
  const Tensor x = lang::make_input("x", i32, {N});
  const Tensor f = lang::make_input("f", f32, {N});
  const auto says = [](const std::string& found, const char* part) {
    CHECK_MESSAGE(found.find(part) != std::string::npos, found);
  };
  says(refused([&] { scatter("", {4}, Combine::add, 0, {N}, [&](Var n) { return put(1, n); }); }), "expected a name");
  says(refused([&] { scatter("t", {4}, Combine::add, 0, {N}, [&](Var n) { return put(1, f(n)); }); }), "expected an integer");
  says(refused([&] { scatter("t", {4}, Combine::bit_or, 0.f, {N}, [&](Var n) { return put(f(n), n); }); }),
       "expected integers or bools to combine by bits, found f32");
  says(refused([&] { scatter("t", {4}, Combine::add, false, {N}, [&](Var n) { return put(n < 2, n); }); }),
       "expected a number (convert by name: i32(x)), found bool");
  says(refused([&] { scatter("t", {4}, Combine::add, 0.5, {N}, [&](Var n) { return put(x(n), n); }); }), "0.5");
  says(refused([&] { scatter("t", {4}, Combine::add, 0, {N}, [&](Var n) { return put_if(x(n), 1, n); }); }), "expected bool");
  Expr outside;
  scatter("t", {N}, Combine::add, 0, {N}, [&](Var n) { return outside = n, put(1, n); });
  says(refused([&] { scatter("u", {N}, Combine::add, 0, {N}, [&](Var) { return put(1, outside); }); }),
       "the Vars of its own lambda");
}

TEST_CASE("a put outside of the result is reported, where a promise was false") {
  const lang::DefinitionScope scope;
  const Symbol N{"N"};
  const Tensor x = lang::make_input("x", i32, {N}), y = lang::make_output("y", i32, {4});
  lang::bind(y, scatter("t", {4}, Combine::add, 0, {{"n", N}}, [&](Var n) { return put(1, in_range(x(n), 0, 4)); }));
  const lang::Built b = lang::build_program("test", {x, y});
  interp::Arguments actual{numbers(i32, {3}, [](auto n) { return static_cast<double>(n * 3); }),
                           interp::Array::zeros(i32, {4})};
  CHECK_THROWS_WITH_AS(interp::run_algorithm(b.program, actual), "stage `t` at n = 2: in_range promised [0, 4), found 6",
                       interp::RunError);
}
