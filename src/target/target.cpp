// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What a target's name says, by the table of processors and features.
#include <ashlar/target/target.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <functional>
#include <mutex>
#include <set>
#include <sstream>
#include <stdexcept>

#include <ashlar/ir/refusal.h>

#include "target/table.h"

namespace ashlar {

using targets::Base;
using targets::Feature;
using targets::Locked;

namespace {

// Features that are switched on.
class Set {
 public:
  Set(const targets::Table& t, Architecture of) : table_(t), of_(of) {}
  bool has(std::string_view name) const { return on_.find(name) != on_.end(); }
  void enable(const std::string& name) {
    if (!on_.insert(name).second) return;
    for (const std::string& n : table_.feature(of_, name)->needs) enable(n);
  }
  void disable(const std::string& name) {
    on_.erase(name);
    for (const Feature& f : table_.features)
      if (f.of == of_ && has(f.name) && std::find(f.needs.begin(), f.needs.end(), name) != f.needs.end()) disable(f.name);
  }

 private:
  const targets::Table& table_;
  Architecture of_;
  std::set<std::string, std::less<>> on_;
};

// Features that users declared, in the order of their names.
struct Declared {
  std::mutex mutex;
  std::set<std::string, std::less<>> names;
};
Declared& declared() {
  static Declared* d = new Declared;  // outlives the static objects that declare
  return *d;
}
bool is_declared(std::string_view name) {
  Declared& d = declared();
  const std::lock_guard lock(d.mutex);
  return d.names.find(name) != d.names.end();
}

std::string listed(const std::vector<std::string>& words, const char* between = ", ") {
  std::string all;
  for (const std::string& w : words) all += (all.empty() ? "" : between) + w;
  return all;
}

bool ends_word(std::string_view text, std::size_t at) { return at == text.size() || text[at] == '-' || text[at] == '+'; }

// The longest beginning of `text` that ends before a sign and is known; else up to the first sign. Names may hold hyphens.
template <class Known>
std::string_view longest_word(std::string_view text, Known&& known) {
  for (std::size_t end = text.size(); end > 0; --end)
    if (ends_word(text, end) && known(text.substr(0, end))) return text.substr(0, end);
  return text.substr(0, std::min(text.find_first_of("+-"), text.size()));
}

// `l2:512K` behind a plus: how large the data cache of a level is, in bytes, K or M. -1: the word is no such thing.
int level_of(std::string_view word) {
  return word.size() > 2 && word[0] == 'l' && word[1] >= '1' && word[1] <= '3' && word[2] == ':' ? word[1] - '0' : -1;
}
std::int64_t size_of(std::string_view text) {
  std::int64_t bytes = 0;
  std::size_t k = 0;
  for (; k < text.size() && k < 12 && text[k] >= '0' && text[k] <= '9'; ++k) bytes = bytes * 10 + (text[k] - '0');
  if (k == 0) return -1;
  if (text.substr(k) == "K") return bytes << 10;
  if (text.substr(k) == "M") return bytes << 20;
  return k == text.size() ? bytes : -1;
}

// Of the systems of a processor those that have drivers of GPUs.
std::vector<std::string> with_drivers(std::vector<std::string> systems) {
  std::erase(systems, "none");
  return systems;
}

// The processor behind a GPU's name, which launches its kernels; it is taken off `rest`. Null where none is named.
const Base* launcher_of(const targets::Table& table, std::string_view& rest, std::string_view name, Where where) {
  if (rest.empty() || rest[0] != '-') return nullptr;
  const std::string_view word = longest_word(rest.substr(1), [&](std::string_view w) { return table.base(w) != nullptr; });
  const Base* base = table.base(word);
  if (!base) return nullptr;
  const bool narrow = base->of == Architecture::arm || base->of == Architecture::thumb || base->of == Architecture::wasm32;
  if (narrow || with_drivers(base->systems).empty())
    refuse(
        "target",
        "a processor with 64-bit addresses and an operating system, to launch the kernels of a GPU (x86-64, aarch64, riscv64)",
        "`" + std::string(word) + "` in `" + std::string(name) + "`", where);
  rest.remove_prefix(1 + word.size());
  return base;
}

}  // namespace

struct Target::Parsed {
  std::string text, base, cpu, tune, os, triple;
  Architecture of = Architecture::x86_64;
  std::vector<Feature> on;             // in the order of the table
  std::vector<std::string> users;      // features of the user's own
  std::vector<std::string> of_device;  // of a device for Vulkan
  std::int64_t caches[3] = {};
  int cache_line = 64;
  const Device* device = nullptr;
  bool says_launcher = false;
};

std::vector<std::string> Target::names() {
  std::vector<std::string> all;
  const Locked table;
  for (const Base& b : table->bases) all.push_back(b.name);
  all.push_back("host");
  for (const Device& d : devices()) all.push_back(d.name);
  return all;
}

std::vector<std::string> Target::features() {
  std::vector<std::string> all;
  const Locked table;
  for (const Feature& f : table->features)
    if (std::find(all.begin(), all.end(), f.name) == all.end()) all.push_back(f.name);
  return all;
}

std::vector<std::string> Target::features(Architecture a) {
  std::vector<std::string> all;
  const Locked table;
  for (const Feature& f : table->features)
    if (f.of == a) all.push_back(f.name);
  return all;
}

std::vector<std::string> Target::systems(std::string_view base) {
  const Locked table;
  const Base* b = table->base(base);
  if (b) return b->systems;
  const std::vector<std::string>& all = table->bases.front().systems;
  return parse(base).is_gpu() ? with_drivers(all) : all;  // refused, unless it is the host or a GPU
}

void Target::add_file(const std::string& path, Where where) {
  std::ifstream in(path, std::ios::binary);
  std::ostringstream text;
  if (!in || !(text << in.rdbuf())) refuse("targets", "a file of targets that can be read", "`" + path + "`", where);
  Locked table;
  try {
    table.edit().add(text.str());
  } catch (const std::runtime_error& e) { refuse("targets", "a file of targets", path + ": " + e.what(), where); }
}

Target Target::parse(std::string_view name, Where where) {
  const Locked table;
  const std::vector<std::string> valid = names();
  Parsed p;
  p.base = longest_word(name, [&](std::string_view w) { return std::find(valid.begin(), valid.end(), w) != valid.end(); });
  if (std::find(valid.begin(), valid.end(), p.base) == valid.end())
    refuse("target", "one of " + listed(valid) + ", with -SYSTEM and +FEATURE or -FEATURE behind it",
           "`" + std::string(name) + "`", where);
  const Base* base = table->base(p.base);
  for (const Device& d : devices())
    if (p.base == d.name) p.device = &d;
  std::string_view rest = name.substr(p.base.size());
  std::string launched_by;
  if (!base) base = &table->bases.front();  // the host, and what launches the kernels of a GPU that names no processor
  if (p.device) {
    if (const Base* named = launcher_of(*table, rest, name, where)) {
      base = named;
      launched_by = "-" + named->name;
    }
  }
  p.of = base->of;
  p.cpu = base->cpu;
  p.tune = base->tune;
  const Base& asked = p.device ? table->bases.front() : *base;  // the schedule of a GPU is the same on every host
  p.cache_line = asked.cache_line;
  std::copy(std::begin(asked.caches), std::end(asked.caches), p.caches);
  Set on(*table, p.of);
  for (const std::string& f : base->features) on.enable(f);
  if (p.base == "host") {
#if !defined(__x86_64__)
    refuse("target", "a machine whose features are known", "`host` on a machine that is not x86-64; name a target", where);
#endif
    for (const Feature& f : table->features)
      if (f.of == p.of && has_here(f)) on.enable(f.name);
    std::fill(std::begin(p.caches), std::end(p.caches), 0);
    targets::read_caches(p.caches);
  }
  const std::vector<std::string> systems = p.device ? with_drivers(base->systems) : base->systems;
  p.os = systems.front();
  const std::string usual = p.os;
  const auto has_system = [&](std::string_view w) { return std::find(systems.begin(), systems.end(), w) != systems.end(); };
  std::string suffixes, device_suffixes;
  const bool vulkan = p.device && p.device->kind == Device::Kind::vulkan;
  while (!rest.empty()) {
    const char sign = rest[0];
    rest.remove_prefix(1);
    const std::string word(longest_word(
        rest, [&](std::string_view w) { return table->feature(p.of, w) || is_declared(w) || (sign == '-' && has_system(w)); }));
    rest.remove_prefix(word.size());
    const std::string found = "`" + std::string(1, sign) + word + "` in `" + std::string(name) + "`";
    if (const int level = level_of(word); level > 0 && sign == '+') {
      p.caches[level - 1] = size_of(std::string_view(word).substr(3));
      if (p.caches[level - 1] < 0) refuse("target", "the bytes of a cache, as +l2:512K or +l3:32M", found, where);
      suffixes += sign + word;
      continue;
    }
    if (sign == '-' && has_system(word)) {
      p.os = word;
      continue;
    }
    if (vulkan && sign == '+' && targets::is_vulkan_feature(word)) {
      if (std::find(p.of_device.begin(), p.of_device.end(), word) != p.of_device.end()) continue;
      if (const int lanes = targets::subgroup_of(word)) {
        if (p.device->warp != 1) refuse("target", "subgroups of one size", found, where);
        p.device = targets::with_subgroups(*p.device, lanes);
      }
      p.of_device.push_back(word);
      device_suffixes += sign + word;
      continue;
    }
    const Feature* feature = table->feature(p.of, word);
    if (!feature && is_declared(word)) {
      std::erase(p.users, word);
      if (sign == '+') p.users.push_back(word);
      suffixes += sign + word;
      continue;
    }
    if (!feature)
      refuse("target",
             "a system (-" + listed(systems, ", -") + ") or a feature: " + listed(features(p.of)) +
                 (vulkan ? "; of the device: " + listed(vulkan_features()) : ""),
             found, where);
    if (sign == '-' && feature->always)
      refuse("target", word + ", which every machine of " + std::string(name_of(p.of)) + " has", "`" + std::string(name) + "`",
             where);
    if (sign == '+')
      on.enable(word);
    else
      on.disable(word);
    suffixes += sign + word;
  }
  for (const Feature& f : table->features)
    if (f.of == p.of && on.has(f.name)) p.on.push_back(f);
  p.triple = *table->system(p.os)->triple(p.of);
  if (const std::size_t at = p.triple.find("ARCH"); at != p.triple.npos) p.triple.replace(at, 4, base->arch);
  const std::string launcher = launched_by + (p.os == usual ? "" : "-" + p.os) + suffixes;
  p.says_launcher = p.device && name != p.base + device_suffixes;
  p.text = p.base + launcher + device_suffixes;
  return Target(p);
}

Target::Target(const Parsed& p)
    : text_(p.text),
      base_(p.base),
      os_(p.os),
      triple_(p.triple),
      cpu_(p.cpu),
      tune_(p.tune),
      architecture_(p.of),
      cache_line_(p.cache_line),
      device_(p.device),
      says_launcher_(p.says_launcher) {
  for (const Feature& f : p.on) {
    enabled_.push_back(f.name);
    for (const std::string& i : f.instructions)
      if (std::find(instructions_.begin(), instructions_.end(), i) == instructions_.end()) instructions_.push_back(i);
    operations_.insert(operations_.end(), f.operations.begin(), f.operations.end());
    if (f.vector_bits > 0) vector_bits_ = f.vector_bits;
    if (f.narrow_vector_bits > 0) narrow_vector_bits_ = f.narrow_vector_bits;
    if (f.registers > 0) vector_registers_ = f.registers;
    flushes_subnormals_ = flushes_subnormals_ || f.flushes_subnormals;
  }
  if (device_) vector_bits_ = narrow_vector_bits_ = 128, vector_registers_ = 16;  // the same on every host
  enabled_.insert(enabled_.end(), p.users.begin(), p.users.end());
  enabled_.insert(enabled_.end(), p.of_device.begin(), p.of_device.end());
  std::copy(std::begin(p.caches), std::end(p.caches), std::begin(caches_));
}

Target Target::launched_by(const Target& t, Where where) const {
  if (!device_ || says_launcher_ || (t.architecture() == architecture_ && t.os() == os_)) return *this;
  const Locked table;
  for (const Base& b : table->bases)  // the first of an architecture is the plain one
    if (b.of == t.architecture())
      return parse(base_ + "-" + b.name + "-" + std::string(t.os()) + text_.substr(base_.size()), where);
  throw InternalError("target: no processor of " + std::string(name_of(t.architecture())));
}

bool Target::has(const char* feature) const {
  if (std::find(enabled_.begin(), enabled_.end(), feature) != enabled_.end()) return true;
  if (!device_ || device_->kind == Device::Kind::vulkan || std::string_view(feature).substr(0, 3) != "sm_") return false;
  if (*device_->chip == '\0') return false;  // any chip: none is promised
  // sm_80 holds on every later chip; sm_90a on that one alone; sm_100f on those of its family whose code is not for all chips
  char *rest = nullptr, *suffix = nullptr;
  const long wanted = std::strtol(feature + 3, &rest, 10), chip = std::strtol(device_->chip + 3, &suffix, 10);
  if (rest == feature + 3) return false;
  if (*rest == '\0') return wanted <= chip;
  const bool family = std::string_view(rest) == "f" && *suffix != '\0' && wanted / 10 == chip / 10 && wanted <= chip;
  return family || std::string_view(feature) == device_->chip;
}

std::string Target::compiler_features() const {
  const Locked table;
  std::string text;
  for (const Feature& f : table->features)
    if (f.of == architecture_ && f.of_compiler)
      text += (text.empty() ? "" : ",") + std::string(has(f.name.c_str()) ? "+" : "-") + f.name;
  return text;
}

bool Target::offers(std::string_view operation) const {
  return std::find(operations_.begin(), operations_.end(), operation) != operations_.end();
}

TargetFeature::TargetFeature(const char* name, Where where) {
  const std::string_view n = name ? name : "";
  const bool word = !n.empty() && n.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789_.") == n.npos;
  const std::vector<std::string> known = Target::features();
  const Locked table;
  if (!word || std::find(known.begin(), known.end(), n) != known.end() || table->system(n))
    refuse("target feature", "a name of its own, of lower-case letters, digits, _ and .", "`" + std::string(n) + "`", where);
  Declared& d = declared();
  const std::lock_guard lock(d.mutex);
  d.names.emplace(n);
}

int Target::pointer_bytes() const {
  return architecture_ == Architecture::arm || architecture_ == Architecture::thumb || architecture_ == Architecture::wasm32
             ? 4
             : 8;
}

int Target::lanes(Type t) const {
  const int bits = t.bytes() * 8;
  return bits == 0 ? 1 : std::max(1, (bits < 32 ? narrow_vector_bits_ : vector_bits_) / bits);
}

std::int64_t Target::cache_bytes(int level) const { return level < 1 || level > 3 ? 0 : caches_[level - 1]; }

bool Target::runs_here(std::string* missing) const {
  const Locked table;
  for (const std::string& name : enabled_)
    if (const Feature* f = table->feature(architecture_, name); f && !has_here(*f)) {
      if (missing) *missing = name;
      return false;
    }
  return true;
}

}  // namespace ashlar
