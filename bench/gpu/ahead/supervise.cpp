// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "bench/gpu/ahead/supervise.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstring>
#include <memory>
#include <stdexcept>

#include "bench/gpu/lines.h"

namespace ahead {

namespace {

// The value of a key of a line that gpu_bench::Line printed; "" if it has none.
std::string value(const std::string& line, const std::string& key) {
  const std::string begin = "\"" + key + "\": \"";
  const auto at = line.find(begin);
  if (at == std::string::npos) return "";
  std::string v;
  for (auto n = at + begin.size(); n < line.size() && line[n] != '"'; ++n) {
    if (line[n] != '\\' || n + 1 == line.size())
      v += line[n];
    else if (line[++n] == 'n')
      v += '\n';
    else
      v += line[n];
  }
  return v;
}

class Process {
 public:
  explicit Process(const std::vector<std::string>& command) {
    int ends[2];
    if (pipe(ends) != 0) throw std::runtime_error(std::string("pipe: ") + std::strerror(errno));
    std::vector<char*> words;
    for (const std::string& w : command) words.push_back(const_cast<char*>(w.c_str()));
    words.push_back(nullptr);
    pid_ = fork();
    if (pid_ < 0) throw std::runtime_error(std::string("fork: ") + std::strerror(errno));
    if (pid_ == 0) {
      setpgid(0, 0);  // so that what it starts ends with it
      dup2(ends[1], 1), dup2(ends[1], 2);
      close(ends[0]), close(ends[1]);
      if (const int null = open("/dev/null", O_RDONLY); null >= 0) dup2(null, 0);
      execvp(words[0], words.data());
      std::fprintf(stderr, "%s cannot be started: %s\n", words[0], std::strerror(errno));
      _exit(127);
    }
    close(ends[1]);
    from_ = ends[0];
    fcntl(from_, F_SETFD, FD_CLOEXEC);  // a process that hangs must not keep another's pipe open
  }
  Process(const Process&) = delete;
  Process& operator=(const Process&) = delete;
  ~Process() { close(from_); }

  int from() const { return from_; }
  // What was printed since the last call; false at the end.
  bool read(std::string& more) const {
    char bytes[65536];
    const ssize_t n = ::read(from_, bytes, sizeof bytes);
    if (n > 0) more.append(bytes, static_cast<std::size_t>(n));
    return n > 0 || (n < 0 && errno == EINTR);
  }
  // "exit code 1" or the signal; "" while it runs. One that hangs in the driver, also when it is killed, is left alone.
  std::string ended(double seconds) {
    const double until = now() + seconds;
    int status = 0;
    pid_t got = 0;
    while ((got = waitpid(pid_, &status, WNOHANG)) == 0 && now() < until) poll(nullptr, 0, 5);
    if (got == 0) return "";
    code_ = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
    return WIFEXITED(status) ? "exit code " + std::to_string(code_) : std::string("signal: ") + strsignal(WTERMSIG(status));
  }
  void kill() const {
    ::kill(-pid_, SIGKILL);
    ::kill(pid_, SIGKILL);  // where it had not yet a group of its own
  }
  int code() const { return code_; }

 private:
  pid_t pid_ = -1;
  int from_ = -1, code_ = -1;
};

class Running {
 public:
  Running(const std::string& step, const Job& all, Log& log)
      : job(all), process(command(all)), step_(step), log_(log), heard_(now()) {}
  void hear() {
    open_ = process.read(said_);
    heard_ = now();
    for (std::size_t end; (end = said_.find('\n')) != std::string::npos; said_.erase(0, end + 1)) take(said_.substr(0, end));
    if (!open_) end();
  }
  bool over() const { return !open_; }
  void check(const Limits& limits) {
    if (!open_) return;
    const bool late = now() > limits.deadline;
    if (!late && now() < heard_ + limits.silent) return;
    process.kill();
    process.ended(2);
    open_ = false;
    if (job.cases.empty()) return;
    if (late && current_.empty()) return;
    if (late)
      fail("not finished", "the time for all was over" + stage_);
    else
      fail("hung", "nothing was heard for " + std::to_string(static_cast<int>(limits.silent)) + " s" + stage_ + other());
  }
  Job job;  // its cases: those that are left
  Process process;

 private:
  static std::vector<std::string> command(const Job& of) {
    std::vector<std::string> all = of.command;
    all.insert(all.end(), of.cases.begin(), of.cases.end());
    return all;
  }
  void take(const std::string& line) {
    if (line.rfind("{\"case\": ", 0) == 0) {
      log_.result(step_, line);
      std::erase(job.cases, value(line, "case"));
      current_ = stage_ = "";
    } else if (line.rfind("{\"begin\": ", 0) == 0)
      current_ = value(line, "begin");
    else if (line.rfind("{\"stage\": ", 0) == 0)
      stage_ = ", " + value(line, "stage");
    else
      other_ = (other_ + line + "\n"), other_.erase(0, other_.size() > 2000 ? other_.size() - 2000 : 0);
  }
  // Behind a case that lost the device (exit code 4) the others are still to be run, and no case is at fault.
  void end() {
    std::string how = process.ended(5);
    if (how.empty()) {
      process.kill();
      how = "hung at its end";
    }
    if (!current_.empty() || (!job.cases.empty() && process.code() != 4)) fail("crashed", how + stage_ + other());
  }
  void fail(const char* what, const std::string& text) {  // the case that runs; the first one where none had begun
    const std::string name = current_.empty() ? job.cases.front() : current_;
    log_.result(step_, name, what, text);
    std::erase(job.cases, name);
  }
  std::string other() const { return other_.empty() ? "" : "; " + other_; }

  std::string step_;
  Log& log_;
  std::string said_, current_, stage_, other_;
  double heard_;
  bool open_ = true;
};

}  // namespace

double now() { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); }

Log::Log(const std::string& path) : file_(std::fopen(path.c_str(), "w")) {
  if (!file_) throw std::runtime_error(path + " cannot be written: " + std::strerror(errno));
}

void Log::note(const std::string& text) {
  gpu_bench::Line("note", text).print(file_);
  std::printf("%s\n", text.c_str());
  std::fflush(stdout);
}

void Log::result(const std::string& step, const std::string& line) {
  const std::string what = value(line, "result");
  ++counts_[step][what];
  const bool bad = what == "differs" || what == "error" || what == "hung" || what == "crashed";
  bad_ = bad_ || bad;
  std::fprintf(file_, "{\"step\": \"%s\", %s\n", step.c_str(), line.c_str() + 1);
  std::fflush(file_);
  if (!bad) return;
  std::printf("%s: %s: %s: %.300s\n", step.c_str(), value(line, "case").c_str(), what.c_str(), value(line, "text").c_str());
  std::fflush(stdout);
}

void Log::result(const std::string& step, const std::string& name, const char* what, const std::string& text) {
  gpu_bench::Line line("case", name);
  result(step, line.text("result", what).text("text", text).str());
}

std::string Log::summary(const std::string& step) const {
  std::string text = step + ":";
  const auto at = counts_.find(step);
  if (at == counts_.end()) return text + " nothing ran";
  for (const auto& [what, count] : at->second) text += (text.back() == ':' ? " " : ", ") + std::to_string(count) + " " + what;
  return text;
}

void supervise(const std::string& step, std::deque<Job> left, const Limits& limits, Log& log) {
  std::vector<std::unique_ptr<Running>> running;
  while (!left.empty() || !running.empty()) {
    for (; !left.empty() && static_cast<int>(running.size()) < limits.jobs && now() < limits.deadline; left.pop_front())
      running.push_back(std::make_unique<Running>(step, left.front(), log));
    if (now() >= limits.deadline)
      for (; !left.empty(); left.pop_front())
        for (const std::string& name : left.front().cases) log.result(step, name, "not run", "the time for all was over");
    std::vector<pollfd> ends;
    for (const auto& r : running) ends.push_back({r->process.from(), POLLIN, 0});
    poll(ends.data(), ends.size(), 50);
    for (std::size_t n = 0; n < ends.size(); ++n) {
      if (ends[n].revents != 0) running[n]->hear();
      running[n]->check(limits);
      if (running[n]->over() && !running[n]->job.cases.empty()) left.push_front(running[n]->job);
    }
    std::erase_if(running, [](const auto& r) { return r->over(); });
  }
}

int asked(const std::vector<std::string>& command, double seconds, std::string* said) {
  Process p(command);
  const double until = now() + seconds;
  for (bool open = true; open && now() < until;) {
    pollfd end = {p.from(), POLLIN, 0};
    if (poll(&end, 1, 100) > 0) open = p.read(*said);
  }
  if (p.ended(now() < until ? 5 : 0).empty()) {
    p.kill();
    p.ended(2);
    return -1;
  }
  while (!said->empty() && said->back() == '\n') said->pop_back();
  return p.code();
}

}  // namespace ahead
