#pragma once
// A program, the schedule that was written for it, and the shapes at which schedule_by_default is measured beside it.
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include <ashlar/lang.h>
#include <ashlar/lang/build_program.h>
#include <ashlar/runtime/abi.h>
#include <ashlar/schedule/schedule.h>
#include <ashlar/schedules/by_default.h>

#include "bench/report.h"

namespace bench {

using namespace ashlar;
using Dims = std::vector<std::int64_t>;
using Steps = std::function<void(Schedule&)>;

struct DefaultProgram {
  Tensor in(const char* name, Type t, const std::vector<Extent>& shape) {
    return inputs.emplace_back(lang::make_input(name, t, shape));
  }
  void out(const Tensor& t) { results.push_back(t); }
  std::vector<Tensor> inputs, results;
};

struct DefaultArray {
  Type type;
  Dims shape;
};
struct DefaultRun {
  std::string shape;
  double work;  // of `unit`, times 1e9 s
  const char* unit;
  std::vector<DefaultArray> inputs, results;
};

struct DefaultEntry {
  std::string kernel;
  std::vector<DefaultRun> runs;
  std::function<Steps(DefaultProgram&)> build = {};  // returns the schedule by hand
  schedules::DefaultOptions options = {};
  // Where generators hold both: how to call them.
  std::function<int(const std::vector<const void*>&, const ashlar_context*)> hand = {}, ours = {};
  std::string chosen = {};
};

struct Machine;
void race_defaults(Report&, const Machine&, const DefaultEntry&);

}  // namespace bench
