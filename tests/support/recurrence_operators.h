#pragma once
// Recurrences and scans, each with the plain loops that say what it is. All are over small whole numbers, so that every order
// of the same operations gives the same bits.
#include <algorithm>
#include <limits>
#include <stdexcept>
#include <string>
#include <vector>

#include <ashlar/lang.h>
#include <ashlar/lang/build_program.h>
#include <ashlar/schedule/schedule.h>

namespace recurrences {

using namespace ashlar;

// Inputs x[R, T] (i32), outputs of the same shape and type.
struct Operator {
  const char* name;
  int outputs;
  // The tensors that the outputs are bound to.
  std::vector<Tensor> (*define)(const Tensor& x, const Symbol& R, const Symbol& T);
  // The same, in plain loops: out[k] is row-major, filled with zeros.
  void (*plain)(const std::vector<int>& x, int R, int T, std::vector<std::vector<int>>& out);
};

inline std::vector<Tensor> list(const Tensor& t) { return {t}; }
template <std::size_t K>
std::vector<Tensor> list(const std::array<Tensor, K>& t) {
  return {t.begin(), t.end()};
}

// What a reducer that does not commute composes: (a, b) stands for u -> a * u + b, the left one first.
inline Reducer<2> affine() {
  return reducer(
      "affine", {i32, i32}, {1, 0}, [](Values<2> f, Values<2> g) { return values(f[0] * g[0], g[0] * f[1] + g[1]); },
      Order::regroup);
}

inline const std::vector<Operator>& all() {
  using Ints = std::vector<int>;
  using Outs = std::vector<Ints>;
  static const std::vector<Operator> operators = {
      {"smooth", 1,
       [](const Tensor& x, const Symbol& R, const Symbol& T) {
         return list(recur(
             "y", {{"r", R}, {"t", T}}, Along{1}, Lag{1}, [&](Var r, Var t) { return x(r, t); },
             [&](Prior y, Var r, Var t) { return 3 * x(r, t) - 2 * y(r, t - 1); }));
       },
       [](const Ints& x, int R, int T, Outs& out) {
         for (int r = 0; r < R; ++r)
           for (int t = 0; t < T; ++t) {
             const int i = r * T + t;
             out[0][i] =
                 t < 1 ? x[i] : static_cast<int>(3u * static_cast<unsigned>(x[i]) - 2u * static_cast<unsigned>(out[0][i - 1]));
           }
       }},
      {"biquad", 1,
       [](const Tensor& x, const Symbol& R, const Symbol& T) {
         return list(recur(
             "y", {{"r", R}, {"t", T}}, Along{1}, Lag{2}, [&](Var r, Var t) { return x(r, t) * 2; },
             [&](Prior y, Var r, Var t) { return x(r, t) + x(r, t - 1) + x(r, t - 2) - y(r, t - 1) + y(r, t - 2); }));
       },
       [](const Ints& x, int R, int T, Outs& out) {
         for (int r = 0; r < R; ++r)
           for (int t = 0; t < T; ++t) {
             const int i = r * T + t;
             out[0][i] = t < 2 ? x[i] * 2 : x[i] + x[i - 1] + x[i - 2] - out[0][i - 1] + out[0][i - 2];
           }
       }},
      {"running_sum", 1,
       [](const Tensor& x, const Symbol& R, const Symbol& T) {
         return list(scan("y", {{"r", R}, {"t", T}}, Along{1}, Combine::add, [&](Var r, Var t) { return x(r, t); }));
       },
       [](const Ints& x, int R, int T, Outs& out) {
         for (int r = 0; r < R; ++r)
           for (int t = 0, sum = 0; t < T; ++t) out[0][r * T + t] = sum += x[r * T + t];
       }},
      {"exclusive_maximum_down_columns", 1,
       [](const Tensor& x, const Symbol& R, const Symbol& T) {
         return list(
             scan("y", {{"r", R}, {"t", T}}, Along{0}, Combine::max, [&](Var r, Var t) { return x(r, t); }, Scan::exclusive));
       },
       [](const Ints& x, int R, int T, Outs& out) {
         for (int t = 0; t < T; ++t)
           for (int r = 0, most = std::numeric_limits<int>::min(); r < R; ++r) {
             out[0][r * T + t] = most;
             most = std::max(most, x[r * T + t]);
           }
       }},
      {"backwards", 1,
       [](const Tensor& x, const Symbol& R, const Symbol& T) {
         return list(recur(
             "y", {{"r", R}, {"t", T}}, Along{1}.backwards(), Lag{1}, [&](Var r, Var t) { return x(r, t); },
             [&](Prior y, Var r, Var t) { return max(x(r, t), y(r, t + 1) - 1); }));
       },
       [](const Ints& x, int R, int T, Outs& out) {
         for (int r = 0; r < R; ++r)
           for (int t = T - 1; t >= 0; --t) {
             const int i = r * T + t;
             out[0][i] = t == T - 1 ? x[i] : std::max(x[i], out[0][i + 1] - 1);
           }
       }},
      {"exclusive_bits_from_the_end", 1,
       [](const Tensor& x, const Symbol& R, const Symbol& T) {
         return list(scan(
             "y", {{"r", R}, {"t", T}}, Along{1}.backwards(), Combine::bit_xor, [&](Var r, Var t) { return x(r, t); },
             Scan::exclusive));
       },
       [](const Ints& x, int R, int T, Outs& out) {
         for (int r = 0; r < R; ++r)
           for (int t = T - 1, bits = 0; t >= 0; --t) {
             out[0][r * T + t] = bits;
             bits ^= x[r * T + t];
           }
       }},
      {"edit_distance", 1,  // a table that is filled from north, west and north-west
       [](const Tensor& x, const Symbol& R, const Symbol& T) {
         return list(recur(
             "d", {{"i", R}, {"j", T}}, Along{0, 1}, Lag{1}, [&](Var i, Var j) { return i32(i + j); },
             [&](Prior d, Var i, Var j) {
               return min(min(d(i - 1, j), d(i, j - 1)) + 1, d(i - 1, j - 1) + select(x(i, j) > 0, 1, 0));
             }));
       },
       [](const Ints& x, int R, int T, Outs& out) {
         for (int i = 0; i < R; ++i)
           for (int j = 0; j < T; ++j) {
             int& d = out[0][i * T + j];
             d = i < 1 || j < 1 ? i + j
                                : std::min(std::min(out[0][(i - 1) * T + j], out[0][i * T + j - 1]) + 1,
                                           out[0][(i - 1) * T + j - 1] + (x[i * T + j] > 0));
           }
       }},
      {"gauss_seidel", 1,  // sweep r: west of this sweep, east of the one before
       [](const Tensor& x, const Symbol& R, const Symbol& T) {
         return list(recur(
             "u", {{"sweep", R}, {"i", T}}, Along{0, 1}, Lag{1, 0}, [&](Var, Var i) { return x(0, i); },
             [&](Prior u, Var k, Var i) {
               return select(i > 0 && i < T - 1, (select(i > 0, u(k, i - 1), 0) + select(i < T - 1, u(k - 1, i + 1), 0)) / 2,
                             u(k - 1, i));
             }));
       },
       [](const Ints& x, int R, int T, Outs& out) {
         for (int k = 0; k < R; ++k)
           for (int i = 0; i < T; ++i) {
             int& u = out[0][k * T + i];
             if (k == 0)
               u = x[i];
             else if (i > 0 && i < T - 1) {
               const int sum = out[0][k * T + i - 1] + out[0][(k - 1) * T + i + 1];
               u = (sum - ((sum % 2 + 2) % 2)) / 2;
             } else
               u = out[0][(k - 1) * T + i];
           }
       }},
      {"diffusion", 1,  // a stencil over time: the dimension in the middle of the step is a plain one
       [](const Tensor& x, const Symbol& R, const Symbol& T) {
         return list(recur(
             "h", {{"i", R}, {"t", T}}, Along{1}, Lag{1}, [&](Var i, Var) { return x(i, 0); },
             [&](Prior h, Var i, Var t) {
               return select(i > 0, h(i - 1, t - 1), 0) + h(i, t - 1) - select(i < R - 1, h(i + 1, t - 1), 0);
             }));
       },
       [](const Ints& x, int R, int T, Outs& out) {
         for (int t = 0; t < T; ++t)
           for (int i = 0; i < R; ++i) {
             const auto h = [&](int k) { return static_cast<unsigned>(out[0][k * T + t - 1]); };  // modulo 2^32
             out[0][i * T + t] =
                 t == 0 ? x[i * T] : static_cast<int>((i > 0 ? h(i - 1) : 0) + h(i) - (i < R - 1 ? h(i + 1) : 0));
           }
       }},
      {"two_states", 2,  // a complex product, modulo 2^32
       [](const Tensor& x, const Symbol& R, const Symbol& T) {
         return list(recur(
             "z", {{"r", R}, {"t", T}}, Along{1}, Lag{1}, [&](Var r, Var t) { return values(x(r, t), i32(1)); },
             [&](Prior z, Var r, Var t) {
               return values(z[0](r, t - 1) * x(r, t) - z[1](r, t - 1), z[0](r, t - 1) + z[1](r, t - 1) * x(r, t));
             }));
       },
       [](const Ints& x, int R, int T, Outs& out) {
         for (int r = 0; r < R; ++r)
           for (int t = 0; t < T; ++t) {
             const int i = r * T + t;
             const auto u = [](int v) { return static_cast<unsigned>(v); };
             out[0][i] = t < 1 ? x[i] : static_cast<int>(u(out[0][i - 1]) * u(x[i]) - u(out[1][i - 1]));
             out[1][i] = t < 1 ? 1 : static_cast<int>(u(out[0][i - 1]) + u(out[1][i - 1]) * u(x[i]));
           }
       }},
      {"composed", 2,
       [](const Tensor& x, const Symbol& R, const Symbol& T) {
         return list(
             scan("f", {{"r", R}, {"t", T}}, Along{1}, affine(), [&](Var r, Var t) { return values(x(r, t), i32(t)); }));
       },
       [](const Ints& x, int R, int T, Outs& out) {
         for (int r = 0; r < R; ++r) {
           unsigned a = 1, b = 0;
           for (int t = 0; t < T; ++t) {
             const auto p = static_cast<unsigned>(x[r * T + t]);
             a *= p, b = p * b + static_cast<unsigned>(t);
             out[0][r * T + t] = static_cast<int>(a), out[1][r * T + t] = static_cast<int>(b);
           }
         }
       }},
  };
  return operators;
}

inline const Operator& named(const std::string& name) {
  for (const Operator& o : all())
    if (o.name == name) return o;
  throw std::runtime_error("no recurrence called " + name);
}

// A program of one operator. x reaches the recurrence through a stage of its own, and its results go through another one to the
// outputs where `apart` is set.
struct Made {
  lang::DefinitionScope scope;
  Symbol R{"R"}, T{"T"};
  Tensor x = lang::make_input("x", i32, {R, T});
  std::vector<Tensor> state, results;
  lang::Built built;
  explicit Made(const Operator& o, bool apart = false) : state(o.define(x, R, T)), built(build(o, apart)) {}

 private:
  lang::Built build(const Operator& o, bool apart) {
    std::vector<lang::ArgumentRef> arguments{x};
    for (const Tensor& y : state) {
      results.push_back(apart ? compute("result", {{"i", R}, {"j", T}}, [&](Var i, Var j) { return y(i, j) + 1; }) : y);
      const std::string name = "out" + std::to_string(results.size());
      arguments.push_back(lang::make_output(name.c_str(), i32, {R, T}));
      lang::bind(arguments.back().tensor, results.back());
    }
    return lang::build_program(o.name, arguments);
  }
};

// The shapes that are tried: no rows, no steps, fewer steps than the lag, and some.
inline const std::vector<std::pair<int, int>>& shapes() {
  static const std::vector<std::pair<int, int>> all{{0, 4}, {3, 0}, {1, 1}, {5, 1}, {3, 2}, {1, 9}, {9, 17}, {20, 33}};
  return all;
}
inline std::vector<int> input(int R, int T) {
  std::vector<int> x;
  unsigned h = 7;
  for (int i = 0; i < R * T; ++i) h = h * 1664525u + 1013904223u, x.push_back(static_cast<int>(h >> 29) - 3);
  return x;
}
inline std::vector<std::vector<int>> expected(const Operator& o, int R, int T, bool apart = false) {
  std::vector<std::vector<int>> out(static_cast<std::size_t>(o.outputs), std::vector<int>(static_cast<std::size_t>(R * T)));
  o.plain(input(R, T), R, T, out);
  if (apart)
    for (auto& y : out)
      for (int& v : y) v = static_cast<int>(static_cast<unsigned>(v) + 1u);
  return out;
}

// One of them with a schedule for a processor.
struct WithSchedule : Made {
  Schedule s{built, Target::parse("x86-64-v3")};
  Tensor y = state[0];
  explicit WithSchedule(const char* name, bool apart = false) : Made(named(name), apart) {}
};

}  // namespace recurrences
