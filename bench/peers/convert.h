#pragma once
// A pass that makes f32 of 16-bit floats, as one is written for a library that takes no others.
#include <cstdint>

namespace bench {

void convert_bf16(const std::uint16_t* from, float* to, std::int64_t n);
void convert_f16(const std::uint16_t* from, float* to, std::int64_t n);

}  // namespace bench
