#include "apps/photo/kernels.h"

#include <photo_means.h>
#include <photo_picture.h>
#include <photo_picture_sharp.h>
#include <photo_raw.h>
#include <photo_raw_sharp.h>

#include <algorithm>
#include <cmath>

#include "apps/support/tensor.h"

namespace photo {

namespace {

template <std::size_t N>
ashlar_tensor numbers(const float* values, const std::int64_t (&shape)[N]) {
  return ashlar_dense(const_cast<float*>(values), ASHLAR_F32, N, shape);  // the descriptor of an input is that of an output
}

template <std::size_t N>
ashlar_tensor samples(const std::uint16_t* values, const std::int64_t (&shape)[N]) {
  return ashlar_dense(const_cast<std::uint16_t*>(values), ASHLAR_U16, N, shape);
}

constexpr std::int64_t three_by_three[] = {3, 3}, two_by_two[] = {2, 2}, of_tone[] = {5}, of_encode[] = {4},
                       of_blur[] = {taps + 1};

}  // namespace

void develop_raw(const Coefficients& k, Size size, const std::uint16_t* mosaic, std::uint16_t* out) {
  const std::int64_t of_in[] = {size.height, size.width}, of_out[] = {3, size.height, size.width};
  const ashlar_tensor matrix = numbers(k.matrix, three_by_three), tone = numbers(k.tone, of_tone),
                      encode = numbers(k.encode, of_encode);
  const ashlar_tensor blur = numbers(k.blur, of_blur), black = numbers(k.black, two_by_two), gain = numbers(k.gain, two_by_two);
  const ashlar_tensor in = samples(mosaic, of_in);
  ashlar_tensor to = samples(out, of_out);
  apps::check((k.denoise ? photo_raw : photo_raw_sharp)(k.luma_noise, k.chroma_noise, &matrix, &tone, &encode, k.sharpen, &blur,
                                                        k.white, &to, k.red_y, k.red_x, &black, &gain, &in));
}

void develop_picture(const Coefficients& k, Size size, const std::uint16_t* planes, std::uint16_t* out) {
  const std::int64_t shape[] = {3, size.height, size.width};
  const ashlar_tensor matrix = numbers(k.matrix, three_by_three), tone = numbers(k.tone, of_tone),
                      encode = numbers(k.encode, of_encode);
  const ashlar_tensor blur = numbers(k.blur, of_blur), in = samples(planes, shape);
  ashlar_tensor to = samples(out, shape);
  apps::check((k.denoise ? photo_picture : photo_picture_sharp)(k.luma_noise, k.chroma_noise, &matrix, &tone, &encode,
                                                                k.sharpen, &blur, k.white, &to, k.range, &in));
}

std::array<float, 3> gray_world(Size size, const std::uint16_t* mosaic, float full, const std::string& pattern,
                                const float (&black)[4]) {
  const std::int64_t of_in[] = {size.height, size.width};
  std::uint64_t totals[4], counts[4];
  const ashlar_tensor in = samples(mosaic, of_in);
  ashlar_tensor total = ashlar_dense(totals, ASHLAR_U64, 2, two_by_two),
                count = ashlar_dense(counts, ASHLAR_U64, 2, two_by_two);
  apps::check(photo_means(static_cast<std::uint16_t>(std::ceil(full)), &in, &total, &count));
  double light[3] = {0, 0, 0}, pixels[3] = {0, 0, 0};
  for (std::size_t p = 0; p < 4; ++p) {
    const std::size_t c = std::string("RGB").find(pattern[p]);
    light[c] += static_cast<double>(totals[p]) - static_cast<double>(counts[p]) * static_cast<double>(black[p]);
    pixels[c] += static_cast<double>(counts[p]);
  }
  std::array<float, 3> gains{1, 1, 1};
  const double green = light[1] / std::max(pixels[1], 1.0);
  for (std::size_t c = 0; c < 3; ++c)
    if (const double mean = light[c] / std::max(pixels[c], 1.0); mean > 0 && green > 0)
      gains[c] = static_cast<float>(std::clamp(green / mean, 1.0 / 16, 16.0));
  return gains;
}

}  // namespace photo
