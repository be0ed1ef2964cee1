#pragma once
// Kernels bound by memory beside their peers: all write to one array, as the calls of a program do, and each is checked before
// the race.
//
//   Sides<float> sides(rows * columns);
//   sides.add("ashlar", [&] { … sides.result() … });  sides.add("onednn", onednn_softmax(x, sides.result(), rows, columns));
//   sides.race(report, race, exact, 1e-5);
#include <functional>
#include <string>
#include <vector>

#include "bench/arrays.h"
#include "bench/peers/memory.h"
#include "bench/report.h"

namespace bench {

// T is float, or an integer, whose results must be exact.
template <class T>
class Sides {
 public:
  explicit Sides(std::int64_t size) : result_(static_cast<std::size_t>(size)) {}
  T* result() { return result_.data(); }

  void add(const std::string& name, std::function<void()> run) { sides_.push_back({name, {std::move(run), ""}}); }
  void add(const std::string& name, Prepared p) {  // nothing if it cannot be run
    if (p.run) sides_.push_back({name, std::move(p)});
  }

  // Runs each once and compares: an error of more than `tolerance` of the largest |exact| is an exception. Then the race.
  void race(Report&, const Race&, const std::vector<double>& exact, double tolerance);

 private:
  struct Side {
    std::string name;
    Prepared prepared;
  };
  Array<T> result_;
  std::vector<Side> sides_;
};

extern template class Sides<float>;
extern template class Sides<std::uint16_t>;

}  // namespace bench
