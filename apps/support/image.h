#pragma once
// Images as planes of floats, read from and written to PNG.
//
//   Image photo = read_png("in.png");        // gray or RGB, 8 or 16 bits; anything else is an ImageError that says so
//   write_png("out.png", photo);             // with the channels and bits that photo has
//
// Invariant: pixels holds channels * height * width values, plane by plane, row by row, 1.0 being the format's white. Reading
// what was written gives the same pixels exactly, as long as they are multiples of 1 / (2^bits - 1) between 0 and 1.
#include <cstddef>
#include <cstdint>
#include <exception>
#include <span>
#include <string>
#include <vector>

namespace apps {

class ImageError : public std::exception {
 public:
  explicit ImageError(std::string text) : text_(std::move(text)) {}
  const char* what() const noexcept override { return text_.c_str(); }

 private:
  std::string text_;
};

struct Image {
  std::int64_t width = 0, height = 0;  // at least 1 each
  int channels = 1;                    // 1: gray, 3: red, green, blue
  int bits = 8;                        // of one sample in the file: 8 or 16
  std::vector<float> pixels;
  float* plane(int channel) { return pixels.data() + channel * height * width; }
  const float* plane(int channel) const { return pixels.data() + channel * height * width; }
};

// The same with the samples as the file has them, plane by plane.
struct Samples {
  std::int64_t width = 0, height = 0;
  int channels = 1, bits = 8;
  std::vector<std::uint16_t> samples;
};

// Palettes and gray of fewer than 8 bits are expanded. Files that are not PNG, are damaged or truncated, or have transparency
// are refused.
Image decode_png(std::span<const std::uint8_t> file);
Samples decode_png_samples(std::span<const std::uint8_t> file);
// Values are clamped to 0 .. 1 and rounded to the nearest sample; NaN becomes 0.
std::vector<std::uint8_t> encode_png(const Image&);
std::vector<std::uint8_t> encode_png(const Samples&);  // of 8 bits: the lower halves

Image read_png(const std::string& path);
void write_png(const std::string& path, const Image&);

// Whole files. Errors name the path and the system's reason. A file is written under a temporary name in the same folder and
// renamed when it is complete; one that cannot be completed is removed. A path that is not a regular file, such as a pipe, is
// written directly.
std::vector<std::uint8_t> read_file(const std::string& path);
void write_file(const std::string& path, std::span<const std::uint8_t> bytes);

}  // namespace apps
