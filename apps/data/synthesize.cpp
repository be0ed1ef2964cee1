// Makes the picture that the demonstration sharpens: a lake under hills at dusk, drawn from formulas and a fixed random seed.
//
//   synthesize harbour.png
//
// Fractal noise gives the hills and the clouds, bands of sines the water; a soft disc is the sun, small boxes with lit windows
// are houses, thin lines are masts. A light 3x3 blur and grain make it look like a photograph.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <vector>

#include "apps/support/image.h"

namespace {

constexpr int width = 512, height = 384;

std::uint32_t hash(std::uint32_t x, std::uint32_t y, std::uint32_t seed) {
  std::uint32_t h = x * 0x9E3779B1u ^ y * 0x85EBCA77u ^ seed * 0xC2B2AE3Du;
  h = (h ^ (h >> 15)) * 0x2C1B3C6Du;
  h = (h ^ (h >> 12)) * 0x297A2D39u;
  return h ^ (h >> 15);
}
double random_at(int x, int y, std::uint32_t seed) {
  return hash(static_cast<std::uint32_t>(x + 4096), static_cast<std::uint32_t>(y + 4096), seed) / 4294967296.0;
}

double smooth_noise(double x, double y, std::uint32_t seed) {
  const double fx = std::floor(x), fy = std::floor(y);
  const double u = x - fx, v = y - fy, su = u * u * (3 - 2 * u), sv = v * v * (3 - 2 * v);
  const int ix = static_cast<int>(fx), iy = static_cast<int>(fy);
  const double top = std::lerp(random_at(ix, iy, seed), random_at(ix + 1, iy, seed), su);
  const double bottom = std::lerp(random_at(ix, iy + 1, seed), random_at(ix + 1, iy + 1, seed), su);
  return std::lerp(top, bottom, sv);
}
double fractal(double x, double y, int octaves, std::uint32_t seed) {
  double total = 0, weight = 0.5;
  for (int k = 0; k < octaves; ++k, x *= 2, y *= 2, weight *= 0.5)
    total += weight * smooth_noise(x, y, seed + static_cast<std::uint32_t>(k));
  return total;
}

struct Color {
  double r, g, b;
};
Color mix(const Color& a, const Color& b, double t) {
  t = std::clamp(t, 0.0, 1.0);
  return {std::lerp(a.r, b.r, t), std::lerp(a.g, b.g, t), std::lerp(a.b, b.b, t)};
}

double ridge(double x, int layer) {  // the height of a chain of hills, as a row of the picture
  return 150 + 26 * layer -
         (62 - 14 * layer) * fractal(x / (150.0 - 30 * layer), 3.7 * layer, 5, 40u + static_cast<std::uint32_t>(layer));
}

constexpr double shore = 236;

Color sky_and_hills(double x, double y) {
  Color c = mix({0.20, 0.30, 0.52}, {0.98, 0.70, 0.42}, std::pow(y / shore, 1.6));
  const double cloud = fractal(x / 120, y / 36, 6, 7);
  c = mix(c, {1.0, 0.86, 0.74}, std::clamp((cloud - 0.5) * 3.2, 0.0, 0.85));
  const double sun = std::hypot(x - 352, y - 138);
  c = mix(c, {1.0, 0.96, 0.82}, std::exp(-sun * sun / 900) + (sun < 15 ? 1.0 : 0.0));
  const Color hills[3] = {{0.45, 0.42, 0.52}, {0.28, 0.30, 0.37}, {0.13, 0.18, 0.17}};
  for (int layer = 0; layer < 3; ++layer)
    if (y > ridge(x, layer))
      c = mix(hills[layer], {0.07, 0.10, 0.09}, 0.5 * fractal(x / 9, y / 9, 4, 60u + static_cast<std::uint32_t>(layer)));
  return c;
}

Color houses(double x, double y, const Color& behind) {
  const int lot = static_cast<int>(x / 23);
  const double left = lot * 23 + 2 + 4 * random_at(lot, 0, 11), wide = 12 + 7 * random_at(lot, 1, 11);
  const double tall = 14 + 20 * random_at(lot, 2, 11), roof = shore - tall;
  if (lot < 2 || lot > 14 || x < left || x > left + wide || y > shore) return behind;
  if (y < roof) return std::abs(x - left - wide / 2) < (y - roof + 9) * wide / 18 ? Color{0.36, 0.13, 0.10} : behind;
  const int column = static_cast<int>((x - left) / 4), floor = static_cast<int>((y - roof) / 6);
  const bool pane =
      std::fmod(x - left, 4) > 1.4 && std::fmod(y - roof, 6) > 2.4 && random_at(lot * 8 + column, floor, 13) > 0.45;
  return pane ? Color{1.0, 0.85, 0.45} : mix({0.66, 0.60, 0.52}, {0.40, 0.34, 0.32}, random_at(lot, 3, 11));
}

Color scene(double x, double y) {
  if (y < shore) return houses(x, y, sky_and_hills(x, y));
  const double depth = (y - shore) / (height - shore);
  const double wave = std::sin(y * y / 190 + 5 * fractal(x / 40, y / 6, 4, 21)) * (1 + 5 * depth);
  const double mirror = std::max(0.0, shore - (y - shore) * 1.35);
  const Color above = houses(x + wave * 1.6, mirror, sky_and_hills(x + wave * 1.6, mirror));
  Color c = mix(above, {0.05, 0.11, 0.18}, 0.30 + 0.4 * depth + 0.06 * wave);
  const double glint = std::exp(-std::pow((x - 352) / (10 + 60 * depth), 2)) *
                       std::max(0.0, std::sin(y * 1.1 + 9 * fractal(x / 14, y / 3, 3, 23)));
  return mix(c, {1.0, 0.88, 0.62}, 0.8 * glint);
}

Color masts(int x, int y, const Color& behind) {
  for (int boat = 0; boat < 4; ++boat) {
    const int at = 70 + boat * 103 + static_cast<int>(30 * random_at(boat, 5, 31)), water = 268 + 23 * boat,
              tall = 60 + 16 * boat;
    const double hull = (y - water) * 1.0;
    if (hull >= 0 && hull < 7 + boat && std::abs(x - at) < 20 + 5 * boat - hull * 1.5)
      return hull < 2 ? Color{0.93, 0.92, 0.88} : Color{0.16, 0.19, 0.30};
    if (y < water && y > water - tall && (x == at || x == at + (water - y) / 3 || x == at - (water - y) / 4))
      return x == at ? Color{0.78, 0.70, 0.58} : Color{0.24, 0.22, 0.22};
  }
  return behind;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fprintf(stderr, "usage: synthesize OUT.png\n");
    return 2;
  }
  std::vector<Color> drawn;
  for (int y = 0; y < height; ++y)
    for (int x = 0; x < width; ++x) {
      Color c{0, 0, 0};
      for (int s = 0; s < 4; ++s) {  // four samples a pixel
        const Color one = masts(x, y, scene(x + (s % 2) * 0.5, y + (s / 2) * 0.5));
        c.r += one.r / 4, c.g += one.g / 4, c.b += one.b / 4;
      }
      drawn.push_back(c);
    }
  apps::Image image{width, height, 3, 8, std::vector<float>(std::size_t{3} * width * height)};
  for (int y = 0; y < height; ++y)
    for (int x = 0; x < width; ++x) {
      Color c{0, 0, 0};
      for (int dy = -1; dy <= 1; ++dy)
        for (int dx = -1; dx <= 1; ++dx) {  // the lens
          const double w = (dy ? 1 : 2) * (dx ? 1 : 2) / 16.0;
          const Color& p =
              drawn[static_cast<std::size_t>(std::clamp(y + dy, 0, height - 1) * width + std::clamp(x + dx, 0, width - 1))];
          c.r += w * p.r, c.g += w * p.g, c.b += w * p.b;
        }
      const double grain = 0.012 * (random_at(x, y, 91) + random_at(x, y, 92) - 1);
      const std::size_t at = static_cast<std::size_t>(y * width + x), plane = std::size_t{width} * height;
      image.pixels[at] = static_cast<float>(c.r + grain);
      image.pixels[plane + at] = static_cast<float>(c.g + grain);
      image.pixels[2 * plane + at] = static_cast<float>(c.b + grain);
    }
  try {
    apps::write_png(argv[1], image);
  } catch (const apps::ImageError& e) {
    std::fprintf(stderr, "synthesize: %s\n", e.what());
    return 1;
  }
  return 0;
}
