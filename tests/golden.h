#pragma once
// Golden texts: files under tests/ that hold what is expected, word for word.
//
//   CHECK(golden("generator/help.txt", text) == "");      // "" or the first line that differs
//
// ASHLAR_BLESS=1 ctest (or any test executable) writes the files anew; look at the difference before you commit it.
#include <cstdlib>
#include <fstream>
#include <sstream>
#include <string>

#include "tests/source_dir.h"

inline std::string golden(const std::string& name, const std::string& found) {
  const std::string path = source_dir() + "/tests/" + name;
  if (std::getenv("ASHLAR_BLESS")) {
    std::ofstream(path, std::ios::binary) << found;
    return "";
  }
  std::ifstream in(path, std::ios::binary);
  if (!in) return "tests/" + name + " cannot be read; ASHLAR_BLESS=1 writes it";
  std::stringstream buffer;
  buffer << in.rdbuf();
  if (buffer.str() == found) return "";
  std::istringstream expected(buffer.str()), actual(found);
  for (int line = 1;; ++line) {
    std::string e, f;
    const bool more_expected = static_cast<bool>(std::getline(expected, e)),
               more_found = static_cast<bool>(std::getline(actual, f));
    if (!more_expected && !more_found) return name + ": the last line's end differs";
    if (e != f || more_expected != more_found)
      return name + ":" + std::to_string(line) + ": expected \"" + (more_expected ? e : "the end") + "\", found \"" +
             (more_found ? f : "the end") + "\"";
  }
}
