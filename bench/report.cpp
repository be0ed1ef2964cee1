#include "bench/report.h"

#include <fmt/core.h>
#include <nlohmann/json.hpp>

#include <fstream>
#include <stdexcept>

#include "apps/support/timing.h"

namespace bench {

void Report::race(const Race& race, const std::vector<Contender>& contenders) {
  std::vector<std::function<void()>> runs;
  for (const Contender& c : contenders) runs.push_back(c.run);
  apps::Conditions conditions = race.threads > 1 ? apps::several_threads : apps::Conditions{.clock = apps::Clock::thread};
  conditions.rounds = 15;
  const std::vector<apps::Times> times = apps::race(runs, seconds_, conditions);
  int measured = 0, interrupted = 0;
  for (std::size_t k = 0; k < contenders.size(); ++k) {
    measured += times[k].runs, interrupted += times[k].interrupted;
    const double rate = contenders[k].copies * race.work / times[k].median / 1e9;
    add({race.kernel, race.shape, race.threads, contenders[k].impl, times[k].median * 1e9, times[k].least * 1e9, rate,
         race.unit, race.peak > 0 ? rate / race.peak : 0});
  }
  if (race.threads > 1 && interrupted > 0)
    note(fmt::format("other programs took a processor away during {} of these {} runs", interrupted, measured));
}

void Report::add(Record record) {
  if (!headed_)
    fmt::print("{:<14} {:<18} {:>7} {:<14} {:>13} {:>13} {:>10} {:<8} {:>7}\n", "kernel", "shape", "threads", "impl",
               "median us", "min us", "rate", "unit", "of peak");
  headed_ = true;
  const std::string share = record.fraction_of_peak > 0 ? fmt::format("{:.1f} %", 100 * record.fraction_of_peak) : "";
  fmt::print("{:<14} {:<18} {:>7} {:<14} {:>13.2f} {:>13.2f} {:>10.2f} {:<8} {:>7}\n", record.kernel, record.shape,
             record.threads, record.impl, record.median_ns / 1e3, record.min_ns / 1e3, record.rate, record.unit, share);
  std::fflush(stdout);
  records_.push_back(std::move(record));
}

void Report::note(const std::string& text) {
  fmt::print("  {}\n", text);
  std::fflush(stdout);
}

const Record* Report::find(const std::string& kernel, const std::string& shape, int threads, const std::string& impl) const {
  for (const Record& r : records_)
    if (r.kernel == kernel && r.shape == shape && r.threads == threads && r.impl == impl) return &r;
  return nullptr;
}

void Report::save(const std::string& path) const {
  nlohmann::ordered_json all = nlohmann::ordered_json::array();
  for (const Record& r : records_)
    all.push_back({{"kernel", r.kernel},
                   {"shape", r.shape},
                   {"threads", r.threads},
                   {"impl", r.impl},
                   {"median_ns", r.median_ns},
                   {"min_ns", r.min_ns},
                   {"rate", r.rate},
                   {"unit", r.unit},
                   {"fraction_of_peak", r.fraction_of_peak}});
  std::ofstream file(path);
  file << all.dump(1) << "\n";
  file.close();
  if (!file) throw std::runtime_error(path + ": cannot be written");
}

}  // namespace bench
