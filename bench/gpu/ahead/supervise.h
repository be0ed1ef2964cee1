// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
// Processes with a watchdog, several at a time; what they print is in the file as soon as it is printed.
//
// A process prints a line of JSON when a case begins, {"begin": NAME}, one for what may take long, {"stage": WHAT}, and one
// when it ends, {"case": NAME, "result": ...}; the last is written to the file. One that is silent for `silent` seconds is
// ended, and its case is reported as "hung". One that ends in a case has it reported as "crashed". The cases behind it run in a
// new process. After the deadline all that is left is reported as "not run".
#include <cstdio>
#include <deque>
#include <map>
#include <string>
#include <vector>

namespace ahead {

class Log {
 public:
  explicit Log(const std::string& path);  // throws std::runtime_error
  ~Log() { std::fclose(file_); }
  Log(const Log&) = delete;
  Log& operator=(const Log&) = delete;
  void note(const std::string&);                                  // printed too
  void result(const std::string& step, const std::string& line);  // of a process: {"case": NAME, "result": ...}
  void result(const std::string& step, const std::string& name, const char* what, const std::string& text);
  std::string summary(const std::string& step) const;
  bool bad() const { return bad_; }

 private:
  std::FILE* file_;
  std::map<std::string, std::map<std::string, int>> counts_;
  bool bad_ = false;
};

struct Job {
  std::vector<std::string> cases, command;  // the process is `command CASE ...`
};
struct Limits {
  int jobs = 1;
  double silent = 25, deadline = 0;  // seconds; now() of the end
};
double now();
void supervise(const std::string& step, std::deque<Job>, const Limits&, Log&);

// What a command prints, and its exit code; -1 where it cannot be started or takes longer.
int asked(const std::vector<std::string>& command, double seconds, std::string* said);

}  // namespace ahead
