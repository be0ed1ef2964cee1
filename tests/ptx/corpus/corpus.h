// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
// Kernels that nvcc made, on the executor: each is launched with random data and compared with a reference of the host.
//
//   Corpus c("integers", /*seed*/ 7);              // kernels/integers.cu, as nvcc compiled it during the build
//   const auto a = c.put(random_values<int>(c.rng, 1000));
//   const auto out = c.make<int>(1000);            // nothing of it is written
//   c.launch("scale", {.grid = {8, 1, 1}, .block = {128, 1, 1}}, a, out, 1000);
//   expect_same("scale", c.get(out), wanted);
//
// What was launched of each file and how often each instruction ran is printed at the end; a kernel of a file that no test
// launched is a failure there.
#include <bit>
#include <cstdint>
#include <functional>
#include <limits>
#include <string>
#include <type_traits>
#include <vector>

#include "tests/ptx/executor/executor.h"

namespace ashlar::ptx_corpus {

class Rng {  // splitmix64
 public:
  explicit Rng(std::uint64_t seed) : state_(seed) {}
  std::uint64_t next();
  std::uint64_t below(std::uint64_t n) { return next() % n; }
  double unit() { return static_cast<double>(next() >> 11) * 0x1p-53; }
  double between(double lo, double hi) { return lo + (hi - lo) * unit(); }

 private:
  std::uint64_t state_;
};

// Integers among which the edges of their type and small numbers are frequent.
template <class T>
T edgy(Rng& rng) {
  using L = std::numeric_limits<T>;
  switch (rng.below(8)) {
    case 0:
      return L::min();
    case 1:
      return L::max();
    case 2:
      return static_cast<T>(rng.below(5) - 2);
    case 3:
      return static_cast<T>(T(1) << rng.below(static_cast<unsigned>(L::digits)));
    case 4:
      return static_cast<T>(static_cast<std::int64_t>(rng.below(2001)) - 1000);
    default:
      return static_cast<T>(rng.next());
  }
}
template <class T>
std::vector<T> edgy_values(Rng& rng, std::size_t n) {
  std::vector<T> v(n);
  for (T& x : v) x = edgy<T>(rng);
  return v;
}
template <class T>
std::vector<T> random_values(Rng& rng, std::size_t n, double lo, double hi) {  // uniform
  std::vector<T> v(n);
  for (T& x : v) x = static_cast<T>(rng.between(lo, hi));
  return v;
}
template <class T>
std::vector<T> any_floats(Rng& rng, std::size_t n) {  // all exponents; zeros, infinities, NaN and subnormal numbers among them
  using Bits = std::conditional_t<sizeof(T) == 8, std::uint64_t, std::uint32_t>;
  using L = std::numeric_limits<T>;
  const T special[] = {0,         T(-0.0),  L::infinity(), -L::infinity(), L::quiet_NaN(), L::denorm_min(),
                       -L::min(), L::max(), T(1),          T(-1)};
  std::vector<T> v(n);
  for (T& x : v) {
    const std::uint64_t kind = rng.below(6);
    if (kind == 0)
      x = special[rng.below(std::size(special))];
    else if (kind < 4)
      x = static_cast<T>(rng.between(-100, 100));
    else
      x = std::bit_cast<T>(static_cast<Bits>(rng.next()));
  }
  return v;
}

template <class T>
struct Buffer {
  std::uint64_t address = 0;
  std::size_t count = 0;
};

class Corpus {
 public:
  Corpus(const std::string& file, std::uint64_t seed);  // skips nothing: ask present() before
  ~Corpus();
  Corpus(const Corpus&) = delete;

  template <class T>
  Buffer<T> put(const std::vector<T>& values) {
    const Buffer<T> b = make<T>(values.size());
    device.write(b.address, values.data(), values.size() * sizeof(T));
    return b;
  }
  template <class T>
  Buffer<T> make(std::size_t count) {
    return {device.alloc(count * sizeof(T)), count};
  }
  template <class T>
  std::vector<T> get(const Buffer<T>& b) {
    std::vector<T> values(b.count);
    device.read(values.data(), b.address, b.count * sizeof(T));
    return values;
  }

  // Buffers go as their addresses, anything else as its bytes: the types are those of the kernel's parameters.
  template <class... A>
  ptx::Report launch(const std::string& kernel, const ptx::Grid& grid, const A&... arguments) {
    return run(kernel, grid, {argument(arguments)...});
  }

  const ptx::Module& module() const { return module_; }

  Rng rng;
  ptx::Device device;

 private:
  template <class T>
  static ptx::Piece argument(const Buffer<T>& b) {
    return ptx::piece(b.address);
  }
  template <class T>
  static ptx::Piece argument(const T& value) {
    return ptx::piece(value);
  }
  ptx::Report run(const std::string& kernel, const ptx::Grid&, const std::vector<ptx::Piece>&);

  std::string file_;
  const ptx::Module& module_;
};

void print_totals();                                    // kernels, launches, opcodes
std::vector<std::string> not_launched();                // kernels of kernels/*.cu: "file: kernel"
const ptx::Module& module_of(const std::string& file);  // parsed once
// A launch that the totals count; Corpus and programs/runtime.cpp make theirs by it.
ptx::Report counted_launch(ptx::Device&, const std::string& file, const std::string& kernel, const ptx::Grid&,
                           const std::vector<ptx::Piece>&);
void count_coverage(const ptx::Coverage&);
void before_totals(void (*)());  // called at the end, before they are printed

// How a kernel's result compares with the reference: the same bits (two NaN are the same), or within a bound.
struct Bound {
  double ulps = 0, absolute = 0;  // either suffices; both 0: the same bits
};
template <class T>
bool within(T got, T want, Bound b);  // of float, double and integers
extern template bool within(float, float, Bound);
extern template bool within(double, double, Bound);

// Passes if the texts are empty; else fails the test.
void judge(const std::string& what, std::size_t at, const std::string& got, const std::string& want);
std::string shown(double);
std::string shown(float);
template <class T>
  requires std::is_integral_v<T>
std::string shown(T v) {
  return std::to_string(v);
}

template <class T>
void expect_same(const std::string& what, const std::vector<T>& got, const std::vector<T>& want, Bound bound = {}) {
  if (got.size() != want.size()) return judge(what, 0, std::to_string(got.size()) + " elements", std::to_string(want.size()));
  for (std::size_t i = 0; i < got.size(); ++i) {
    bool same;
    if constexpr (std::is_floating_point_v<T>)
      same = within(got[i], want[i], bound);
    else
      same = got[i] == want[i];
    if (!same) return judge(what, i, shown(got[i]), shown(want[i]));
  }
  judge(what, got.size(), "", "");
}

// A kernel whose result k of element i is at out[k * n + i]: one reference for each k, in the kernel's order.
template <class T>
struct Row {
  const char* name;
  std::function<T(std::size_t)> want;
  Bound bound = {};
};
template <class T>
void expect_rows(const std::string& kernel, const std::vector<T>& got, std::size_t n, const std::vector<Row<T>>& rows) {
  if (got.size() != rows.size() * n)
    return judge(kernel, 0, std::to_string(got.size()), std::to_string(rows.size() * n) + " elements");
  std::vector<T> want(n);
  for (std::size_t k = 0; k < rows.size(); ++k) {
    for (std::size_t i = 0; i < n; ++i) want[i] = rows[k].want(i);
    const auto from = got.begin() + static_cast<std::ptrdiff_t>(k * n);
    expect_same(kernel + ", " + rows[k].name, std::vector<T>(from, from + static_cast<std::ptrdiff_t>(n)), want, rows[k].bound);
  }
}

constexpr std::uint32_t blocks(std::size_t n, std::uint32_t threads) {
  return static_cast<std::uint32_t>((n + threads - 1) / threads);
}
inline ptx::Grid grid_of(std::size_t n, std::uint32_t threads) {
  return {.grid = {blocks(n, threads), 1, 1}, .block = {threads, 1, 1}};
}

// Launches a kernel of n elements, which takes the arguments, the memory for its results, and n; compares each row.
template <class T, class... A>
void check_rows(Corpus& c, const std::string& kernel, std::size_t n, std::uint32_t threads, const std::vector<Row<T>>& rows,
                const A&... arguments) {
  const auto out = c.make<T>(rows.size() * n);
  c.launch(kernel, grid_of(n, threads), c.put(arguments)..., out, static_cast<std::int32_t>(n));
  expect_rows(kernel, c.get(out), n, rows);
}

}  // namespace ashlar::ptx_corpus
