#pragma once
// Random inputs of the suites: the same in every run, different for every seed.
#include <cstdint>
#include <random>
#include <vector>

namespace bench {

inline std::vector<float> random_floats(std::int64_t count, unsigned seed) {  // of [-1, 1)
  std::mt19937 engine(seed);
  std::uniform_real_distribution<float> uniform(-1.0f, 1.0f);
  std::vector<float> values(static_cast<std::size_t>(count));
  for (float& v : values) v = uniform(engine);
  return values;
}

}  // namespace bench
