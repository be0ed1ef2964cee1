#include "bench/report.h"

#include <fmt/core.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <map>
#include <numeric>
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
         race.unit, race.peak > 0 ? rate / race.peak : 0,
         contenders[k].impl.starts_with("ashlar") ? Role::ours : contenders[k].role});
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

std::vector<Outcome> Report::outcomes() const {
  std::vector<Outcome> all;
  for (const Record& r : records_) {
    if (r.role == Role::other) continue;
    Outcome* race = nullptr;
    for (Outcome& o : all)
      if (const Record* any = o.ours ? o.ours : o.peer;
          any->kernel == r.kernel && any->shape == r.shape && any->threads == r.threads)
        race = &o;
    if (!race) race = &all.emplace_back(Outcome{nullptr, nullptr});
    const Record*& best = r.role == Role::ours ? race->ours : race->peer;
    if (!best || r.median_ns < best->median_ns) best = &r;
  }
  std::erase_if(all, [](const Outcome& o) { return !o.ours || !o.peer; });
  return all;
}

void Report::print_outcomes() const {
  const std::vector<Outcome> all = outcomes();
  std::map<int, std::vector<double>> logarithms;  // by threads
  if (!all.empty()) fmt::print("\n{:<14} {:<18} {:>7} {:>7}  beside\n", "kernel", "shape", "threads", "ratio");
  for (const Outcome& o : all) {
    fmt::print("{:<14} {:<18} {:>7} {:>7.3f}  {}{}\n", o.ours->kernel, o.ours->shape, o.ours->threads, o.ratio(), o.peer->impl,
               o.ours->impl == "ashlar" ? "" : " (ours: " + o.ours->impl + ")");
    logarithms[o.ours->threads].push_back(std::log(o.ratio()));
  }
  for (const auto& [threads, of_races] : logarithms)
    fmt::print("geometric mean of {} races on {} thread{}: {:.3f}, least {:.3f}\n", of_races.size(), threads,
               threads == 1 ? "" : "s",
               std::exp(std::accumulate(of_races.begin(), of_races.end(), 0.0) / static_cast<double>(of_races.size())),
               std::exp(*std::min_element(of_races.begin(), of_races.end())));
}

namespace {
double three_digits(double x) {  // behind the point
  return std::round(x * 1000) / 1000;
}
}  // namespace

void Report::save(const std::string& path, const MeasuredOn& on) const {
  nlohmann::ordered_json records = nlohmann::ordered_json::array(), peers;
  for (const Record& r : records_)
    records.push_back({{"kernel", r.kernel},
                       {"shape", r.shape},
                       {"threads", r.threads},
                       {"impl", r.impl},
                       {"median_ns", std::round(r.median_ns)},
                       {"min_ns", std::round(r.min_ns)},
                       {"rate", three_digits(r.rate)},
                       {"unit", r.unit},
                       {"fraction_of_peak", three_digits(r.fraction_of_peak)},
                       {"role", r.role == Role::ours   ? "ours"
                                : r.role == Role::peer ? "peer"
                                                       : "other"}});
  for (const PeerVersion& p : on.peers) peers[p.name] = p.version;
  const nlohmann::ordered_json all = {{"processor", on.processor.name},
                                      {"vendor", on.processor.vendor},
                                      {"family", on.processor.family},
                                      {"model", on.processor.model},
                                      {"processors", on.processor.processors},
                                      {"caches", on.processor.caches},
                                      {"features", on.processor.features},
                                      {"isa", on.isa},
                                      {"target", on.target},
                                      {"threads", on.threads},
                                      {"peers", peers}};
  std::ofstream file(path);
  const std::string head = all.dump(1);  // ends in "\n}"
  file << head.substr(0, head.size() - 2) << ",\n \"records\": [";
  for (std::size_t k = 0; k < records.size(); ++k) file << (k == 0 ? "\n  " : ",\n  ") << records[k].dump();
  file << "\n ]\n}\n";
  file.close();
  if (!file) throw std::runtime_error(path + ": cannot be written");
}

}  // namespace bench
