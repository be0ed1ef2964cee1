#include "bench/memory_race.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>
#include <type_traits>

namespace bench {

template <class T>
void Sides<T>::race(Report& report, const Race& race, const std::vector<double>& exact, double tolerance) {
  double largest = 0;
  for (const double e : exact) largest = std::max(largest, std::abs(e));
  std::vector<Contender> contenders;
  std::string errors, chosen;
  for (const Side& side : sides_) {
    std::fill(result_.begin(), result_.end(),
              std::is_integral_v<T> ? std::numeric_limits<T>::max() : std::numeric_limits<T>::quiet_NaN());
    side.prepared.run();
    double error = 0;
    for (std::size_t k = 0; k < exact.size(); ++k) {
      const double d = std::abs(static_cast<double>(result_[k]) - exact[k]);
      if (!(d <= error)) error = d;  // NaN too
    }
    if (!(error <= tolerance * largest))
      throw std::runtime_error(fmt::format("{} {}: {} is off by {}", race.kernel, race.shape, side.name, error));
    if (tolerance > 0) errors += fmt::format("{}{} {:.0e}", errors.empty() ? "" : ", ", side.name, error / largest);
    if (!side.prepared.about.empty())
      chosen += fmt::format("{}{}: {}", chosen.empty() ? "" : ", ", side.name, side.prepared.about);
    contenders.push_back({side.name, side.prepared.run});
  }
  report.race(race, contenders);
  if (race.threads > 1) return;
  if (!errors.empty()) report.note("largest error, of the largest result: " + errors);
  if (!chosen.empty()) report.note(chosen);
}

template class Sides<float>;
template class Sides<std::uint16_t>;

}  // namespace bench
