// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The debug section: a table of attributes, and for each function the numbers of those of its operations in order (0: unknown).
#include "tests/tileir/executor/image.h"

namespace ashlar::tileir {

namespace {

enum Tag : u64 { kUnknown, kCompileUnit, kFile, kLexicalBlock, kLoc, kSubprogram, kCallSite };

// What may stand where: a loc has a scope, a scope a file, a call site two places.
struct Attributes {
  const Image& image;
  std::vector<Cursor> data = {};
  std::vector<Location> read = {};
  std::vector<u64> tags = {};
  std::vector<u8> state = {};  // 0: not read, 1: being read, 2: read

  std::string string(Cursor& c) const {
    const u64 n = c.varint("a string of the debug section");
    if (n >= image.strings.size()) c.fail("there is no string " + std::to_string(n));
    return image.strings[n];
  }

  // An attribute with one of these tags; `unknown` has the number 0.
  Location other(Cursor& c, std::initializer_list<u64> good, const char* what, int depth) {
    const Cursor at = c;
    const u64 n = c.varint(what);
    if (n == 0) {
      for (const u64 g : good)
        if (g == kUnknown) return {};
      at.fail(std::string(what) + " is unknown");
    }
    if (n > data.size()) at.fail("there is no debug attribute " + std::to_string(n));
    get(n - 1, at, depth);
    for (const u64 g : good)
      if (g == tags[n - 1]) return read[n - 1];
    at.fail(std::string(what) + " is an attribute of another kind");
  }

  void get(u64 n, const Cursor& from, int depth) {
    if (state[n] == 2) return;
    if (state[n] == 1 || depth > 64) from.fail("debug attributes consist of themselves, or are nested more than 64 deep");
    state[n] = 1;
    Cursor c = data[n];
    tags[n] = c.done() ? u64(kUnknown) : c.varint("the tag of a debug attribute");
    switch (tags[n]) {
      case kCompileUnit:
        other(c, {kFile}, "the file of a unit", depth + 1);
        break;
      case kFile:
        string(c), string(c);
        break;
      case kLexicalBlock:
        other(c, {kLexicalBlock, kSubprogram}, "the scope of a block", depth + 1);
        other(c, {kFile}, "the file of a block", depth + 1);
        read[n].line = static_cast<int>(c.varint("a line"));
        c.varint("a column");
        break;
      case kLoc:
        other(c, {kLexicalBlock, kSubprogram}, "the scope of a place", depth + 1);
        read[n].file = string(c);
        read[n].line = static_cast<int>(c.varint("a line"));
        c.varint("a column");
        break;
      case kSubprogram:
        other(c, {kFile}, "the file of a function", depth + 1);
        read[n].line = static_cast<int>(c.varint("a line"));
        string(c), string(c);
        other(c, {kCompileUnit}, "the unit of a function", depth + 1);
        c.varint("the line of a scope");
        break;
      case kCallSite:  // the place in the function that was inlined
        read[n] = other(c, {kLoc, kCallSite, kUnknown}, "a callee", depth + 1);
        other(c, {kLoc, kCallSite, kUnknown}, "a caller", depth + 1);
        break;
      case kUnknown:
        break;
      default:
        data[n].fail("there is no debug attribute with that tag");
    }
    state[n] = 2;
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
  Attributes table{image};
  const u64 size = c.left();
  for (u64 n = 0; n < attributes; ++n) {
    const u64 end = n + 1 < attributes ? offsets[n + 1] : size;
    if (offsets[n] > end || end > size) c.fail("debug attribute " + std::to_string(n) + " does not lie in its section");
    Cursor one = c;
    one.part(offsets[n], "debug attributes");
    table.data.push_back(one.part(end - offsets[n], "a debug attribute"));
  }
  table.read.resize(attributes), table.tags.resize(attributes), table.state.resize(attributes);
  image.locations.resize(1);
  for (u64 n = 0; n < attributes; ++n) table.get(n, c, 0);
  for (u64 n = 0; n < attributes; ++n) {
    const bool place = table.tags[n] == kLoc || table.tags[n] == kCallSite;
    image.locations.push_back(place ? table.read[n] : Location{});
  }

  std::vector<std::vector<u32>> all;
  for (u64 f = 0; f < functions; ++f) {
    const u64 end = f + 1 < functions ? starts[f + 1] : count;
    if (starts[f] > end || end > count) at.fail("locations of function " + std::to_string(f) + " do not lie in their table");
    std::vector<u32> of;
    for (u64 n = starts[f]; n < end; ++n) {
      if (numbers[n] > attributes) at.fail("there is no debug attribute " + std::to_string(numbers[n]));
      const u64 tag = numbers[n] == 0 ? u64(kUnknown) : table.tags[numbers[n] - 1];
      if (tag != kLoc && tag != kCallSite && tag != kUnknown) at.fail("the location of an operation is no place");
      of.push_back(static_cast<u32>(numbers[n]));
    }
    all.push_back(std::move(of));
  }
  return all;
}

}  // namespace ashlar::tileir
