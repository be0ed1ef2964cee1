#include "apps/support/image.h"

#include <png.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <csetjmp>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <memory>

namespace apps {
namespace {

// What libpng says when it gives up. It leaves through longjmp, so the functions that call it below own nothing with a
// destructor: everything they allocate lives in a Decoder or an Encoder of their caller.
struct Complaint {
  char text[200] = "";
};

[[noreturn]] void on_error(png_structp png, png_const_charp text) {
  auto* complaint = static_cast<Complaint*>(png_get_error_ptr(png));
  std::snprintf(complaint->text, sizeof complaint->text, "%s", text);
  png_longjmp(png, 1);
}
void on_warning(png_structp, png_const_charp) {}  // of odd but readable files

struct Decoder {
  Complaint complaint;
  std::span<const std::uint8_t> file;
  std::size_t position = 0;
  png_structp png = nullptr;
  png_infop info = nullptr;
  png_uint_32 width = 0, height = 0;
  int channels = 0, bits = 0;
  std::size_t packed_row = 0;  // bytes of a row in the file, before compression
  bool transparent = false;
  std::vector<std::uint8_t> samples;
  std::vector<png_bytep> rows;
  ~Decoder() { png_destroy_read_struct(&png, &info, nullptr); }
};

void take(png_structp png, png_bytep bytes, png_size_t count) {
  auto* d = static_cast<Decoder*>(png_get_io_ptr(png));
  if (d->file.size() - d->position < count) png_error(png, "the file ends too early");
  std::memcpy(bytes, d->file.data() + d->position, count);
  d->position += count;
}

bool read_header(Decoder& d) {
  if (setjmp(png_jmpbuf(d.png))) return false;
  png_set_read_fn(d.png, &d, take);
  png_read_info(d.png, d.info);
  d.packed_row = png_get_rowbytes(d.png, d.info);
  const png_byte color = png_get_color_type(d.png, d.info);
  d.transparent = (color & PNG_COLOR_MASK_ALPHA) != 0 || png_get_valid(d.png, d.info, PNG_INFO_tRNS) != 0;
  if (color == PNG_COLOR_TYPE_PALETTE) png_set_palette_to_rgb(d.png);
  if (png_get_bit_depth(d.png, d.info) < 8) png_set_expand_gray_1_2_4_to_8(d.png);
  png_set_interlace_handling(d.png);
  png_read_update_info(d.png, d.info);
  d.width = png_get_image_width(d.png, d.info);
  d.height = png_get_image_height(d.png, d.info);
  d.channels = png_get_channels(d.png, d.info);
  d.bits = png_get_bit_depth(d.png, d.info);
  return true;
}

bool read_rows(Decoder& d) {
  if (setjmp(png_jmpbuf(d.png))) return false;
  png_read_image(d.png, d.rows.data());
  png_read_end(d.png, nullptr);
  return true;
}

struct Encoder {
  Complaint complaint;
  png_structp png = nullptr;
  png_infop info = nullptr;
  std::vector<std::uint8_t> file, samples;
  std::vector<png_bytep> rows;
  bool out_of_memory = false;
  ~Encoder() { png_destroy_write_struct(&png, &info); }
};

void put(png_structp png, png_bytep bytes, png_size_t count) {
  auto* e = static_cast<Encoder*>(png_get_io_ptr(png));
  try {
    e->file.insert(e->file.end(), bytes, bytes + count);
  } catch (const std::bad_alloc&) { e->out_of_memory = true; }
  if (e->out_of_memory) png_error(png, "not enough memory");
}

bool write_all(Encoder& e, const Samples& image) {
  if (setjmp(png_jmpbuf(e.png))) return false;
  png_set_write_fn(e.png, &e, put, nullptr);
  png_set_IHDR(e.png, e.info, static_cast<png_uint_32>(image.width), static_cast<png_uint_32>(image.height), image.bits,
               image.channels == 3 ? PNG_COLOR_TYPE_RGB : PNG_COLOR_TYPE_GRAY, PNG_INTERLACE_NONE, PNG_COMPRESSION_TYPE_DEFAULT,
               PNG_FILTER_TYPE_DEFAULT);
  png_write_info(e.png, e.info);
  png_write_image(e.png, e.rows.data());
  png_write_end(e.png, nullptr);
  return true;
}

std::string system_reason() { return std::strerror(errno); }

struct Close {
  void operator()(std::FILE* file) const { std::fclose(file); }
};
using File = std::unique_ptr<std::FILE, Close>;

}  // namespace

Samples decode_png_samples(std::span<const std::uint8_t> file) {
  if (file.size() < 8 || png_sig_cmp(file.data(), 0, 8) != 0) throw ImageError("not a PNG file");
  Decoder d;
  d.file = file;
  d.png = png_create_read_struct(PNG_LIBPNG_VER_STRING, &d.complaint, on_error, on_warning);
  d.info = d.png ? png_create_info_struct(d.png) : nullptr;
  if (!d.info) throw ImageError("not enough memory to read a PNG file");
  if (!read_header(d)) throw ImageError(std::string("damaged PNG file: ") + d.complaint.text);
  if (d.transparent) throw ImageError("has transparency, expected gray or RGB without it");

  const std::size_t bytes = static_cast<std::size_t>(d.bits / 8);
  const std::size_t row = d.width * bytes * static_cast<std::size_t>(d.channels);
  // deflate makes at most 1032 bytes of one: no memory is asked for samples that cannot be in the file
  if (d.packed_row * d.height / 1032 > file.size()) throw ImageError("damaged PNG file: the file ends too early");
  d.samples.resize(row * d.height);
  for (std::size_t y = 0; y < d.height; ++y) d.rows.push_back(d.samples.data() + y * row);
  if (!read_rows(d)) throw ImageError(std::string("damaged PNG file: ") + d.complaint.text);

  Samples image{d.width, d.height, d.channels, d.bits, {}};
  const auto pixels = static_cast<std::size_t>(image.width * image.height), channels = static_cast<std::size_t>(d.channels);
  image.samples.resize(pixels * channels);
  for (std::size_t c = 0; c < channels; ++c) {
    std::uint16_t* to = image.samples.data() + c * pixels;
    for (std::size_t p = 0; p < pixels; ++p) {
      const std::uint8_t* s = d.samples.data() + (p * channels + c) * bytes;
      to[p] = static_cast<std::uint16_t>(bytes == 2 ? s[0] * 256 + s[1] : s[0]);
    }
  }
  return image;
}

Image decode_png(std::span<const std::uint8_t> file) {
  const Samples from = decode_png_samples(file);
  Image image{from.width, from.height, from.channels, from.bits, {}};
  image.pixels.resize(from.samples.size());
  const float white = from.bits == 16 ? 65535.0f : 255.0f;
  for (std::size_t k = 0; k < from.samples.size(); ++k) image.pixels[k] = static_cast<float>(from.samples[k]) / white;
  return image;
}

std::vector<std::uint8_t> encode_png(const Samples& image) {
  Encoder e;
  const std::size_t bytes = static_cast<std::size_t>(image.bits / 8), channels = static_cast<std::size_t>(image.channels);
  const std::size_t row = static_cast<std::size_t>(image.width) * channels * bytes;
  e.samples.resize(row * static_cast<std::size_t>(image.height));
  const auto pixels = static_cast<std::size_t>(image.width * image.height);
  for (std::size_t c = 0; c < channels; ++c) {
    const std::uint16_t* from = image.samples.data() + c * pixels;
    for (std::size_t p = 0; p < pixels; ++p) {
      std::uint8_t* s = e.samples.data() + (p * channels + c) * bytes;
      if (bytes == 2) *s++ = static_cast<std::uint8_t>(from[p] >> 8);
      *s = static_cast<std::uint8_t>(from[p] & 255u);
    }
  }
  for (std::int64_t y = 0; y < image.height; ++y) e.rows.push_back(e.samples.data() + static_cast<std::size_t>(y) * row);
  e.png = png_create_write_struct(PNG_LIBPNG_VER_STRING, &e.complaint, on_error, on_warning);
  e.info = e.png ? png_create_info_struct(e.png) : nullptr;
  if (!e.info) throw ImageError("not enough memory to write a PNG file");
  if (!write_all(e, image)) throw ImageError(std::string("cannot make a PNG file: ") + e.complaint.text);
  return std::move(e.file);
}

std::vector<std::uint8_t> encode_png(const Image& image) {
  Samples to{image.width, image.height, image.channels, image.bits, {}};
  to.samples.reserve(image.pixels.size());
  const float white = image.bits == 16 ? 65535.0f : 255.0f;
  for (const float pixel : image.pixels) {
    const float v = pixel > 0.0f ? (pixel < 1.0f ? pixel : 1.0f) : 0.0f;  // NaN is not above 0
    to.samples.push_back(static_cast<std::uint16_t>(v * white + 0.5f));
  }
  return encode_png(to);
}

std::vector<std::uint8_t> read_file(const std::string& path) {
  const File file(std::fopen(path.c_str(), "rb"));
  if (!file) throw ImageError(path + ": cannot be read: " + system_reason());
  std::vector<std::uint8_t> bytes;
  std::uint8_t piece[1 << 16];
  while (const std::size_t count = std::fread(piece, 1, sizeof piece, file.get()))
    bytes.insert(bytes.end(), piece, piece + count);
  if (std::ferror(file.get())) throw ImageError(path + ": cannot be read: " + system_reason());
  return bytes;
}

void write_file(const std::string& path, std::span<const std::uint8_t> bytes) {
  namespace fs = std::filesystem;
  const auto refused = [&](const std::string& reason) { throw ImageError(path + ": cannot be written: " + reason); };
  std::error_code ignored;
  const fs::file_status before = fs::status(path, ignored);
  std::string to = path;  // of a link, the file that it leads to
  if (fs::is_regular_file(before))
    if (const fs::path real = fs::canonical(path, ignored); !ignored) to = real.string();
  const bool direct = fs::exists(before) && !fs::is_regular_file(before);
  std::string unfinished = to + ".XXXXXX";
  File file(nullptr);
  if (direct) {
    file.reset(std::fopen(path.c_str(), "wb"));
  } else if (const int descriptor = mkstemp(unfinished.data()); descriptor >= 0) {
    const mode_t mask = umask(0);
    umask(mask);
    const mode_t mode = fs::is_regular_file(before) ? static_cast<mode_t>(before.permissions()) & 0777 : 0666 & ~mask;
    if (fchmod(descriptor, mode) == 0) file.reset(fdopen(descriptor, "wb"));
    if (!file) {
      const std::string reason = system_reason();
      close(descriptor), unlink(unfinished.c_str());
      refused(reason);
    }
  }
  if (!file) refused(system_reason());
  const bool all = std::fwrite(bytes.data(), 1, bytes.size(), file.get()) == bytes.size() && std::fflush(file.get()) == 0;
  std::string reason = all ? "" : system_reason();
  if (std::fclose(file.release()) != 0 && reason.empty()) reason = system_reason();
  if (reason.empty() && !direct && std::rename(unfinished.c_str(), to.c_str()) != 0) reason = system_reason();
  if (reason.empty()) return;
  if (!direct) unlink(unfinished.c_str());
  refused(reason);
}

Image read_png(const std::string& path) {
  const std::vector<std::uint8_t> bytes = read_file(path);
  try {
    return decode_png(bytes);
  } catch (const ImageError& e) { throw ImageError(path + ": " + e.what()); }
}

void write_png(const std::string& path, const Image& image) { write_file(path, encode_png(image)); }

}  // namespace apps
