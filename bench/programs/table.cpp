#include "bench/programs/table.h"

#include <fmt/core.h>

#include <cstdio>
#include <fstream>
#include <nlohmann/json.hpp>
#include <stdexcept>

namespace bench::programs {
namespace {

constexpr const char* columns[] = {"default", "exact", "unscheduled", "gcc", "clang", "gcc -ffast-math", "clang -ffast-math"};
constexpr const char* headings[] = {"default", "exact", "unsched.", "gcc", "clang", "gcc fast", "clang fast"};

std::string time_of(const Result& r, const char* column) {
  const Contender* c = r.find(column);
  return c && c->median_ns > 0 ? fmt::format("{:.1f}", c->median_ns / 1e3) : "-";
}

}  // namespace

std::string processor() {
  std::ifstream info("/proc/cpuinfo");
  for (std::string line; std::getline(info, line);)
    if (line.rfind("model name", 0) == 0) return line.substr(line.find(':') + 2);
  return "unknown";
}

void print_heading() {
  fmt::print("{:<36}", "us of a call, medians");
  for (const char* h : headings) fmt::print("{:>11}", h);
  fmt::print("{:>8}{:>8}{:>10}\n", "exact", "fast", "compile");
  std::fflush(stdout);
}

void print_row(const Result& r, bool repeated) {
  fmt::print("{:<36}", r.area + " " + r.name);
  if (!r.failed.empty()) {
    fmt::print(" FAILED: {}\n", r.failed);
  } else {
    for (const char* column : columns) fmt::print("{:>11}", time_of(r, column));
    fmt::print("{:>8.2f}{:>8}{:>7.0f} ms", r.exact_ratio, r.fast_ratio ? fmt::format("{:.2f}", *r.fast_ratio) : "-",
               r.schedule_ms + r.code_ms);
    if (r.on_threads) fmt::print("  {:.2f} on threads", *r.on_threads);
    if (r.missed()) fmt::print("{}", repeated ? "  MISS" : "  miss, once more:");
    fmt::print("\n");
    for (const Contender& c : r.contenders)
      if (!c.skipped.empty()) fmt::print("    skipped: {}: {}\n", c.name, c.skipped);
    if (!r.choices.empty()) fmt::print("{}\n", r.choices);
  }
  std::fflush(stdout);
}

void print_outcome(const std::vector<Result>& all) {
  std::size_t missed = 0, failed = 0;
  for (const Result& r : all) missed += r.missed() && r.failed.empty(), failed += !r.failed.empty();
  fmt::print("{} programs: {} reach {} of exact peers and {} of -ffast-math, {} miss, {} failed\n", all.size(),
             all.size() - missed - failed, Result::exact_goal, Result::fast_goal, missed, failed);
  for (const Result& r : all) {
    if (!r.missed() || !r.failed.empty()) continue;
    fmt::print("  {} {}: {:.2f} of {}", r.area, r.name, r.exact_ratio, r.exact_peer);
    if (r.fast_ratio) fmt::print(", {:.2f} of {}", *r.fast_ratio, r.fast_peer);
    fmt::print("\n");
  }
}

void save(const std::string& path, const std::vector<Result>& all) {
  nlohmann::json list = nlohmann::json::array();
  for (const Result& r : all) {
    nlohmann::json times = nlohmann::json::object(), skipped = nlohmann::json::object();
    for (const Contender& c : r.contenders) {
      if (c.skipped.empty())
        times[c.name] = {{"median_ns", c.median_ns}, {"min_ns", c.min_ns}, {"ratio", c.ratio}};
      else
        skipped[c.name] = c.skipped;
    }
    nlohmann::json row = {{"area", r.area},
                          {"program", r.name},
                          {"times", times},
                          {"skipped", skipped},
                          {"exact_ratio", r.exact_ratio},
                          {"schedule_ms", r.schedule_ms},
                          {"code_ms", r.code_ms},
                          {"missed", r.missed()}};
    if (r.fast_ratio) row["fast_ratio"] = *r.fast_ratio;
    if (r.on_threads) row["on_threads"] = *r.on_threads;
    if (!r.failed.empty()) row["failed"] = r.failed;
    list.push_back(row);
  }
  std::ofstream out(path);
  out << nlohmann::json{{"processor", processor()}, {"programs", list}}.dump(2) << "\n";
  if (!out.flush()) throw std::runtime_error("cannot write " + path);
}

}  // namespace bench::programs
