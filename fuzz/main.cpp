// ashlar_fuzz: random small programs under random schedules; the interpreter unscheduled, scheduled and lowered against
// compiled code. `./dev fuzz` builds and runs it.
//
//   ashlar_fuzz --seed 1 --count 500              cases 1 .. 500
//   ashlar_fuzz --seed 137 --count 1 --verbose    one of them again, with its text
//   ashlar_fuzz ... --refusals                    which steps were refused how often, and what forcing them shows (forced.h)
//   ashlar_fuzz ... --confirm OBLIGATION PERCENT  fails if fewer of the steps refused for it show a conflict when forced
//   ashlar_fuzz ... --no-compile                  interpreters only
//   ashlar_fuzz ... --demand NAME                 fails if no schedule with the primitive, or the form of the language, ran
//   ashlar_fuzz ... --target NAME                 for this target, as often as wanted; a GPU alone: vulkan, cuda-sm_80, ...
//   ashlar_fuzz ... --by-default                  programs, a third of them operators of the library, are scheduled by
//                                                schedule_by_default, not by random steps
//   ashlar_fuzz ... --windows                     programs are chains of windows, and most schedules slide them (windows.h)
//   ashlar_fuzz ... --backend c                   kernels of processors as C, through gcc and clang as they are here
//   ashlar_fuzz ... --emulate                     kernels for other processors run in an emulator: --target aarch64,
//                                                armv7+vfp4, ...
//   ashlar_fuzz ... --device                     kernels for CUDA run on the first device that the driver sees
//   ashlar_fuzz ... --continue                   does not stop at a failure; --case-seconds N: a case that takes longer fails
//   ashlar_fuzz ... --lines                      does not either; the cases as lines of JSON (bench/gpu/lines.h), and no table
//
// Exit code 0: all agree. 1: a case failed; it is made smaller and printed. 2: a mistake in the command line. 3: --device, and
// there is none. 4: a kernel failed and the device's context was lost, so later cases did not run.
#include <algorithm>
#include <charconv>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <cstdlib>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <unistd.h>

#include <ashlar/codegen/ptx.h>
#include <ashlar/runtime/runtime.h>

#include <ashlar/schedule/step.h>
#include <ashlar/schedules/by_default.h>

#include "bench/gpu/lines.h"
#include "forms.h"
#include "shrink.h"
#include "tests/emulated/emulator.h"

namespace {

char replay[384];  // what to type to see the current case again, for a signal handler

void died(int signal) {
  const char* name = signal == SIGALRM ? "took too long" : signal == SIGABRT ? "aborted" : "crashed";
  const auto put = [](const char* s) { return write(2, s, std::strlen(s)); };
  if (put("a case ") < 0 || put(name) < 0 || put(": ") < 0 || put(replay) < 0) _exit(4);
  _exit(1);
}

// The device that kernels run on, where there is one; elsewhere they are interpreted, which is said.
// False: there is none. What is there and does not open is an error.
bool open_vulkan(fuzz::Setup& setup) {
#ifdef ASHLAR_HAS_SPIRV
  ashlar_error error = {};
  if (ashlar_vulkan_open(nullptr, &setup.device.vulkan, &error) == ASHLAR_OK) {
    const std::string name = ashlar_vulkan_device_name(setup.device.vulkan);
    setup.loose_zeros = name.find("llvmpipe") != std::string::npos;
    std::printf("on %s%s\n", name.c_str(), setup.loose_zeros ? ", whose zeros have no sign" : "");
    return true;
  }
  char why[400];
  ashlar_error_text(&error, why, sizeof why);
  const char* require = std::getenv("ASHLAR_REQUIRE_VULKAN");
  if (error.code != ASHLAR_E_DEVICE || !std::strstr(why, ": no Vulkan ") || (require && *require))
    throw std::runtime_error(std::string("the Vulkan device cannot be used: ") + why);
#else
  const char* why = "built without SPIR-V";
#endif
  std::printf("skipped: kernels on a Vulkan device (%s)\n", why);
  setup.compile = false;
  return false;
}

// What is compiled for a CUDA device goes as far as machine code where there is an assembler; elsewhere as far as PTX, which is
// said.
void find_assembler(const ashlar::Target& target) {
  if (!ashlar::codegen::ptx::assembles(target.device().chip))
    std::printf("skipped: machine code for %s (no libnvJitLink that knows it); only PTX is made\n",
                std::string(target.text()).c_str());
}

int usage(const std::string& what) {
  std::fprintf(
      stderr,
      "ashlar_fuzz: %s\nusage: ashlar_fuzz [--seed N] [--count N] [--refusals] [--verbose] [--no-compile] [--continue] "
      "[--lines] [--case-seconds N] [--target NAME] [--device] [--by-default] [--windows] [--backend c] [--emulate] "
      "[--demand NAME] [--confirm "
      "OBLIGATION "
      "PERCENT]\n",
      what.c_str());
  return 2;
}

void print_table(const fuzz::Statistics& s) {
  std::printf("%-26s %9s\n", "form", "schedules");
  for (const std::string_view name : fuzz::all_forms) {
    const auto at = s.forms.find(std::string(name));
    std::printf("%-26s %9lld\n", std::string(name).c_str(), static_cast<long long>(at == s.forms.end() ? 0 : at->second));
  }
  std::printf("%-20s %9s %9s %9s\n", "primitive", "schedules", "applied", "refused");
  for (const std::string_view name : ashlar::schedule::primitive_names()) {
    const auto at = s.steps.find(std::string(name));
    const fuzz::Statistics::Count n = at == s.steps.end() ? fuzz::Statistics::Count() : at->second;
    std::printf("%-20s %9lld %9lld %9lld\n", std::string(name).c_str(), static_cast<long long>(n.ran),
                static_cast<long long>(n.applied), static_cast<long long>(n.refused));
  }
  std::printf(
      "%lld programs (%lld more refused), %lld runs (%lld more without arguments that keep what is promised), %lld kernels, "
      "%lld "
      "compiled, %lld more made into objects for other machines, %lld too large to compile, %lld too long to interpret, %lld "
      "that need "
      "fma on a target without, %lld that divide floats where zeros have no sign, %lld schedules that launches could not be "
      "made of\n",
      static_cast<long long>(s.cases), static_cast<long long>(s.refused_programs), static_cast<long long>(s.runs),
      static_cast<long long>(s.without_arguments), static_cast<long long>(s.kernels), static_cast<long long>(s.compiled),
      static_cast<long long>(s.emitted), static_cast<long long>(s.too_large), static_cast<long long>(s.too_long),
      static_cast<long long>(s.without_fma), static_cast<long long>(s.dividing), static_cast<long long>(s.unfinished));
  if (s.emulated > 0) std::printf("%lld kernels run in an emulator\n", static_cast<long long>(s.emulated));
  if (s.on_device > 0) std::printf("%lld runs on a device\n", static_cast<long long>(s.on_device));
  std::printf("%lld statements of traces as C++, of which %lld replay a step that no call makes\n",
              static_cast<long long>(s.statements), static_cast<long long>(s.replayed));
  if (s.barriers + s.warp_barriers > 0)
    std::printf("barriers: %lld of blocks, %lld of warps\n", static_cast<long long>(s.barriers),
                static_cast<long long>(s.warp_barriers));
}

void print_sentences(const std::map<std::string, std::pair<std::int64_t, std::string>>& sentences) {
  std::vector<std::pair<std::int64_t, std::string>> sorted;
  for (const auto& [sentence, n] : sentences) sorted.emplace_back(-n.first, sentence + "\n          e.g. " + n.second);
  std::sort(sorted.begin(), sorted.end());
  for (const auto& [n, text] : sorted) std::printf("%8lld  %s\n", static_cast<long long>(-n), text.c_str());
}

void print_judged(const fuzz::Statistics& s) {
  std::printf("refused steps, forced\n%-20s %-12s %9s %12s %9s %10s\n", "primitive", "obligation", "confirmed", "nothing seen",
              "moot", "impossible");
  for (const auto& [key, n] : s.judged)
    std::printf("%-20s %-12s %9lld %12lld %9lld %10lld\n", key.first.c_str(), key.second.c_str(),
                static_cast<long long>(n.confirmed), static_cast<long long>(n.unconfirmed), static_cast<long long>(n.moot),
                static_cast<long long>(n.impossible));
  std::printf("nothing was seen of\n");
  print_sentences(s.unconfirmed);
  std::printf("no program came out of\n");
  print_sentences(s.impossible);
}

// Of the steps that were refused for the obligation and could be forced, enough show a conflict.
bool confirmed(const fuzz::Statistics& s, const std::string& obligation, int percent) {
  std::int64_t seen = 0, all = 0;
  for (const auto& [key, n] : s.judged)
    if (key.second == obligation) seen += n.confirmed, all += n.confirmed + n.unconfirmed;
  if (all > 0 && seen * 100 >= all * percent) return true;
  std::printf(
      "FAILED: of %lld steps that were refused for %s, %lld show a conflict when they are forced, less than %d of 100\n",
      static_cast<long long>(all), obligation.c_str(), static_cast<long long>(seen), percent);
  return false;
}

void print_refusals(const fuzz::Statistics& s) {
  print_judged(s);
  std::printf("refused were\n");
  std::vector<std::pair<std::int64_t, std::string>> sorted;
  for (const auto& [sentence, n] : s.refusals) sorted.emplace_back(-n.first, sentence + "\n          e.g. " + n.second);
  for (const auto& [sentence, n] : s.programs_refused) sorted.emplace_back(-n, "program: " + sentence);
  std::sort(sorted.begin(), sorted.end());
  for (const auto& [n, text] : sorted) std::printf("%8lld  %s\n", static_cast<long long>(-n), text.c_str());
}

// Symbols are taken for small and for large numbers, which decides what is worth a tile or a thread.
void by_default(ashlar::Schedule& s, bool regroup, fuzz::Source& source) {
  static constexpr std::int64_t extents[] = {0, 1, 7, 64, 1024, 1 << 20};
  const ashlar::schedules::DefaultOptions options{.regroup = regroup && !source.one_in(4),
                                                  .parallel = !source.one_in(8),
                                                  .extent = extents[source.pick(6)],
                                                  .subnormals_as_zero = regroup && source.one_in(2)};
  ashlar::schedule_by_default(s, options);
}

}  // namespace

int main(int argc, char** argv) {
  std::uint64_t seed = 1, count = 200;
  bool refusals = false, verbose = false, keep_going = false, in_c = false, defaults = false, on_device = false, lines = false;
  unsigned case_seconds = 60;
  fuzz::Setup setup;
  std::vector<std::string> targets, demanded;
  std::vector<std::pair<std::string, int>> to_confirm;
  for (int k = 1; k < argc; ++k) {
    const std::string_view a = argv[k];
    const auto number = [&](auto& into) {
      if (k + 1 >= argc) return false;
      const std::string_view text = argv[++k];
      const auto r = std::from_chars(text.data(), text.data() + text.size(), into);
      return r.ec == std::errc() && r.ptr == text.data() + text.size();
    };
    if (a == "--seed") {
      if (!number(seed)) return usage("--seed takes a number");
    } else if (a == "--count") {
      if (!number(count)) return usage("--count takes a number");
    } else if (a == "--case-seconds") {
      if (!number(case_seconds)) return usage("--case-seconds takes a number");
    } else if (a == "--target") {
      if (k + 1 >= argc) return usage("--target takes a name");
      targets.push_back(argv[++k]);
    } else if (a == "--backend") {
      if (k + 1 >= argc || std::string_view(argv[k + 1]) != "c") return usage("--backend takes c");
      ++k, in_c = true;
    } else if (a == "--refusals")
      refusals = setup.force = true;
    else if (a == "--confirm") {
      if (k + 2 >= argc) return usage("--confirm takes an obligation and a number");
      to_confirm.emplace_back(argv[++k], 0);
      if (!number(to_confirm.back().second)) return usage("--confirm takes an obligation and a number");
      setup.force = true;
    } else if (a == "--verbose")
      verbose = true;
    else if (a == "--demand") {
      if (k + 1 >= argc) return usage("--demand takes the name of a primitive or a form");
      demanded.push_back(argv[++k]);
    } else if (a == "--no-compile")
      setup.compile = false;
    else if (a == "--emulate")
      setup.emulate = true;
    else if (a == "--windows")
      setup.windows = true;
    else if (a == "--by-default")
      setup.by_default = by_default, setup.library = true, defaults = true;
    else if (a == "--continue")
      keep_going = true;
    else if (a == "--lines")
      keep_going = lines = true;
    else if (a == "--device")
      on_device = true;
    else
      return usage("unknown option \"" + std::string(a) + "\"");
  }
  std::string named;
  for (const std::string& name : targets) named += " --target " + name;
  if (targets.empty()) targets = {"x86-64-v2", "x86-64-v3", "x86-64-v4", "host", "aarch64+sve"};
  try {
    for (const std::string& name : targets) {
      const ashlar::Target t = ashlar::Target::parse(name);
      if (t.runs_here() || t.is_gpu())  // the interpreter runs launches
        setup.targets.push_back(t);
      else {
        if (setup.emulate && t.os() == "none") return usage("--emulate takes targets with an operating system");
        const char* why = setup.emulate ? emulated::missing(t) : "which this machine does not execute";
        setup.elsewhere.push_back(t);
        if (why) std::printf("interpreted only: kernels for %s, %s\n", name.c_str(), why);
        if (why && setup.emulate) return 77;
      }
    }
  } catch (const std::exception& e) { return usage(e.what()); }
  if (setup.targets.size() > 1 &&
      std::any_of(setup.targets.begin(), setup.targets.end(), [](const ashlar::Target& t) { return t.is_gpu(); }))
    return usage("a GPU is fuzzed alone");
  bool skipped = false;
  if (in_c) {
    setup.c = in_c::compilers();
    if (setup.c.empty()) skipped = true, setup.compile = false;
    if (!setup.targets.empty() && setup.targets.front().is_gpu()) return usage("--backend c is for processors");
  }
  std::unique_ptr<gpu_bench::Device> cuda;
  if (on_device && (setup.targets.empty() || !setup.targets.front().is_gpu()))
    return usage("--device takes a target for a GPU");
  if (on_device && setup.targets.front().device().kind != ashlar::Device::Kind::vulkan) {
    std::string why;
    cuda = gpu_bench::Device::open(&why);
    if (!cuda) {
      std::printf("no GPU can be used: %s\n", why.c_str());
      return 3;
    }
    setup.device.cuda = cuda.get();
  }
  if (setup.compile && !setup.targets.empty() && setup.targets.front().is_gpu()) {
    if (setup.targets.front().device().kind == ashlar::Device::Kind::vulkan) {
      try {
        skipped = !open_vulkan(setup);
        if (skipped && on_device) return 3;
      } catch (const std::exception& e) {
        std::printf("FAILED: %s\n", e.what());
        return 1;
      }
    } else if (!on_device && !setup.targets.front().has_tiles())
      find_assembler(setup.targets.front());
  }
  fuzz::Statistics statistics;
  setup.statistics = &statistics;
  for (int signal : {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT, SIGALRM}) std::signal(signal, died);
  if (defaults) named += " --by-default";
  if (setup.windows) named += " --windows";
  if (in_c) named += " --backend c";
  std::uint64_t failures = 0;
  auto spoken = std::chrono::steady_clock::now();
  for (std::uint64_t n = 0; n < count; ++n) {
    std::snprintf(replay, sizeof replay, "./dev fuzz%.200s --seed %llu --count 1\n", named.c_str(),
                  static_cast<unsigned long long>(seed + n));
    alarm(case_seconds);
    if (const auto now = std::chrono::steady_clock::now(); now - spoken > std::chrono::seconds(10)) {
      spoken = now;
      std::fprintf(stderr, "%llu of %llu\n", static_cast<unsigned long long>(n), static_cast<unsigned long long>(count));
    }
    if (lines) gpu_bench::Line("begin", std::to_string(seed + n)).print();
    const std::int64_t ran_before = statistics.on_device;
    fuzz::Case drawn;
    fuzz::Report r = fuzz::check(seed + n, drawn, setup);
    if (verbose)
      std::printf("---- %llu\n%s%s%s\n%s\n", static_cast<unsigned long long>(seed + n), r.program.c_str(), r.trace.c_str(),
                  r.scheduled.c_str(), r.json.c_str());
    if (lines) {
      gpu_bench::Line line("case", std::to_string(seed + n));
      line.text("result", r.failure ? "differs" : "passed").number("runs", double(statistics.on_device - ran_before));
      if (r.failure) line.text("text", r.failure->kind + ": " + r.failure->text).text("replay", replay);
      line.print();
    }
    if (!r.failure) continue;
    ++failures;
    alarm(0);
    if (cuda && cuda->lost()) return 4;
    if (setup.device.vulkan && lines) return 4;  // whether the device survived is not known
    if (lines) continue;
    std::printf("FAILED, to see it again: %s  %s\n  %s\n", replay, r.failure->kind.c_str(), r.failure->text.c_str());
    std::fflush(stdout);
    if (!keep_going) {
      fuzz::Setup quiet = setup;
      quiet.statistics = nullptr;
      const fuzz::Report least = fuzz::shrink(drawn, r, quiet);
      std::printf("made smaller: %s\n  %s\n%s%s%s\n%s\n", least.failure->kind.c_str(), least.failure->text.c_str(),
                  least.program.c_str(), least.trace.c_str(), least.scheduled.c_str(), least.json.c_str());
      break;
    }
  }
  alarm(0);
  if (lines) return failures ? 1 : 0;
  if (setup.device.vulkan) ashlar_vulkan_close(setup.device.vulkan);
  print_table(statistics);
  if (refusals) print_refusals(statistics);
  for (const std::string& name : demanded)
    if (statistics.steps[name].ran == 0 && statistics.forms[name] == 0) {
      std::printf("FAILED: %s was never there, so these cases say nothing of it\n", name.c_str());
      ++failures;
    }
  for (const auto& [obligation, percent] : to_confirm) failures += !confirmed(statistics, obligation, percent);
  return failures ? 1 : skipped ? 77 : 0;  // 77: ctest shows it as skipped
}
