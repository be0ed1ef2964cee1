// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The debug section: a table of attributes, and for each function the numbers of those of its operations in order (0: unknown).
#include "tests/tileir/executor/image.h"

namespace ashlar::tileir {

namespace {

enum Tag : u64 { kUnknown, kCompileUnit, kFile, kLexicalBlock, kLoc, kSubprogram, kCallSite };

struct Attributes {
  const Image& image;
  std::vector<Cursor> data;

  std::string string(Cursor& c) const {
    const u64 n = c.varint("a string of the debug section");
    if (n >= image.strings.size()) c.fail("there is no string " + std::to_string(n));
    return image.strings[n];
  }

  Location location(u64 n, int depth) const {
    Cursor c = data[n];
    Location l;
    switch (c.done() ? u64(kUnknown) : c.varint("the tag of a debug attribute")) {
      case kLoc:
        c.varint("a scope");
        l.file = string(c);
        l.line = static_cast<int>(c.varint("a line"));
        c.varint("a column");
        break;
      case kLexicalBlock:
      case kSubprogram:
        c.varint("a file");
        if (c.left() > 0) l.line = static_cast<int>(c.varint("a line"));
        break;
      case kCallSite: {  // the place in the function that was inlined
        const Cursor at = c;
        const u64 callee = c.varint("a callee");
        c.varint("a caller");
        if (callee > data.size()) at.fail("there is no debug attribute " + std::to_string(callee));
        if (depth > 64) at.fail("call sites are nested more than 64 deep");
        if (callee > 0) l = location(callee - 1, depth + 1);
        break;
      }
      case kUnknown:
      case kCompileUnit:
      case kFile:
        break;
      default:
        data[n].fail("there is no debug attribute with that tag");
    }
    return l;
  }
};

}  // namespace

std::vector<std::vector<u32>> read_debug(Image& image, Cursor c) {
  const u64 functions = c.count("the number of functions with debug information", 4);
  c.pad(4);
  std::vector<u64> starts;
  for (u64 n = 0; n < functions; ++n) starts.push_back(c.little(4, "the offset of a function's locations"));
  const u64 count = c.count("the number of locations", 8);
  c.pad(8);
  std::vector<u64> numbers;
  const Cursor at = c;
  for (u64 n = 0; n < count; ++n) numbers.push_back(c.little(8, "a location"));

  const u64 attributes = c.count("the number of debug attributes", 4);
  if (attributes > 0) c.pad(4);
  std::vector<u64> offsets;
  for (u64 n = 0; n < attributes; ++n) offsets.push_back(c.little(4, "the offset of a debug attribute"));
  Attributes table{image, {}};
  const u64 size = c.left();
  for (u64 n = 0; n < attributes; ++n) {
    const u64 end = n + 1 < attributes ? offsets[n + 1] : size;
    if (offsets[n] > end || end > size) c.fail("debug attribute " + std::to_string(n) + " does not lie in its section");
    Cursor one = c;
    one.part(offsets[n], "debug attributes");
    table.data.push_back(one.part(end - offsets[n], "a debug attribute"));
  }
  image.locations.resize(1);
  for (u64 n = 0; n < attributes; ++n) image.locations.push_back(table.location(n, 0));

  std::vector<std::vector<u32>> all;
  for (u64 f = 0; f < functions; ++f) {
    const u64 end = f + 1 < functions ? starts[f + 1] : count;
    if (starts[f] > end || end > count) at.fail("locations of function " + std::to_string(f) + " do not lie in their table");
    std::vector<u32> of;
    for (u64 n = starts[f]; n < end; ++n) {
      if (numbers[n] > attributes) at.fail("there is no debug attribute " + std::to_string(numbers[n]));
      of.push_back(static_cast<u32>(numbers[n]));
    }
    all.push_back(std::move(of));
  }
  return all;
}

}  // namespace ashlar::tileir
