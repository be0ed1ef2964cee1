// keywords [N]: a keyword-spotting network on N inputs (4), here and on boards in an emulator: every bit of every result must
// be the same, and the integers those of plain loops. Then what it takes of each board.
//
//   inputs 4: logits as plain loops have them, probabilities within 4.1 ulp
//     cortex-m4   the same   6380007 instructions, 2.40 for each multiply-add; 12094 bytes of code, ...
//     cortex-m55  skipped: arm-none-eabi-gcc or qemu-system-arm was not found
//
// Instructions are those that the emulator executed: with `-icount shift=6` its clock advances 64 ns with each, and the system
// timer of the board reads that clock in steps of less (40 and 31.25 ns).
// Exit codes: 0, 1 when results differ or something fails, 2 for a wrong command line, 77 when a board was skipped.
#include <keywords.h>

#include <unistd.h>

#include <charconv>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <sstream>

#include "apps/keywords/reference.h"
#include "apps/support/tensor.h"

namespace {

constexpr std::size_t input_bytes = ds_cnn::frames * ds_cnn::coefficients;
using Input = std::vector<std::int8_t>;

struct Found {  // as board/main.c writes it
  std::int32_t code = 0;
  std::uint32_t ticks = 0, stack = 0;
  float probability[ds_cnn::classes] = {};
  std::int8_t logits[ds_cnn::classes] = {};
};

// Sounds, of a kind: each coefficient walks at random through the frames.
std::vector<Input> inputs(int count) {
  std::mt19937 engine(20171120);
  const auto from = [&](int low, int high) { return low + static_cast<int>(engine() % static_cast<unsigned>(high - low + 1)); };
  std::vector<Input> all;
  for (int n = 0; n < count; ++n) {
    Input x(input_bytes);
    for (int c = 0; c < ds_cnn::coefficients; ++c) {
      int v = from(-100, 100);
      for (int f = 0; f < ds_cnn::frames; ++f) {
        v = std::clamp(v + from(-40, 40), -128, 127);
        x[static_cast<std::size_t>(f * ds_cnn::coefficients + c)] = static_cast<std::int8_t>(v);
      }
    }
    all.push_back(x);
  }
  return all;
}

ashlar_tensor tensor(void* data, std::int64_t* shape, int rank, unsigned char code, unsigned char bits) {
  ashlar_tensor t{};
  t.data = data, t.device_type = 1, t.ndim = rank, t.shape = shape;
  t.type_code = code, t.type_bits = bits, t.type_lanes = 1;
  return t;
}

Found here(Input x) {
  Found found;
  std::int64_t in[] = {ds_cnn::frames, ds_cnn::coefficients}, out[] = {ds_cnn::classes};
  const ashlar_tensor tx = tensor(x.data(), in, 2, 0, 8);
  ashlar_tensor logits = tensor(found.logits, out, 1, 0, 8), probability = tensor(found.probability, out, 1, 2, 32);
  apps::check(keywords_with(&tx, &logits, &probability, nullptr));
  return found;
}

// The integers exactly. Each exp is within an ulp, eleven additions round by half of one each, and the quotient once more; it
// may lie where an ulp is half as large. Says how far off the probabilities are, in ulps.
double compare_with_loops(const Input& x, const Found& found) {
  const ds_cnn::Result expected = ds_cnn::reference(x.data());
  double worst = 0;
  for (std::size_t k = 0; k < ds_cnn::classes; ++k) {
    if (found.logits[k] != expected.logits[k])
      throw apps::KernelError("logit " + std::to_string(k) + " is " + std::to_string(found.logits[k]) + ", plain loops give " +
                              std::to_string(expected.logits[k]));
    const float p = static_cast<float>(expected.probability[k]);
    const double ulp = static_cast<double>(std::nextafter(p, 2.0f) - p);
    worst = std::max(worst, std::abs(static_cast<double>(found.probability[k]) - expected.probability[k]) / ulp);
  }
  if (worst > 16) throw apps::KernelError("a probability is " + std::to_string(worst) + " ulps off");
  return worst;
}

// What a command said; an error where it fails.
std::string shell(const std::string& command) {
  std::string said;
  std::FILE* pipe = popen((command + " 2>&1").c_str(), "r");
  if (!pipe) throw apps::KernelError("no shell");
  for (int c = 0; (c = std::fgetc(pipe)) != EOF;) said += static_cast<char>(c);
  if (pclose(pipe) != 0) throw apps::KernelError(command + " failed: " + said);
  return said;
}

class Folder {  // gone with all that is in it
 public:
  Folder() {
    if (!mkdtemp(path_.data())) throw apps::KernelError("no temporary folder");
  }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  ~Folder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  std::string file(const char* name) const { return path_ + "/" + name; }

 private:
  std::string path_ = (std::filesystem::temp_directory_path() / "keywords_XXXXXX").string();
};

struct Board {
  const char *name, *machine;
  double nanoseconds;  // of a tick of its system timer
  const char *program, *object, *emulator, *size;
};
const Board boards[] = {
    {"cortex-m4", "mps2-an386", 40, KEYWORDS_M4_PROGRAM, KEYWORDS_M4_OBJECT, KEYWORDS_EMULATOR, KEYWORDS_SIZE},
    {"cortex-m55", "mps3-an547", 31.25, KEYWORDS_M55_PROGRAM, KEYWORDS_M55_OBJECT, KEYWORDS_EMULATOR, KEYWORDS_SIZE},
};

struct Sections {
  long code = 0, constants = 0;
};

Sections sections_of(const Board& b) {
  std::istringstream lines(shell(std::string(b.size) + " -A " + b.object));
  Sections s;
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    std::string name;
    long bytes = 0;
    if (!(words >> name >> bytes)) continue;
    if (name.starts_with(".text")) s.code += bytes;
    if (name.starts_with(".rodata")) s.constants += bytes;
  }
  return s;
}

// Runs the board's program on all inputs; the bytes of its workspace and what it found.
std::pair<std::uint32_t, std::vector<Found>> on(const Board& b, const std::vector<Input>& xs) {
  const Folder folder;
  std::ofstream in(folder.file("keywords.in"), std::ios::binary);
  const auto count = static_cast<std::uint32_t>(xs.size());
  in.write(reinterpret_cast<const char*>(&count), sizeof count);
  for (const Input& x : xs) in.write(reinterpret_cast<const char*>(x.data()), static_cast<std::streamsize>(x.size()));
  in.close();
  shell(
      "cd " + folder.file("") + " && timeout 120 " + b.emulator + " -M " + b.machine +
      " -nographic -monitor none -serial none -semihosting-config enable=on,target=native -icount shift=6,sleep=off -kernel " +
      b.program);
  std::ifstream out(folder.file("keywords.out"), std::ios::binary);
  std::uint32_t workspace = 0;
  std::vector<Found> found(xs.size());
  out.read(reinterpret_cast<char*>(&workspace), sizeof workspace);
  for (Found& f : found) out.read(reinterpret_cast<char*>(&f), sizeof f);
  if (!out) throw apps::KernelError(std::string(b.name) + ": the program wrote less than its results");
  return {workspace, found};
}

// Prints a line; whether all bits are the same.
bool report(const Board& b, const std::vector<Input>& xs, const std::vector<Found>& expected) {
  const auto [workspace, found] = on(b, xs);
  std::size_t differ = 0;
  std::uint32_t ticks = 0, stack = 0;
  for (std::size_t n = 0; n < xs.size(); ++n) {
    if (found[n].code != ASHLAR_OK) throw apps::KernelError(std::string(b.name) + ": error " + std::to_string(found[n].code));
    if (found[n].ticks == 0) throw apps::KernelError(std::string(b.name) + ": more instructions than the system timer counts");
    differ += std::memcmp(found[n].logits, expected[n].logits, sizeof found[n].logits) != 0 ||
              std::memcmp(found[n].probability, expected[n].probability, sizeof found[n].probability) != 0;
    ticks = std::max(ticks, found[n].ticks), stack = std::max(stack, found[n].stack);
  }
  const double instructions = std::round(ticks * b.nanoseconds / 64);
  const Sections s = sections_of(b);
  std::printf("  %-11s ", b.name);
  if (differ)
    std::printf("%zu of %zu results differ", differ, xs.size());
  else
    std::printf("the same");
  std::printf(
      "   %.0f instructions, %.2f for each multiply-add; %ld bytes of code, %ld of constants; RAM: workspace %u, stack %u\n",
      instructions, instructions / ds_cnn::multiply_adds, s.code, s.constants, workspace, stack);
  return differ == 0;
}

bool parse(const char* text, int& value) {
  const char* end = text + std::strlen(text);
  const auto r = std::from_chars(text, end, value);
  return r.ec == std::errc() && r.ptr == end && value >= 1 && value <= 1000;
}

}  // namespace

int main(int argc, char** argv) try {
  int count = 4;
  if (argc > 2 || (argc == 2 && !parse(argv[1], count))) {
    std::fprintf(stderr, "usage: keywords [N], inputs from 1 to 1000\n");
    return 2;
  }
  const std::vector<Input> xs = inputs(count);
  std::vector<Found> expected;
  double worst = 0;
  for (const Input& x : xs) {
    expected.push_back(here(x));
    worst = std::max(worst, compare_with_loops(x, expected.back()));
  }
  std::printf("inputs %d: logits as plain loops have them, probabilities within %.1f ulp\n", count, worst);
  bool same = true, skipped = false;
  for (const Board& b : boards) {
    if (!*b.program) {
      std::printf("  %-11s skipped: arm-none-eabi-gcc or qemu-system-arm was not found\n", b.name);
      skipped = true;
    } else {
      same = report(b, xs, expected) && same;
    }
  }
  return !same ? 1 : skipped ? 77 : 0;
} catch (const std::exception& e) {
  std::fprintf(stderr, "keywords: %s\n", e.what());
  return 1;
}
