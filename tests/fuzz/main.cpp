// ashlar_cases --seed N --count M     random programs under random schedules: the algorithm against the scheduled program, the
//                                    lowered kernel and the compiled code. Failing cases are shrunk and printed.
// ashlar_cases --case "type 1 …"      one case, as printed
// ashlar_cases --kept FILE            one case a line; # starts a comment
// --no-code leaves the compiled code out.
#include <charconv>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <string>

#include "tests/fuzz/case.h"

namespace {

struct Totals {
  std::uint64_t cases = 0, failed = 0, applied = 0, refused = 0, kernels = 0, codes = 0;
};

void report(Totals& t, const fuzz::Case& c, const std::string& name, bool compiled) {
  fuzz::Outcome o = fuzz::check(c, compiled);
  ++t.cases;
  t.applied += static_cast<std::uint64_t>(o.applied);
  t.refused += static_cast<std::uint64_t>(o.refused);
  t.kernels += o.ran_kernel;
  t.codes += o.ran_code;
  if (o.kind.empty()) return;
  ++t.failed;
  const fuzz::Case small = fuzz::shrink(c, compiled, o);
  o = fuzz::check(small, compiled);
  std::printf("%s fails: %s: %s\n  %s\nsteps:\n%s%s\n", name.c_str(), o.kind.c_str(), o.what.c_str(), fuzz::text(small).c_str(),
              o.trace.c_str(), o.program.c_str());
  std::fflush(stdout);
}

bool number(const char* text, std::uint64_t& value) {
  const char* end = text + std::strlen(text);
  return std::from_chars(text, end, value).ptr == end;
}

}  // namespace

int main(int argc, char** argv) {
  std::uint64_t seed = 1, count = 100;
  std::string one, kept;
  bool compiled = true;
  for (int k = 1; k < argc; ++k) {
    const std::string_view option = argv[k];
    const bool has_value = k + 1 < argc;
    if (option == "--no-code")
      compiled = false;
    else if (option == "--seed" && has_value && number(argv[k + 1], seed))
      ++k;
    else if (option == "--count" && has_value && number(argv[k + 1], count))
      ++k;
    else if (option == "--case" && has_value)
      one = argv[++k];
    else if (option == "--kept" && has_value)
      kept = argv[++k];
    else {
      std::fprintf(stderr, "usage: ashlar_cases [--seed N] [--count M] [--case TEXT] [--kept FILE] [--no-code], found %s\n",
                   argv[k]);
      return 2;
    }
  }
  Totals t;
  if (!one.empty()) {
    report(t, fuzz::parse(one), "the case", compiled);
  } else if (!kept.empty()) {
    std::ifstream file(kept);
    if (!file) {
      std::fprintf(stderr, "cannot read %s\n", kept.c_str());
      return 2;
    }
    for (std::string line; std::getline(file, line);)
      if (!line.empty() && line[0] != '#') report(t, fuzz::parse(line), line, compiled);
  } else {
    for (std::uint64_t k = 0; k < count; ++k)
      report(t, fuzz::random_case(seed + k), "seed " + std::to_string(seed + k), compiled);
  }
  std::printf("%llu cases, %llu failed; %llu steps applied, %llu refused; %llu kernels, %llu compiled\n",
              static_cast<unsigned long long>(t.cases), static_cast<unsigned long long>(t.failed),
              static_cast<unsigned long long>(t.applied), static_cast<unsigned long long>(t.refused),
              static_cast<unsigned long long>(t.kernels), static_cast<unsigned long long>(t.codes));
  return t.failed ? 1 : 0;
}
