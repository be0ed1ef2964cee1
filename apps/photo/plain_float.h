#pragma once
// The plain loops of floats, compiled for this machine by themselves: -O3 -march=native -ffast-math.
#include <memory>

#include "apps/photo/coefficients.h"

namespace photo {

class PlainFloat {
 public:
  virtual ~PlainFloat() = default;
  virtual void raw(const Coefficients&, const std::uint16_t* in, std::uint16_t* out) = 0;
  virtual void picture(const Coefficients&, const std::uint16_t* in, std::uint16_t* out) = 0;
};

std::unique_ptr<PlainFloat> plain_float(Size);

}  // namespace photo
