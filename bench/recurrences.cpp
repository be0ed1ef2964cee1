// Recurrences beside plain loops: scheduled by default, and by hand where that says more. Each is compared with the loops.
//
//   ashlar_recurrences [--filter TEXT] [--rounds N] [--threads N] [--show]
//
// One line a case: microseconds of the faster loops, and the time of each schedule as a ratio to theirs, the median over
// interleaved pairs. --show prints what the default chose.
#include "bench/recurrence_loops.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <optional>
#include <random>
#include <stdexcept>
#include <string>
#include <vector>

#include <ashlar/analysis/regions.h>
#include <ashlar/codegen/emit.h>
#include <ashlar/generator/compile.h>
#include <ashlar/ir/print.h>
#include <ashlar/lang.h>
#include <ashlar/lang/build_program.h>
#include <ashlar/lower/lower.h>
#include <ashlar/schedule/step.h>
#include <ashlar/schedules/by_default.h>

#include "bench/workspace.h"

namespace bench {
namespace {

using namespace ashlar;
using Shape = std::vector<std::int64_t>;

struct Array {
  Type type;
  Shape shape;
  std::vector<float> floats;
  std::vector<int> ints;
  Array(Type t, Shape s, std::mt19937& engine) : type(t), shape(std::move(s)) {
    std::size_t n = 1;
    for (const std::int64_t e : shape) n *= static_cast<std::size_t>(e);
    std::uniform_real_distribution<float> uniform(-1, 1);
    std::uniform_int_distribution<int> letter(0, 3);
    if (type == f32)
      for (std::size_t k = 0; k < n; ++k) floats.push_back(uniform(engine));
    else
      for (std::size_t k = 0; k < n; ++k) ints.push_back(letter(engine));
  }
  void* data() { return type == f32 ? static_cast<void*>(floats.data()) : static_cast<void*>(ints.data()); }
  ashlar_tensor described() {
    ashlar_tensor t{};
    const ir::TensorCode code = ir::tensor_code(type);
    t.data = data(), t.device_type = 1, t.ndim = static_cast<std::int32_t>(shape.size()), t.shape = shape.data();
    t.type_code = code.code, t.type_bits = code.bits, t.type_lanes = 1;
    return t;
  }
  double value(std::size_t k) const { return type == f32 ? static_cast<double>(floats[k]) : ints[k]; }
  std::size_t size() const { return type == f32 ? floats.size() : ints.size(); }
};

using Steps = std::function<void(Schedule&)>;
struct Program {
  std::vector<Tensor> inputs;
  Tensor result;
  Steps by_hand;
  std::optional<Tensor> second = {};  // of the shape of the first
};
struct Case {
  const char* name;
  Type type;
  std::vector<Shape> inputs;
  Shape result;
  std::int64_t scratch;  // floats, of the loops
  bool rows;             // independent ones: worth two threads
  std::function<Program()> build;
  std::function<void(const RecurrenceLoops&, std::vector<Array>&, Array& y, float* scratch)> loops;  // y: all results in a row
  std::int64_t results = 1;
};

const float* f(Array& a) { return a.floats.data(); }

Tensor input(const char* name, Type t, const std::vector<Extent>& shape) { return lang::make_input(name, t, shape); }

std::vector<Case> cases() {
  constexpr std::int64_t R = 512, T = 2048, N = R * T;
  std::vector<Case> all;
  all.push_back(
      {"running sum",
       f32,
       {{N}},
       {N},
       0,
       false,
       [] {
         const Symbol n{"n"};
         const Tensor x = input("x", f32, {n});
         return Program{
             {x},
             recur(
                 "y", {n}, Along{0}, Lag{1}, [&](Var t) { return x(t); }, [&](Prior y, Var t) { return y(t - 1) + x(t); }),
             {}};
       },
       [](const RecurrenceLoops& l, std::vector<Array>& in, Array& y, float*) { l.sums(f(in[0]), y.floats.data(), N); }});
  all.push_back({"running sum of integers",
                 i32,
                 {{N}},
                 {N},
                 0,
                 false,
                 [] {
                   const Symbol n{"n"};
                   const Tensor x = input("x", i32, {n});
                   return Program{{x}, scan("y", {n}, Along{0}, Combine::add, [&](Var t) { return x(t); }), {}};
                 },
                 [](const RecurrenceLoops& l, std::vector<Array>& in, Array& y, float*) {
                   l.counts(in[0].ints.data(), y.ints.data(), N);
                 }});
  all.push_back(
      {"running maximum",
       f32,
       {{N}},
       {N},
       0,
       false,
       [] {
         const Symbol n{"n"};
         const Tensor x = input("x", f32, {n});
         return Program{{x}, scan("y", {n}, Along{0}, Combine::max, [&](Var t) { return x(t); }), {}};
       },
       [](const RecurrenceLoops& l, std::vector<Array>& in, Array& y, float*) { l.maxima(f(in[0]), y.floats.data(), N); }});
  all.push_back({"running maximum, along rows",
                 f32,
                 {{R, T}},
                 {R, T},
                 0,
                 true,
                 [] {
                   const Symbol r{"r"}, n{"n"};
                   const Tensor x = input("x", f32, {r, n});
                   return Program{{x}, scan("y", {r, n}, Along{1}, Combine::max, [&](Var i, Var t) { return x(i, t); }), {}};
                 },
                 [](const RecurrenceLoops& l, std::vector<Array>& in, Array& y, float*) {
                   for (Size k = 0; k < R; ++k) l.maxima(f(in[0]) + k * T, y.floats.data() + k * T, T);
                 }});
  using Filter = Expr (*)(const Expr& x, const Expr& before, const Expr& two_before);
  const auto filter = [&](const char* name, bool rows, int order, Filter formula, auto loops) {
    all.push_back(
        {name,
         f32,
         {rows ? Shape{R, T} : Shape{T, R}},
         rows ? Shape{R, T} : Shape{T, R},
         0,
         true,
         [=] {
           const Symbol r{"r"}, n{"n"};
           const Tensor x = rows ? input("x", f32, {r, n}) : input("x", f32, {n, r});
           const int along = rows ? 1 : 0;
           const auto earlier = [=](const Prior& y, Indices at, int steps) { return y(at.with(along, at[along] - steps)); };
           return Program{{x},
                          recur(
                              "y", x.shape(), Along{along}, Lag{order}, [&](Indices at) { return x(at); },
                              [&](Prior y, Indices at) { return formula(x(at), earlier(y, at, 1), earlier(y, at, order)); }),
                          {}};
         },
         [=](const RecurrenceLoops& l, std::vector<Array>& in, Array& y, float*) {
           (l.*loops)(f(in[0]), y.floats.data(), rows ? R : T, rows ? T : R);
         }});
  };
  const auto first = [](const Expr& x, const Expr& y1, const Expr&) { return 0.25f * x + 0.75f * y1; };
  const auto second = [](const Expr& x, const Expr& y1, const Expr& y2) { return 0.2f * x + 1.1f * y1 - 0.3f * y2; };
  filter("first order, along rows", true, 1, first, &RecurrenceLoops::first_rows);
  filter("first order, along columns", false, 1, first, &RecurrenceLoops::first_columns);
  filter("second order, along rows", true, 2, second, &RecurrenceLoops::second_rows);
  filter("second order, along columns", false, 2, second, &RecurrenceLoops::second_columns);
  all.push_back(
      {"last step alone",
       f32,
       {{T, R}},
       {R},
       0,
       true,
       [] {
         const Symbol r{"r", {.min = 1}}, n{"n", {.min = 2}};
         const Tensor x = input("x", f32, {n, r});
         const Tensor y = recur(
             "y", {n, r}, Along{0}, Lag{1}, [&](Var t, Var i) { return x(t, i); },
             [&](Prior p, Var t, Var i) { return 0.25f * x(t, i) + 0.75f * p(t - 1, i); });
         return Program{{x}, compute("last", {r}, [&](Var i) { return y(n - 1, i); }), {}};
       },
       [](const RecurrenceLoops& l, std::vector<Array>& in, Array& y, float*) { l.last(f(in[0]), y.floats.data(), T, R); }});
  const auto systems = [](bool along_rows) {
    const Symbol r{"r", {.min = 1}}, n{"n", {.min = 2}};
    std::vector<Tensor> in;
    for (const char* name : {"a", "b", "c", "d"})
      in.push_back(along_rows ? input(name, f32, {r, n}) : input(name, f32, {n, r}));
    const auto at = [along_rows](const auto& t, const Expr& i, const Expr& k) { return along_rows ? t(k, i) : t(i, k); };
    const auto divisor = [&](int k, const Expr& i, const Expr& row) { return at(in[static_cast<std::size_t>(k)], i, row); };
    const auto first = [&](const Expr& i, const Expr& k) {
      return values(divisor(2, i, k) / (divisor(1, i, k) + 3.0f), divisor(3, i, k) / (divisor(1, i, k) + 3.0f));
    };
    const auto step = [&](const Prior& p, const Expr& i, const Expr& k) {
      const Expr m = 1.0f / (divisor(1, i, k) + 3.0f - divisor(0, i, k) * at(p[0], i - 1, k));
      return values(divisor(2, i, k) * m, (divisor(3, i, k) - divisor(0, i, k) * at(p[1], i - 1, k)) * m);
    };
    if (along_rows) {
      const auto f = recur(
          "f", {r, n}, Along{1}, Lag{1}, [&](Var k, Var i) { return first(i, k); },
          [&](Prior p, Var k, Var i) { return step(p, i, k); });
      return Program{in,
                     recur(
                         "x", {r, n}, Along{1}.backwards(), Lag{1}, [&](Var k, Var i) { return f[1](k, i); },
                         [&](Prior x, Var k, Var i) { return f[1](k, i) - f[0](k, i) * x(k, i + 1); }),
                     {}};
    }
    const auto f = recur(
        "f", {n, r}, Along{0}, Lag{1}, [&](Var i, Var k) { return first(i, k); },
        [&](Prior p, Var i, Var k) { return step(p, i, k); });
    return Program{in,
                   recur(
                       "x", {n, r}, Along{0}.backwards(), Lag{1}, [&](Var i, Var k) { return f[1](i, k); },
                       [&](Prior x, Var i, Var k) { return f[1](i, k) - f[0](i, k) * x(i + 1, k); }),
                   {}};
  };
  all.push_back({"systems, along rows",
                 f32,
                 {{R, T}, {R, T}, {R, T}, {R, T}},
                 {R, T},
                 2 * T,
                 true,
                 [=] { return systems(true); },
                 [](const RecurrenceLoops& l, std::vector<Array>& in, Array& y, float* scratch) {
                   l.systems_rows(f(in[0]), f(in[1]), f(in[2]), f(in[3]), y.floats.data(), scratch, R, T);
                 }});
  all.push_back({"systems, along columns",
                 f32,
                 {{T, R}, {T, R}, {T, R}, {T, R}},
                 {T, R},
                 2 * T * R,
                 true,
                 [=] { return systems(false); },
                 [](const RecurrenceLoops& l, std::vector<Array>& in, Array& y, float* scratch) {
                   l.systems_columns(f(in[0]), f(in[1]), f(in[2]), f(in[3]), y.floats.data(), scratch, T, R);
                 }});
  all.push_back({"edit distance",
                 i32,
                 {{1500}, {2000}},
                 {1501, 2001},
                 0,
                 false,
                 [] {
                   const Symbol m{"m"}, n{"n"};
                   const Tensor a = input("a", i32, {m}), b = input("b", i32, {n});
                   const Tensor d = recur(
                       "d", {m + 1, n + 1}, Along{0, 1}, Lag{1}, [&](Var i, Var j) { return i32(i + j); },
                       [&](Prior p, Var i, Var j) {
                         return min(min(p(i - 1, j), p(i, j - 1)) + 1, p(i - 1, j - 1) + select(a(i - 1) == b(j - 1), 0, 1));
                       });
                   return Program{{a, b}, d, [=](Schedule& s) {
                                    auto [i, j] = s[d].spatial<2>();
                                    auto [io, jo, ii, ji] = s[d].tile(i, j, 8, 256);
                                    const Loop tiles = s[d].skew(io, jo, 1), points = s[d].skew(ii, ji, 1);
                                    s[d].reorder(tiles, io, points, ii).tighten(io).parallel(io).unroll(ii);
                                  }};
                 },
                 [](const RecurrenceLoops& l, std::vector<Array>& in, Array& y, float*) {
                   l.distance(in[0].ints.data(), in[1].ints.data(), y.ints.data(), 1500, 2000);
                 }});
  all.push_back(
      {"two states",
       f32,
       {{R, T}},
       {R},
       0,
       true,
       [] {
         const Symbol r{"r", {.min = 1}}, n{"n", {.min = 1}};
         const Tensor x = input("x", f32, {r, n});
         const auto v = recur(
             "v", {r, n + 1}, Along{1}, Lag{1}, [&](Var, Var) { return values(f32(0), f32(0)); },
             [&](Prior p, Var i, Var t) {
               const Expr u = p[0](i, t - 1), w = p[1](i, t - 1);
               return values(max(u - 0.1f, w - 2.3f) + x(i, t - 1), max(u - 1.6f, w - 0.2f) - x(i, t - 1));
             });
         return Program{{x}, compute("best", {r}, [&](Var i) { return max(v[0](i, n), v[1](i, n)); }), {}};
       },
       [](const RecurrenceLoops& l, std::vector<Array>& in, Array& y, float*) { l.states(f(in[0]), y.floats.data(), R, T); }});
  for (const bool backwards : {false, true})
    all.push_back({backwards ? "two averages of one, backwards" : "two averages of one",
                   f32,
                   {{N}},
                   {N},
                   0,
                   false,
                   [=] {
                     const Symbol n{"n"};
                     const Tensor x = input("x", f32, {n});
                     const auto average = [&](const char* name, float a) {
                       return recur(
                           name, {n}, backwards ? Along{0}.backwards() : Along{0}, Lag{1}, [&](Var t) { return x(t); },
                           [&](Prior y, Var t) { return a * x(t) + (1 - a) * y(backwards ? t + 1 : t - 1); });
                     };
                     const Tensor fast = average("fast", 0.25f), slow = average("slow", 0.0625f);
                     return Program{{x}, fast, {}, slow};
                   },
                   [=](const RecurrenceLoops& l, std::vector<Array>& in, Array& y, float*) {
                     l.averages(f(in[0]), y.floats.data(), y.floats.data() + N, N, backwards);
                   },
                   2});
  return all;
}

struct Options {
  std::string filter;
  int rounds = 15, threads = 1;
  bool show = false;
};

double microseconds(const std::function<void()>& call) {
  const auto start = std::chrono::steady_clock::now();
  call();
  return std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now() - start).count();
}
double median(std::vector<double> v) {
  std::nth_element(v.begin(), v.begin() + static_cast<std::ptrdiff_t>(v.size() / 2), v.end());
  return v[v.size() / 2];
}

std::optional<codegen::Compiled> compiled(const Case& c, int how, const Options& o) {
  lang::DefinitionScope scope;
  const Program p = c.build();
  if (how == 2 && !p.by_hand) return {};
  std::vector<lang::ArgumentRef> arguments(p.inputs.begin(), p.inputs.end());
  const Tensor out = lang::make_output("out", p.result.type(), p.result.shape().extents());
  lang::bind(out, p.result);
  arguments.emplace_back(out);
  if (p.second) {
    const Tensor other = lang::make_output("other", p.second->type(), p.second->shape().extents());
    lang::bind(other, *p.second);
    arguments.emplace_back(other);
  }
  Schedule s(lang::build_program("recurrence", arguments), Target::host());
  if (how == 1) {
    const std::string chosen = schedule_by_default(s).text();
    if (o.show) std::printf("%s%s\n", chosen.c_str(), s.text().c_str());
  }
  if (how == 2) p.by_hand(s);
  if (o.show) {
    schedule::finish(s.scheduled(), s.target());
    ir::Program boxed = s.scheduled().program;
    analysis::derive_regions(boxed);
    const ir::Kernel kernel = lower(boxed, options_for(s.target()));
    std::printf("%s\n%s\n", ir::text(kernel).c_str(), codegen::emit(kernel, s.target(), codegen::Output::assembly).c_str());
  }
  return compile(s);
}

void run(const Case& c, const Options& o) {
  std::mt19937 engine(3);
  std::vector<Array> in;
  for (const Shape& shape : c.inputs) in.emplace_back(c.type, shape, engine);
  Shape all = c.result;
  all.front() *= c.results;
  Array meant(c.type, all, engine), found(c.type, all, engine);
  std::vector<float> scratch(static_cast<std::size_t>(c.scratch));
  if (c.scratch > 0)  // what the programs add to the diagonal
    for (float& b : in[1].floats) b += 3;
  std::vector<Array> ours = in;
  if (c.scratch > 0)
    for (float& b : ours[1].floats) b -= 3;
  std::vector<ashlar_tensor> tensors;
  std::vector<const void*> pointers;
  for (Array& a : ours) tensors.push_back(a.described());
  found.shape = c.result;
  for (std::int64_t n = 0; n < c.results; ++n) {
    tensors.push_back(found.described());
    tensors.back().data =
        static_cast<char*>(found.data()) + static_cast<std::size_t>(n) * found.size() / static_cast<std::size_t>(c.results) * 4;
  }
  for (const ashlar_tensor& t : tensors) pointers.push_back(&t);
  if (ashlar_set_threads(o.threads) != ASHLAR_OK) throw std::runtime_error("the pool refuses this number of threads");
  Workspace workspace;
  workspace.reserve(std::size_t{64} << 20);
  const auto loops = [&](const RecurrenceLoops& l) { c.loops(l, in, meant, scratch.data()); };
  std::vector<std::function<void()>> plain = {[&] { loops(loops_of_gcc); }};
#ifdef ASHLAR_BENCH_CLANG
  plain.push_back([&] { loops(loops_of_clang); });
#endif
  static const char* const names[] = {"as written", "by default", "by hand"};
  std::string line;
  double best = 0;
  for (int how = 0; how < 3; ++how) {
    const auto code = compiled(c, how, o);
    if (!code) continue;
    const auto call = [&] {
      if (code->call(pointers, &workspace.context) != ASHLAR_OK) throw std::runtime_error(std::string(c.name) + ": refused");
    };
    std::vector<double> ratios, times;
    for (int k = 0; k < o.rounds + 2; ++k) {
      // as many calls of either, the least of each: a second one finds its arrays in the caches
      double least = INFINITY, t = INFINITY;
      for (const auto& each : plain) least = std::min(least, microseconds(each));
      for (std::size_t n = 0; n < plain.size(); ++n) t = std::min(t, microseconds(call));
      if (k >= 2) ratios.push_back(t / least), times.push_back(least);
    }
    for (std::size_t k = 0; k < meant.size(); ++k)
      if (!(std::abs(meant.value(k) - found.value(k)) <= 1e-3 * std::max(1.0, std::abs(meant.value(k)))))
        throw std::runtime_error(std::string(c.name) + ", " + names[how] + ": element " + std::to_string(k) + " is " +
                                 std::to_string(found.value(k)) + ", not " + std::to_string(meant.value(k)));
    best = median(times);
    char text[64];
    std::snprintf(text, sizeof text, "  %s %.2f", names[how], median(ratios));
    line += text;
  }
  std::printf("%-28s %9.0f us%s\n", c.name, best, line.c_str());
  std::fflush(stdout);
}

}  // namespace
}  // namespace bench

int main(int argc, char** argv) {
  bench::Options o;
  for (int k = 1; k < argc; ++k) {
    const std::string word = argv[k];
    const bool more = k + 1 < argc;
    if (word == "--filter" && more)
      o.filter = argv[++k];
    else if (word == "--rounds" && more)
      o.rounds = std::atoi(argv[++k]);
    else if (word == "--threads" && more)
      o.threads = std::atoi(argv[++k]);
    else if (word == "--show")
      o.show = true;
    else
      return std::fprintf(stderr, "ashlar_recurrences [--filter TEXT] [--rounds N] [--threads N] [--show]\n"), 2;
  }
  try {
    for (const bench::Case& c : bench::cases())
      if (std::string(c.name).find(o.filter) != std::string::npos) bench::run(c, o);
  } catch (const std::exception& e) { return std::fprintf(stderr, "%s\n", e.what()), 1; }
  return 0;
}
