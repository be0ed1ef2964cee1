// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
// The numbers behind explain(), for charts: operations and bytes of the call, what each cache holds of each stage, what limits
// the blocks of a launch, and the addresses of one warp for each access. Counted as docs/explain.md says.
//
//   Figures f = explain_figures(schedule, kernel, {{"M", 4096}});
//   f.operations[0].count / f.argument_bytes          operations a byte
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include <ashlar/report/explain.h>

namespace ashlar {

struct OperationFigures {
  std::string kind;  // "f32", "i8, matrix units"
  double count = 0;  // an fma counts as two
  double rate = 0;   // of the device, in operations per second; 0: unknown
};

struct CacheFigures {
  int level = 1;
  std::int64_t bytes = 0;
  std::string holds;     // the outermost loop that fits; "": the whole stage fits; "-": not even the innermost loop fits
  double footprint = 0;  // bytes that one run of that loop touches
  double moved = 0;      // bytes loaded and stored beyond the cache
  double intensity = 0;  // operations per byte moved
};

struct StageCost {
  std::string name, inside;  // inside: the loop of another stage where it is computed
  double points = 0, distinct = 0, operations = 0;
  double lanes_used = 0;  // the share of vector lanes that compute a point; 0: no vectors
  std::vector<CacheFigures> caches;
};

struct WarpFigures {  // one access of the first warp of the first block, loops at their first iteration
  std::string buffer;
  bool store = false, shared = false;
  int elements = 1;  // neighbors that a thread accesses at once
  std::int64_t element_bytes = 4;
  std::vector<std::int64_t> bytes;  // the first byte of each lane's access in the buffer; -1: depends on data
};

struct LaunchFigures {
  struct Limit {
    std::string name;
    std::int64_t blocks = 0;  // that fit on a multiprocessor by this limit
  };
  std::string name;
  std::int64_t grid[3] = {1, 1, 1};
  std::int64_t threads = 1, shared_bytes = 0, shared_most = 0, registers = 0, registers_most = 0;
  std::vector<Limit> limits;  // empty: the target names no device
  std::int64_t warps_of_block = 0, warps_most = 0;
  std::vector<WarpFigures> warps;
};

struct Figures {
  std::string target, model;  // model: of a device that has figures
  std::vector<std::pair<std::string, std::int64_t>> sizes;
  std::vector<OperationFigures> operations;
  double argument_bytes = 0;            // each argument once
  double requested_bytes = 0;           // of a device: by all accesses to global memory
  double bandwidth = 0;                 // of the device, in bytes a second; 0: not known
  std::vector<std::string> losses;      // of a processor: what costs most, the worst first, in the words of explain()
  std::vector<StageCost> stages;        // of a processor
  std::vector<LaunchFigures> launches;  // of a device
};

// `kernel` is what the schedule was lowered to. Refused: a size for a name that is not a Symbol.
Figures explain_figures(const Schedule&, const ir::Kernel&, const ExplainSizes& = {}, Where = Where::current());

}  // namespace ashlar
