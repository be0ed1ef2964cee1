#pragma once
// The parameters of a keyword-spotting network, DS-CNN as in "Hello Edge" (Zhang, Suda, Lai, Chandra, 2017), in integers: 49
// frames of 10 coefficients, a convolution of 10 x 4 with strides of 2, four times a 3 x 3 convolution within each channel and
// a product over the channels, the mean over all places, twelve classes.
//
// Activations are i8 with a zero point, weights i8 around 0; sums are i32 and become i8 again by a multiplier and a shift for
// each channel (Jacob et al., 2018). All zero points behind the first layer are -128, so that clamping to i8 is the ReLU. The
// numbers are drawn from a fixed seed: a trained network differs from this one in them alone.
#include <cstddef>
#include <cstdint>
#include <vector>

namespace ds_cnn {

constexpr int frames = 49, coefficients = 10, channels = 64, blocks = 4, classes = 12;
constexpr int kernel_h = 10, kernel_w = 4, stride = 2, high = 25, wide = 5;  // of the first convolution, and its result
constexpr int multiply_adds = high * wide * channels * (kernel_h * kernel_w + blocks * (9 + channels)) + classes * channels;
constexpr int input_zero = -7, zero = -128;
constexpr float logit_scale = 0.0625f;

struct Layer {  // real scale of the result = multiplier / 2^31 / 2^shift
  std::vector<std::int8_t> weights;
  std::vector<std::int32_t> bias, multiplier, shift;
};

struct Network {
  Layer conv;                          // weights [64, 10, 4]
  Layer depth[blocks], point[blocks];  // [3, 3, 64] and [64, 64], the first dimension of the latter is the result's
  Layer pool;                          // one multiplier for all channels, no weights
  Layer dense;                         // [12, 64]
};

namespace detail {

class Draw {  // xorshift (Marsaglia, 2003)
 public:
  std::int32_t from(std::int32_t low, std::int32_t high) {  // both of them included
    state_ ^= state_ << 13, state_ ^= state_ >> 17, state_ ^= state_ << 5;
    return low + static_cast<std::int32_t>(state_ % static_cast<std::uint32_t>(high - low + 1));
  }

 private:
  std::uint32_t state_ = 2463534242u;
};

// `terms` weights for each of `filters`, which stand `filter_stride` apart; about half of each filter's are negative. 2^bits is
// about what one unit of the result is worth in units of the sum.
inline Layer draw(Draw& d, int filters, int terms, bool filters_first, int bits) {
  Layer l;
  l.weights.resize(static_cast<std::size_t>(filters) * static_cast<std::size_t>(terms));
  for (int f = 0; f < filters; ++f) {
    std::int32_t sum = 0;
    for (int t = 0; t < terms; ++t) {
      std::int32_t w = d.from(-100, 100);
      if ((sum > 0) == (w > 0)) w = -w;  // keeps a filter's sum near 0: a constant picture gives a result near the bias
      sum += w;
      l.weights[static_cast<std::size_t>(filters_first ? f * terms + t : t * filters + f)] = static_cast<std::int8_t>(w);
    }
    l.bias.push_back(d.from(-10 << bits, 30 << bits));
    l.multiplier.push_back(d.from(1 << 30, 2147483647));
    l.shift.push_back(bits + d.from(-1, 0));
  }
  return l;
}

}  // namespace detail

inline const Network& network() {
  static const Network made = [] {
    detail::Draw d;
    Network n;
    n.conv = detail::draw(d, channels, kernel_h * kernel_w, true, 9);
    for (int b = 0; b < blocks; ++b) {
      n.depth[b] = detail::draw(d, channels, 9, false, 7);
      n.point[b] = detail::draw(d, channels, channels, true, 7);
    }
    n.pool.bias = {0}, n.pool.multiplier = {1099511628}, n.pool.shift = {5};  // 2 / 125: twice the mean of 25 x 5 places
    n.dense = detail::draw(d, classes, channels, true, 9);
    return n;
  }();
  return made;
}

}  // namespace ds_cnn
