#pragma once
// Three small programs that the tests of the schedule steps share, and a check that a schedule still means its algorithm.
#include <doctest/doctest.h>

#include <ashlar/ashlar.h>
#include <ashlar/interp/interpreter.h>
#include <ashlar/lang/build_program.h>
#include <ashlar/schedule/schedule.h>
#include <ashlar/schedule/step.h>

namespace ashlar::test {

// The same program scheduled and not, on small integers (so that regrouped sums stay exact).
inline void means_the_same(const ir::Program& algorithm, const Schedule& s,
                           const std::vector<std::vector<std::int64_t>>& shapes) {
  interp::Arguments expected, found;
  for (std::size_t k = 0; k < shapes.size(); ++k) {
    const ir::Buffer& b = algorithm.buffer(algorithm.arguments[k].id);
    const auto fill = [&](std::span<const std::int64_t> at) {
      std::int64_t h = static_cast<std::int64_t>(k) + 3;
      for (std::int64_t i : at) h = (h * 31 + i * 7 + 1) % 11;
      return static_cast<double>(h);
    };
    const bool output = algorithm.arguments[k].kind == ir::ArgumentKind::output;
    expected.emplace_back(output ? interp::Array::zeros(b.type, shapes[k]) : interp::Array::make(b.type, shapes[k], fill));
    found.push_back(expected.back());
  }
  interp::run_algorithm(algorithm, expected);
  interp::run(s.scheduled().program, found, {.parallel_order = interp::Options::Order::reverse});
  for (std::size_t k = 0; k < shapes.size(); ++k) CHECK(expected[k].array.bytes == found[k].array.bytes);
}

struct Product {  // C = max(A B + bias, 0), with the product a stage of its own
  lang::DefinitionScope scope;
  Symbol M{"M", {.min = 1}}, N{"N", {.min = 1}}, K{"K", {.min = 1}};
  Tensor A = lang::make_input("A", f32, {M, K}), B = lang::make_input("B", f32, {K, N}),
         bias = lang::make_input("bias", f32, {N});
  Tensor C = lang::make_output("C", f32, {M, N});
  Axis k{"k", K};
  Tensor product = compute("product", {{"i", M}, {"j", N}}, [&](Var i, Var j) { return sum(A(i, k) * B(k, j), k); });
  lang::Built built = build();
  Schedule s{built, Target::parse("x86-64-v3")};

  void same(std::int64_t m = 7, std::int64_t n = 9, std::int64_t depth = 5) const {
    means_the_same(built.program, s, {{m, depth}, {depth, n}, {n}, {m, n}});
  }

 private:
  lang::Built build() {
    lang::bind(C, compute("C", {{"i", M}, {"j", N}}, [&](Var i, Var j) { return max(product(i, j) + bias(j), 0.0f); }));
    return lang::build_program("product", {A, B, bias, C});
  }
};

struct Blur {  // three rows of `across`, a stage whose domain is what `out` needs
  lang::DefinitionScope scope;
  Symbol H{"H"}, W{"W"};
  Tensor in = lang::make_input("in", i32, {H, W});
  Tensor out = lang::make_output("out", i32, {H, W});
  Tensor wide = boundary::repeat(in);
  Tensor across = compute("across", [&](Var y, Var x) { return wide(y, x - 1) + wide(y, x) * 2 + wide(y, x + 1); });
  lang::Built built = build();
  Schedule s{built, Target::parse("x86-64-v3")};

  void same(std::int64_t h = 11, std::int64_t w = 6) const { means_the_same(built.program, s, {{h, w}, {h, w}}); }

 private:
  lang::Built build() {
    lang::bind(out, compute("out", {{"y", H}, {"x", W}},
                            [&](Var y, Var x) { return across(y - 1, x) + across(y, x) * 2 + across(y + 1, x); }));
    return lang::build_program("blur", {in, out});
  }
};

// The refusal of `steps`, which leaves the schedule as it was; empty (and a failed check) where nothing is refused.
template <class F>
std::string refusal(Schedule& s, F&& steps) {
  const std::string before = s.text(), trace = s.trace();
  const auto r = s.attempt(steps);
  CHECK(s.text() == before);
  CHECK(s.trace() == trace);
  CHECK_MESSAGE(r.has_value(), "nothing was refused");
  return r ? r->text() : std::string();
}

inline void says(const std::string& text, std::initializer_list<const char*> parts) {
  for (const char* part : parts)
    CHECK_MESSAGE(text.find(part) != std::string::npos, "\"" << std::string(part) << "\" is not in: " << text);
}

}  // namespace ashlar::test
