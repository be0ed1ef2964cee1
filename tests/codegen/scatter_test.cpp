// Scatters compiled and executed, on every level that this machine has, against plain loops.
#include <algorithm>

#include <doctest/doctest.h>

#include <ashlar/ashlar.h>
#include <ashlar/codegen/jit.h>
#include <ashlar/lang/build_program.h>
#include <ashlar/lower/lower.h>
#include <ashlar/runtime/runtime.h>
#include <ashlar/schedule/schedule.h>
#include <ashlar/schedule/step.h>

#include "tests/codegen/kernels.h"

using namespace ashlar;

namespace {

template <class T>
struct Array {
  std::vector<T> values;
  std::vector<std::int64_t> shape;
  ashlar_tensor tensor = {};

  Array(std::vector<std::int64_t> s, const std::function<T(std::int64_t)>& value) : shape(std::move(s)) {
    std::int64_t n = 1;
    for (std::int64_t e : shape) n *= e;
    for (std::int64_t k = 0; k < n; ++k) values.push_back(value(k));
    tensor.data = values.data();
    tensor.device_type = 1;
    tensor.ndim = static_cast<std::int32_t>(shape.size());
    tensor.type_code = std::is_floating_point_v<T> ? 2 : std::is_unsigned_v<T> ? 1 : 0;
    tensor.type_bits = sizeof(T) * 8;
    tensor.type_lanes = 1;
    tensor.shape = shape.data();
  }
};

void call(const Schedule& s, std::vector<const void*> arguments) {
  schedule::finish(s.scheduled(), s.target());
  LowerOptions o;
  o.vector_bits = s.target().vector_bits();
  o.vector_registers = s.target().vector_registers();
  const codegen::Compiled f = codegen::compile(lower(s.scheduled().program, o), s.target());
  REQUIRE(f.call(arguments) == ASHLAR_OK);
}

std::uint8_t pixel(std::int64_t k) { return static_cast<std::uint8_t>(k * 37 % 251 * (k % 3)); }

const auto levels = {"x86-64", "x86-64-v3", "x86-64-v4"};

}  // namespace

TEST_CASE("the histogram of an image, one for each worker and their sum") {
  for (const Target& target : kernels::runnable(levels))
    for (const bool scheduled : {false, true}) {
      const lang::DefinitionScope scope;
      const Symbol H{"H"}, W{"W"};
      const Tensor in = lang::make_input("in", u8, {H, W}), out = lang::make_output("out", u32, {256});
      const Tensor counts =
          scatter("counts", {256}, Combine::add, u32(0), {H, W}, [&](Var y, Var x) { return put(u32(1), in(y, x)); });
      lang::bind(out, counts);
      Schedule s(lang::build_program("histogram", {in, out}), target);
      if (scheduled) {
        auto [y, x] = s[counts].reduction<2>();
        auto [yo, yi] = s[counts].split(y, Parts{16});
        Stage partial = s[counts].rfactor(yo);
        partial.parallel(partial.spatial<2>()[1]);
      }
      for (const auto& [h, w] : {std::pair<std::int64_t, std::int64_t>{123, 77}, {3, 1000}, {0, 5}}) {
        Array<std::uint8_t> image({h, w}, pixel);
        Array<std::uint32_t> found({256}, [](auto) { return 77u; });
        std::vector<std::uint32_t> expected(256, 0);
        for (const std::uint8_t p : image.values) ++expected[p];
        call(s, {&image.tensor, &found.tensor});
        CHECK(found.values == expected);
      }
    }
}

TEST_CASE("weights are added to their bins in order") {
  for (const Target& target : kernels::runnable(levels)) {
    const lang::DefinitionScope scope;
    const Symbol N{"N"}, B{"B"};
    const Tensor bin = lang::make_input("bin", i32, {N}), w = lang::make_input("w", f32, {N});
    const Tensor out = lang::make_output("out", f32, {B});
    const auto add = reducer("add", {f32}, {0.f}, [](Values<1> a, Values<1> b) { return values(a[0] + b[0]); }, Order::exact);
    const Tensor sums =
        scatter("sums", {B}, add, 0.25f, {{"n", N}}, [&](Var n) { return put_if(bin(n) >= 0 && bin(n) < B, w(n), bin(n)); });
    lang::bind(out, sums);
    Schedule s(lang::build_program("bincount", {bin, w, out}), target);
    auto [no, ni] = s[sums].split(s[sums].reduction(), 4);
    s[sums].unroll(ni).vectorize(s[sums].spatial<1>()[0], 8);
    for (const auto& [n, b] : {std::pair<std::int64_t, std::int64_t>{1001, 13}, {2, 1}, {7, 0}, {0, 9}}) {
      Array<std::int32_t> bins({n}, [](auto k) { return static_cast<std::int32_t>(k * 7919 % 17 - 2); });
      Array<float> weights({n}, [](auto k) { return 1.0f / static_cast<float>(k + 3); });
      Array<float> found({b}, [](auto) { return 9.0f; });
      std::vector<float> expected(static_cast<std::size_t>(b), 0.25f);
      for (std::size_t k = 0; k < bins.values.size(); ++k)
        if (bins.values[k] >= 0 && bins.values[k] < b) expected[static_cast<std::size_t>(bins.values[k])] += weights.values[k];
      call(s, {&bins.tensor, &weights.tensor, &found.tensor});
      CHECK(found.values == expected);
    }
  }
}

TEST_CASE("the gradient of an embedding, columns in lanes") {
  for (const Target& target : kernels::runnable(levels)) {
    const lang::DefinitionScope scope;
    const Symbol N{"N"}, D{"D"}, V{"V", {.min = 1}};
    const Tensor g = lang::make_input("g", f32, {N, D}), rows = lang::make_input("rows", i64, {N}),
                 out = lang::make_output("out", f32, {V, D});
    const Tensor grad = scatter("grad", {V, D}, Combine::add, 0.f, {{"n", N}, {"d", D}},
                                [&](Var n, Var d) { return put(g(n, d), clamp(rows(n), 0, V - 1), d); });
    lang::bind(out, grad);
    Schedule s(lang::build_program("embedding", {g, rows, out}), target);
    auto [n, d] = s[grad].reduction<2>();
    auto [dd, di] = s[grad].split(d, 8);
    s[grad].reorder(dd, n, di).parallel(dd).vectorize(di);
    for (const auto& [count, columns, height] :
         {std::tuple<std::int64_t, std::int64_t, std::int64_t>{50, 29, 7}, {1, 8, 1}, {6, 0, 3}}) {
      Array<float> values({count, columns}, [](auto k) { return static_cast<float>(k % 19) * 0.125f; });
      Array<std::int64_t> table({count}, [](auto k) { return k * 5 % 9 - 1; });
      Array<float> found({height, columns}, [](auto) { return 9.0f; });
      std::vector<float> expected(static_cast<std::size_t>(height * columns), 0.0f);
      for (std::int64_t i = 0; i < count; ++i)
        for (std::int64_t j = 0; j < columns; ++j)
          expected[static_cast<std::size_t>(std::clamp<std::int64_t>(i * 5 % 9 - 1, 0, height - 1) * columns + j)] +=
              values.values[static_cast<std::size_t>(i * columns + j)];
      call(s, {&values.tensor, &table.tensor, &found.tensor});
      CHECK(found.values == expected);
    }
  }
}

TEST_CASE("workers that count into one histogram lose no count") {
  for (const Target& target : kernels::runnable(levels)) {
    const lang::DefinitionScope scope;
    const Symbol H{"H"}, W{"W"};
    const Tensor in = lang::make_input("in", u8, {H, W}), out = lang::make_output("out", u32, {4});
    const Tensor counts =
        scatter("counts", {4}, Combine::add, u32(5), {H, W}, [&](Var y, Var x) { return put(u32(1), in(y, x) % 4); });
    lang::bind(out, counts);
    Schedule s(lang::build_program("histogram", {in, out}), target);
    s[counts].atomic().parallel(s[counts].reduction<2>()[0]);
    for (const auto& [h, w] : {std::pair<std::int64_t, std::int64_t>{400, 500}, {1, 3}, {0, 5}}) {
      Array<std::uint8_t> image({h, w}, pixel);
      Array<std::uint32_t> found({4}, [](auto) { return 77u; });
      std::vector<std::uint32_t> expected(4, 5);
      for (const std::uint8_t p : image.values) ++expected[p % 4];
      call(s, {&image.tensor, &found.tensor});
      CHECK(found.values == expected);
    }
  }
}

namespace {

// Rows of x, which many workers reduce together: found against plain loops.
template <class T, class Reduce, class Plain>
void combined(const Target& target, Type type, T start, Reduce reduce, Plain plain) {
  const lang::DefinitionScope scope;
  const Symbol M{"M"}, N{"N"};
  const Tensor x = lang::make_input("x", type, {M, N}), y = lang::make_output("y", type, {M});
  const Axis k{"k", N};
  const Tensor t = compute("t", {{"i", M}}, [&](Var i) { return reduce(x(i, k), k); });
  lang::bind(y, t);
  Schedule s(lang::build_program("rows", {x, y}), target);
  auto [ko, ki] = s[t].split(s[t].reduction(), 16);
  auto [io, ii] = s[t].split(s[t].spatial<1>()[0], 8);
  s[t].reorder(ko, io, ki, ii).atomic().parallel(ko).vectorize(ii);
  for (const auto& [m, n] : {std::pair<std::int64_t, std::int64_t>{11, 3000}, {1, 1}, {3, 0}}) {
    Array<T> values({m, n}, [](auto e) { return static_cast<T>(e * 37 % 101 - 50); });
    Array<T> found({m}, [](auto) { return T(3); });
    std::vector<T> expected(static_cast<std::size_t>(m), start);
    for (std::int64_t i = 0; i < m; ++i)
      for (std::int64_t j = 0; j < n; ++j) {
        T& e = expected[static_cast<std::size_t>(i)];
        e = static_cast<T>(plain(e, values.values[static_cast<std::size_t>(i * n + j)]));
      }
    call(s, {&values.tensor, &found.tensor});
    CHECK(found.values == expected);
  }
}

}  // namespace

TEST_CASE("every operator that memory combines, in integers of every width, and sums of floats") {
  const auto add = [](const Expr& e, const Axis& k) { return sum(e, k); };
  const auto least = [](const Expr& e, const Axis& k) { return minimum(e, k); };
  const auto most = [](const Expr& e, const Axis& k) { return maximum(e, k); };
  const auto plus = [](auto a, auto b) { return a + b; };
  for (const Target& target : kernels::runnable(levels)) {
    combined<std::int8_t>(target, i8, 0, add, plus);
    combined<std::uint8_t>(target, u8, 255, least, [](auto a, auto b) { return std::min(a, b); });
    combined<std::int16_t>(target, i16, INT16_MIN, most, [](auto a, auto b) { return std::max(a, b); });
    combined<std::uint16_t>(target, u16, 0, most, [](auto a, auto b) { return std::max(a, b); });
    combined<std::int32_t>(target, i32, INT32_MAX, least, [](auto a, auto b) { return std::min(a, b); });
    combined<std::int64_t>(target, i64, 0, add, plus);
    combined<float>(target, f32, 0, add, plus);
    combined<double>(target, f64, 0, add, plus);
    const auto bits = [&](auto op, std::int64_t identity) {
      return [op, identity](const Expr& e, const Axis& k) {
        const auto r = reducer(
            "bits", {u32}, {static_cast<std::uint32_t>(identity)},
            [op](Values<1> a, Values<1> b) { return values(op(a[0], b[0])); }, Order::any);
        return r(e, k);
      };
    };
    combined<std::uint32_t>(target, u32, 0, bits([](auto a, auto b) { return a | b; }, 0),
                            [](auto a, auto b) { return a | b; });
    combined<std::uint32_t>(target, u32, 0, bits([](auto a, auto b) { return a ^ b; }, 0),
                            [](auto a, auto b) { return a ^ b; });
    combined<std::uint32_t>(target, u32, 0xffffffffu, bits([](auto a, auto b) { return a & b; }, 0xffffffff),
                            [](auto a, auto b) { return a & b; });
  }
}

TEST_CASE("puts that are dropped write nowhere, however far they point") {
  for (const Target& target : kernels::runnable(levels)) {
    CAPTURE(target.text());
    const lang::DefinitionScope scope;
    const Symbol N{"N", {.min = 2}}, P{"P"};
    const Tensor to = lang::make_input("to", i64, {P}), out = lang::make_output("out", i32, {N});
    lang::bind(out,
               scatter("t", {N}, Combine::add, 0, {P}, [&](Var p) { return put_if(to(p) >= 0 && to(p) < N - 1, 1, to(p)); }));
    const Schedule s(lang::build_program("far", {to, out}), target);
    const std::vector<std::int64_t> places{0, INT64_MAX, 1, -1, INT64_MAX - 1, 1, INT64_MIN, 2, 0};
    const Array<std::int64_t> a({9}, [&](std::int64_t k) { return places[static_cast<std::size_t>(k)]; });
    const Array<std::int32_t> b({3}, [](std::int64_t) { return -1; });
    call(s, {&a.tensor, &b.tensor});
    CHECK(b.values == std::vector<std::int32_t>{2, 2, 0});
  }
}
