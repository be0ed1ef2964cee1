#include "bench/programs/measure.h"

#include <ashlar/runtime/runtime.h>
#include <fmt/core.h>
#include <time.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstring>
#include <memory>
#include <stdexcept>

#include <ashlar/codegen/emit.h>
#include <ashlar/generator/compile.h>
#include <ashlar/ir/function.h>
#include <ashlar/ir/numeric.h>
#include <ashlar/ir/print.h>
#include <ashlar/ir/refusal.h>
#include <ashlar/lower/lower.h>
#include <ashlar/schedule/step.h>
#include <ashlar/schedules/by_default.h>

#include "bench/programs/program.h"
#include "bench/programs/run.h"

namespace bench::programs {
namespace {

using Bytes = std::vector<std::byte>;

// What one contender left in the outputs.
struct Left {
  std::vector<Bytes> bytes;
};

// Empty where `found` is what `meant` is, within `of_largest` times the result's largest magnitude for floats.
std::string difference(std::vector<Memory>& outputs, const Left& meant, const Left& found, double of_largest) {
  for (std::size_t r = 0; r < outputs.size(); ++r) {
    if (meant.bytes[r] == found.bytes[r]) continue;
    const Memory& m = outputs[r];
    const auto values = [&](const Bytes& b) {
      std::memcpy(m.data.get(), b.data(), b.size());
      std::vector<double> v(m.elements);
      for (std::size_t k = 0; k < m.elements; ++k) v[k] = m.value(k);
      return v;
    };
    const std::vector<double> a = values(meant.bytes[r]), b = values(found.bytes[r]);
    double largest = 0;
    for (const double v : a)
      if (std::isfinite(v)) largest = std::max(largest, std::fabs(v));
    const double allowed = m.array->type.is_float() ? of_largest * largest : 0;
    for (std::size_t k = 0; k < a.size(); ++k) {
      if (a[k] == b[k] || (std::isnan(a[k]) && std::isnan(b[k]))) continue;
      if (!(std::fabs(a[k] - b[k]) <= allowed))
        return fmt::format("element {} of {} is {}, expected {} within {:.3g}", k, m.array->name, b[k], a[k], allowed);
    }
  }
  return "";
}

double thread_ns() {
  timespec t;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return static_cast<double>(t.tv_sec) * 1e9 + static_cast<double>(t.tv_nsec);
}
double wall_ns() {
  return std::chrono::duration<double, std::nano>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

double median(std::vector<double> v) {
  std::nth_element(v.begin(), v.begin() + static_cast<std::ptrdiff_t>(v.size() / 2), v.end());
  return v[v.size() / 2];
}

constexpr double shortest_sample_ns = 150e3;
constexpr double much_slower = 3;  // than the fastest: measured in a few rounds only
constexpr std::size_t least_rounds = 7, most_rounds = 201, few_rounds = 3;

struct Runner {
  Contender* contender;
  std::function<void()> run;
  bool fast_math = false;
  bool ours = false;  // by default, exact or regrouped
  int calls = 1;      // a sample is
  std::vector<double> samples{};
};

void time_interleaved(std::vector<Runner>& runners, double seconds) {
  double fastest = 1e300, total = 0;
  std::vector<double> once(runners.size());
  for (std::size_t k = 0; k < runners.size(); ++k) {
    const double start = thread_ns();
    runners[k].run();
    once[k] = std::max(1.0, thread_ns() - start);
    fastest = std::min(fastest, once[k]);
  }
  for (std::size_t k = 0; k < runners.size(); ++k) {
    runners[k].calls = static_cast<int>(std::clamp(std::ceil(shortest_sample_ns / once[k]), 1.0, 1e5));
    if (once[k] <= much_slower * fastest) total += once[k] * runners[k].calls;
  }
  const auto rounds = static_cast<std::size_t>(
      std::clamp(seconds * 1e9 / total, static_cast<double>(least_rounds), static_cast<double>(most_rounds)));
  for (std::size_t round = 0; round < rounds; ++round)
    for (std::size_t turn = 0; turn < runners.size(); ++turn) {
      const std::size_t k = (turn + round) % runners.size();
      Runner& r = runners[k];
      if (once[k] > much_slower * fastest && round >= few_rounds) continue;
      const double start = thread_ns();
      for (int call = 0; call < r.calls; ++call) r.run();
      r.samples.push_back((thread_ns() - start) / r.calls);
    }
  for (Runner& r : runners) {
    r.contender->median_ns = median(r.samples);
    r.contender->min_ns = *std::min_element(r.samples.begin(), r.samples.end());
  }
}

// The peer's time by ours, each divided within a round.
double ratio(const Runner& peer, const Runner& ours) {
  std::vector<double> r;
  for (std::size_t k = 0; k < std::min(peer.samples.size(), ours.samples.size()); ++k)
    r.push_back(peer.samples[k] / ours.samples[k]);
  return median(r);
}

// Code of the program: without a schedule, or by default.
struct Code {
  codegen::Compiled code;
  std::string choices, kernel;  // kernel: the scheduled program, what it is lowered to, and its assembly
  double schedule_ms = 0, code_ms = 0;
};
Code compiled(const lang::Built& built, const Target& target, const schedules::DefaultOptions* by_default) {
  Schedule s(built, target);
  std::string choices;
  const double start = thread_ns();
  if (by_default) choices = schedule_by_default(s, *by_default).text();
  const double scheduled = thread_ns();
  codegen::Compiled code = compile(s);
  const double compiled = thread_ns();
  const ir::Kernel lowered = lower(s.scheduled().program, options_for(s.target()));
  std::string kernel = s.text() + ir::text(lowered) + codegen::emit(lowered, s.target(), codegen::Output::assembly);
  return {std::move(code), std::move(choices), std::move(kernel), (scheduled - start) / 1e6, (compiled - scheduled) / 1e6};
}

}  // namespace

const Contender* Result::find(const std::string& contender) const {
  for (const Contender& c : contenders)
    if (c.name == contender) return &c;
  return nullptr;
}

namespace {

void measure(Result& result, const Entry& entry, const Options& options) {
  lang::DefinitionScope scope;
  Program p;
  entry.build(p);
  if (p.outputs.empty()) throw std::runtime_error("the program has no p.out()");
  const lang::Built built = lang::build_program("program_", p.arguments);

  Arrays arrays(p);
  std::vector<Memory>& outputs = arrays.outputs;
  const plain::Arguments arguments = arrays.plain();
  if (ashlar_set_threads(1) != ASHLAR_OK) throw std::runtime_error("the pool refuses one thread");

  const auto left_by = [&](const std::function<void()>& run) {
    for (const Memory& m : outputs) std::memset(m.data.get(), 0x7b, m.bytes);
    run();
    Left left;
    for (const Memory& m : outputs) left.bytes.emplace_back(m.data.get(), m.data.get() + m.bytes);
    return left;
  };
  const auto call = [&](const codegen::Compiled& code) { return arrays.call(code); };

  const schedules::DefaultOptions regrouped{}, exact{.regroup = false};
  const Target target = Target::parse(options.target);
  const Code unscheduled = compiled(built, target, nullptr);
  const Code by_default = compiled(built, target, p.regroup ? &regrouped : &exact);
  std::optional<Code> without;  // regrouping, where that is another schedule
  if (p.regroup) without = compiled(built, target, &exact);
  if (without && without->choices == by_default.choices) without.reset();
  result.schedule_ms = by_default.schedule_ms, result.code_ms = by_default.code_ms;
  if (options.text) result.choices = by_default.choices;
  if (options.kernel) result.choices += by_default.kernel;
  if (without && options.text) result.choices += "\nwithout regrouping\n" + without->choices;
  if (without && options.kernel) result.choices += without->kernel;

  result.contenders.reserve(16);  // runners point to them
  std::vector<Runner> runners;
  const auto add = [&](const std::string& name, std::function<void()> run, bool ours, bool fast_math) {
    result.contenders.push_back({name, {}});
    runners.push_back({&result.contenders.back(), std::move(run), fast_math, ours});
  };

  // The loops of the first compiler say what is right; everybody is held to them before anything is timed.
  std::optional<Left> meant;
  add("default", call(by_default.code), true, false);
  if (without) add("exact", call(without->code), true, false);
  add("unscheduled", call(unscheduled.code), false, false);
  for (const Loops& loops : entry.loops) {
    if (!loops.run) {
      result.contenders.push_back({loops.name, "the compiler is not on this machine"});
      continue;
    }
    const std::function<void()> run = [&arguments, &loops] { loops.run(arguments); };
    const Left left = left_by(run);
    const std::string other = meant ? difference(outputs, *meant, left, p.tolerance) : "";
    if (!meant) meant = left;
    if (other.empty()) {
      add(loops.name, run, false, loops.fast_math);
    } else if (loops.fast_math) {
      result.contenders.push_back({loops.name, "its results are others: " + other});
    } else {
      throw std::runtime_error(fmt::format("plain loops by {} and by {} differ: {}", entry.loops[0].name, loops.name, other));
    }
  }
  if (!meant) throw std::runtime_error("no compiler was found for the plain loops");
  const Left serial = left_by(call(unscheduled.code));
  const auto hold = [&](const std::string& what, const Left& to, const Left& left, double tolerance) {
    const std::string other = difference(outputs, to, left, tolerance);
    if (!other.empty()) throw std::runtime_error(what + ": " + other);
  };
  hold("unscheduled beside plain loops", *meant, serial, p.tolerance);
  const Left ours = left_by(call(by_default.code));
  hold("by default beside plain loops", *meant, ours, p.tolerance);
  if (!p.regroup) hold("by default beside unscheduled", serial, ours, 0);
  if (without) hold("without regrouping beside unscheduled", serial, left_by(call(without->code)), 0);

  time_interleaved(runners, options.seconds);
  result.exact_ratio = 1e300;
  for (Runner& peer : runners) {
    if (peer.ours) continue;
    if (peer.fast_math && !p.regroup) continue;
    double worst = 1e300;  // code that a user gets with and without regrouping; beside -ffast-math, with it
    for (const Runner& r : runners)
      if (r.ours && !(peer.fast_math && r.contender->name == "exact")) worst = std::min(worst, ratio(peer, r));
    peer.contender->ratio = worst;
    if (!peer.fast_math && worst < result.exact_ratio) result.exact_ratio = worst, result.exact_peer = peer.contender->name;
    if (peer.fast_math && (!result.fast_ratio || worst < *result.fast_ratio))
      result.fast_ratio = worst, result.fast_peer = peer.contender->name;
  }
  if (options.threads > 1) {
    const auto wall = [&](int threads) {
      if (ashlar_set_threads(threads) != ASHLAR_OK) throw std::runtime_error("the pool refuses this number of threads");
      const auto run = call(by_default.code);
      std::vector<double> samples;
      for (int k = 0; k < 21; ++k) {
        const double start = wall_ns();
        run();
        samples.push_back(wall_ns() - start);
      }
      return median(samples);
    };
    const double several = wall(options.threads), one = wall(1);
    result.on_threads = one / several;
  }
}

}  // namespace

Result measured(const Entry& entry, const Options& options) {
  Result result;
  result.area = entry.area, result.name = entry.name;
  try {
    measure(result, entry, options);
  } catch (const std::exception& e) {
    result.failed = e.what();
    result.contenders.clear();
  }
  return result;
}

}  // namespace bench::programs
