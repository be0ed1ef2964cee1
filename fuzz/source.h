#pragma once
// Choices: everything random in a case is drawn from a Source, which remembers what it drew. A case is its choices, so it can
// be replayed, and made smaller by editing them. Zero is always the simplest choice, and what a Source that ran out gives.
//
//   Source s(Random(7));   s.pick(10)   // 0 .. 9, remembered in s.drawn
//   Source again(s.drawn); again.pick(10)
#include <cstdint>
#include <utility>
#include <vector>

namespace fuzz {

using Choices = std::vector<std::uint32_t>;

class Random {  // splitmix64 (Steele, Lea, Flood: Fast splittable pseudorandom number generators, OOPSLA 2014)
 public:
  explicit Random(std::uint64_t seed) : state_(seed) {}
  std::uint64_t next() {
    std::uint64_t z = (state_ += 0x9e3779b97f4a7c15u);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
  }

 private:
  std::uint64_t state_;
};

class Source {
 public:
  explicit Source(Random random) : random_(random), fresh_(true) {}
  explicit Source(Choices replayed) : random_(0), fresh_(false), drawn(std::move(replayed)) {}

  // 0 .. n - 1
  std::uint32_t pick(std::uint32_t n) {
    if (n <= 1) return 0;
    if (fresh_) {
      drawn.push_back(static_cast<std::uint32_t>(random_.next() >> 33) % n);
      return drawn.back();
    }
    return at_ < drawn.size() ? drawn[at_++] % n : 0;
  }
  int between(int low, int high) {
    return low + static_cast<int>(pick(static_cast<std::uint32_t>(high - low + 1)));
  }  // both included
  bool one_in(std::uint32_t n) { return pick(n) == n - 1; }  // false is the simple choice
  template <class T>
  const T& of(const std::vector<T>& all) {
    return all[pick(static_cast<std::uint32_t>(all.size()))];
  }

 private:
  Random random_;
  bool fresh_;
  std::size_t at_ = 0;

 public:
  Choices drawn;
};

}  // namespace fuzz
