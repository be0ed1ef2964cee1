// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Reading the table of targets, with the place in the file of whatever is wrong with it.
#include "target/table.h"

#include <algorithm>
#include <stdexcept>

#include <nlohmann/json.hpp>

namespace ashlar {

namespace {
constexpr std::pair<Architecture, std::string_view> architectures[] = {
    {Architecture::x86_64, "x86-64"}, {Architecture::aarch64, "aarch64"}, {Architecture::arm, "arm"},
    {Architecture::thumb, "thumb"},   {Architecture::riscv64, "riscv64"}, {Architecture::wasm32, "wasm32"}};
}

std::string_view name_of(Architecture a) {
  for (const auto& [value, name] : architectures)
    if (value == a) return name;
  return "";
}

}  // namespace ashlar

namespace ashlar::targets {

namespace {

using Json = nlohmann::ordered_json;

[[noreturn]] void wrong(const std::string& place, const std::string& expected, const std::string& found) {
  throw std::runtime_error(place + ": expected " + expected + ", found " + found);
}

// An object of the file, every key of which must be known and is read once.
class Entry {
 public:
  Entry(const Json& json, std::string place, std::initializer_list<std::string_view> keys)
      : json_(json), place_(std::move(place)) {
    if (!json.is_object()) wrong(place_, "an object", json.dump());
    for (const auto& item : json.items())
      if (std::find(keys.begin(), keys.end(), item.key()) == keys.end()) {
        std::string valid;
        for (const std::string_view k : keys) valid += (valid.empty() ? "" : ", ") + std::string(k);
        wrong(place_, "one of the keys " + valid, "`" + item.key() + "`");
      }
  }
  bool has(const char* key) const { return json_.contains(key); }
  std::string text(const char* key, const std::string& otherwise = "") const {
    if (!has(key)) return otherwise;
    if (!json_[key].is_string()) wrong(at(key), "a text", json_[key].dump());
    return json_[key].get<std::string>();
  }
  std::int64_t number(const char* key, std::int64_t otherwise = 0) const {
    return has(key) ? number(json_[key], at(key)) : otherwise;
  }
  bool flag(const char* key, bool otherwise = false) const {
    if (!has(key)) return otherwise;
    if (!json_[key].is_boolean()) wrong(at(key), "true or false", json_[key].dump());
    return json_[key].get<bool>();
  }
  std::vector<std::string> words(const char* key) const {
    std::vector<std::string> all;
    for (const Json& w : list(key)) {
      if (!w.is_string()) wrong(at(key), "a list of texts", json_[key].dump());
      all.push_back(w.get<std::string>());
    }
    return all;
  }
  std::vector<std::int64_t> numbers(const char* key) const {
    std::vector<std::int64_t> all;
    for (const Json& n : list(key)) all.push_back(number(n, at(key)));
    return all;
  }
  const std::string& place() const { return place_; }

 private:
  std::string at(const char* key) const { return place_ + ", " + key; }
  static std::int64_t number(const Json& n, const std::string& place) {
    constexpr std::int64_t most = std::int64_t{1} << 40;
    if (!n.is_number_integer() || n.get<std::int64_t>() < 0 || n.get<std::int64_t>() > most)
      wrong(place, "a number from 0 to 2^40", n.dump());
    return n.get<std::int64_t>();
  }
  Json list(const char* key) const {
    if (!has(key)) return Json::array();
    if (!json_[key].is_array()) wrong(at(key), "a list", json_[key].dump());
    return json_[key];
  }
  const Json& json_;
  std::string place_;
};

Architecture architecture_of(const std::string& name, const std::string& place) {
  std::string valid;
  for (const auto& [value, text] : architectures) {
    if (text == name) return value;
    valid += (valid.empty() ? "" : ", ") + std::string(text);
  }
  wrong(place, "an architecture: " + valid, "`" + name + "`");
}

// A name can stand in a target's text: a system or a feature ends where the next - or + begins.
void check_name(const std::string& name, bool of_base, const std::string& place) {
  const char* letters = of_base ? "abcdefghijklmnopqrstuvwxyz0123456789_.-" : "abcdefghijklmnopqrstuvwxyz0123456789_.";
  const bool hyphens = !of_base && name.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789_.-") == name.npos;
  if (name.empty() || (name.find_first_not_of(letters) != name.npos && !hyphens) || name[0] == '-' || name.back() == '-')
    wrong(place, "a name of lower-case letters, digits, _, . and -", "`" + name + "`");
}

void add_feature(Table& t, Architecture of, const Json& json, const std::string& place) {
  const Entry e(json, place,
                {"name", "needs", "instructions", "operations", "vector_bits", "narrow_vector_bits", "registers", "always",
                 "flushes_subnormals", "compiler"});
  Feature f;
  f.name = e.text("name");
  check_name(f.name, false, place);
  const std::string named = place + " (" + f.name + ")";
  if (t.feature(of, f.name)) wrong(named, "a feature that is new", "one that is there");
  if (t.system(f.name)) wrong(named, "a name of its own", "that of a system");
  f.of = of;
  f.needs = e.words("needs");
  for (const std::string& n : f.needs)
    if (!t.feature(of, n))
      wrong(named + ", needs", "features of " + std::string(name_of(of)) + " that stand before it", "`" + n + "`");
  f.instructions = e.words("instructions");
  f.operations = e.words("operations");
  for (const std::string& o : f.operations)
    if (o != "fma" && o != "fma64" && o != "round" && o != "half")
      wrong(named + ", operations", "fma, fma64, round or half", "`" + o + "`");
  f.vector_bits = static_cast<int>(e.number("vector_bits"));
  f.narrow_vector_bits = static_cast<int>(e.number("narrow_vector_bits", f.vector_bits));
  for (const int bits : {f.vector_bits, f.narrow_vector_bits})
    if (bits != 0 && (bits < 64 || bits > 2048 || (bits & (bits - 1)) != 0))
      wrong(named + ", vector_bits", "a power of two from 64 to 2048", std::to_string(bits));
  f.registers = static_cast<int>(e.number("registers"));
  f.always = e.flag("always");
  f.flushes_subnormals = e.flag("flushes_subnormals");
  f.of_compiler = e.flag("compiler", true);
  t.features.push_back(std::move(f));
}

void add_base(Table& t, const Json& json, const std::string& place) {
  const Entry e(json, place,
                {"name", "is", "architecture", "arch", "cpu", "tune", "features", "systems", "caches", "cache_line"});
  Base b;
  b.name = e.text("name");
  check_name(b.name, true, place);
  const std::string named = place + " (" + b.name + ")";
  const auto taken = [&](std::string_view name) {
    const auto& devices = Target::devices();
    return name == "host" || t.base(name) ||
           std::any_of(devices.begin(), devices.end(), [&](const Device& d) { return name == d.name; });
  };
  if (taken(b.name)) wrong(named, "a processor that is new", "one that is there");
  const std::string is = e.text("is");
  if (!is.empty()) {
    const Base* like = t.base(is);
    if (!like) wrong(named + ", is", "a processor that stands before it", "`" + is + "`");
    const std::string name = b.name;
    b = *like;
    b.name = name;
  }
  if (e.has("architecture") == !is.empty())
    wrong(named, "one of the keys `architecture` and `is`", is.empty() ? "neither" : "both");
  if (is.empty()) b.of = architecture_of(e.text("architecture"), named + ", architecture");
  b.arch = e.text("arch", is.empty() ? std::string(name_of(b.of)) : b.arch);
  b.cpu = e.text("cpu", b.cpu);
  if (b.cpu.empty()) wrong(named, "the key `cpu`", "none");
  b.tune = e.text("tune", b.tune);
  for (const std::string& f : e.words("features")) {
    if (!t.feature(b.of, f)) wrong(named + ", features", "features of " + std::string(name_of(b.of)), "`" + f + "`");
    b.features.push_back(f);
  }
  for (const Feature& f : t.features)
    if (f.of == b.of && f.always && is.empty()) b.features.push_back(f.name);
  if (e.has("systems")) b.systems = e.words("systems");
  if (b.systems.empty())
    for (const System& s : t.systems)
      if (s.triple(b.of)) b.systems.push_back(s.name);
  for (const std::string& name : b.systems) {
    const System* s = t.system(name);
    if (!s || !s->triple(b.of))
      wrong(named + ", systems", "systems that " + std::string(name_of(b.of)) + " has", "`" + name + "`");
  }
  const std::vector<std::int64_t> caches = e.numbers("caches");
  if (e.has("caches") && caches.size() != 3)
    wrong(named + ", caches", "the bytes of three levels", std::to_string(caches.size()));
  std::copy(caches.begin(), caches.end(), b.caches);
  b.cache_line = static_cast<int>(e.number("cache_line", b.cache_line));
  if (b.cache_line < 8 || (b.cache_line & (b.cache_line - 1)) != 0)
    wrong(named + ", cache_line", "a power of two of at least 8", std::to_string(b.cache_line));
  t.bases.push_back(std::move(b));
}

void add_all(Table& t, const Json& json) {
  const Entry file(json, "the file", {"systems", "features", "targets"});
  const auto part = [&](const char* key, bool list) -> const Json& {
    static const Json none_list = Json::array(), none = Json::object();
    if (!json.contains(key)) return list ? none_list : none;
    if (list ? !json[key].is_array() : !json[key].is_object()) wrong(key, list ? "a list" : "an object", json[key].dump());
    return json[key];
  };
  for (const auto& [name, triples] : part("systems", false).items()) {
    const std::string place = "systems (" + name + ")";
    check_name(name, false, place);
    if (t.system(name)) wrong(place, "a system that is new", "one that is there");
    if (!triples.is_object()) wrong(place, "a triple for each architecture", triples.dump());
    System s{name, {}};
    for (const auto& [architecture, triple] : triples.items()) {
      if (!triple.is_string()) wrong(place + ", " + architecture, "a triple", triple.dump());
      s.triples.emplace_back(architecture_of(architecture, place), triple.get<std::string>());
    }
    t.systems.push_back(std::move(s));
  }
  for (const auto& [name, list] : part("features", false).items()) {
    const Architecture of = architecture_of(name, "features");
    if (!list.is_array()) wrong("features, " + name, "a list", list.dump());
    for (std::size_t k = 0; k < list.size(); ++k)
      add_feature(t, of, list[k], "features, " + name + "[" + std::to_string(k) + "]");
  }
  const Json& targets = part("targets", true);
  for (std::size_t k = 0; k < targets.size(); ++k) add_base(t, targets[k], "targets[" + std::to_string(k) + "]");
}

}  // namespace

const std::string* System::triple(Architecture a) const {
  for (const auto& [of, triple] : triples)
    if (of == a) return &triple;
  return nullptr;
}

const Feature* Table::feature(Architecture of, std::string_view name) const {
  for (const Feature& f : features)
    if (f.of == of && f.name == name) return &f;
  return nullptr;
}
const Base* Table::base(std::string_view name) const {
  for (const Base& b : bases)
    if (b.name == name) return &b;
  return nullptr;
}
const System* Table::system(std::string_view name) const {
  for (const System& s : systems)
    if (s.name == name) return &s;
  return nullptr;
}

void Table::add(const std::string& text) {
  if (added_.count(text)) return;
  Json json;
  try {
    json = Json::parse(text);
  } catch (const Json::exception& e) { throw std::runtime_error(std::string("no JSON: ") + e.what()); }
  const std::size_t had[] = {systems.size(), features.size(), bases.size()};
  try {
    add_all(*this, json);
  } catch (...) {
    systems.resize(had[0]);
    features.resize(had[1]);
    bases.resize(had[2]);
    throw;
  }
  added_.insert(text);
}

namespace {
struct Shared {
  std::recursive_mutex mutex;
  Table table;
  Shared() { table.add(std::string(built_in_json)); }
};
Shared& shared() {
  static Shared* s = new Shared;  // outlives the static objects that declare features
  return *s;
}
}  // namespace

Locked::Locked() : lock_(shared().mutex), table_(shared().table) {}

}  // namespace ashlar::targets
