// unsharp IN.png OUT.png: sharpens a picture with the generated kernel, and says how its time and its result compare with the
// same stages as plain C++ loops.
//
//   unsharp apps/data/harbour.png sharp.png
//   512 x 384, 3 channels, 8 bits
//     ashlar       0.41 ms  (median of 121)
//     plain loops  1.32 ms  (compiled -O3 -march=native)      3.2 times
//     largest difference 4.8e-07, expected at most 1.0e-05
//
// Exit codes: 0, 1 when something failed, 2 for a wrong command line.
#include <unsharp_gray.h>
#include <unsharp_rgb.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <exception>
#include <vector>

#include "apps/support/image.h"
#include "apps/support/tensor.h"
#include "apps/support/timing.h"
#include "apps/unsharp/plain.h"

namespace {

constexpr double tolerance = 1e-5;  // of values that are about 1; both sides compute in f32, in another order

int run(const char* from, const char* to) {
  const apps::Image image = apps::read_png(from);
  apps::Image sharp = image, plain_sharp = image;
  apps::Tensor in(image.pixels.data(), {image.channels, image.height, image.width});
  apps::Tensor out(sharp.pixels.data(), {image.channels, image.height, image.width});
  unsharp::Plain plain(image.channels, image.height, image.width);
  if (ashlar_set_threads(1) != ASHLAR_OK) apps::check(ASHLAR_E_LAUNCH);  // one thread against one thread
  const std::vector<apps::Times> times =
      apps::race({[&] { apps::check(image.channels == 3 ? unsharp_rgb(in, out) : unsharp_gray(in, out)); },
                  [&] { plain.run(image.pixels.data(), plain_sharp.pixels.data()); }},
                 0.5, {.clock = apps::Clock::thread});
  double largest = 0;
  for (std::size_t k = 0; k < sharp.pixels.size(); ++k) {
    const double difference = std::abs(static_cast<double>(sharp.pixels[k]) - plain_sharp.pixels[k]);
    if (!(difference <= largest)) largest = difference;  // NaN too
  }
  std::printf("%lld x %lld, %d channel%s, %d bits\n", static_cast<long long>(image.width), static_cast<long long>(image.height),
              image.channels, image.channels == 1 ? "" : "s", image.bits);
  std::printf("  ashlar       %.3f ms  (one thread, median of %d)\n", times[0].median * 1e3, times[0].runs);
  std::printf("  plain loops  %.3f ms  (one thread, compiled -O3 -march=native): %.2f times as long\n", times[1].median * 1e3,
              times[1].median / times[0].median);
  std::printf("  largest difference %.1e, expected at most %.1e\n", largest, tolerance);
  if (!(largest <= tolerance)) {
    std::fprintf(stderr, "unsharp: the kernel and the plain loops disagree; nothing is written\n");
    return 1;
  }
  apps::write_png(to, sharp);
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) {
    std::fprintf(stderr, "usage: unsharp IN.png OUT.png\n");
    return 2;
  }
  try {
    return run(argv[1], argv[2]);
  } catch (const std::bad_alloc&) {
    std::fprintf(stderr, "unsharp: %s: not enough memory\n", argv[1]);
  } catch (const std::exception& e) { std::fprintf(stderr, "unsharp: %s\n", e.what()); }
  return 1;
}
