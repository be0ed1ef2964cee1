// ashlar_ulps --time: nanoseconds an element, of compiled vector code beside libm, called for each element, and SLEEF's vectors
// where its library is installed. On one thread by its CPU time, 4096 elements at a time, everybody in turn; the least of the
// rounds.
#include <dlfcn.h>
#include <time.h>

#ifdef __x86_64__
#include <immintrin.h>
#endif

#include <algorithm>
#include <cstdio>
#include <functional>
#include <random>
#include <string>

#include "tests/codegen/ulps.h"

namespace ulps_tool {
namespace {

using namespace ashlar;
using math_bounds::Function;
using math_bounds::Op;

double cpu_seconds() {
  timespec t;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
}

struct Contender {
  const char* name;
  std::function<void()> run;
  double least = 1e30;
};

template <class T>
T (*libm(Op op))(T) {
  switch (op) {
    case Op::exp:
      return [](T x) { return std::exp(x); };
    case Op::exp2:
      return [](T x) { return std::exp2(x); };
    case Op::expm1:
      return [](T x) { return std::expm1(x); };
    case Op::log:
      return [](T x) { return std::log(x); };
    case Op::log2:
      return [](T x) { return std::log2(x); };
    case Op::log1p:
      return [](T x) { return std::log1p(x); };
    case Op::sin:
      return [](T x) { return std::sin(x); };
    case Op::cos:
      return [](T x) { return std::cos(x); };
    case Op::tan:
      return [](T x) { return std::tan(x); };
    case Op::asin:
      return [](T x) { return std::asin(x); };
    case Op::acos:
      return [](T x) { return std::acos(x); };
    case Op::atan:
      return [](T x) { return std::atan(x); };
    case Op::sinh:
      return [](T x) { return std::sinh(x); };
    case Op::cosh:
      return [](T x) { return std::cosh(x); };
    case Op::tanh:
      return [](T x) { return std::tanh(x); };
    case Op::erf:
      return [](T x) { return std::erf(x); };
    case Op::erfc:
      return [](T x) { return std::erfc(x); };
    case Op::sigmoid:
      return [](T x) { return 1 / (1 + std::exp(-x)); };
    case Op::rsqrt:
      return [](T x) { return 1 / std::sqrt(x); };
    case Op::cbrt:
      return [](T x) { return std::cbrt(x); };
    default:
      return nullptr;
  }
}

#ifdef __x86_64__
// SLEEF's function within 1 ulp for AVX-512, if there is one: Sleef_expf16_u10avx512f, Sleef_expd8_u10avx512f
void* sleef(Op op, Type t) {
  static void* const library = dlopen("libsleef.so.3", RTLD_NOW);
  if (!library || !Target::host().has("avx512f")) return nullptr;
  const std::string stem = std::string("Sleef_") + ir::op_name(op) + (t == f32 ? "f16" : "d8");
  for (const char* bound : {"_u10", "_u15"})
    if (void* f = dlsym(library, (stem + bound + "avx512f").c_str())) return f;
  return nullptr;
}

__attribute__((target("avx512f"))) void run_sleef(void* f, const float* x, float* y, std::int64_t n) {
  for (std::int64_t k = 0; k < n; k += 16)
    _mm512_storeu_ps(y + k, reinterpret_cast<__m512 (*)(__m512)>(f)(_mm512_loadu_ps(x + k)));
}
__attribute__((target("avx512f"))) void run_sleef(void* f, const double* x, double* y, std::int64_t n) {
  for (std::int64_t k = 0; k < n; k += 8)
    _mm512_storeu_pd(y + k, reinterpret_cast<__m512d (*)(__m512d)>(f)(_mm512_loadu_pd(x + k)));
}
#else
void* sleef(Op, Type) { return nullptr; }
template <class T>
void run_sleef(void*, const T*, T*, std::int64_t) {}
#endif

template <class T>
void time_one(const Function& f, Type t) {
  constexpr std::int64_t n = 4096;
  std::mt19937 random(1);
  const bool unit = f.op == Op::asin || f.op == Op::acos;
  const bool positive = f.op == Op::log || f.op == Op::log2 || f.op == Op::log1p || f.op == Op::rsqrt;
  std::uniform_real_distribution<T> some(positive ? T(0.01) : unit ? T(-1) : T(-10), positive ? T(100) : unit ? T(1) : T(10));
  std::vector<T> x(n), y(n);
  for (T& v : x) v = some(random);
  std::vector<Contender> all;
  const auto add = [&](const char* name, Op op) {
    all.push_back({name, [code = compiled(op, t, Target::host(), n), &x, &y] {
                     const void* args[] = {x.data(), y.data()};
                     if (code.run(args, nullptr) != ASHLAR_OK) std::abort();
                   }});
  };
  add("default", f.op);
  const Op quick = ir::fast_form(f.op);
  if (quick != f.op) add("fast", quick);
  if (T(*scalar)(T) = libm<T>(f.op))
    all.push_back({"libm", [scalar, &x, &y] {
                     for (std::int64_t k = 0; k < n; ++k)
                       y[static_cast<std::size_t>(k)] = scalar(x[static_cast<std::size_t>(k)]);
                   }});
  if (void* vector = sleef(f.op, t)) all.push_back({"sleef", [vector, &x, &y] { run_sleef(vector, x.data(), y.data(), n); }});
  for (int round = 0; round < 15; ++round)
    for (Contender& c : all) {
      int calls = 0;
      const double begin = cpu_seconds();
      double spent = 0;
      while (spent < 1e-3) {
        for (int k = 0; k < 4; ++k) c.run();
        calls += 4;
        spent = cpu_seconds() - begin;
      }
      c.least = std::min(c.least, spent / calls / n * 1e9);
    }
  std::printf("%-4s %-8s", t == f32 ? "f32" : "f64", ir::op_name(f.op));
  for (const char* name : {"default", "fast", "libm", "sleef"}) {
    const auto c = std::find_if(all.begin(), all.end(), [&](const Contender& e) { return std::string(e.name) == name; });
    if (c == all.end())
      std::printf(" %9s", "-");
    else
      std::printf(" %9.2f", c->least);
  }
  std::printf("\n");
  std::fflush(stdout);
}

}  // namespace

void print_times(const std::vector<Function>& which, const std::vector<Type>& types) {
  std::printf("%-4s %-8s %9s %9s %9s %9s   ns an element\n", "", "", "default", "fast", "libm", "sleef");
  for (Type t : types)
    for (const Function& f : which)
      if (ir::accurate_form(f.op) == f.op) {
        if (t == f32)
          time_one<float>(f, t);
        else if (t == f64)
          time_one<double>(f, t);
      }
}

}  // namespace ulps_tool
