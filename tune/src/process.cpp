// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tune/src/process.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <system_error>

namespace ashlar::tune {

namespace {

[[noreturn]] void fail(const char* what) { throw std::system_error(errno, std::generic_category(), what); }

struct Pipe {
  int read = -1, write = -1;
  Pipe() {
    int ends[2];
    if (::pipe2(ends, O_CLOEXEC) != 0) fail("pipe");
    read = ends[0], write = ends[1];
  }
  ~Pipe() { close_read(), close_write(); }
  Pipe(const Pipe&) = delete;
  Pipe& operator=(const Pipe&) = delete;
  void close_read() {
    if (read >= 0) ::close(read);
    read = -1;
  }
  void close_write() {
    if (write >= 0) ::close(write);
    write = -1;
  }
};

// What there is to read, appended to `text`; false: the other end is closed.
bool read_some(int from, std::string& text) {
  char bytes[4096];
  const ssize_t n = ::read(from, bytes, sizeof bytes);
  if (n > 0) text.append(bytes, static_cast<std::size_t>(n));
  return n > 0 || (n < 0 && errno == EINTR);
}

}  // namespace

Ran run_process(const std::vector<std::string>& command, double seconds) {
  using Clock = std::chrono::steady_clock;
  std::vector<char*> arguments;
  for (const std::string& a : command) arguments.push_back(const_cast<char*>(a.c_str()));
  arguments.push_back(nullptr);
  Pipe out, err, started;
  const pid_t child = ::fork();
  if (child < 0) fail("fork");
  if (child == 0) {
    ::setpgid(0, 0);
    ::dup2(out.write, 1), ::dup2(err.write, 2);
    const int none = ::open("/dev/null", O_RDONLY);
    ::dup2(none, 0);
    ::execvp(arguments[0], arguments.data());
    const int why = errno;
    if (::write(started.write, &why, sizeof why) < 0) ::_exit(126);
    ::_exit(127);
  }
  ::setpgid(child, child);
  out.close_write(), err.close_write(), started.close_write();
  int why = 0;
  if (::read(started.read, &why, sizeof why) == sizeof why) {
    ::waitpid(child, nullptr, 0);
    throw std::system_error(why, std::generic_category(), command[0]);
  }
  Ran ran;
  constexpr double grace = 2;  // for pipes to close, once all was ended
  const auto after = [](double s) { return std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(s)); };
  Clock::time_point end = Clock::now() + after(seconds);
  while (out.read >= 0 || err.read >= 0) {
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(end - Clock::now()).count();
    if (left <= 0 && ran.timed_out) break;  // another process, not of the group, holds them
    if (left <= 0) ran.timed_out = true, ::kill(-child, SIGKILL), end += after(grace);
    pollfd waits[2] = {{out.read, POLLIN, 0}, {err.read, POLLIN, 0}};
    ::poll(waits, 2, static_cast<int>(std::max<long>(left, 0)) + 1);
    if (waits[0].revents != 0 && !read_some(out.read, ran.out)) out.close_read();
    if (waits[1].revents != 0 && !read_some(err.read, ran.err)) err.close_read();
  }
  int status = 0;
  rusage usage{};
  pid_t ended = 0;  // it may have closed what it prints to, and go on
  while ((ended = ::wait4(child, &status, ran.timed_out ? 0 : WNOHANG, &usage)) == 0 || (ended < 0 && errno == EINTR)) {
    if (ended == 0 && Clock::now() >= end) ran.timed_out = true, ::kill(-child, SIGKILL);
    if (ended == 0) ::usleep(500);
  }
  ::kill(-child, SIGKILL);  // what it left behind
  if (WIFEXITED(status)) ran.code = WEXITSTATUS(status);
  if (WIFSIGNALED(status)) ran.signal = WTERMSIG(status);
  const auto of = [](const timeval& t) { return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_usec) * 1e-6; };
  ran.cpu_seconds = of(usage.ru_utime) + of(usage.ru_stime);
  return ran;
}

}  // namespace ashlar::tune
