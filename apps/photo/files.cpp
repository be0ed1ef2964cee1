#include "apps/photo/files.h"

#include <algorithm>
#include <charconv>
#include <span>
#include <string_view>

#include "apps/support/image.h"

namespace photo {

namespace {

using apps::ImageError;
using Bytes = std::span<const std::uint8_t>;

std::string number(std::int64_t n) { return std::to_string(n); }

void expect_few_pixels(Size size) {
  if (size.width * size.height > most_pixels)
    throw ImageError(number(size.width) + " x " + number(size.height) + " pixels, expected at most " + number(most_pixels));
}

// The header of a PGM file: words between blanks, where a # begins a comment that the line ends.
class Header {
 public:
  explicit Header(Bytes file) : file_(file) {}

  std::string_view word() {
    while (at_ < file_.size()) {
      if (file_[at_] == '#')
        while (at_ < file_.size() && file_[at_] != '\n') ++at_;
      else if (blank(file_[at_]))
        line_ += file_[at_++] == '\n';
      else
        break;
    }
    const std::size_t begin = at_;
    while (at_ < file_.size() && !blank(file_[at_])) ++at_;
    return {reinterpret_cast<const char*>(file_.data()) + begin, at_ - begin};
  }

  std::int64_t whole(const char* what, std::int64_t most) {
    const std::string_view text = word();
    std::int64_t n = 0;
    const auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), n);
    if (text.empty()) throw ImageError("line " + number(line_) + ": the file ends before the " + what);
    if (error != std::errc() || stop != text.data() + text.size() || n < 1 || n > most)
      throw ImageError("line " + number(line_) + ": the " + what + " is \"" + printable(text) +
                       "\", expected a whole number from 1 to " + number(most));
    return n;
  }

  // One blank ends the header.
  Bytes samples() {
    if (at_ < file_.size()) ++at_;
    return file_.subspan(at_);
  }
  std::int64_t line() const { return line_; }

 private:
  static bool blank(std::uint8_t c) { return c == ' ' || (c >= '\t' && c <= '\r'); }
  static std::string printable(std::string_view text) {
    std::string shown(text.substr(0, 20));
    for (char& c : shown)
      if (c < ' ' || c > '~') c = '?';
    return shown;
  }

  Bytes file_;
  std::size_t at_ = 0;
  std::int64_t line_ = 1;
};

void unpack(Bytes from, SampleFormat format, std::vector<std::uint16_t>& to) {
  for (std::size_t k = 0; k < to.size(); ++k) {
    const std::uint8_t* s = from.data() + (format == SampleFormat::u8 ? k : 2 * k);
    to[k] = static_cast<std::uint16_t>(format == SampleFormat::u8      ? s[0]
                                       : format == SampleFormat::u16le ? s[0] + 256 * s[1]
                                                                       : 256 * s[0] + s[1]);
  }
}

std::int64_t bytes_of(SampleFormat format) { return format == SampleFormat::u8 ? 1 : 2; }

Source of_pgm(Bytes file) {
  Header header(file);
  const std::string_view magic = header.word();
  if (magic != "P5") throw ImageError("line 1: " + std::string(magic.substr(0, 2)) + ", expected P5: gray samples in binary");
  Source s;
  s.size.width = header.whole("width", longest_side);
  s.size.height = header.whole("height", longest_side);
  s.largest = static_cast<std::uint16_t>(header.whole("largest sample", 65535));
  expect_few_pixels(s.size);
  const SampleFormat format = s.largest < 256 ? SampleFormat::u8 : SampleFormat::u16be;
  const std::int64_t line = header.line(), expected = s.size.width * s.size.height * bytes_of(format);
  const Bytes data = header.samples();
  if (static_cast<std::int64_t>(data.size()) != expected)
    throw ImageError(number(static_cast<std::int64_t>(data.size())) + " bytes of samples after line " + number(line) +
                     ", expected " + number(expected) + " for " + number(s.size.width) + " x " + number(s.size.height));
  s.samples.resize(static_cast<std::size_t>(s.size.width * s.size.height));
  unpack(data, format, s.samples);
  const auto above = std::find_if(s.samples.begin(), s.samples.end(), [&](std::uint16_t v) { return v > s.largest; });
  if (above != s.samples.end()) {
    const std::int64_t k = above - s.samples.begin();
    throw ImageError("the sample of row " + number(k / s.size.width) + ", column " + number(k % s.size.width) + " is " +
                     number(*above) + ", expected at most " + number(s.largest) + " (line " + number(line) + ")");
  }
  return s;
}

Source of_samples(Bytes file, const RawLayout& layout) {
  expect_few_pixels(layout.size);
  const std::int64_t count = layout.size.width * layout.size.height, bytes = bytes_of(layout.samples);
  if (static_cast<std::int64_t>(file.size()) != layout.skip + count * bytes)
    throw ImageError(number(static_cast<std::int64_t>(file.size())) + " bytes, expected " +
                     number(layout.skip + count * bytes) + ": " + number(layout.skip) + " to skip and " +
                     number(layout.size.width) + " x " + number(layout.size.height) + " samples of " + number(bytes) +
                     (bytes == 1 ? " byte" : " bytes"));
  Source s{layout.size, 1, static_cast<std::uint16_t>(bytes == 1 ? 255 : 65535), {}};
  s.samples.resize(static_cast<std::size_t>(count));
  unpack(file.subspan(static_cast<std::size_t>(layout.skip)), layout.samples, s.samples);
  return s;
}

Source of_png(Bytes file) {
  apps::Samples png = apps::decode_png_samples(file);
  Source s{
      {png.height, png.width}, png.channels, static_cast<std::uint16_t>(png.bits == 16 ? 65535 : 255), std::move(png.samples)};
  if (std::max(s.size.width, s.size.height) > longest_side)
    throw ImageError(number(s.size.width) + " x " + number(s.size.height) + " pixels, expected sides of at most " +
                     number(longest_side));
  expect_few_pixels(s.size);
  return s;
}

}  // namespace

Source read_source(const std::string& path, const std::optional<RawLayout>& layout) {
  const std::vector<std::uint8_t> file = apps::read_file(path);
  try {
    if (layout) return of_samples(file, *layout);
    if (file.size() >= 4 && file[0] == 0x89 && file[1] == 'P' && file[2] == 'N' && file[3] == 'G') return of_png(file);
    if (file.size() >= 2 && file[0] == 'P' && file[1] >= '1' && file[1] <= '7') return of_pgm(file);
    throw ImageError("neither a PNG nor a PGM file; --size WIDTHxHEIGHT reads samples without a header");
  } catch (const ImageError& e) { throw ImageError(path + ": " + e.what()); }
}

}  // namespace photo
