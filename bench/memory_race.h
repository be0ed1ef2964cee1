#pragma once
// Kernels bound by memory beside their peers: everybody has a result of his own, each is checked before the race.
//
//   Sides sides(y.size());
//   sides.add("ashlar", [&](float* y) { … });      sides.add("onednn", onednn_softmax(x, sides.next(), rows, columns));
//   sides.race(report, race, exact, 1e-5);
#include <functional>
#include <list>
#include <string>
#include <vector>

#include "bench/arrays.h"
#include "bench/memory_peers.h"
#include "bench/report.h"

namespace bench {

// T is float, or an integer, whose results must be exact.
template <class T>
class Sides {
 public:
  explicit Sides(std::int64_t size) : size_(static_cast<std::size_t>(size)) {}

  // Where the contender that is added next writes to.
  T* next() {
    if (free_ == nullptr) free_ = sides_.emplace_back(Side{{}, Array<T>(size_), {}, {}}).result.data();
    return free_;
  }
  void add(const std::string& name, std::function<void()> run) { add(name, Prepared{std::move(run), ""}); }
  void add(const std::string& name, Prepared p) {  // nothing if it cannot be run
    if (!p.run) return;
    next();
    free_ = nullptr;
    sides_.back().name = name, sides_.back().run = std::move(p.run), sides_.back().about = std::move(p.about);
  }

  // Runs each once and compares: an error of more than `tolerance` of the largest |exact| is an exception. Then the race.
  void race(Report&, const Race&, const std::vector<double>& exact, double tolerance);

 private:
  struct Side {
    std::string name;
    Array<T> result;
    std::function<void()> run;
    std::string about;
  };
  std::size_t size_;
  std::list<Side> sides_;  // the last one has no name yet while `free_` is its result
  T* free_ = nullptr;
};

extern template class Sides<float>;
extern template class Sides<std::uint16_t>;

}  // namespace bench
