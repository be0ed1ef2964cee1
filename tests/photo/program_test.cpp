// The photo pipeline as a user runs it: pictures back from their mosaics, every option, and bad files.
#include <doctest/doctest.h>

#include <sys/stat.h>
#include <sys/wait.h>

#include <array>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <functional>
#include <random>
#include <string>
#include <vector>

#include "apps/support/image.h"
#include "tests/source_dir.h"
#include "tests/support/shell.h"
#include "tests/support/text_parts.h"

namespace {

namespace fs = std::filesystem;
using apps::Image;
using text_parts::has;

struct Run {
  int code = -1;
  std::string text;  // what it printed, errors included
};

Run the_photo(const std::string& arguments) {
  Run r;
  std::FILE* pipe = popen(("'" APPS_PHOTO "' " + arguments + " 2>&1").c_str(), "r");
  REQUIRE(pipe != nullptr);
  for (int c = 0; (c = std::fgetc(pipe)) != EOF;) r.text += static_cast<char>(c);
  const int status = pclose(pipe);
  if (WIFEXITED(status)) r.code = WEXITSTATUS(status);
  return r;
}

double linear(double v) { return v <= 0.04045 ? v / 12.92 : std::pow((v + 0.055) / 1.055, 2.4); }

const Image& harbour() {
  static const Image image = apps::read_png(source_dir() + "/apps/data/harbour.png");
  return image;
}

// What a sensor of 12 bits sees of a picture, with noise as light has it: PGM.
std::string mosaic(const Image& image, const std::string& pattern, double electrons = 0) {
  std::mt19937 engine(3);
  std::normal_distribution<double> normal;
  std::string file = "P5\n# a mosaic\n" + std::to_string(image.width) + " " + std::to_string(image.height) + "\n4095\n";
  for (std::int64_t y = 0; y < image.height; ++y)
    for (std::int64_t x = 0; x < image.width; ++x) {
      const char color = pattern[static_cast<std::size_t>(y % 2 * 2 + x % 2)];
      double v = linear(image.plane(color == 'R' ? 0 : color == 'G' ? 1 : 2)[y * image.width + x]);
      if (electrons > 0) v += normal(engine) * std::sqrt(v / electrons);
      const auto sample = static_cast<unsigned>(std::lround(std::clamp(v, 0.0, 1.0) * 4095));
      file += static_cast<char>(sample >> 8), file += static_cast<char>(sample & 255u);
    }
  return file;
}

void write(const std::string& path, const std::string& bytes) { std::ofstream(path, std::ios::binary) << bytes; }
std::string contents(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

double psnr(const Image& a, const Image& b) {
  REQUIRE(a.pixels.size() == b.pixels.size());
  double total = 0;
  for (std::size_t k = 0; k < a.pixels.size(); ++k)
    total += (static_cast<double>(a.pixels[k]) - b.pixels[k]) * (static_cast<double>(a.pixels[k]) - b.pixels[k]);
  return -10 * std::log10(total / static_cast<double>(a.pixels.size()));
}

double mean(const Image& image, int channel = -1) {
  double total = 0;
  const std::int64_t pixels = image.width * image.height;
  for (int c = 0; c < 3; ++c)
    for (std::int64_t p = 0; p < pixels; ++p)
      if (channel < 0 || channel == c) total += image.plane(c)[p];
  return total / static_cast<double>(pixels * (channel < 0 ? 3 : 1));
}

double contrast(const Image& image) {  // between neighbors
  double total = 0;
  for (std::size_t k = 1; k < image.pixels.size(); ++k) total += std::abs(image.pixels[k] - image.pixels[k - 1]);
  return total / static_cast<double>(image.pixels.size());
}

double color(const Image& image) {  // how far red and blue are from green
  double total = 0;
  for (std::int64_t p = 0; p < image.width * image.height; ++p)
    total += std::abs(image.plane(0)[p] - image.plane(1)[p]) + std::abs(image.plane(2)[p] - image.plane(1)[p]);
  return total / static_cast<double>(image.width * image.height);
}

const std::string plainly = " --wb none --tone linear --denoise 0 --denoise-color 0 --sharpen 0";

}  // namespace

TEST_CASE("a picture comes back from its mosaic, whatever the pattern") {
  const test::TemporaryFolder folder;
  for (const std::string pattern : {"RGGB", "BGGR", "GRBG", "GBRG"}) {
    write(folder.file("in.pgm"), mosaic(harbour(), pattern));
    const Run r = the_photo(folder.file("in.pgm") + " " + folder.file("out.png") + " --pattern " + pattern + plainly);
    REQUIRE_MESSAGE(r.code == 0, r.text);
    CHECK(r.text == "");
    const double found = psnr(apps::read_png(folder.file("out.png")), harbour());
    CHECK_MESSAGE(found >= 33, pattern, ": ", found, " dB");
  }
}

TEST_CASE("the denoiser brings a noisy mosaic closer to the picture") {
  const test::TemporaryFolder folder;
  write(folder.file("in.pgm"), mosaic(harbour(), "RGGB", 300));
  const auto quality = [&](const std::string& options) {
    const Run r = the_photo(folder.file("in.pgm") + " " + folder.file("out.png") + " --pattern RGGB" + plainly + options);
    REQUIRE_MESSAGE(r.code == 0, r.text);
    return psnr(apps::read_png(folder.file("out.png")), harbour());
  };
  const double noisy = quality(""), both = quality(" --denoise 3 --denoise-color 6"), of_color = quality(" --denoise-color 6");
  CHECK_MESSAGE(both >= noisy + 2, noisy, " dB, denoised ", both);
  CHECK_MESSAGE(of_color >= noisy + 0.5, noisy, " dB, color denoised ", of_color);
}

TEST_CASE("the same samples as PGM, as gray PNG, and without a header in three formats, give the same picture") {
  const test::TemporaryFolder folder;
  const std::int64_t width = 37, height = 21;
  std::mt19937 engine(4);
  std::vector<unsigned> samples;
  std::string big, little, bytes = "head", pgm = "P5 37\t21\n255\n";
  apps::Samples png{width, height, 1, 8, {}};
  for (std::int64_t k = 0; k < width * height; ++k) {
    const unsigned v = engine() % 256u;
    samples.push_back(v), png.samples.push_back(static_cast<std::uint16_t>(v));
    bytes += static_cast<char>(v), pgm += static_cast<char>(v);
    const unsigned wide = v * 257;
    big += static_cast<char>(wide >> 8), big += static_cast<char>(wide & 255u);
    little += static_cast<char>(wide & 255u), little += static_cast<char>(wide >> 8);
  }
  write(folder.file("pgm"), pgm), write(folder.file("u8"), bytes), write(folder.file("be"), big),
      write(folder.file("le"), little);
  apps::write_file(folder.file("png"), apps::encode_png(png));
  std::string first;
  for (const auto& [name, options] :
       std::vector<std::pair<const char*, std::string>>{{"pgm", ""},
                                                        {"png", ""},
                                                        {"u8", " --size 37x21 --samples u8 --skip 4"},
                                                        {"be", " --size 37x21 --samples u16be"},
                                                        {"le", " --size 37x21"}}) {
    const Run r = the_photo(folder.file(name) + " " + folder.file("out.png") + " --pattern GRBG" + options);
    REQUIRE_MESSAGE(r.code == 0, r.text);
    if (first.empty()) first = contents(folder.file("out.png"));
    const bool same = contents(folder.file("out.png")) == first;
    CHECK_MESSAGE(same, name);
  }
}

TEST_CASE("every option does what the help says") {
  const test::TemporaryFolder folder;
  const std::string in = source_dir() + "/apps/data/harbour.png", out = folder.file("out.png");
  const auto made = [&](const std::string& options) {
    const Run r = the_photo(in + " " + out + options);
    REQUIRE_MESSAGE(r.code == 0, r.text);
    return apps::read_png(out);
  };
  const std::string nothing = " --denoise 0 --denoise-color 0 --sharpen 0";
  const Image same = made(nothing);
  CHECK(psnr(same, harbour()) >= 55);  // nothing to do: as it was, to a step
  const auto check = [&](const std::string& options, const std::function<bool(const Image&)>& holds) {
    const Image image = made(nothing + options);
    CHECK_MESSAGE(holds(image), options);
  };
  check(" --exposure 1", [&](const Image& i) { return mean(i) > 1.15 * mean(same); });
  check(" --exposure -1", [&](const Image& i) { return mean(i) < 0.85 * mean(same); });
  check(" --saturation 0", [&](const Image& i) { return color(i) < 0.005; });
  check(" --saturation 1.5", [&](const Image& i) { return color(i) > 1.2 * color(same); });
  check(" --tone filmic", [&](const Image& i) { return mean(i) > 1.1 * mean(same); });
  check(" --tone linear", [&](const Image& i) { return i.pixels == same.pixels; });
  check(" --gamma 1", [&](const Image& i) { return mean(i) < 0.7 * mean(same); });
  check(" --gamma 2.2", [&](const Image& i) { return psnr(i, same) > 35; });
  check(" --wb 2,1,1", [&](const Image& i) { return mean(i, 0) > 1.1 * mean(same, 0) && mean(i, 2) == mean(same, 2); });
  check(" --wb none", [&](const Image& i) { return i.pixels == same.pixels; });
  check(" --matrix 0,0,1,0,1,0,1,0,0", [&](const Image& i) {
    return std::abs(mean(i, 0) - mean(same, 2)) < 0.002 && std::abs(mean(i, 2) - mean(same, 0)) < 0.002;
  });
  check(" --sharpen 1", [&](const Image& i) { return contrast(i) > 1.1 * contrast(same); });
  check(" --sharpen 1 --sharpen-radius 2", [&](const Image& i) { return contrast(i) > 1.1 * contrast(same); });
  check(" --denoise 5", [&](const Image& i) { return contrast(i) < 0.95 * contrast(same); });
  check(" --denoise-color 10", [&](const Image& i) { return color(i) < color(same) && psnr(i, same) > 25; });
  check(" --bits 16", [&](const Image& i) { return i.bits == 16 && psnr(i, harbour()) > 55; });
  check(" --threads 1", [&](const Image& i) { return i.pixels == same.pixels; });
  const Run r = the_photo(in + " " + out + " --verbose");
  CHECK(has(r.text, "harbour.png: 512 x 384, a picture; white balance 1.000, 1.000, 1.000; developed in "));

  write(folder.file("in.pgm"), mosaic(harbour(), "RGGB"));
  const auto of_mosaic = [&](const std::string& options) {
    const Run ran = the_photo(folder.file("in.pgm") + " " + out + " --pattern RGGB" + options);
    REQUIRE_MESSAGE(ran.code == 0, ran.text);
    return apps::read_png(out);
  };
  const Image base = of_mosaic(plainly);
  CHECK(mean(of_mosaic(plainly + " --white 2047")) > 1.2 * mean(base));
  CHECK(mean(of_mosaic(plainly + " --black 200")) < 0.95 * mean(base));
  CHECK(mean(of_mosaic(plainly + " --black 400,0,0,0"), 0) < 0.95 * mean(base, 0));
  const Image balanced = of_mosaic(" --wb auto --tone linear --gamma 1"), by_itself = of_mosaic(" --tone linear --gamma 1");
  CHECK(balanced.pixels == by_itself.pixels);
  CHECK(std::abs(mean(balanced, 0) - mean(balanced, 1)) < 0.03);
  CHECK(std::abs(mean(balanced, 2) - mean(balanced, 1)) < 0.03);
  CHECK(mean(of_mosaic("")) > 1.1 * mean(of_mosaic(" --tone linear")));  // filmic by itself
}

TEST_CASE("the help has every option, and an example") {
  const Run r = the_photo("--help");
  CHECK(r.code == 0);
  for (const char* option :
       {"--pattern", "--size",           "--samples",    "--skip",    "--black",   "--white",   "--wb",
        "--matrix",  "--exposure",       "--saturation", "--tone",    "--gamma",   "--denoise", "--denoise-color",
        "--sharpen", "--sharpen-radius", "--bits",       "--threads", "--verbose", "--help"})
    CHECK_MESSAGE(has(r.text, std::string("\n  ") + option + " "), option);
  CHECK(has(r.text, "photo shot.pgm shot.png --pattern RGGB\n"));
}

TEST_CASE("a wrong command line names the option, exits with 2 and writes nothing") {
  const test::TemporaryFolder folder;
  const std::string picture = source_dir() + "/apps/data/harbour.png", out = folder.file("out.png");
  write(folder.file("in.pgm"), "P5 2 2 255 abcd");
  const std::string gray = folder.file("in.pgm");
  for (const auto& [arguments, text] : std::vector<std::pair<std::string, std::string>>{
           {"", "expected IN and OUT.png; --help lists the options"},
           {picture, "expected IN and OUT.png; --help lists the options"},
           {gray + " OUT --patern RGGB", "The following arguments were not expected: RGGB --patern; --help lists the options"},
           {gray + " OUT", "--pattern is missing: " + gray + " is gray, so it is read as a mosaic"},
           {gray + " OUT --pattern RGBG", "--pattern is \"RGBG\", expected one of RGGB, BGGR, GRBG, GBRG"},
           {gray + " OUT --pattern RGGB --black 1,2", "--black has 2 numbers, expected 1 or 4"},
           {gray + " OUT --pattern RGGB --black 300", "--black is 300, expected less than --white, 255"},
           {gray + " OUT --pattern RGGB --white 0", "--white is \"0\", expected a number from 1 to 65535"},
           {gray + " OUT --pattern RGGB --wb 1,0,1",
            "--wb is \"1,0,1\", expected numbers with commas between, each from 0.01 to 100"},
           {gray + " OUT --pattern RGGB --wb warm",
            "--wb is \"warm\", expected numbers with commas between, each from 0.01 to 100"},
           {gray + " OUT --size 4", "--size is \"4\", expected WIDTHxHEIGHT, each from 1 to 65536"},
           {gray + " OUT --size 0x4", "--size is \"0x4\", expected WIDTHxHEIGHT, each from 1 to 65536"},
           {gray + " OUT --size 2x2 --samples f32", "--samples is \"f32\", expected one of u8, u16le, u16be"},
           {gray + " OUT --skip 4", "--skip is for samples without a header: give --size too"},
           {gray + " OUT --size 2x2 --skip -1", "--skip is \"-1\", expected a whole number from 0 to 1099511627776"},
           {picture + " OUT --pattern RGGB", "--pattern is for mosaics, and " + picture + " is in color"},
           {picture + " OUT --white 9", "--white is for mosaics, and " + picture + " is in color"},
           {picture + " OUT --wb auto", "--wb auto is for mosaics, and " + picture + " is in color"},
           {picture + " OUT --matrix 1,2,3", "--matrix has 3 numbers, expected 9"},
           {picture + " OUT --exposure bright", "--exposure is \"bright\", expected a number from -16 to 16"},
           {picture + " OUT --exposure nan", "--exposure is \"nan\", expected a number from -16 to 16"},
           {picture + " OUT --saturation 11", "--saturation is \"11\", expected a number from 0 to 10"},
           {picture + " OUT --tone soft", "--tone is \"soft\", expected one of linear, filmic"},
           {picture + " OUT --gamma 0", "--gamma is \"0\", expected a number from 0.1 to 10"},
           {picture + " OUT --denoise -1", "--denoise is \"-1\", expected a number from 0 to 100"},
           {picture + " OUT --denoise-color 101", "--denoise-color is \"101\", expected a number from 0 to 100"},
           {picture + " OUT --sharpen 1x", "--sharpen is \"1x\", expected a number from 0 to 10"},
           {picture + " OUT --sharpen-radius 0", "--sharpen-radius is \"0\", expected a number from 0.1 to 3"},
           {picture + " OUT --bits 12", "--bits is \"12\", expected one of 8, 16"},
           {picture + " OUT --threads 0", "--threads is \"0\", expected a whole number from 1 to 256"}}) {
    std::string line = arguments;
    if (const std::size_t at = line.find(" OUT"); at != std::string::npos) line.replace(at + 1, 3, out);
    const Run r = the_photo(line);
    CHECK_MESSAGE(r.code == 2, line);
    CHECK(r.text == "photo: " + text + "\n");
    CHECK_FALSE(fs::exists(out));
  }
}

TEST_CASE("files that are no good are refused with file and line, and leave what was there") {
  const test::TemporaryFolder folder;
  const std::string in = folder.file("in"), out = folder.file("out.png");
  write(out, "as it was");
  const auto refused = [&](const std::string& bytes, const std::string& text, const std::string& options = " --pattern RGGB") {
    write(in, bytes);
    const Run r = the_photo(in + " " + out + options);
    CHECK(r.code == 1);
    CHECK(r.text == "photo: " + in + ": " + text + "\n");
    CHECK(contents(out) == "as it was");
  };
  refused("", "neither a PNG nor a PGM file; --size WIDTHxHEIGHT reads samples without a header");
  refused("GIF89a", "neither a PNG nor a PGM file; --size WIDTHxHEIGHT reads samples without a header");
  refused("P2 1 1 255 7", "line 1: P2, expected P5: gray samples in binary");
  refused("P5\n2 x\n255\nabcd", "line 2: the height is \"x\", expected a whole number from 1 to 65536");
  refused("P5\n# wide\n99999999999999999999 2",
          "line 3: the width is \"99999999999999999999\", expected a whole number from 1 to 65536");
  refused("P5\n2 2\n65536\n", "line 3: the largest sample is \"65536\", expected a whole number from 1 to 65535");
  refused("P5\n2 2\n0\n", "line 3: the largest sample is \"0\", expected a whole number from 1 to 65535");
  refused("P5\n2", "line 2: the file ends before the height");
  refused("P5\n2 2\n255\nabc", "3 bytes of samples after line 3, expected 4 for 2 x 2");
  refused("P5\n2 2\n255\nabcde", "5 bytes of samples after line 3, expected 4 for 2 x 2");
  refused("P5\n2 2\n99\nabcd", "the sample of row 1, column 1 is 100, expected at most 99 (line 3)");
  refused("P5\n65536 65536\n255\n", "65536 x 65536 pixels, expected at most 268435456");
  refused("abc", "3 bytes, expected 8: 0 to skip and 2 x 2 samples of 2 bytes", " --pattern RGGB --size 2x2");
  refused("abc", "3 bytes, expected 5: 1 to skip and 2 x 2 samples of 1 byte",
          " --pattern RGGB --size 2x2 --samples u8 --skip 1");
  const Run none = the_photo(folder.file("none") + " " + out);
  CHECK(none.code == 1);
  CHECK(none.text == "photo: " + folder.file("none") + ": cannot be read: No such file or directory\n");
}

TEST_CASE("every beginning of a PNG and of a PGM file is refused, and so are damaged ones and ones that promise too much") {
  const test::TemporaryFolder folder;
  const std::string in = folder.file("in"), out = folder.file("out.png");
  apps::Samples small{9, 7, 1, 16, {}};
  for (int k = 0; k < 63; ++k) small.samples.push_back(static_cast<std::uint16_t>(k * 1000));
  const std::vector<std::uint8_t> png = apps::encode_png(small);
  const std::string whole(png.begin(), png.end());
  const std::string pgm = "P5\n2 2\n1000\n" + std::string(8, '\1');
  for (const std::string& file : {whole, pgm})
    for (std::size_t length = 0; length < file.size(); length += length < 60 ? 1 : 7) {
      write(in, file.substr(0, length));
      const Run r = the_photo(in + " " + out + " --pattern RGGB");
      CHECK_MESSAGE(r.code == 1, "the first ", length, " bytes: ", r.text);
      CHECK(r.text.rfind("photo: " + in + ": ", 0) == 0);
    }
  for (std::size_t k = 16; k < whole.size() - 12; k += 5) {
    std::string damaged = whole;
    damaged[k] = static_cast<char>(damaged[k] ^ 0x41);
    write(in, damaged);
    const Run r = the_photo(in + " " + out + " --pattern RGGB");
    CHECK_MESSAGE(r.code == 1, "byte ", k, ": ", r.text);
  }
  CHECK_FALSE(fs::exists(out));
  write(in, whole);
  CHECK(the_photo(in + " " + out + " --pattern RGGB").code == 0);
  fs::remove(out);

  // 60000 x 60000 pixels in a few bytes: no memory is asked for them
  const unsigned char header[] = {0x89, 'P', 'N', 'G',  13,   10, 26, 10,   0,    0,  0, 13, 'I', 'H', 'D',
                                  'R',  0,   0,   0xea, 0x60, 0,  0,  0xea, 0x60, 16, 0, 0,  0,   0};
  std::string large(reinterpret_cast<const char*>(header), sizeof header);
  std::uint32_t crc = 0xffffffffu;
  for (std::size_t k = 12; k < large.size(); ++k) {
    crc ^= static_cast<unsigned char>(large[k]);
    for (int bit = 0; bit < 8; ++bit) crc = (crc >> 1) ^ (crc & 1u ? 0xedb88320u : 0);
  }
  crc = ~crc;
  for (int shift = 24; shift >= 0; shift -= 8) large += static_cast<char>(crc >> shift & 255u);
  large += std::string("\0\0\0\1IDAT", 8);
  write(in, large);
  const Run r = the_photo(in + " " + out + " --pattern RGGB");
  CHECK(r.text == "photo: " + in + ": damaged PNG file: the file ends too early\n");
  CHECK(r.code == 1);
}

TEST_CASE("a picture is written whole or not at all") {
  const test::TemporaryFolder folder;
  const std::string in = source_dir() + "/apps/data/harbour.png", out = folder.file("out.png"), link = folder.file("link.png");
  const Run nowhere = the_photo(in + " " + folder.file("no/folder/out.png"));
  CHECK(nowhere.code == 1);
  CHECK(nowhere.text == "photo: " + folder.file("no/folder/out.png") + ": cannot be written: No such file or directory\n");
  // a limit on the size of files, as a full disk: what was there stays, and nothing is left beside it
  write(out, "as it was");
  const Run full = [&] {
    Run r;
    std::FILE* pipe =
        popen(("bash -c \"trap '' XFSZ; ulimit -f 8; '" APPS_PHOTO "' " + in + " " + out + "\" 2>&1").c_str(), "r");
    for (int c = 0; (c = std::fgetc(pipe)) != EOF;) r.text += static_cast<char>(c);
    const int status = pclose(pipe);
    if (WIFEXITED(status)) r.code = WEXITSTATUS(status);
    return r;
  }();
  CHECK(full.code == 1);
  CHECK(full.text == "photo: " + out + ": cannot be written: File too large\n");
  CHECK(contents(out) == "as it was");
  CHECK(std::distance(fs::directory_iterator(fs::path(out).parent_path()), {}) == 1);
  // in place of what was there, with its permissions; through a link, the file that it leads to; into a pipe
  fs::permissions(out, fs::perms::owner_read | fs::perms::owner_write);
  fs::create_symlink("out.png", link);
  CHECK(the_photo(in + " " + link).code == 0);
  CHECK(fs::is_symlink(link));
  CHECK(apps::read_png(out).width == 512);
  CHECK(fs::status(out).permissions() == (fs::perms::owner_read | fs::perms::owner_write));
  CHECK(test::shell("'" APPS_PHOTO "' " + in + " /dev/stdout | cmp - " + out) == "");
}
