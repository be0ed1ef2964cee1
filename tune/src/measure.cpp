// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tune/src/measure.h"

#include <dlfcn.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <functional>
#include <new>
#include <stdexcept>
#include <vector>

#include <ashlar/runtime/runtime.h>
#include <fmt/format.h>

namespace ashlar::tune {

namespace {

// What the process of a candidate tells the tuner, in memory of both.
struct Message {
  enum class Stage { started, computed, done } stage = Stage::started;
  Outcome::Status status = Outcome::Status::failed;
  char why[512] = "";
  Timing timing = {};

  void say(Outcome::Status s, const std::string& text) {
    status = s;
    std::snprintf(why, sizeof why, "%s", text.c_str());
  }
};

std::string last_error() {
  char text[512] = "";
  ashlar_error_text(ashlar_last_error(), text, sizeof text);
  return text;
}

double now(clockid_t clock) {
  timespec t{};
  ::clock_gettime(clock, &t);
  return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_nsec) * 1e-9;
}

double median(std::vector<double> v) {
  std::sort(v.begin(), v.end());
  return v.size() % 2 ? v[v.size() / 2] : (v[v.size() / 2 - 1] + v[v.size() / 2]) / 2;
}

// Places k and n - 1 - k of n sorted numbers: the median of what they are drawn from lies in between with a probability of at
// least 95 % (the sign test's interval, by the binomial distribution); -1: n is too small for that.
int confident_place(int n) {
  double tail = std::pow(0.5, n), sum = 0;
  int k = -1;
  for (int j = 0; j < n / 2; ++j) {
    sum += tail;
    if (2 * sum > 0.05) break;
    k = j;
    tail = tail * (n - j) / (j + 1);
  }
  return k;
}

class Calls {  // of one kernel, timed
 public:
  Calls(const Problem& problem, const ashlar_abi1_desc& d, const MeasureOptions& options)
      : problem_(problem),
        desc_(d),
        clock_(options.threads == 1 ? CLOCK_THREAD_CPUTIME_ID : CLOCK_MONOTONIC),
        cold_(options.cold) {}
  double seconds_of(int times) {
    double total = 0;
    for (int k = 0; k < times; ++k) {
      if (cold_) fill_caches();
      const double begin = now(clock_);
      if (problem_.call(desc_) != ASHLAR_OK) throw std::runtime_error(last_error());
      total += now(clock_) - begin;
    }
    return total;
  }
  // How many calls last at least a sample.
  void calibrate(double sample) {
    for (calls = 1; calls < 1 << 20; calls *= 2)
      if (const double s = seconds_of(calls); s >= sample) break;
  }
  double sample() { return seconds_of(calls) / calls; }
  int calls = 1;

 private:
  void fill_caches() {
    others_.resize(64 << 20);
    for (std::size_t k = 0; k < others_.size(); k += 64) others_[k] = static_cast<char>(others_[k] + 1);
  }
  const Problem& problem_;
  const ashlar_abi1_desc& desc_;
  clockid_t clock_;
  bool cold_;
  std::vector<char> others_;
};

Timing timed_alone(Calls& one, const MeasureOptions& options) {
  std::vector<double> samples;
  const double begin = now(CLOCK_MONOTONIC);
  while (samples.size() < 5 || (now(CLOCK_MONOTONIC) - begin < options.seconds / 2 && samples.size() < 50))
    samples.push_back(one.sample());
  Timing t;
  t.seconds = t.incumbent = median(samples), t.rounds = static_cast<int>(samples.size());
  return t;
}

// Ends when it is known which one is faster and the ratio is known to a hundredth, or after the time that it may take.
Timing timed(Calls& candidate, Calls& incumbent, const MeasureOptions& options) {
  std::vector<double> ours, theirs, ratios;
  Timing t;
  const double begin = now(CLOCK_MONOTONIC);
  for (;; ++t.rounds) {
    const bool first = t.rounds % 2 == 0;
    const double a = first ? candidate.sample() : 0, b = incumbent.sample(), c = first ? a : candidate.sample();
    ours.push_back(c), theirs.push_back(b), ratios.push_back(c / b);
    const int n = t.rounds + 1, k = confident_place(n);
    if (k < 0) continue;
    std::vector<double> sorted = ratios;
    std::sort(sorted.begin(), sorted.end());
    t.low = sorted[static_cast<std::size_t>(k)], t.high = sorted[static_cast<std::size_t>(n - 1 - k)];
    const bool decided = options.ends_early && (t.low > 1.05 || (t.high < 1 && t.high - t.low < 0.01));
    if (decided || now(CLOCK_MONOTONIC) - begin > options.seconds) break;
  }
  ++t.rounds;
  t.seconds = median(ours), t.incumbent = median(theirs), t.ratio = median(ratios);
  return t;
}

void limit(const MeasureOptions& options) {
  long pages = 0;
  std::ifstream("/proc/self/statm") >> pages;
  const rlim_t bytes = static_cast<rlim_t>(pages) * static_cast<rlim_t>(::sysconf(_SC_PAGESIZE)) +
                       (static_cast<rlim_t>(options.megabytes) << 20);
  const rlimit memory{bytes, bytes}, none{0, 0};
  ::setrlimit(RLIMIT_AS, &memory);
  ::setrlimit(RLIMIT_CORE, &none);
  ::setenv("ASHLAR_NUM_THREADS", std::to_string(options.threads).c_str(), 1);
}

void run_candidate(const Problem& problem, const std::filesystem::path& library, const std::filesystem::path& other,
                   const MeasureOptions& options, Message& message) {
  const ashlar_abi1_desc& d = load(library);
  if (const std::string why = problem.mismatch(d); !why.empty()) return message.say(Outcome::Status::wrong, why);
  problem.protect_inputs();
  problem.clear_outputs();
  if (problem.call(d) != ASHLAR_OK) return message.say(Outcome::Status::failed, last_error());
  if (const std::string why = problem.difference(); !why.empty()) return message.say(Outcome::Status::wrong, why);
  message.stage = Message::Stage::computed;
  Calls candidate(problem, d, options);
  candidate.calibrate(options.sample);
  if (other.empty()) {
    message.timing = timed_alone(candidate, options);
  } else {
    Calls incumbent(problem, load(other), options);
    incumbent.calibrate(options.sample);
    message.timing = timed(candidate, incumbent, options);
  }
  problem.clear_outputs();
  if (problem.call(d) != ASHLAR_OK) return message.say(Outcome::Status::failed, last_error());
  if (const std::string why = problem.difference(); !why.empty())
    return message.say(Outcome::Status::wrong, why + " (after more calls)");
  message.say(Outcome::Status::measured, "");
  message.stage = Message::Stage::done;
}

// Runs `work` in a process of its own, which is ended after the limit. The outcome is what it left in the message.
Outcome apart(const std::function<void(Message&)>& work, const MeasureOptions& options) {
  void* shared = ::mmap(nullptr, sizeof(Message), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (shared == MAP_FAILED) throw std::runtime_error("there is no memory for a message");
  Message& message = *new (shared) Message;
  std::fflush(nullptr);
  const pid_t child = ::fork();
  if (child == 0) {
    ::setpgid(0, 0);
    limit(options);
    try {
      work(message);
    } catch (const std::bad_alloc&) {
      message.say(Outcome::Status::failed, fmt::format("needs more than {} MB", options.megabytes));
    } catch (const std::exception& e) { message.say(Outcome::Status::failed, e.what()); }
    ::_exit(0);
  }
  Outcome outcome;
  int status = 0;
  const double end = now(CLOCK_MONOTONIC) + options.limit;
  pid_t ended = child < 0 ? child : 0;
  while (ended == 0 && now(CLOCK_MONOTONIC) < end) {
    ended = ::waitpid(child, &status, WNOHANG);
    if (ended == 0) ::usleep(200);
  }
  if (child < 0) {
    message.say(Outcome::Status::failed, fmt::format("fork: {}", std::strerror(errno)));
  } else if (ended == 0) {
    ::kill(-child, SIGKILL), ::kill(child, SIGKILL);
    ::waitpid(child, &status, 0);
    message.say(Outcome::Status::timed_out, fmt::format("did not end within {} s", options.limit));
  } else if (WIFSIGNALED(status)) {
    message.say(Outcome::Status::crashed,
                fmt::format("{} {}", ::strsignal(WTERMSIG(status)),
                            message.stage == Message::Stage::started ? "in the first call" : "while it was timed"));
  } else if (WEXITSTATUS(status) != 0 || (message.status == Outcome::Status::failed && message.why[0] == '\0')) {
    message.say(Outcome::Status::crashed, fmt::format("exited with code {}", WEXITSTATUS(status)));
  }
  outcome.status = message.status, outcome.why = message.why, outcome.timing = message.timing;
  ::munmap(shared, sizeof(Message));
  return outcome;
}

}  // namespace

const char* name_of(Outcome::Status s) {
  static constexpr const char* names[] = {"measured", "wrong", "crashed", "timed out", "failed"};
  return names[static_cast<int>(s)];
}

// A kernel's descriptor is hidden in its library. Its entry hands it to the runtime, and candidates are linked so that they
// call this instead (ld --wrap, generator_tool.cpp): it notes the descriptor, and does nothing else.
extern "C" int note_descriptor(const ashlar_abi1_desc*, const void* const*,
                               const ashlar_context*) __asm__("__wrap_ashlar_abi1_call");
namespace {
thread_local const ashlar_abi1_desc* noted = nullptr;
}
extern "C" __attribute__((visibility("default"))) int note_descriptor(const ashlar_abi1_desc* d, const void* const*,
                                                                      const ashlar_context*) {
  noted = d;
  return ASHLAR_OK;
}

const ashlar_abi1_desc& load(const std::filesystem::path& library) {
  void* handle = ::dlopen(std::filesystem::absolute(library).c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!handle) throw std::runtime_error(::dlerror());
  // Whatever its arguments are, the entry only takes their addresses before it calls the runtime.
  const auto entry = reinterpret_cast<int (*)()>(::dlsym(handle, "ashlar_candidate"));
  noted = nullptr;
  if (entry) entry();
  if (!noted) throw std::runtime_error(fmt::format("{}: has no kernel", library.string()));
  return *noted;
}

Outcome measure(const Problem& problem, const std::filesystem::path& candidate, const std::filesystem::path& incumbent,
                const MeasureOptions& options) {
  return apart([&](Message& m) { run_candidate(problem, candidate, incumbent, options, m); }, options);
}

std::string compute_reference(const Problem& problem, const std::filesystem::path& library, const MeasureOptions& options) {
  MeasureOptions patient = options;
  patient.limit = std::max(600.0, options.limit);  // it has no schedule
  const Outcome outcome = apart(
      [&](Message& m) {
        problem.clear_outputs();
        if (problem.call(load(library)) != ASHLAR_OK) return m.say(Outcome::Status::failed, last_error());
        problem.keep_results();
        m.say(Outcome::Status::measured, "");
      },
      patient);
  return outcome.status == Outcome::Status::measured ? "" : fmt::format("{}: {}", name_of(outcome.status), outcome.why);
}

}  // namespace ashlar::tune
