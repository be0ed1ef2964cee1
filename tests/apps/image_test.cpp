// PNG in and out: what is read back is what was written, and what cannot be read says why.
#include <doctest/doctest.h>

#include <cmath>
#include <cstdio>
#include <cstdlib>

#include "apps/support/image.h"
#include "tests/source_dir.h"

using apps::Image;
using apps::ImageError;

namespace {

Image pattern(std::int64_t width, std::int64_t height, int channels, int bits) {
  Image image{width, height, channels, bits, {}};
  const unsigned white = (1u << bits) - 1;
  for (std::int64_t k = 0; k < width * height * channels; ++k)
    image.pixels.push_back(static_cast<float>(static_cast<unsigned>(k * 7919) % (white + 1)) / static_cast<float>(white));
  return image;
}

std::string complaint(const std::vector<std::uint8_t>& file) {
  try {
    apps::decode_png(file);
  } catch (const ImageError& e) { return e.what(); }
  return "none";
}

}  // namespace

TEST_CASE("gray and RGB of 8 and 16 bits come back exactly, whatever the size") {
  for (const int channels : {1, 3})
    for (const int bits : {8, 16})
      for (const auto& [width, height] : {std::pair{1, 1}, {1, 9}, {7, 1}, {33, 17}}) {
        const Image image = pattern(width, height, channels, bits);
        const Image back = apps::decode_png(apps::encode_png(image));
        CHECK(back.width == width);
        CHECK(back.height == height);
        CHECK(back.channels == channels);
        CHECK(back.bits == bits);
        CHECK(back.pixels == image.pixels);
      }
}

TEST_CASE("values outside 0 .. 1 are clamped, NaN is black") {
  const Image image{4, 1, 1, 8, {-1.0f, 2.0f, NAN, 0.5f}};
  const Image back = apps::decode_png(apps::encode_png(image));
  CHECK(back.pixels == std::vector<float>{0.0f, 1.0f, 0.0f, 128.0f / 255.0f});
}

TEST_CASE("what is no PNG, or only the beginning of one, is refused") {
  CHECK(complaint({}) == "not a PNG file");
  CHECK(complaint({'G', 'I', 'F', '8', '9', 'a', 0, 0, 0, 0}) == "not a PNG file");
  std::vector<std::uint8_t> file = apps::encode_png(pattern(20, 20, 3, 8));
  for (const std::size_t length : {std::size_t{8}, std::size_t{20}, std::size_t{50}, file.size() / 2}) {
    const std::vector<std::uint8_t> cut(file.begin(), file.begin() + static_cast<std::ptrdiff_t>(length));
    CHECK(complaint(cut) == "damaged PNG file: the file ends too early");
  }
  file[file.size() / 2] ^= 0x55;
  CHECK(complaint(file).rfind("damaged PNG file: ", 0) == 0);
}

TEST_CASE("files that cannot be opened are named, with the system's reason") {
  try {
    apps::read_png("no/such/folder/in.png");
    FAIL("it was read");
  } catch (const ImageError& e) {
    CHECK(std::string(e.what()) == "no/such/folder/in.png: cannot be read: No such file or directory");
  }
  try {
    apps::write_png("no/such/folder/out.png", pattern(2, 2, 1, 8));
    FAIL("it was written");
  } catch (const ImageError& e) {
    CHECK(std::string(e.what()) == "no/such/folder/out.png: cannot be written: No such file or directory");
  }
}

TEST_CASE("the shipped picture is RGB of 8 bits") {
  const Image image = apps::read_png(source_dir() + "/apps/data/harbour.png");
  CHECK(image.width == 512);
  CHECK(image.height == 384);
  CHECK(image.channels == 3);
  CHECK(image.bits == 8);
}
