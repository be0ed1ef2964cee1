#pragma once
// The numbers of the filter, the same for the generator and for the plain loops it is compared with.
#include <array>
#include <cmath>

namespace unsharp {

inline constexpr int radius = 3;  // of the blur: 7 taps
inline constexpr double sigma = 1.5;
inline constexpr float darkest = 1.0f / 65536;  // the ratio sharpened : gray divides by no less

inline constexpr float luma[3] = {0.299f, 0.587f, 0.114f};

// The weights of distance 0 .. radius; over all taps they add up to 1.
inline std::array<float, radius + 1> gaussian() {
  std::array<double, radius + 1> w{};
  double total = 0;
  for (int d = 0; d <= radius; ++d) {
    w[static_cast<std::size_t>(d)] = std::exp(-d * d / (2 * sigma * sigma));
    total += (d == 0 ? 1 : 2) * w[static_cast<std::size_t>(d)];
  }
  std::array<float, radius + 1> rounded{};
  for (std::size_t d = 0; d < w.size(); ++d) rounded[d] = static_cast<float>(w[d] / total);
  return rounded;
}

}  // namespace unsharp
