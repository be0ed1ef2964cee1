// photo_measure [MEGAPIXELS]: the time that the pipelines take for each megapixel, on one thread, beside the plain loops.
//
//   photo_measure 12
//   raw, denoised       10.32 ms a megapixel, plain loops  38.94 ms: 3.77 times as long …
//
// Exit codes: 0, 1 when something failed, 2 for a wrong command line.
#include <charconv>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <exception>
#include <random>
#include <vector>

#include "apps/photo/kernels.h"
#include "apps/photo/plain_float.h"
#include "apps/support/tensor.h"
#include "apps/support/timing.h"

namespace {

struct Case {
  const char* name;
  bool raw, denoise;
};

// Samples of 12 bits: a gradient with noise.
std::vector<std::uint16_t> samples(std::size_t count) {
  std::mt19937 engine(5);
  std::normal_distribution<float> noise(0, 40);
  std::vector<std::uint16_t> all(count);
  for (std::size_t k = 0; k < count; ++k)
    all[k] = static_cast<std::uint16_t>(std::clamp(500 + static_cast<float>(k % 3000) + noise(engine), 0.0f, 4095.0f));
  return all;
}

void measure(double megapixels) {
  const auto width = static_cast<std::int64_t>(std::sqrt(megapixels * 1e6 * 4 / 3)), height = width * 3 / 4;
  const photo::Size size{height, width};
  const double million = static_cast<double>(height * width) / 1e6;
  const std::vector<std::uint16_t> in = samples(static_cast<std::size_t>(3 * height * width));
  std::vector<std::uint16_t> out(in.size()), plain_out(in.size());
  const auto plain = photo::plain_float(size);
  if (ashlar_set_threads(1) != ASHLAR_OK) apps::check(ASHLAR_E_LAUNCH);
  std::printf("%lld x %lld, one thread\n", static_cast<long long>(width), static_cast<long long>(height));
  for (const Case& c : {Case{"raw, denoised", true, true}, Case{"raw", true, false}, Case{"picture, denoised", false, true},
                        Case{"picture", false, false}}) {
    photo::Coefficients k;
    k.denoise = c.denoise, k.luma_noise = 1e-4f, k.chroma_noise = 1e-3f, k.sharpen = 0.5f, k.range = 4095;
    for (float& g : k.gain) g = 1 / 4095.0f;
    const float hable[] = {0.15f, 0.05f, 0.15f, 0.5f, 0.06f};
    std::copy_n(hable, 5, k.tone);
    const float blur[] = {0.4f, 0.24f, 0.05f, 0.01f};
    std::copy_n(blur, 4, k.blur);
    const std::vector<apps::Times> t = apps::race(
        {[&] {
           c.raw ? photo::develop_raw(k, size, in.data(), out.data()) : photo::develop_picture(k, size, in.data(), out.data());
         },
         [&] { c.raw ? plain->raw(k, in.data(), plain_out.data()) : plain->picture(k, in.data(), plain_out.data()); }},
        2, {.clock = apps::Clock::thread});
    int largest = 0;
    for (std::size_t p = 0; p < out.size(); ++p) largest = std::max(largest, std::abs(out[p] - plain_out[p]));
    std::printf(
        "%-18s %6.2f ms a megapixel, plain loops %6.2f ms: %.2f times as long (medians of %d; results within %d of 255)\n",
        c.name, t[0].median * 1e3 / million, t[1].median * 1e3 / million, t[1].median / t[0].median, t[0].runs, largest);
  }
}

}  // namespace

int main(int argc, char** argv) {
  double megapixels = 12;
  if (argc > 2) return std::fputs("usage: photo_measure [MEGAPIXELS]\n", stderr), 2;
  if (argc == 2) {
    const char* end = argv[1] + std::strlen(argv[1]);
    const auto [stop, error] = std::from_chars(argv[1], end, megapixels);
    if (error != std::errc() || stop != end || !(megapixels >= 0.01 && megapixels <= 100)) {
      std::fprintf(stderr, "photo_measure: MEGAPIXELS is \"%s\", expected a number from 0.01 to 100\n", argv[1]);
      return 2;
    }
  }
  try {
    measure(megapixels);
    return 0;
  } catch (const std::bad_alloc&) {
    std::fputs("photo_measure: not enough memory\n", stderr);
  } catch (const std::exception& e) { std::fprintf(stderr, "photo_measure: %s\n", e.what()); }
  return 1;
}
