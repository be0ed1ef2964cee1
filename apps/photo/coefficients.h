#pragma once
// The numbers that kernels and plain loops take, made from the options of the command line (settings.h).
#include <cstdint>

#include "apps/photo/numbers.h"

namespace photo {

struct Coefficients {
  bool denoise = true;
  float luma_noise = 0, chroma_noise = 0;                    // variances, of square roots
  float matrix[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1};             // to linear sRGB, row by row
  float tone[5] = {0, 1, 0, 0, 1};                           // (t0 x^2 + t1 x) / (t2 x^2 + t3 x + t4)
  float encode[4] = {0.0031308f, 12.92f, 0.055f, 1 / 2.4f};  // e1 x up to e0, from there (1 + e2) x^e3 - e2
  float sharpen = 0;
  float blur[taps + 1] = {1};  // the weights of distance 0 .. taps
  float white = 255;           // the largest sample of the result
  // of a mosaic
  std::int32_t red_y = 0, red_x = 0;                      // 0 or 1: added to row and column, red is at even ones
  float black[4] = {0, 0, 0, 0}, gain[4] = {1, 1, 1, 1};  // by the parities of row and column
  // of a picture in sRGB
  float range = 255;  // its largest sample
};

struct Size {
  std::int64_t height = 0, width = 0;
};

}  // namespace photo
