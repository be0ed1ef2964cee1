#include "apps/photo/settings.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <span>

#include <CLI/CLI.hpp>

#include "apps/photo/kernels.h"

namespace photo {

namespace {

const char* const help_text =
    "usage: photo IN OUT.png [options]\n"
    "\n"
    "Develops a photo: from a raw file of a Bayer sensor, or a PNG file, to a PNG file. IN is a PNG or PGM file, or\n"
    "with --size samples without a header. A gray file is a mosaic: the sensor's pixels behind their color filters. A\n"
    "file in color is a picture in sRGB.\n"
    "\n"
    "Input:\n"
    "  --pattern RGGB           the filters of the first 2 x 2 pixels in reading order: RGGB, BGGR, GRBG or GBRG;\n"
    "                           a mosaic needs it\n"
    "  --size WIDTHxHEIGHT      IN holds the samples of a mosaic without a header\n"
    "  --samples FORMAT         of such a file: u8, u16le or u16be (the lower or the upper byte first); default: u16le\n"
    "  --skip BYTES             of such a file: what stands before the first sample; default: 0\n"
    "  --black N                the sample without light; or four, N,N,N,N, for the first 2 x 2 pixels; default: 0\n"
    "  --white N                the sample at which the sensor is full; default: the largest of the format\n"
    "Color and light:\n"
    "  --wb R,G,B               white balance: what red, green and blue are multiplied by. The smallest becomes 1, so that\n"
    "                           what is full stays white. Or auto: the means of the colors become equal; or none.\n"
    "                           Default: auto for a mosaic, none for a picture\n"
    "  --matrix M,M,...         nine numbers, row by row, from the camera's colors to linear sRGB\n"
    "  --exposure EV            doubles the light for each whole step; default: 0\n"
    "  --saturation S           0 is gray, 1 leaves the colors as they are; default: 1\n"
    "  --tone CURVE             filmic (brighter middle, soft highlights) or linear; default: filmic for a mosaic,\n"
    "                           linear for a picture\n"
    "  --gamma G                encodes by the power 1 / G, in place of sRGB's curve\n"
    "Noise and detail:\n"
    "  --denoise S              smooths light that varies by less than S percent of white; default: 1\n"
    "  --denoise-color S        smooths differences of color where light varies by less; default: 4\n"
    "  --sharpen A              adds A times the difference from a blurred picture; default: 0.5\n"
    "  --sharpen-radius R       the standard deviation of that blur in pixels; default: 1\n"
    "Output:\n"
    "  --bits N                 of a sample: 8 or 16; default: 8\n"
    "  --threads N              default: one for each processor\n"
    "  --verbose                says what was read, the white balance and the time\n"
    "  --help                   prints this\n"
    "\n"
    "Examples:\n"
    "  photo shot.pgm shot.png --pattern RGGB\n"
    "  photo frame.raw frame.png --size 4056x3040 --pattern BGGR --black 256 --white 4095 --wb 2.1,1,1.6\n"
    "  photo holiday.png lighter.png --exposure 0.7 --saturation 1.1 --denoise 3 --sharpen 0.8\n"
    "\n"
    "Exit codes: 0; 1 for a file that cannot be read or written; 2 for a wrong command line. OUT.png is written whole or not\n"
    "at all.\n";

std::string quoted(const std::string& text) { return '"' + text + '"'; }

template <class T>
bool reads(std::string_view text, T& to) {
  const auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), to);
  return !text.empty() && error == std::errc() && stop == text.data() + text.size();
}

std::string shown(float v) {
  char text[32];
  std::snprintf(text, sizeof text, "%g", static_cast<double>(v));
  return text;
}

std::vector<float> numbers(const char* option, const std::string& text, std::initializer_list<std::size_t> counts, float low,
                           float high) {
  std::vector<float> all;
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find(',', begin), text.size());
    float v = 0;
    if (!reads(std::string_view(text).substr(begin, end - begin), v) || !(v >= low && v <= high)) {
      const std::string many = *counts.begin() == 1 && counts.size() == 1 ? "a number" : "numbers with commas between, each";
      throw UsageError(std::string(option) + " is " + quoted(text) + ", expected " + many + " from " + shown(low) + " to " +
                       shown(high));
    }
    all.push_back(v);
    begin = end + 1;
  }
  if (std::find(counts.begin(), counts.end(), all.size()) != counts.end()) return all;
  std::string expected;
  for (const std::size_t n : counts) expected += (expected.empty() ? "" : " or ") + std::to_string(n);
  throw UsageError(std::string(option) + " has " + std::to_string(all.size()) + (all.size() == 1 ? " number" : " numbers") +
                   ", expected " + expected);
}

float number(const char* option, const std::string& text, float low, float high) {
  return numbers(option, text, {1}, low, high)[0];
}

std::int64_t whole(const char* option, const std::string& text, std::int64_t low, std::int64_t high) {
  std::int64_t n = 0;
  if (!reads(text, n) || n < low || n > high)
    throw UsageError(std::string(option) + " is " + quoted(text) + ", expected a whole number from " + std::to_string(low) +
                     " to " + std::to_string(high));
  return n;
}

// The position of the text among the words.
std::size_t one_of(const char* option, const std::string& text, std::initializer_list<const char*> words) {
  std::string all;
  std::size_t k = 0;
  for (const char* word : words) {
    if (text == word) return k;
    all += (all.empty() ? "" : ", ") + std::string(word);
    ++k;
  }
  throw UsageError(std::string(option) + " is " + quoted(text) + ", expected one of " + all);
}

Size size_of(const std::string& text) {
  const std::size_t cross = text.find('x');
  Size s;
  if (cross == std::string::npos || !reads(std::string_view(text).substr(0, cross), s.width) ||
      !reads(std::string_view(text).substr(cross + 1), s.height) || std::min(s.width, s.height) < 1 ||
      std::max(s.width, s.height) > longest_side)
    throw UsageError("--size is " + quoted(text) + ", expected WIDTHxHEIGHT, each from 1 to " + std::to_string(longest_side));
  return s;
}

struct Text {  // of options, where they are given
  std::string size, samples, skip, pattern, black, white, wb, matrix, exposure, saturation, tone, gamma, denoise, denoise_color,
      sharpen, sharpen_radius, bits, threads;
};

void describe(CLI::App& app, Settings& s, Text& t, bool& help) {
  app.set_help_flag();
  app.add_option("IN", s.in);
  app.add_option("OUT", s.out);
  for (const auto& [name, to] :
       std::initializer_list<std::pair<const char*, std::string*>>{{"--pattern", &t.pattern},
                                                                   {"--size", &t.size},
                                                                   {"--samples", &t.samples},
                                                                   {"--skip", &t.skip},
                                                                   {"--black", &t.black},
                                                                   {"--white", &t.white},
                                                                   {"--wb", &t.wb},
                                                                   {"--matrix", &t.matrix},
                                                                   {"--exposure", &t.exposure},
                                                                   {"--saturation", &t.saturation},
                                                                   {"--tone", &t.tone},
                                                                   {"--gamma", &t.gamma},
                                                                   {"--denoise", &t.denoise},
                                                                   {"--denoise-color", &t.denoise_color},
                                                                   {"--sharpen", &t.sharpen},
                                                                   {"--sharpen-radius", &t.sharpen_radius},
                                                                   {"--bits", &t.bits},
                                                                   {"--threads", &t.threads}})
    app.add_option(name, *to)->take_last();
  app.add_flag("--verbose", s.verbose);
  app.add_flag("-h,--help", help);
}

void read_input(Settings& s, const Text& t) {
  if (!t.size.empty()) {
    s.layout.emplace().size = size_of(t.size);
    if (!t.samples.empty())
      s.layout->samples = static_cast<SampleFormat>(one_of("--samples", t.samples, {"u8", "u16le", "u16be"}));
    if (!t.skip.empty()) s.layout->skip = whole("--skip", t.skip, 0, std::int64_t{1} << 40);
  }
  for (const auto& [option, text] : {std::pair{"--samples", &t.samples}, {"--skip", &t.skip}})
    if (!text->empty() && !s.layout)
      throw UsageError(std::string(option) + " is for samples without a header: give --size too");
  if (!t.pattern.empty()) one_of("--pattern", t.pattern, {"RGGB", "BGGR", "GRBG", "GBRG"}), s.pattern = t.pattern;
  if (!t.black.empty()) s.black = numbers("--black", t.black, {1, 4}, 0, 65535);
  if (!t.white.empty()) s.white = number("--white", t.white, 1, 65535);
}

void read_rest(Settings& s, const Text& t) {
  if (t.wb == "auto") s.balance_of_picture = true;
  s.balance_given = !t.wb.empty() && t.wb != "auto";
  if (s.balance_given && t.wb != "none") {
    const std::vector<float> v = numbers("--wb", t.wb, {3}, 0.01f, 100);
    std::copy(v.begin(), v.end(), s.balance.begin());
  }
  if (!t.matrix.empty()) {
    const std::vector<float> v = numbers("--matrix", t.matrix, {9}, -100, 100);
    std::copy(v.begin(), v.end(), s.matrix.begin());
  }
  const auto set = [](const char* option, const std::string& text, float low, float high, auto& to) {
    if (!text.empty()) to = number(option, text, low, high);
  };
  set("--exposure", t.exposure, -16, 16, s.exposure);
  set("--saturation", t.saturation, 0, 10, s.saturation);
  if (!t.tone.empty()) s.tone = static_cast<Tone>(one_of("--tone", t.tone, {"linear", "filmic"}));
  set("--gamma", t.gamma, 0.1f, 10, s.gamma);
  set("--denoise", t.denoise, 0, 100, s.denoise);
  set("--denoise-color", t.denoise_color, 0, 100, s.denoise_color);
  set("--sharpen", t.sharpen, 0, 10, s.sharpen);
  set("--sharpen-radius", t.sharpen_radius, 0.1f, 3, s.sharpen_radius);
  if (!t.bits.empty()) s.bits = one_of("--bits", t.bits, {"8", "16"}) == 0 ? 8 : 16;
  if (!t.threads.empty()) s.threads = static_cast<int>(whole("--threads", t.threads, 1, 256));
}

// Hable's curve for the game Uncharted 2 (2010), a quotient of two parabolas, of four times the light and with white at white.
void filmic(float (&to)[5]) {
  constexpr double a = 0.15, b = 0.5, c = 0.1, d = 0.2, e = 0.02, f = 0.3, times = 4;
  const double t0 = a * (f - e) * times * times, t1 = b * (c * f - e) * times;
  const double t2 = a * f * times * times, t3 = b * f * times, t4 = d * f * f;
  const double at_white = (t0 + t1) / (t2 + t3 + t4);
  const double all[5] = {t0 / at_white, t1 / at_white, t2, t3, t4};
  std::copy(all, all + 5, to);
}

void of_mosaic(const Settings& s, const Source& source, Coefficients& k, std::array<float, 3>& balance) {
  const float full = s.white.value_or(source.largest);
  const auto red = s.pattern.find('R');
  k.red_y = static_cast<std::int32_t>(red / 2), k.red_x = static_cast<std::int32_t>(red % 2);
  for (std::size_t p = 0; p < 4; ++p) {
    if (!s.black.empty()) k.black[p] = s.black[s.black.size() == 4 ? p : 0];
    if (!(k.black[p] < full))
      throw UsageError("--black is " + shown(k.black[p]) + ", expected less than --white, " + shown(full));
  }
  if (!s.balance_given) balance = gray_world(source.size, source.samples.data(), full, s.pattern, k.black);
  const float least = *std::min_element(balance.begin(), balance.end());
  for (float& g : balance) g /= least;  // full samples stay white
  for (std::size_t p = 0; p < 4; ++p) k.gain[p] = balance[std::string("RGB").find(s.pattern[p])] / (full - k.black[p]);
}

}  // namespace

Settings read_settings(int argc, const char* const* argv, std::string& help) {
  Settings s;
  Text t;
  CLI::App app;
  bool asked = false;
  describe(app, s, t, asked);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& e) { throw UsageError(std::string(e.what()) + "; --help lists the options"); }
  if (asked) {
    help = help_text;
    return s;
  }
  if (s.in.empty() || s.out.empty()) throw UsageError("expected IN and OUT.png; --help lists the options");
  read_input(s, t);
  read_rest(s, t);
  return s;
}

Coefficients coefficients(const Settings& s, const Source& source, std::array<float, 3>& balance) {
  Coefficients k;
  const bool mosaic = source.channels == 1;
  balance = s.balance;
  if (mosaic) {
    if (s.pattern.empty()) throw UsageError("--pattern is missing: " + s.in + " is gray, so it is read as a mosaic");
    of_mosaic(s, source, k, balance);
  } else {
    for (const auto& [option, given] : {std::pair{"--pattern", !s.pattern.empty()},
                                        {"--black", !s.black.empty()},
                                        {"--white", s.white.has_value()},
                                        {"--wb auto", s.balance_of_picture}})
      if (given) throw UsageError(std::string(option) + " is for mosaics, and " + s.in + " is in color");
    k.range = source.largest;
  }
  const float least = *std::min_element(balance.begin(), balance.end()), light = std::exp2(s.exposure);
  for (std::size_t row = 0; row < 3; ++row)
    for (std::size_t column = 0; column < 3; ++column) {
      float of_saturation = 0;
      for (std::size_t j = 0; j < 3; ++j)
        of_saturation += ((1 - s.saturation) * luma[j] + (j == row ? s.saturation : 0)) * s.matrix[3 * j + column];
      k.matrix[3 * row + column] = of_saturation * light * (mosaic ? 1 : balance[column] / least);
    }
  if (s.tone.value_or(mosaic ? Tone::filmic : Tone::linear) == Tone::filmic) filmic(k.tone);
  if (s.gamma) {
    const float power[4] = {0, 0, 0, 1 / *s.gamma};
    std::copy_n(power, 4, k.encode);
  }
  k.denoise = s.denoise > 0 || s.denoise_color > 0;
  const auto variance = [](float percent) { return std::max(percent * percent * 1e-4f, 1e-12f); };
  k.luma_noise = variance(s.denoise), k.chroma_noise = variance(s.denoise_color);
  k.sharpen = s.sharpen;
  double weights[taps + 1], total = 0;
  for (int d = 0; d <= taps; ++d) {
    weights[d] = std::exp(-d * d / (2.0 * s.sharpen_radius * s.sharpen_radius));
    total += (d == 0 ? 1 : 2) * weights[d];
  }
  for (int d = 0; d <= taps; ++d) k.blur[d] = static_cast<float>(weights[d] / total);
  k.white = s.bits == 16 ? 65535 : 255;
  return k;
}

}  // namespace photo
