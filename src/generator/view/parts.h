// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
// The parts of the page's data, as JSON.
#include <map>
#include <span>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "generator/view/view.h"

namespace ashlar::generator::view {

using nlohmann::json;

// The user's files that the data refers to. A place is [file, line], or null if it is unknown.
class Sources {
 public:
  json place(Where);
  // [{"name": "blur.cpp", "text": "…"}]; a file that cannot be read here has no "text".
  json files() const;

 private:
  std::map<std::string, std::size_t> known_;  // by the name that the compiler had
  std::vector<std::string> order_;
};

// The lines of the program after each step, most of which do not change from step to step: each is stored once.
class LineTable {
 public:
  std::size_t add(const std::string& line);
  const std::vector<std::string>& lines() const { return lines_; }

 private:
  std::map<std::string, std::size_t> known_;
  std::vector<std::string> lines_;
};

// [{"text": "split(…) …", "place": …, "program": [[line, file, line of it, stage], …]}]; the first is the program as defined.
json steps(const Compilation&, LineTable&, Sources&);
// {"nodes": [{"id", "name", "kind", "type", "box", "formula", "place", "at", "memory"}], "edges": [[from, to, "A[i, k]"]]}
json graph(const ir::Program&, Sources&);
// [{"name": "kernel", "title": "lowered kernel", "lines": […], "of": [line of the kernel for each, or -1], "places": […]}]
json code(const Compilation&, Sources&);
// What a run on small extents does, and when; {"why": …} if it cannot be run.
json run(const Compilation&, const ExplainSizes& drawn);
json charts(const Compilation&, const Options&);
json refusal(const Refusal&, Sources&);

// Places for ir::place_at_lines, one for each line of a kernel: the n-th is line n + 1 of kernel_lines_file.
std::span<const Where> kernel_lines();
constexpr const char* kernel_lines_file = "kernel_lines.cpp";

}  // namespace ashlar::generator::view
