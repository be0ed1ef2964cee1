// Unsharp masking of 3x1536x2560 floats beside the same stages as plain loops.
#include <cmath>
#include <random>
#include <stdexcept>
#include <string>
#include <vector>

#include "apps/unsharp/plain.h"
#include "bench/suites.h"

namespace bench {

void unsharp_suite(Report& report, const Machine& machine) {
  if (!report.wants("unsharp")) return;
  constexpr std::int64_t C = 3, H = 1536, W = 2560;
  std::mt19937 engine(4);
  std::uniform_real_distribution<float> uniform(0.0f, 1.0f);
  std::vector<float> in(C * H * W), plain_out(in.size());
  for (float& v : in) v = uniform(engine);
  unsharp::Plain plain(C, H, W);
  const double floor = 2.0 * static_cast<double>(in.size()) * sizeof(float);  // every pixel read once and written once
  report.race({"unsharp", "3x1536x2560", 1, floor, "GB/s", machine.copy[0]}, {{"plain loops", [&] { plain.run(in.data(), plain_out.data()); }}});
}

}  // namespace bench
