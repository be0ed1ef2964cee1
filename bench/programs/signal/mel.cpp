// signal/mel.cpp: the logarithms of 26 bands of each frame's spectrum, by a direct transform of 200 windowed samples; a band
// goes over as many bins as lie between its edges.
#include <cmath>
#include <numbers>

#include "bench/programs/program.h"

namespace {
constexpr double pi = std::numbers::pi;

std::vector<double> table(int rows, int columns, double (*at)(int, int)) {
  std::vector<double> all;
  for (int r = 0; r < rows; ++r)
    for (int c = 0; c < columns; ++c) all.push_back(at(r, c));
  return all;
}

std::vector<int> edges() {  // band m has bins edge(m) to edge(m + 2) - 1, and its peak near edge(m + 1)
  std::vector<int> at;
  for (int m = 0; m < 28; ++m) at.push_back(std::max(m, static_cast<int>(101 * (std::pow(41.0, m / 27.0) - 1) / 40)));
  return at;
}

std::vector<double> triangles() {
  const std::vector<int> at = edges();
  std::vector<double> share(26 * 101, 0);
  for (int m = 0; m < 26; ++m)
    for (int b = at[m]; b < at[m + 2]; ++b)
      share[m * 101 + b] =
          b < at[m + 1] ? (b - at[m] + 1.0) / (at[m + 1] - at[m] + 1) : double(at[m + 2] - b) / (at[m + 2] - at[m + 1]);
  return share;
}
}  // namespace

PROGRAM(p) {
  const Symbol frames = p.size("frames", 118);
  const Tensor x = p.in("x", f32, {frames * 80 + 120}, uniform(-1, 1));
  const Tensor window =
      p.in("window", f32, {200}, numbers(table(1, 200, [](int, int n) { return 0.5 - 0.5 * std::cos(2 * pi * n / 200); })));
  const Tensor cosine =
      p.in("cosine", f32, {200, 101}, numbers(table(200, 101, [](int n, int b) { return std::cos(2 * pi * n * b / 200); })));
  const Tensor sine =
      p.in("sine", f32, {200, 101}, numbers(table(200, 101, [](int n, int b) { return -std::sin(2 * pi * n * b / 200); })));
  const Tensor edge = p.in("edge", i32, {28}, numbers(edges())), share = p.in("share", f32, {26, 101}, numbers(triangles()));

  const Axis n{"n", 200};
  const Tensor windowed = compute("windowed", {frames, 200}, [&](Var f, Var i) { return x(f * 80 + i) * window(i); });
  const Tensor re = compute("re", {frames, 101}, [&](Var f, Var b) { return sum(windowed(f, n) * cosine(n, b), n); });
  const Tensor im = compute("im", {frames, 101}, [&](Var f, Var b) { return sum(windowed(f, n) * sine(n, b), n); });
  const Tensor power = compute("power", {frames, 101}, [&](Var f, Var b) { return re(f, b) * re(f, b) + im(f, b) * im(f, b); });
  const Tensor band = compute("band", {frames, 26}, [&](Var f, Var m) {
    const Axis b{"b", in_range(edge(m), 0, 102), in_range(edge(m + 2), 0, 102)};
    return sum(share(m, b) * power(f, b), b);
  });
  p.out(compute("mel", {frames, 26}, [&](Var f, Var m) { return log(max(band(f, m), 1e-5f)); }));
}
