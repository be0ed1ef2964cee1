#pragma once
// What the bench prints and saves: one record for each contender of each race.
//
//   Report report("matmul.*", 2);
//   if (report.wants("matmul", 2)) report.race({"matmul", "1024x1024x1024", 1, 2e9 * 1.07, "GFLOP/s", peak}, {{"ashlar", run},
//   …}); report.print(); report.save("bench.json", conditions);
//
// Contenders are interleaved: in each round everybody has a turn, so that a noisy moment of the machine hits all of them. What
// runs on one thread is timed in its CPU time, what runs on several by the clock on the wall (apps/support/timing.h).
#include <functional>
#include <regex>
#include <string>
#include <vector>

#include "bench/machine.h"

namespace bench {

enum class Role { ours, peer, other };  // other: measured to be seen beside them, or of the machine

struct Record {
  std::string kernel, shape;
  int threads = 1;
  std::string impl;
  double median_ns = 0, min_ns = 0;
  double rate = 0;              // work / median
  std::string unit;             // of the rate: GFLOP/s, GB/s, us
  double fraction_of_peak = 0;  // of the peak measured in the same run; 0 where none applies
  Role role = Role::other;
};

struct Race {
  std::string kernel, shape;
  int threads = 1;
  double work = 0;   // a run's operations or bytes
  std::string unit;  // of work / 1e9 a second
  double peak = 0;   // in `unit`
};

struct Contender {
  std::string impl;  // "ashlar…" is ours
  std::function<void()> run;
  int copies = 1;  // of the race's work that one run does
  Role role = Role::peer;
};

// One race: the fastest of ours beside the fastest peer, by their medians.
struct Outcome {
  const Record *ours, *peer;
  double ratio() const { return peer->median_ns / ours->median_ns; }  // above 1: ours is faster
};

// What a file of records says of how they came to be.
struct MeasuredOn {
  Processor processor;
  std::string isa, target;  // that kernels were made for
  int threads = 1;          // at most
  std::vector<PeerVersion> peers;
};

class Report {
 public:
  Report(const std::string& filter, double seconds) : filter_(filter), seconds_(seconds) {}
  bool wants(const std::string& kernel) const { return std::regex_search(kernel, filter_); }
  void race(const Race&, const std::vector<Contender>&);
  void add(Record);               // prints it
  void note(const std::string&);  // a line of text between the records
  void save(const std::string& path,
            const MeasuredOn&) const;     // JSON; throws std::runtime_error when the file cannot be written
  std::vector<Outcome> outcomes() const;  // of the races that ours and a peer ran, in their order
  void print_outcomes() const;            // each, and their geometric mean for each number of threads
  const std::vector<Record>& records() const { return records_; }
  const Record* find(const std::string& kernel, const std::string& shape, int threads, const std::string& impl) const;

 private:
  std::regex filter_;
  double seconds_;  // a race takes
  std::vector<Record> records_;
  bool headed_ = false;
};

}  // namespace bench
