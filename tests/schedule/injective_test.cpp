// injective: what it allows a scatter, what the interpreter says when a call breaks it, and what it refuses.
#include "programs.h"

#include <ashlar/ir/print.h>

namespace ashlar::test {
namespace {

struct Permuted {  // out[order[n], d] += g[n, d]
  lang::DefinitionScope scope;
  Symbol N{"N"}, D{"D"};
  Tensor g = lang::make_input("g", i32, {N, D}), order = lang::make_input("order", i32, {N}),
         out = lang::make_output("out", i32, {N, D});
  Tensor sums = scatter("sums", {{"v", N}, {"c", D}}, Combine::add, 0, {{"n", N}, {"d", D}},
                        [&](Var n, Var d) { return put(g(n, d), in_range(order(n), 0, N), d); });
  lang::Built built = (lang::bind(out, sums), lang::build_program("permuted", {g, order, out}));
  Schedule s{built, Target::parse("x86-64-v3")};

  interp::Arguments arguments(const std::vector<std::int64_t>& places) const {
    const auto n = static_cast<std::int64_t>(places.size());
    interp::Arguments a;
    a.emplace_back(interp::Array::make(i32, {n, 3}, [](auto at) { return static_cast<double>(at[0] * 7 + at[1]); }));
    a.emplace_back(
        interp::Array::make(i32, {n}, [&](auto at) { return static_cast<double>(places[static_cast<std::size_t>(at[0])]); }));
    a.emplace_back(interp::Array::zeros(i32, {n, 3}));
    return a;
  }
};

}  // namespace

TEST_CASE("steps that choose by a table without duplicates run at once") {
  Permuted t;
  auto [n, d] = t.s[t.sums].reduction<2>();
  says(refusal(t.s, [&, l = n] { t.s[t.sums].parallel(l); }), {"parallel: expected a loop whose iterations are independent"});
  t.s.injective(t.order);
  t.s[t.sums].parallel(n);
  t.s[t.sums].vectorize(d, 8);
  CHECK(ir::text(t.s.scheduled().program).find("input order: i32[N], injective") != std::string::npos);
  interp::Arguments expected = t.arguments({3, 0, 4, 1, 2}), found = expected;
  interp::run_algorithm(t.built.program, expected);
  interp::run(t.s.scheduled().program, found, {.parallel_order = interp::Options::Order::reverse});
  CHECK(expected[2].array.bytes == found[2].array.bytes);
  Permuted again;
  again.s.replay(t.s.json());
  CHECK(again.s.text() == t.s.text());
  interp::Arguments twice = t.arguments({3, 0, 4, 3, 2});
  try {
    interp::run(t.s.scheduled().program, twice);
    CHECK(false);
  } catch (const interp::RunError& e) {
    says(e.what(), {"order is promised to be injective, but its elements [0] and [3] are both 3"});
  }
}

TEST_CASE("a promise about the table alone does not reach values made of it") {
  lang::DefinitionScope scope;
  Symbol N{"N"};
  Tensor g = lang::make_input("g", i32, {N}), order = lang::make_input("order", i32, {N});
  // clamped, narrowed: unequal elements of the table may give one place
  for (int which = 0; which < 2; ++which) {
    Tensor sums = scatter("sums", {{"v", 256}}, Combine::add, 0, {{"n", N}},
                          [&](Var n) { return which ? put(g(n), u8(order(n))) : put(g(n), clamp(order(n), 0, 255)); });
    Tensor y = lang::make_output("y", i32, {256});
    lang::bind(y, sums);
    Schedule s = scheduled({g, order, y});
    s.injective(order);
    Loop n = s[sums].reduction();
    says(refusal(s, [&] { s[sums].parallel(n); }), {"a loop whose iterations are independent"});
  }
}

TEST_CASE("what injective refuses") {
  Permuted t;
  says(refusal(t.s, [&] { t.s.injective(t.sums); }), {"injective: expected an input, found out, which a stage computes"});
  lang::DefinitionScope scope;
  Tensor x = lang::make_input("x", f32, {4}), y = lang::make_output("y", f32, {4}), z = lang::make_input("z", i32, {4});
  lang::bind(y, compute("y", {{"i", 4}}, [&](Var i) { return x(i) + 1; }));
  Schedule s = scheduled({x, y});
  says(refusal(s, [&] { s.injective(x); }), {"injective: expected a table of integers, found x of f32"});
  says(refusal(s, [&] { s.injective(z); }), {"injective: expected a tensor of this program"});
}

}  // namespace ashlar::test
