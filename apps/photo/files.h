#pragma once
// Files that the pipeline reads: PNG, PGM, and samples without a header.
//
//   Source s = photo::read_source("in.pgm", {});
//
// Errors are apps::ImageError; they name the file, and the line of a header.
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "apps/photo/coefficients.h"

namespace photo {

inline constexpr std::int64_t longest_side = 65536, most_pixels = std::int64_t{1} << 28;

struct Source {
  Size size;
  int channels = 1;             // 1: a mosaic, 3: planes of red, green, blue in sRGB
  std::uint16_t largest = 255;  // that a sample can be
  std::vector<std::uint16_t> samples;
};

enum class SampleFormat { u8, u16le, u16be };

struct RawLayout {  // of a file without a header
  Size size;
  SampleFormat samples = SampleFormat::u16le;
  std::int64_t skip = 0;  // bytes before the first sample
};

// With a layout, the file is read as samples even if it begins like a PNG or PGM file.
Source read_source(const std::string& path, const std::optional<RawLayout>&);

}  // namespace photo
