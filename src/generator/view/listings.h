// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
// The texts that back ends write, as lines. Each line has the number of the source line that it came from, which is read from
// the line table in the text. The table itself is removed.
//
//   llvm_listing("  %1 = add i64 %0, 1, !dbg !7\n!7 = !DILocation(line: 5, …)")     "  %1 = add i64 %0, 1" of line 4
#include <string>
#include <string_view>
#include <vector>

namespace ashlar::generator::view {

struct Listing {
  std::vector<std::string> lines;
  std::vector<int> of;  // counted from 0; -1: none
  void add(std::string_view line, int origin) { lines.emplace_back(line), of.push_back(origin); }
};

Listing llvm_listing(std::string_view text);                      // by !dbg
Listing assembly_listing(std::string_view text);                  // of a processor, or PTX; by .loc
Listing c_listing(std::string_view text, std::string_view file);  // by #line of this file
Listing spirv_listing(std::string_view text);                     // by OpLine

}  // namespace ashlar::generator::view
