// The kernels of the photo pipeline beside the same stages as plain loops in double precision.
#include <doctest/doctest.h>

#include <array>
#include <cmath>
#include <cstdlib>
#include <random>
#include <string>
#include <vector>

#include "apps/photo/kernels.h"
#include "apps/photo/plain.h"

namespace {

std::vector<std::uint16_t> noise(std::int64_t count, int largest) {
  static std::mt19937 engine(11);
  std::uniform_int_distribution<int> uniform(0, largest);
  std::vector<std::uint16_t> all(static_cast<std::size_t>(count));
  for (std::uint16_t& v : all) v = static_cast<std::uint16_t>(uniform(engine));
  return all;
}

photo::Coefficients some(bool denoise) {
  photo::Coefficients k;
  k.denoise = denoise, k.luma_noise = 4e-3f, k.chroma_noise = 2e-2f;
  const float matrix[9] = {1.3f, -0.2f, -0.1f, -0.25f, 1.5f, -0.2f, 0.02f, -0.3f, 1.25f};
  std::copy_n(matrix, 9, k.matrix);
  const float tone[5] = {0.6f, 0.05f, 0.15f, 0.5f, 0.06f};
  std::copy_n(tone, 5, k.tone);
  const float blur[4] = {0.4f, 0.24f, 0.05f, 0.01f};
  std::copy_n(blur, 4, k.blur);
  k.sharpen = 0.7f, k.white = 65535, k.range = 1000;
  for (int p = 0; p < 4; ++p) k.black[p] = static_cast<float>(16 + p), k.gain[p] = (1 + 0.3f * static_cast<float>(p)) / 1000;
  return k;
}

// The largest difference, in steps of 1 / 65535. NaN of either side is not a small number there.
int difference(const std::vector<std::uint16_t>& a, const std::vector<std::uint16_t>& b) {
  int largest = 0;
  for (std::size_t k = 0; k < a.size(); ++k) largest = std::max(largest, std::abs(a[k] - b[k]));
  return largest;
}

// Rows around the strips of 128, columns around vectors and parts of a row.
constexpr std::array<photo::Size, 14> sizes = {{{1, 1},
                                                {1, 9},
                                                {9, 1},
                                                {2, 2},
                                                {3, 5},
                                                {5, 3},
                                                {1, 40},
                                                {16, 16},
                                                {33, 17},
                                                {40, 1},
                                                {127, 31},
                                                {130, 33},
                                                {257, 15},
                                                {9, 1201}}};
constexpr int bound = 4;

}  // namespace

TEST_CASE("mosaics of every pattern and size: the kernel computes what plain loops do") {
  for (const bool denoise : {true, false})
    for (const photo::Size& size : sizes)
      for (int pattern = 0; pattern < 4; ++pattern) {
        photo::Coefficients k = some(denoise);
        k.red_y = pattern / 2, k.red_x = pattern % 2;
        const std::vector<std::uint16_t> in = noise(size.height * size.width, 1023);
        std::vector<std::uint16_t> out(3 * in.size(), 7), expected(out.size());
        photo::develop_raw(k, size, in.data(), out.data());
        photo::Plain<double>(size).raw(k, in.data(), expected.data());
        CHECK_MESSAGE(difference(out, expected) <= bound, size.height, " x ", size.width, ", pattern ", pattern, ", denoise ",
                      denoise);
      }
}

TEST_CASE("pictures of every size: the kernel computes what plain loops do") {
  for (const bool denoise : {true, false})
    for (const photo::Size& size : sizes) {
      const photo::Coefficients k = some(denoise);
      const std::vector<std::uint16_t> in = noise(3 * size.height * size.width, 1000);
      std::vector<std::uint16_t> out(in.size(), 7), expected(in.size());
      photo::develop_picture(k, size, in.data(), out.data());
      photo::Plain<double>(size).picture(k, in.data(), expected.data());
      CHECK_MESSAGE(difference(out, expected) <= bound, size.height, " x ", size.width, ", denoise ", denoise);
    }
}

TEST_CASE("flat mosaics, the darkest and the lightest too, have one color, without noise or overflow") {
  for (const int level : {0, 1, 500, 65535}) {
    photo::Coefficients k;
    k.sharpen = 3, k.luma_noise = 1e-12f, k.chroma_noise = 1e-12f, k.white = 65535;
    for (float& g : k.gain) g = 1.0f / 65535;
    const photo::Size size{20, 37};
    const std::vector<std::uint16_t> in(20 * 37, static_cast<std::uint16_t>(level));
    std::vector<std::uint16_t> out(3 * in.size());
    photo::develop_raw(k, size, in.data(), out.data());
    const double x = level / 65535.0, encoded = x <= 0.0031308 ? 12.92 * x : 1.055 * std::pow(x, 1 / 2.4) - 0.055;
    for (const std::uint16_t v : out) CHECK(std::abs(v - encoded * 65535) <= 8);
  }
}

TEST_CASE("the white balance makes the means of the colors equal, and leaves out full samples") {
  const float black[4] = {10, 10, 10, 10};
  for (const std::string pattern : {"RGGB", "BGGR", "GRBG", "GBRG"})
    for (const photo::Size size : {photo::Size{8, 8}, {5, 7}, {2, 2}, {129, 260}}) {
      std::vector<std::uint16_t> in;
      for (std::int64_t y = 0; y < size.height; ++y)
        for (std::int64_t x = 0; x < size.width; ++x) {
          const char color = pattern[static_cast<std::size_t>(y % 2 * 2 + x % 2)];
          in.push_back(color == 'R' ? 110 : color == 'G' ? 210 : 60);
        }
      in.back() = in.size() > 4 ? 4095 : in.back();
      const auto gains = photo::gray_world(size, in.data(), 4095, pattern, black);
      CHECK(gains[0] == doctest::Approx(2));
      CHECK(gains[1] == doctest::Approx(1));
      CHECK(gains[2] == doctest::Approx(4));
    }
  const std::uint16_t one[1] = {500};  // red alone: nothing to be equal to
  CHECK(photo::gray_world({1, 1}, one, 4095, "RGGB", black) == std::array<float, 3>{1, 1, 1});
}
