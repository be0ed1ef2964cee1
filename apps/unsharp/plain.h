#pragma once
// Unsharp masking as plain C++ loops, stage after stage over the whole image: what the generated kernel is checked against and
// timed beside. Each stage is a loop nest that compilers vectorize at -O3; storage is allocated once, in the constructor.
#include <array>
#include <cstdint>
#include <vector>

namespace unsharp {

class Plain {
 public:
  Plain(int channels, std::int64_t height, std::int64_t width);
  // in and out: channels * height * width floats, plane by plane.
  void run(const float* in, float* out);

 private:
  int channels_;
  std::int64_t height_, width_, wide_;  // wide_: a row of gray with its repeated edges
  std::array<float, 4> weight_;
  std::vector<float> gray_, blur_y_, blur_x_, sharpen_, ratio_;
};

}  // namespace unsharp
