#pragma once
// Recurrences whose steps reduce over all earlier ones, each with what plain loops compute, for schedules of all layers.
#include <cmath>
#include <string>
#include <vector>

#include <ashlar/interp/interpreter.h>
#include <ashlar/lang.h>
#include <ashlar/lang/build_program.h>
#include <ashlar/schedule/schedule.h>

namespace solves {

using namespace ashlar;
using interp::Array;
using Matrix = std::vector<std::vector<double>>;

// One of them: its definition over inputs of N rows, and its elements by plain loops from those of the inputs.
struct Problem {
  const char* name;
  Type type;
  std::vector<int> inputs;  // the rank of each; every extent is N, or N + 1 for `longer`
  bool longer;
  int rank;  // of the result
  Tensor (*define)(const std::vector<Tensor>& in, const Symbol& N);
  Matrix (*plain)(const std::vector<Matrix>& in, int n);  // of rank 1: one row
};

inline Matrix square(int n) { return Matrix(static_cast<std::size_t>(n), std::vector<double>(static_cast<std::size_t>(n))); }

// x = L^-1 b, of lower triangular L.
inline Tensor forward(const std::vector<Tensor>& in, const Symbol& N) {
  const Tensor &L = in[0], &b = in[1];
  return recur(
      "x", {{"t", N}, {"r", N}}, Along{0}, Lag{0}, [](Var, Var) { return f64(0); },
      [&](Prior x, Var t, Var r) {
        const Axis k{"k", t};
        return (b(t, r) - sum(L(t, k) * x(k, r), k)) / L(t, t);
      });
}
inline Matrix forward_plain(const std::vector<Matrix>& in, int n) {
  Matrix x = square(n);
  for (int t = 0; t < n; ++t)
    for (int r = 0; r < n; ++r) {
      double s = 0;
      for (int k = 0; k < t; ++k) s = std::fma(in[0][t][k], x[k][r], s);
      x[t][r] = (in[1][t][r] - s) / in[0][t][t];
    }
  return x;
}

// x = U^-1 b, of upper triangular U, one right-hand side.
inline Tensor backward(const std::vector<Tensor>& in, const Symbol& N) {
  const Tensor &U = in[0], &b = in[1];
  return recur(
      "x", {{"t", N}}, Along{0}.backwards(), Lag{0}, [](Var) { return f64(0); },
      [&](Prior x, Var t) {
        const Axis k{"k", t + 1, N};
        return (b(t) - sum(U(t, k) * x(k), k)) / U(t, t);
      });
}
inline Matrix backward_plain(const std::vector<Matrix>& in, int n) {
  Matrix x(1, std::vector<double>(static_cast<std::size_t>(n)));
  for (int t = n - 1; t >= 0; --t) {
    double s = 0;
    for (int k = t + 1; k < n; ++k) s = std::fma(in[0][t][k], x[0][k], s);
    x[0][t] = (in[1][0][t] - s) / in[0][t][t];
  }
  return x;
}

// L with L L^T = A; columns are the steps.
inline Tensor cholesky(const std::vector<Tensor>& in, const Symbol& N) {
  const Tensor& A = in[0];
  return recur(
      "L", {{"i", N}, {"j", N}}, Along{1}, Lag{0}, [](Var, Var) { return f64(0); },
      [&](Prior l, Var i, Var j) {
        const Axis k{"k", j};
        const Expr pivot = sqrt(A(j, j) - sum(l(j, k) * l(j, k), k));
        return select(i < j, 0, select(i == j, pivot, (A(i, j) - sum(l(i, k) * l(j, k), k)) / pivot));
      });
}
inline Matrix cholesky_plain(const std::vector<Matrix>& in, int n) {
  Matrix l = square(n);
  for (int j = 0; j < n; ++j)
    for (int i = j; i < n; ++i) {
      double s = 0;
      for (int k = 0; k < j; ++k) s = std::fma(l[i][k], l[j][k], s);
      l[i][j] = i == j ? std::sqrt(in[0][i][j] - s) : (in[0][i][j] - s) / l[j][j];
    }
  return l;
}

// L and U in one matrix, L U = A, the diagonal of L being 1.
inline Tensor lu(const std::vector<Tensor>& in, const Symbol& N) {
  const Tensor& A = in[0];
  return recur(
      "LU", {{"i", N}, {"j", N}}, Along{0, 1}, Lag{0}, [](Var, Var) { return f64(0); },
      [&](Prior m, Var i, Var j) {
        const Axis k{"k", min(i, j)};
        const Expr rest = A(i, j) - sum(m(i, k) * m(k, j), k);
        return select(j < i, rest / m(j, j), rest);
      });
}
inline Matrix lu_plain(const std::vector<Matrix>& in, int n) {
  Matrix m = square(n);
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < n; ++j) {
      double s = 0;
      for (int k = 0; k < std::min(i, j); ++k) s = std::fma(m[i][k], m[k][j], s);
      m[i][j] = j < i ? (in[0][i][j] - s) / m[j][j] : in[0][i][j] - s;
    }
  return m;
}

// The fewest multiplications for a product of matrices i to j, of p(i) x p(i + 1) to p(j) x p(j + 1).
inline Tensor chain(const std::vector<Tensor>& in, const Symbol& N) {
  const Tensor& p = in[0];
  return recur(
      "m", {{"i", N}, {"j", N}}, Along{0, 1}.backwards(0), Lag{0}, [](Var, Var) { return i32(0); },
      [&](Prior m, Var i, Var j) {
        const Axis k{"k", i, j};
        return select(i < j, minimum(m(i, k) + m(k + 1, j) + p(i) * p(k + 1) * p(j + 1), k), 0);
      });
}
inline Matrix chain_plain(const std::vector<Matrix>& in, int n) {
  Matrix m = square(n);
  const std::vector<double>& p = in[0][0];
  for (int i = n - 1; i >= 0; --i)
    for (int j = i + 1; j < n; ++j) {
      m[i][j] = 2147483647;
      for (int k = i; k < j; ++k) m[i][j] = std::min(m[i][j], m[i][k] + m[k + 1][j] + p[i] * p[k + 1] * p[j + 1]);
    }
  return m;
}

// The same by the number of products: m(d, i) is of the matrices i to i + d.
inline Tensor chain_by_length(const std::vector<Tensor>& in, const Symbol& N) {
  const Tensor& p = in[0];
  return recur(
      "m", {{"d", N}, {"i", N}}, Along{0}, Lag{1}, [](Var, Var) { return i32(0); },
      [&](Prior m, Var d, Var i) {
        const Axis k{"k", d};
        const Expr inside = i + d < N;
        const auto at = [&](const Expr& v) { return p(min(v, Expr(N))); };
        const auto part = [&](const Expr& e, const Expr& first) { return m(e, min(first, N - 1)); };
        return select(inside, minimum(part(k, i) + part(d - 1 - k, i + k + 1) + at(i) * at(i + k + 1) * at(i + d + 1), k), 0);
      });
}
inline Matrix chain_by_length_plain(const std::vector<Matrix>& in, int n) {
  const Matrix m = chain_plain(in, n);
  Matrix by = square(n);
  for (int d = 0; d < n; ++d)
    for (int i = 0; i + d < n; ++i) by[d][i] = m[i][i + d];
  return by;
}

// The longest increasing sequence that ends at each element.
inline Tensor increasing(const std::vector<Tensor>& in, const Symbol& N) {
  const Tensor& a = in[0];
  return recur(
      "l", {{"t", N}}, Along{0}, Lag{0}, [](Var) { return i32(0); },
      [&](Prior l, Var t) {
        const Axis k{"k", t};
        return maximum(select(a(k) < a(t), l(k), 0), k).from(0) + 1;
      });
}
inline Matrix increasing_plain(const std::vector<Matrix>& in, int n) {
  Matrix l(1, std::vector<double>(static_cast<std::size_t>(n)));
  for (int t = 0; t < n; ++t) {
    for (int k = 0; k < t; ++k)
      if (in[0][0][k] < in[0][0][t]) l[0][t] = std::max(l[0][t], l[0][k]);
    l[0][t] += 1;
  }
  return l;
}

// Renewal: u(0) = 1, u(t) = sum of f(k) u(t - k) over k from 1 to t.
inline Tensor renewal(const std::vector<Tensor>& in, const Symbol& N) {
  const Tensor& f = in[0];
  return recur(
      "u", {{"t", N}}, Along{0}, Lag{1}, [](Var) { return i32(1); },
      [&](Prior u, Var t) {
        const Axis k{"k", 1, t + 1};
        return sum(f(k) * u(t - k), k);
      });
}
inline Matrix renewal_plain(const std::vector<Matrix>& in, int n) {
  Matrix u(1, std::vector<double>(static_cast<std::size_t>(n), 1));
  for (int t = 1; t < n; ++t) {
    std::uint32_t s = 0;
    for (int k = 1; k <= t; ++k)
      s += static_cast<std::uint32_t>(static_cast<std::int32_t>(in[0][0][k])) *
           static_cast<std::uint32_t>(static_cast<std::int32_t>(u[0][t - k]));
    u[0][t] = static_cast<std::int32_t>(s);
  }
  return u;
}

// Powers of a matrix applied to a row, a step from the whole step before: it reads nothing at the row that is given.
inline Tensor mixing(const std::vector<Tensor>& in, const Symbol& N) {
  const Tensor &W = in[0], &b = in[1];
  const Axis k{"k", N};
  return recur(
      "x", {{"t", N}, {"i", N}}, Along{0}, Lag{1}, [&](Var, Var i) { return b(0, i); },
      [&](Prior x, Var t, Var i) { return b(t, i) - sum(W(i, k) * x(t - 1, k), k) / 32; });
}
inline Matrix mixed(const std::vector<Matrix>& in, int n, bool backwards) {
  Matrix x = square(n);
  for (int s = 0; s < n; ++s)
    for (int i = 0; i < n; ++i) {
      const int t = backwards ? n - 1 - s : s;
      double sum = 0;
      for (int k = 0; s > 0 && k < n; ++k) sum = std::fma(in[0][i][k], x[backwards ? t + 1 : t - 1][k], sum);
      x[t][i] = s == 0 ? in[1][0][i] : in[1][t][i] - sum / 32;
    }
  return x;
}
inline Matrix mixing_plain(const std::vector<Matrix>& in, int n) { return mixed(in, n, false); }

// The same from the last row to the first one.
inline Tensor mixing_back(const std::vector<Tensor>& in, const Symbol& N) {
  const Tensor &W = in[0], &b = in[1];
  const Axis k{"k", N};
  return recur(
      "x", {{"t", N}, {"i", N}}, Along{0}.backwards(), Lag{1}, [&](Var, Var i) { return b(0, i); },
      [&](Prior x, Var t, Var i) { return b(t, i) - sum(W(i, k) * x(t + 1, k), k) / 32; });
}
inline Matrix mixing_back_plain(const std::vector<Matrix>& in, int n) { return mixed(in, n, true); }

inline const std::vector<Problem>& all() {
  static const std::vector<Problem> problems{
      {"forward", f64, {2, 2}, false, 2, forward, forward_plain},
      {"backward", f64, {2, 1}, false, 1, backward, backward_plain},
      {"cholesky", f64, {2}, false, 2, cholesky, cholesky_plain},
      {"lu", f64, {2}, false, 2, lu, lu_plain},
      {"chain", i32, {1}, true, 2, chain, chain_plain},
      {"chain_by_length", i32, {1}, true, 2, chain_by_length, chain_by_length_plain},
      {"increasing", i32, {1}, false, 1, increasing, increasing_plain},
      {"renewal", i32, {1}, false, 1, renewal, renewal_plain},
      {"mixing", f64, {2, 2}, false, 2, mixing, mixing_plain},
      {"mixing_back", f64, {2, 2}, false, 2, mixing_back, mixing_back_plain},
  };
  return problems;
}
inline const Problem& named(const std::string& name) {
  for (const Problem& p : all())
    if (p.name == name) return p;
  throw InternalError("no recurrence " + name);
}

struct Made {
  lang::DefinitionScope scope;
  Symbol N{"N"};
  std::vector<Tensor> in;
  Tensor out, result;
  lang::Built built;
  explicit Made(const Problem& p) {
    std::vector<lang::ArgumentRef> arguments;
    for (std::size_t k = 0; k < p.inputs.size(); ++k) {
      const Expr n = p.longer ? N + 1 : Expr(N);
      const std::vector<Extent> shape(static_cast<std::size_t>(p.inputs[k]), Extent(n));
      in.push_back(lang::make_input(k == 0 ? "a" : "b", p.type, shape));
      arguments.emplace_back(in.back());
    }
    out = lang::make_output("out", p.type, std::vector<Extent>(static_cast<std::size_t>(p.rank), Extent(N)));
    result = p.define(in, N);
    lang::bind(out, result);
    arguments.emplace_back(out);
    built = lang::build_program(p.name, arguments);
  }
};

// Diagonals that dominate, other elements small and whole in eighths.
inline Matrix elements(const Problem& p, std::size_t input, int n) {
  const bool matrix = p.inputs[input] == 2;
  const int columns = n + (p.longer ? 1 : 0), rows = matrix ? columns : 1;
  Matrix m(static_cast<std::size_t>(rows), std::vector<double>(static_cast<std::size_t>(columns)));
  for (int i = 0; i < rows; ++i)
    for (int j = 0; j < columns; ++j) {
      const int mixed = matrix ? (std::min(i, j) * 7 + std::max(i, j) * 5) % 11 - 5 : (j * 7 + 3) % 11 + 1;
      m[i][j] = p.type.is_float() ? (matrix && i == j ? 16 : mixed / 8.0) : mixed;
    }
  return m;
}
inline Array array_of(const Problem& p, std::size_t input, int n) {
  const Matrix m = elements(p, input, n);
  const std::int64_t extent = n + (p.longer ? 1 : 0);
  return Array::make(p.type, std::vector<std::int64_t>(static_cast<std::size_t>(p.inputs[input]), extent),
                     [&](std::span<const std::int64_t> at) { return at.size() == 2 ? m[at[0]][at[1]] : m[0][at[0]]; });
}
inline interp::Arguments arguments(const Problem& p, int n) {
  interp::Arguments a;
  for (std::size_t k = 0; k < p.inputs.size(); ++k) a.emplace_back(array_of(p, k, n));
  a.emplace_back(Array::zeros(p.type, std::vector<std::int64_t>(static_cast<std::size_t>(p.rank), n)));
  return a;
}
inline Array expected(const Problem& p, int n) {
  std::vector<Matrix> in;
  for (std::size_t k = 0; k < p.inputs.size(); ++k) in.push_back(elements(p, k, n));
  const Matrix m = p.plain(in, n);
  return Array::make(p.type, std::vector<std::int64_t>(static_cast<std::size_t>(p.rank), n),
                     [&](std::span<const std::int64_t> at) { return at.size() == 2 ? m[at[0]][at[1]] : m[0][at[0]]; });
}

}  // namespace solves
