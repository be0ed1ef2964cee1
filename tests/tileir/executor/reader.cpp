// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The file: header, sections in any order, each once; then what they hold, in the order in which one needs the other.
#include <map>

#include "tests/tileir/executor/image.h"

namespace ashlar::tileir {

namespace {

enum Section : u8 { kEnd, kStrings, kFunctions, kDebug, kConstants, kTypes, kGlobals, kCount };
const char* const kNames[] = {"end", "string", "function", "debug", "constant", "type", "global"};
constexpr u64 kAlignment[] = {1, 4, 8, 8, 8, 4, 1};  // what a section must be aligned to at least

Version read_header(Cursor& c) {
  static const u8 magic[] = {0x7f, 'T', 'i', 'l', 'e', 'I', 'R', 0};
  for (const u8 m : magic)
    if (c.byte("the magic number") != m) c.fail("this is no bytecode of Tile IR", c.at() - 1);
  Version v{};
  v.major = c.byte("the version"), v.minor = c.byte("the version"), v.tag = static_cast<int>(c.little(2, "the version"));
  if (v.major != 13 || v.minor < 1 || v.minor > 5)
    c.fail("version " + std::to_string(v.major) + "." + std::to_string(v.minor) + ", and 13.1 to 13.5 are known", 8);
  if (v.tag != 0) c.fail("version tag " + std::to_string(v.tag) + ": previews are not known", 10);
  return v;
}

std::map<u8, Cursor> read_sections(Cursor& c) {
  std::map<u8, Cursor> sections;
  for (;;) {
    const std::size_t at = c.at();
    const u8 head = c.byte("a section"), id = head & 0x7f;
    if (head == kEnd) {
      if (!c.done()) c.fail(std::to_string(c.left()) + " bytes follow the end");
      return sections;
    }
    if (id == kEnd || id >= kCount) c.fail("there is no section " + std::to_string(head), at);
    const u64 length = c.varint("the length of a section");
    u64 align = 1;
    if ((head & 0x80) != 0) {
      align = c.varint("the alignment of a section");
      if (align == 0 || (align & (align - 1)) != 0 || align > 4096) c.fail("an alignment of " + std::to_string(align), at);
      c.pad(align, 0);
    }
    if (align < kAlignment[id])
      c.fail(std::string("the ") + kNames[id] + " section must be aligned to " + std::to_string(kAlignment[id]), at);
    if (!sections.emplace(id, c.part(length, kNames[id])).second)
      c.fail(std::string("a second ") + kNames[id] + " section", at);
  }
}

// Things of varying size: their number, where each begins, and all of them.
std::vector<Cursor> read_table(Cursor c, int bytes, const char* what) {
  const u64 n = c.count(what, static_cast<std::size_t>(bytes));
  if (n > 0) c.pad(static_cast<u64>(bytes));
  std::vector<u64> starts;
  for (u64 k = 0; k < n; ++k) starts.push_back(c.little(bytes, what));
  std::vector<Cursor> all;
  const u64 size = c.left();
  for (u64 k = 0; k < n; ++k) {
    const u64 end = k + 1 < n ? starts[k + 1] : size;
    if (starts[k] > end || end > size)
      c.fail(std::string(what) + ": number " + std::to_string(k) + " does not lie in its section");
    Cursor one = c;
    one.part(starts[k], what);
    all.push_back(one.part(end - starts[k], what));
  }
  return all;
}

u64 index(Cursor& c, u64 count, const char* what) {
  const std::size_t at = c.at();
  const u64 n = c.varint(what);
  if (n >= count) c.fail(std::string(what) + ": there is no number " + std::to_string(n) + " of " + std::to_string(count), at);
  return n;
}

void read_globals(Image& image, Cursor c) {
  const u64 n = c.count("the number of globals", 4);
  for (u64 k = 0; k < n; ++k) {
    const std::size_t at = c.at();
    Global g;
    g.name = image.strings[index(c, image.strings.size(), "the name of a global")];
    g.type = image.types[index(c, image.types.size(), "the type of a global")];
    g.elements = elements_of(image.constants[index(c, image.constants.size(), "the value of a global")], *g.type, at);
    g.alignment = c.varint("the alignment of a global");
    if ((g.alignment & (g.alignment - 1)) != 0 || g.alignment > 4096)
      c.fail("an alignment of " + std::to_string(g.alignment), at);
    if (g.type->shape.size() != 1 || storage_bytes(g.type->element()) == 0) c.fail("a global of type " + g.type->text, at);
    if (image.version.minor >= 3) {
      if (c.byte("the visibility of a global") > 1) c.fail("there is no such visibility", c.at() - 1);
      const u64 constant = c.varint("whether a global is constant");
      if (constant > 1) c.fail("whether a global is constant: " + std::to_string(constant));
      g.constant = constant != 0;
    }
    if (image.global(g.name) != nullptr) c.fail("a second global " + g.name, at);
    image.globals.push_back(std::move(g));
  }
  if (!c.done()) c.fail(std::to_string(c.left()) + " bytes follow the last global");
}

struct Body {
  Function function;
  Cursor code;
  u64 locations;
};

Body read_function(Image& image, Cursor& c) {
  enum Flags : u8 { kHidden = 1, kKernel = 2, kHints = 4 };
  Body b;
  const std::size_t at = c.at();
  b.function.name = image.strings[index(c, image.strings.size(), "the name of a function")];
  b.function.type = image.types[index(c, image.types.size(), "the type of a function")];
  if (b.function.type->kind != Kind::kFunction)
    c.fail("function " + b.function.name + " has the type " + b.function.type->text, at);
  const u8 flags = c.byte("the flags of a function");
  if (flags > 7) c.fail("flags of a function: " + std::to_string(flags), c.at() - 1);
  b.function.entry = (flags & kKernel) != 0, b.function.hidden = (flags & kHidden) != 0;
  b.locations = c.varint("the debug information of a function");
  const bool since_5 = image.version.minor >= 5;
  if ((flags & kHints) != 0 || (since_5 && b.function.entry)) {
    b.function.hints = read_tagged(image, c);
    if (b.function.hints.tag != Attribute::kHints)
      c.fail("the hints of function " + b.function.name + " are something else", at);
    check_hints(b.function.hints, true, image.version, at);
  }
  if (since_5 && read_tagged(image, c).tag != Attribute::kArray)
    c.fail("the attributes of arguments of function " + b.function.name + " are no array", at);
  b.code = c.part(c.varint("the length of a function"), "a function");
  return b;
}

void read_functions(Image& image, Cursor c, const std::vector<std::vector<u32>>& locations) {
  const u64 n = c.count("the number of functions", 5);
  for (u64 k = 0; k < n; ++k) {
    Body b = read_function(image, c);
    for (const Function& f : image.functions)
      if (f.name == b.function.name) c.fail("a second function " + f.name);
    if (b.locations > locations.size() && !locations.empty())
      c.fail("there is no debug information " + std::to_string(b.locations));
    static const std::vector<u32> none;
    read_body(image, b.code, b.function, b.locations == 0 || locations.empty() ? none : locations[b.locations - 1]);
    image.functions.push_back(std::move(b.function));
  }
  if (!c.done()) c.fail(std::to_string(c.left()) + " bytes follow the last function");
}

std::size_t argument_bytes(const Type& t) {
  const Kind e = t.is_tile() && t.shape.empty() ? t.element() : Kind::kToken;
  return static_cast<std::size_t>(storage_bytes(e));
}

}  // namespace

const Global* Image::global(std::string_view name) const {
  for (const Global& g : globals)
    if (g.name == name) return &g;
  return nullptr;
}

Module Module::read(std::span<const std::byte> file) {
  const std::span<const u8> bytes(reinterpret_cast<const u8*>(file.data()), file.size());
  Cursor c(bytes, 0, bytes.size());
  const auto image = std::make_shared<Image>();
  image->version = read_header(c);
  const auto sections = read_sections(c);
  for (const u8 needed : {kStrings, kFunctions})
    if (!sections.contains(needed)) c.fail(std::string("there is no ") + kNames[needed] + " section");
  const auto section = [&](u8 id) { return sections.contains(id) ? sections.at(id) : Cursor(); };

  for (const Cursor& s : read_table(section(kStrings), 4, "the strings")) image->strings.push_back(s.text());
  if (sections.contains(kConstants)) {
    for (Cursor k : read_table(section(kConstants), 8, "the constants")) {
      Cursor data = k.part(k.varint("the length of a constant"), "a constant");
      std::vector<u8> raw;
      while (!data.done()) raw.push_back(data.byte("a constant"));
      image->constants.push_back(std::move(raw));
    }
  }
  if (sections.contains(kTypes)) image->types = read_types(*image, section(kTypes));
  if (sections.contains(kGlobals)) read_globals(*image, section(kGlobals));
  image->locations.resize(1);
  std::vector<std::vector<u32>> locations;
  if (sections.contains(kDebug)) locations = read_debug(*image, section(kDebug));
  read_functions(*image, section(kFunctions), locations);
  for (const Function& f : image->functions) {
    if (!f.entry) continue;
    Kernel k{f.name, {}};
    for (const Type* p : f.type->parameters) k.parameters.push_back({p->text, argument_bytes(*p)});
    image->kernels.push_back(std::move(k));
  }
  return Module(image);
}

Version Module::version() const { return image_->version; }
const std::vector<Kernel>& Module::kernels() const { return image_->kernels; }
const Kernel& Module::kernel(std::string_view name) const {
  for (const Kernel& k : image_->kernels)
    if (k.name == name) return k;
  throw Error("the module has no kernel " + std::string(name));
}

namespace {
void count(const Block& b, std::map<std::string, std::uint64_t>& counts) {
  for (const Op& op : b.ops) {
    ++counts[op.info->name];
    for (const Block& r : op.regions) count(r, counts);
  }
}
}  // namespace

std::map<std::string, std::uint64_t> Module::operations() const {
  std::map<std::string, std::uint64_t> counts;
  counts["module"] = 1;
  if (!image_->globals.empty()) counts["global"] = image_->globals.size();
  for (const Function& f : image_->functions) {
    if (f.entry) ++counts["entry"];
    count(f.body, counts);
  }
  return counts;
}

}  // namespace ashlar::tileir
