// Profiles: a library made with --profile writes a trace in which every stage is there, with its calls, bytes and lines, and in
// which times nest and add up to no more than what is around them.
#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include <sys/wait.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "tests/source_dir.h"
#include "tests/support/shell.h"
#include "tests/support/text_parts.h"

namespace {

using nlohmann::json;
using text_parts::has;

constexpr int H = 100, W = 1000;

struct Event {
  std::string name, kind, line, loop, kernel;
  int thread = 0;
  std::int64_t begin = 0, end = 0, calls = 0, read = 0, written = 0;  // nanoseconds
  std::int64_t time() const { return end - begin; }
  bool holds(const Event& e) const { return begin <= e.begin && e.end <= end; }
};

std::int64_t nanoseconds(const json& microseconds) { return std::llround(microseconds.get<double>() * 1000); }

std::vector<Event> events_of(const std::string& path) {
  std::ifstream in(path);
  REQUIRE_MESSAGE(in.good(), path);
  const json trace = json::parse(in);
  CHECK(trace.at("displayTimeUnit") == "ns");
  CHECK(trace.at("otherData").at("lost") == 0);
  std::vector<Event> all;
  std::map<int, std::string> threads;
  for (const json& e : trace.at("traceEvents")) {
    if (e.at("ph") == "M") {
      if (e.at("name") == "thread_name") threads[e.at("tid")] = e.at("args").at("name");
      continue;
    }
    REQUIRE(e.at("ph") == "X");
    const json& args = e.at("args");
    Event event{e.at("name"), e.at("cat"), args.value("line", ""), args.value("loop", ""), args.at("kernel"), e.at("tid")};
    event.begin = nanoseconds(e.at("ts")), event.end = event.begin + nanoseconds(e.at("dur"));
    event.calls = args.at("calls"), event.read = args.at("bytes_read"), event.written = args.at("bytes_written");
    CHECK(threads.count(event.thread) == 1);
    all.push_back(event);
  }
  return all;
}

std::vector<Event> those(const std::vector<Event>& all, const std::string& kind, const std::string& name,
                         const std::string& kernel = "stages") {
  std::vector<Event> found;
  for (const Event& e : all)
    if (e.kind == kind && e.name == name && e.kernel == kernel) found.push_back(e);
  return found;
}

std::string marked(const std::string& name) {
  std::ifstream in(source_dir() + "/tests/profile/profile_gen.cpp");
  std::string text;
  for (int line = 1; std::getline(in, text); ++line)
    if (text.ends_with("// mark: " + name)) return "tests/profile/profile_gen.cpp:" + std::to_string(line);
  throw std::runtime_error("no line is marked " + name);
}

// A run of the caller with this in the environment.
std::string called(const std::string& environment, const std::string& arguments) {
  return test::shell("env ASHLAR_NUM_THREADS=2 " + environment + " '" PROFILE_CALLER "' " + arguments);
}

// Events of one thread follow each other or hold each other, and what an event holds takes no longer than it.
void check_nesting(const std::vector<Event>& all) {
  for (const Event& outer : all) {
    std::int64_t inside = 0;
    for (const Event& e : all) {
      if (&e == &outer || e.thread != outer.thread) continue;
      const bool apart = e.end <= outer.begin || outer.end <= e.begin;
      CHECK((apart || outer.holds(e) || e.holds(outer)));
      bool direct = outer.holds(e);
      for (const Event& between : all)
        if (&between != &e && &between != &outer && between.thread == e.thread && outer.holds(between) && between.holds(e))
          direct = false;
      if (direct) inside += e.time();
    }
    CHECK_MESSAGE(inside <= outer.time(), outer.kind, " ", outer.name);
  }
}

}  // namespace

TEST_CASE("a trace has every stage, with calls, bytes, lines, and times that nest") {
  const test::TemporaryFolder folder;
  const std::string file = folder.file("trace.json");
  CHECK(called("ASHLAR_PROFILE=" + file, "3") == "");
  const std::vector<Event> all = events_of(file);
  const auto calls = those(all, "call", "stages"), means = those(all, "stage", "mean"), outs = those(all, "stage", "out");
  REQUIRE(calls.size() == 3);
  REQUIRE(means.size() == 3);
  REQUIRE(outs.size() == 3);
  for (std::size_t k = 0; k < 3; ++k) {
    CHECK(calls[k].holds(means[k]));
    CHECK(calls[k].holds(outs[k]));
    CHECK(means[k].end <= outs[k].begin);
    CHECK(means[k].time() + outs[k].time() <= calls[k].time());
    CHECK(means[k].line == marked("mean"));
    CHECK(outs[k].line == marked("out"));
    CHECK(outs[k].loop == marked("strips"));
    CHECK(means[k].calls == 1);
    CHECK(means[k].read >= H * W * 4);  // each element of `in`; more where lanes past the end are counted
    CHECK(means[k].read <= 2 * H * W * 4 + W * 4 * 2);
    CHECK(means[k].written >= W * 4);
  }
  std::int64_t written = 0, down_calls = 0, out_calls = 0;
  const auto workers = those(all, "worker", "out");
  CHECK(workers.size() >= 3);
  CHECK(workers.size() <= 6);
  for (const Event& w : workers) {
    written += w.written;
    CHECK((w.written == 0 || w.read > w.written));  // the other thread may have done it all
    const bool held = std::any_of(outs.begin(), outs.end(), [&](const Event& o) { return o.holds(w); });
    CHECK(held);
    CHECK(w.line == marked("out"));
  }
  CHECK(written == 3 * 2 * H * W * 4);  // each element of `down` and of `out`
  for (const Event& e : those(all, "inside", "down")) {
    down_calls += e.calls;
    CHECK(e.line == marked("down"));
    CHECK(e.time() > 0);
  }
  for (const Event& e : those(all, "inside", "out")) out_calls += e.calls;
  CHECK(down_calls == 3 * H);  // once for each row
  CHECK(out_calls == 3 * H);
  check_nesting(all);
}

TEST_CASE("a program may start recording; a stage in C that fails leaves no open site behind for later calls") {
  const test::TemporaryFolder folder;
  const std::string file = folder.file("trace.json");
  const std::string said = called("", "3 " + file);
  CHECK(has(said, "profile_twice returned 7, expected 0"));
  const std::vector<Event> all = events_of(file);
  CHECK(those(all, "call", "stages").size() == 2);  // the first came before it recorded
  const auto calls = those(all, "call", "outside", "outside"), twice = those(all, "stage", "profile_twice", "outside");
  REQUIRE(calls.size() == 4);
  REQUIRE(twice.size() == 4);
  CHECK(those(all, "stage", "once", "outside").size() == 4);
  CHECK(those(all, "stage", "out", "outside").size() == 3);  // not of the call that failed
  for (std::size_t k = 0; k < 4; ++k) {
    CHECK(calls[k].holds(twice[k]));
    if (k > 0) CHECK(calls[k - 1].end <= calls[k].begin);
  }
  check_nesting(all);
}

TEST_CASE("without ASHLAR_PROFILE nothing is written, and a file that cannot be written is an error in words") {
  const test::TemporaryFolder folder;
  CHECK(called("", "1") == "");
  CHECK(called("ASHLAR_PROFILE=", "1") == "");
  CHECK(std::filesystem::is_empty(std::filesystem::path(folder.file("x")).parent_path()));
  const std::string missing = folder.file("no/folder/trace.json");
  CHECK(called("ASHLAR_PROFILE=" + missing, "1") == "ashlar: ashlar_profile_write: " + missing + " cannot be opened\n");
  CHECK(called("ASHLAR_PROFILE=/dev/full", "1") == "ashlar: ashlar_profile_write: /dev/full cannot be written\n");
}

TEST_CASE("code without --profile calls nothing, and --profile is for processors and LLVM") {
  const auto made = [](const std::string& options) {
    return test::shell("'" PROFILE_GENERATOR "' -g stages --quiet " + options);
  };
  CHECK_FALSE(has(made("-t x86-64-v3 -e assembly=-"), "profile"));
  for (const char* target : {"x86-64-v3", "aarch64", "aarch64+sve", "armv7"})
    CHECK(has(made(std::string("--profile -e assembly=- -t ") + target), "ashlar_abi1_profile_enter"));
  const auto refused = [&](const std::string& options) {
    try {
      return made("--profile " + options);
    } catch (const std::exception& e) { return std::string(e.what()); }
  };
  CHECK(has(refused("-t x86-64-v3 -e c=-"), "--profile: expected code that LLVM makes, found -e c"));
  CHECK(
      has(refused("-t cuda-sm_80 -e assembly=-"), "--profile: expected processors with an operating system, found cuda-sm_80"));
  CHECK(has(refused("-t cortex-m4 -e assembly=-"), "--profile: expected processors with an operating system, found cortex-m4"));
}
