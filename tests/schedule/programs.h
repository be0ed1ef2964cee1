#pragma once
// Three small programs that the tests of the schedule steps share, and a check that a schedule still means its algorithm.
#include <doctest/doctest.h>

#include <ashlar/ashlar.h>
#include <ashlar/interp/interpreter.h>
#include <ashlar/ir/print.h>
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

// The steps of a schedule, replayed on a program of this kind, give the same tree.
template <class Program>
void replays(const Schedule& s) {
  Program again;
  again.s.replay(s.json());
  CHECK(ir::text(again.s.scheduled().program) == ir::text(s.scheduled().program));
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

struct Chain {  // y = b - 1, b = a * 2, a = x + 1: three stages over one dimension
  lang::DefinitionScope scope;
  Symbol N;
  Tensor x = lang::make_input("x", i32, {N}), y = lang::make_output("y", i32, {N});
  Tensor a = compute("a", {{"i", N}}, [&](Var i) { return x(i) + 1; });
  Tensor b = compute("b", {{"i", N}}, [&](Var i) { return a(i) * 2; });
  lang::Built built = build();
  Schedule s{built, Target::parse("x86-64-v3")};

  explicit Chain(Symbol::Facts facts = {.min = 1}) : N("N", facts) {}
  void same(std::int64_t n = 13) const { means_the_same(built.program, s, {{n}, {n}}); }

 private:
  lang::Built build() {
    lang::bind(y, compute("y", {{"i", N}}, [&](Var i) { return b(i) - 1; }));
    return lang::build_program("chain", {x, y});
  }
};

struct Pair {  // two values of one stage: y = smaller + larger of x and its neighbor
  lang::DefinitionScope scope;
  Symbol N{"N"};
  Tensor x = lang::make_input("x", i32, {N + 1}), y = lang::make_output("y", i32, {N});
  std::array<Tensor, 2> both =
      compute("both", {{"i", N}}, [&](Var i) { return values(min(x(i), x(i + 1)), max(x(i), x(i + 1))); });
  lang::Built built = build();
  Schedule s{built, Target::parse("x86-64")};

 private:
  lang::Built build() {
    lang::bind(y, compute("y", {{"i", N}}, [&](Var i) { return both[0](i) + both[1](i); }));
    return lang::build_program("pair", {x, y});
  }
};

struct Triangle {  // y[i] = sum of the first i + 1 elements of row i, over eight rows
  lang::DefinitionScope scope;
  Tensor x = lang::make_input("x", f32, {8, 8}), y = lang::make_output("y", f32, {8});
  lang::Built built = build();
  Schedule s{built, Target::parse("x86-64")};

 private:
  lang::Built build() {
    lang::bind(y, compute("y", {{"i", 8}}, [&](Var i) {
                 Axis k{"k", i + 1};
                 return sum(x(i, k), k);
               }));
    return lang::build_program("triangle", {x, y});
  }
};

// A schedule of one output from inputs.
inline Schedule scheduled(const std::vector<lang::ArgumentRef>& arguments) {
  return Schedule(lang::build_program("p", arguments), Target::parse("x86-64"));
}

// The refusal of `steps`, which stands at the line of this call, and leaves the schedule as it was; empty (and a failed check)
// where nothing is refused.
template <class F>
std::string refusal(Schedule& s, F&& steps, Where here = Where::current()) {
  const std::string before = s.text(), trace = s.trace();
  const auto r = s.attempt(steps);
  CHECK(s.text() == before);
  CHECK(s.trace() == trace);
  CHECK_MESSAGE(r.has_value(), "nothing was refused");
  if (!r) return "";
  CHECK(std::string(r->where.file_name()) == here.file_name());
  const auto line = static_cast<int>(r->where.line()), call = static_cast<int>(here.line());
  CHECK_MESSAGE((call - 2 <= line && line <= call + 2), "line " << line << " for a call at " << call << ": " << r->text());
  return r->text();
}

inline void says(const std::string& text, std::initializer_list<const char*> parts) {
  for (const char* part : parts)
    CHECK_MESSAGE(text.find(part) != std::string::npos, "\"" << std::string(part) << "\" is not in: " << text);
}

}  // namespace ashlar::test
