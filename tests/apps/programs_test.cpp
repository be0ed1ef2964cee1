// The two applications as a user runs them: on the shipped picture, on sizes that no tile divides, and with bad input.
#include <doctest/doctest.h>

#include <sys/wait.h>

#include <array>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>

#include "apps/support/image.h"
#include "apps/unsharp/plain.h"
#include "tests/source_dir.h"
#include "tests/support/text_parts.h"

namespace {

namespace fs = std::filesystem;

struct Run {
  int code = -1;
  std::string text;  // what it printed, errors included
};

Run run(const std::string& command) {
  Run result;
  std::FILE* pipe = popen((command + " 2>&1").c_str(), "r");
  REQUIRE(pipe != nullptr);
  std::array<char, 512> piece{};
  while (std::fgets(piece.data(), piece.size(), pipe)) result.text += piece.data();
  const int status = pclose(pipe);
  if (WIFEXITED(status)) result.code = WEXITSTATUS(status);
  return result;
}

std::string the_unsharp(const std::string& arguments) { return std::string("'" APPS_UNSHARP "' ") + arguments; }
std::string the_matmul(const std::string& arguments) { return std::string("'" APPS_MATMUL "' ") + arguments; }

struct Folder {  // of its own for each test, gone afterwards
  fs::path path;
  Folder() {
    std::string name = (fs::temp_directory_path() / "ashlar_apps_XXXXXX").string();
    REQUIRE(mkdtemp(name.data()) != nullptr);
    path = name;
  }
  ~Folder() { fs::remove_all(path); }
  std::string at(const char* name) const { return (path / name).string(); }
};

using text_parts::has;

// The picture as the plain loops sharpen it, through the same rounding to samples.
apps::Image sharpened(const apps::Image& image) {
  apps::Image sharp = image;
  unsharp::Plain(image.channels, image.height, image.width).run(image.pixels.data(), sharp.pixels.data());
  return apps::decode_png(apps::encode_png(sharp));
}

void compare(const apps::Image& found, const apps::Image& expected) {
  REQUIRE(found.pixels.size() == expected.pixels.size());
  CHECK(found.bits == expected.bits);
  CHECK(found.channels == expected.channels);
  const float step = 1.0f / static_cast<float>((1 << expected.bits) - 1);  // a value between two samples may round to either
  float largest = 0;
  for (std::size_t k = 0; k < found.pixels.size(); ++k)
    largest = std::max(largest, std::abs(found.pixels[k] - expected.pixels[k]));
  CHECK(largest <= 1.01f * step);
}

}  // namespace

TEST_CASE("unsharp sharpens the shipped picture as the plain loops do") {
  const Folder folder;
  const std::string picture = source_dir() + "/apps/data/harbour.png", out = folder.at("out.png");
  const Run r = run(the_unsharp("'" + picture + "' " + out));
  CHECK_MESSAGE(r.code == 0, r.text);
  CHECK(has(r.text, "512 x 384, 3 channels, 8 bits"));
  CHECK(has(r.text, "largest difference"));
  const apps::Image image = apps::read_png(picture), sharp = apps::read_png(out);
  compare(sharp, sharpened(image));
  double contrast[2] = {0, 0};  // between neighbors: more of it than before
  for (std::size_t k = 1; k < image.pixels.size(); ++k)
    contrast[0] += std::abs(image.pixels[k] - image.pixels[k - 1]),
        contrast[1] += std::abs(sharp.pixels[k] - sharp.pixels[k - 1]);
  CHECK(contrast[1] > 1.1 * contrast[0]);
}

TEST_CASE("unsharp takes any size, gray and RGB, 8 and 16 bits") {
  const Folder folder;
  for (const int bits : {8, 16})
    for (const int channels : {1, 3})
      for (const auto& [width, height] : {std::pair{1, 1}, {1, 70}, {33, 2}, {17, 65}}) {
        apps::Image image{width, height, channels, bits, {}};
        for (int k = 0; k < width * height * channels; ++k) image.pixels.push_back(static_cast<float>(k * 37 % 256) / 255.0f);
        image = apps::decode_png(apps::encode_png(image));
        apps::write_png(folder.at("in.png"), image);
        const Run r = run(the_unsharp(folder.at("in.png") + " " + folder.at("out.png")));
        CHECK_MESSAGE(r.code == 0, r.text);
        compare(apps::read_png(folder.at("out.png")), sharpened(image));
      }
}

TEST_CASE("unsharp says what is wrong with its input") {
  const Folder folder;
  Run r = run(the_unsharp(""));
  CHECK(r.code == 2);
  CHECK(r.text == "usage: unsharp IN.png OUT.png\n");
  r = run(the_unsharp("one two three"));
  CHECK(r.code == 2);
  r = run(the_unsharp(folder.at("none.png") + " " + folder.at("out.png")));
  CHECK(r.code == 1);
  CHECK(r.text == "unsharp: " + folder.at("none.png") + ": cannot be read: No such file or directory\n");
  std::ofstream(folder.at("text.png")) << "this is no picture";
  r = run(the_unsharp(folder.at("text.png") + " " + folder.at("out.png")));
  CHECK(r.code == 1);
  CHECK(r.text == "unsharp: " + folder.at("text.png") + ": not a PNG file\n");
  apps::write_png(folder.at("in.png"), apps::Image{2, 2, 1, 8, {0.0f, 0.25f, 0.5f, 1.0f}});
  r = run(the_unsharp(folder.at("in.png") + " " + folder.at("no/folder/out.png")));
  CHECK(r.code == 1);
  CHECK(has(r.text, "cannot be written: No such file or directory"));
  CHECK(!fs::exists(folder.at("out.png")));
}

TEST_CASE("matmul agrees with Eigen on sizes that no tile divides") {
  for (const char* sizes : {"1 1 1", "13 31 255", "15 33 257", "257 100 14", "100 1 300"}) {
    const Run r = run(the_matmul(sizes));
    CHECK_MESSAGE(r.code == 0, sizes, ": ", r.text);
    CHECK(has(r.text, "ashlar"));
    CHECK(has(r.text, "eigen"));
  }
}

TEST_CASE("matmul says what is wrong with its arguments") {
  Run r = run(the_matmul("10 20"));
  CHECK(r.code == 2);
  CHECK(r.text == "usage: matmul [M N K]\n");
  r = run(the_matmul("10 twenty 30"));
  CHECK(r.code == 2);
  CHECK(r.text == "matmul: N is \"twenty\", expected a whole number from 1 to 65536\n");
  r = run(the_matmul("10 20 0"));
  CHECK(r.code == 2);
  CHECK(r.text == "matmul: K is \"0\", expected a whole number from 1 to 65536\n");
}
