#pragma once
// Arrays of the bench: on a boundary of cache lines, as libraries hand them out, filled with random numbers.
//
//   const auto x = bench::random_array<float>(1024 * 1024, -4, 4);
#include <cstddef>
#include <cstdint>
#include <new>
#include <random>
#include <type_traits>
#include <vector>

namespace bench {

template <class T>
struct CacheLines {
  using value_type = T;
  CacheLines() = default;
  template <class U>
  CacheLines(const CacheLines<U>&) {}
  T* allocate(std::size_t n) { return static_cast<T*>(::operator new(n * sizeof(T), std::align_val_t(64))); }
  void deallocate(T* p, std::size_t) { ::operator delete(p, std::align_val_t(64)); }
  bool operator==(const CacheLines&) const { return true; }
};

template <class T>
using Array = std::vector<T, CacheLines<T>>;

// Uniform in [low, high), whole numbers of an integer type.
template <class T>
Array<T> random_array(std::int64_t count, double low, double high, unsigned seed = 4) {
  std::mt19937 engine(seed);
  std::uniform_real_distribution<double> uniform(low, high);
  Array<T> values(static_cast<std::size_t>(count));
  for (T& v : values) v = static_cast<T>(uniform(engine));
  return values;
}

}  // namespace bench
