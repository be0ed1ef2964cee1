// Gives every file of some folders to a fuzz target, for compilers without a fuzzer: what the corpus holds goes through.
//
//   replay_schedule fuzz/corpus/schedule
#include <cstdint>
#include <cstdio>
#include <exception>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <vector>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

int main(int count, char** arguments) {
  int files = 0;
  for (int k = 1; k < count; ++k)
    for (const auto& entry : std::filesystem::directory_iterator(arguments[k])) {
      std::ifstream in(entry.path(), std::ios::binary);
      const std::vector<char> text{std::istreambuf_iterator<char>(in), {}};
      try {
        LLVMFuzzerTestOneInput(reinterpret_cast<const std::uint8_t*>(text.data()), text.size());
      } catch (const std::exception& e) {
        std::fprintf(stderr, "%s: %s\n", entry.path().c_str(), e.what());
        return 1;
      }
      ++files;
    }
  std::printf("%d files\n", files);
  return files > 0 ? 0 : 1;
}
