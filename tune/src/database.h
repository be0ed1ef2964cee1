// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
// What was tried, in one file of SQLite. Several tuners may write it at once; each trial is a transaction, so a tuner that is
// killed loses at most the candidate that it was at.
#include <cstdint>
#include <filesystem>
#include <iosfwd>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "tune/src/space.h"

struct sqlite3;

namespace ashlar::tune {

// What a trial is about. Times of different tasks are not compared.
struct Task {
  std::string algorithm;  // the hash of what is computed
  std::string generator, target, machine;
  int threads = 1;
  std::map<std::string, std::int64_t> sizes;
  std::map<std::string, std::string> parameters;  // that are not tuned
  std::string compiler;                           // the version of Ashlar
  std::string key() const;                        // equal for equal tasks
};

struct Record {
  Task task;
  Candidate candidate;      // with every choice that was made
  std::vector<Knob> knobs;  // that it was made of; not in lines
  std::string status;       // "measured", "refused", "wrong", ...
  std::string why;
  double seconds = 0;        // of a call, where it was measured
  double ratio = 1;          // to the usual candidate's time
  double low = 1, high = 1;  // of the ratio: with a confidence of 95 %
};

class Database {
 public:
  // Opens the file; one that is not there is made by the first `add`. std::runtime_error, which names it: it is damaged, no
  // database of the tuner, or of a newer version; it is not touched then.
  explicit Database(const std::filesystem::path&);
  ~Database();
  Database(const Database&) = delete;
  Database& operator=(const Database&) = delete;

  void add(const Record&);  // replaces the record of the same task and candidate
  std::optional<Record> find(const Task&, const Candidate&) const;
  std::vector<Record> all() const;  // in the order in which they were added
  std::vector<Record> of(const Task&) const;
  std::vector<Record> best() const;  // of each task the fastest that was measured

 private:
  class Statement;
  void open();
  void create();
  void run(const char* sql) const;
  [[noreturn]] void fail(const char* what) const;
  std::string path_;
  sqlite3* db_ = nullptr;
  bool empty_ = false;  // without tables
};

// One record a line, as JSON. read_lines: std::runtime_error names the line that is not one.
void write_lines(std::ostream&, const std::vector<Record>&);
std::vector<Record> read_lines(std::istream&, const std::string& name);

}  // namespace ashlar::tune
