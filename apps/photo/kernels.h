#pragma once
// The compiled pipelines.
//
//   photo::develop_raw(coefficients, {height, width}, mosaic, out);      // out: planes of red, green, blue
//
// Throws apps::KernelError where the kernel refuses its arguments.
#include <array>
#include <cstdint>
#include <string>

#include "apps/photo/coefficients.h"

namespace photo {

void develop_raw(const Coefficients&, Size, const std::uint16_t* mosaic, std::uint16_t* out);
void develop_picture(const Coefficients&, Size, const std::uint16_t* planes, std::uint16_t* out);

// What red, green and blue are multiplied by to have the same mean, of the samples below `full`; 1 for a color without light.
std::array<float, 3> gray_world(Size, const std::uint16_t* mosaic, float full, const std::string& pattern,
                                const float (&black)[4]);

}  // namespace photo
