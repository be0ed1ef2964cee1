// Lesson 13: generators: a build compiles operators, and a program calls them without containing a compiler.
#include <array>
#include <cstdint>
#include <cstdio>
#include <string>

#include <ashlar/runtime/runtime.h>

#include "mean1.h"
#include "mean2.h"

namespace {

void say(const char* text) { std::printf("\n%s\n", text); }

// Runs the generator as the build does, and shows what it prints.
void tool(const char* arguments) {
  std::printf("\n    mean_generator %s\n\n", arguments);
  std::fflush(stdout);
  const std::string command =
      std::string("cd \"") + LESSON_FOLDER + "\" && \"" + LESSON_GENERATOR + "\" " + arguments + " 2>&1";
  FILE* output = popen(command.c_str(), "r");
  if (!output) {
    std::printf("    cannot be run\n");
    return;
  }
  for (char line[1024]; std::fgets(line, sizeof line, output);) std::printf("%s%s", *line == '\n' ? "" : "    ", line);
  const int status = pclose(output);
  std::printf("    exit code %d\n", status >= 0 ? status / 256 : status);
}

struct Row {
  explicit Row(std::int64_t n) : extent{n} {
    tensor.data = data.data(), tensor.device_type = 1, tensor.ndim = 1, tensor.type_code = 2, tensor.type_bits = 32;
    tensor.type_lanes = 1, tensor.shape = extent.data();
  }
  Row(const Row&) = delete;
  Row& operator=(const Row&) = delete;
  std::array<std::int64_t, 1> extent;
  std::array<float, 8> data{};
  ashlar_tensor tensor{};
};

bool show(int (*mean)(const ashlar_tensor*, ashlar_tensor*), std::int64_t radius) {
  Row x(8), y(8 - 2 * radius);
  for (std::size_t i = 0; i < 8; ++i) x.data[i] = static_cast<float>(i * i);
  if (mean(&x.tensor, &y.tensor) != ASHLAR_OK) {
    char text[400];
    ashlar_error_text(ashlar_last_error(), text, sizeof text);
    std::printf("\n    %s\n", text);
    return false;
  }
  std::printf("\n   ");
  for (std::int64_t i = 0; i < y.extent[0]; ++i) std::printf(" %g", static_cast<double>(y.data[static_cast<std::size_t>(i)]));
  std::printf("\n");
  return true;
}

}  // namespace

int main() {
  std::printf("13. Generators\n==============\n");
  say("The previous lessons compiled their operators at run time. An application links compiled operators instead: a "
      "generator\n"
      "is a class with parameters, arguments, an algorithm and a schedule (13_mean.cpp), and the build runs it. In CMake:");
  std::printf(
      "\n    ashlar_add_generator(mean_generator SOURCES 13_mean.cpp)\n"
      "    ashlar_add_library(mean1 FROM mean_generator GENERATOR mean TARGETS host PARAMS radius=1)\n"
      "    ashlar_add_library(mean2 FROM mean_generator GENERATOR mean TARGETS host PARAMS radius=2)\n"
      "    target_link_libraries(lesson_13_generators PRIVATE mean1 mean2)\n");
  say("A generator is a command-line tool; the lines above only run it. It lists its generators and their parameters:");
  tool("--help | sed -n '/^generators/,/^$/p'");
  say("A Param has its value when the tool runs, so algorithm and schedule can use it in C++. --trace shows each step,\n"
      "its source line, and the program after it:");
  tool("-g mean -f mean1 -o . --trace target=x86-64-v3 radius=1");
  say("Another radius gives another kernel:");
  tool("-g mean -f mean2 -o . -e program=mean2.program target=x86-64-v3 radius=2 && cat mean2.program");
  say("A value that a Param does not allow is refused, and nothing is written:");
  tool("-g mean -f mean1 -o . target=x86-64-v3 radius=0");
  say("The header declares the functions. The simple entry takes the tensors:");
  tool("-g mean -f mean1 -o . -e header=mean1.h target=x86-64-v3 && grep '^ASHLAR_CHECKED int mean1(' mean1.h");
  say("This program links two libraries that the build made for this machine, but no compiler. The means of 0, 1, 4, ... 49:");
  if (!show(mean1, 1) || !show(mean2, 2)) return 1;
  say("A call with wrong shapes fails:");
  Row x(8), y(7);
  if (mean1(&x.tensor, &y.tensor) == ASHLAR_OK) return 1;
  char text[400];
  ashlar_error_text(ashlar_last_error(), text, sizeof text);
  std::printf("\n    %s\n", text);
  return 0;
}
