// The tables behind Target: features of processors with what each needs, the bases, and the detection of this machine.
#include <ashlar/schedule/target.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <mutex>
#include <set>

#if defined(__x86_64__)
#include <cpuid.h>
#endif

#include <ashlar/ir/refusal.h>

namespace ashlar {

namespace {

struct Feature {
  const char* name;   // as LLVM spells it
  const char* needs;  // features it cannot be without, separated by spaces; all stand above it
  bool (*here)();     // whether this machine has it
  Architecture of = Architecture::x86_64;
};

#if defined(__x86_64__)
#define ASHLAR_HERE(text) [] { return __builtin_cpu_supports(text) != 0; }
#else
#define ASHLAR_HERE(text) [] { return false; }
#endif

constexpr auto arm = Architecture::aarch64;
constexpr bool nowhere() { return false; }  // this machine is not asked for features of AArch64

constexpr std::array features_table = {
    Feature{"sse2", "", ASHLAR_HERE("sse2")},
    Feature{"sse3", "sse2", ASHLAR_HERE("sse3")},
    Feature{"ssse3", "sse3", ASHLAR_HERE("ssse3")},
    Feature{"sse4.1", "ssse3", ASHLAR_HERE("sse4.1")},
    Feature{"sse4.2", "sse4.1", ASHLAR_HERE("sse4.2")},
    Feature{"popcnt", "", ASHLAR_HERE("popcnt")},
    Feature{"lzcnt", "", ASHLAR_HERE("lzcnt")},
    Feature{"bmi", "", ASHLAR_HERE("bmi")},
    Feature{"bmi2", "", ASHLAR_HERE("bmi2")},
    Feature{"avx", "sse4.2", ASHLAR_HERE("avx")},
    Feature{"f16c", "avx", ASHLAR_HERE("f16c")},
    Feature{"fma", "avx", ASHLAR_HERE("fma")},
    Feature{"avx2", "avx", ASHLAR_HERE("avx2")},
    Feature{"avxvnni", "avx2", ASHLAR_HERE("avxvnni")},
    Feature{"avx512f", "avx2 f16c fma", ASHLAR_HERE("avx512f")},
    Feature{"avx512cd", "avx512f", ASHLAR_HERE("avx512cd")},
    Feature{"avx512bw", "avx512f", ASHLAR_HERE("avx512bw")},
    Feature{"avx512dq", "avx512f", ASHLAR_HERE("avx512dq")},
    Feature{"avx512vl", "avx512f", ASHLAR_HERE("avx512vl")},
    Feature{"avx512vbmi", "avx512bw", ASHLAR_HERE("avx512vbmi")},
    Feature{"avx512vbmi2", "avx512bw", ASHLAR_HERE("avx512vbmi2")},
    Feature{"avx512ifma", "avx512f", ASHLAR_HERE("avx512ifma")},
    Feature{"avx512vnni", "avx512f", ASHLAR_HERE("avx512vnni")},
    Feature{"avx512bitalg", "avx512bw", ASHLAR_HERE("avx512bitalg")},
    Feature{"avx512vpopcntdq", "avx512f", ASHLAR_HERE("avx512vpopcntdq")},
    Feature{"avx512bf16", "avx512bw", ASHLAR_HERE("avx512bf16")},
    Feature{"neon", "", nowhere, arm},
    Feature{"fullfp16", "neon", nowhere, arm},
    Feature{"dotprod", "neon", nowhere, arm},
    Feature{"i8mm", "neon", nowhere, arm},
    Feature{"bf16", "neon", nowhere, arm},
    Feature{"sve", "neon fullfp16", nowhere, arm},
    Feature{"sve2", "sve", nowhere, arm},
    Feature{"lse", "", nowhere, arm},
};

struct Base {
  const char* name;
  const char* cpu;
  const char* features;
  std::int64_t caches[3];  // of a typical core of that generation: schedules for a named target are the same everywhere
  Architecture of = Architecture::x86_64;
};

#define ASHLAR_V2 "sse2 sse3 ssse3 sse4.1 sse4.2 popcnt"
#define ASHLAR_V3 ASHLAR_V2 " lzcnt bmi bmi2 avx f16c fma avx2"
#define ASHLAR_V4 ASHLAR_V3 " avx512f avx512cd avx512bw avx512dq avx512vl"
constexpr std::array bases = {
    Base{"x86-64", "x86-64", "sse2", {32 << 10, 256 << 10, 4 << 20}},
    Base{"x86-64-v2", "x86-64-v2", ASHLAR_V2, {32 << 10, 256 << 10, 4 << 20}},
    Base{"x86-64-v3", "x86-64-v3", ASHLAR_V3, {32 << 10, 512 << 10, 8 << 20}},
    Base{"x86-64-v4", "x86-64-v4", ASHLAR_V4, {48 << 10, 1 << 20, 16 << 20}},
    Base{"aarch64", "generic", "neon", {64 << 10, 512 << 10, 4 << 20}, arm},
};

struct System {
  const char* name;
  const char* triple[2];  // by architecture
};
constexpr std::array systems = {System{"linux", {"x86_64-unknown-linux-gnu", "aarch64-unknown-linux-gnu"}},
                                System{"none", {"x86_64-unknown-none-elf", "aarch64-unknown-none-elf"}}};

int index_of(std::string_view feature) {
  for (std::size_t k = 0; k < features_table.size(); ++k)
    if (feature == features_table[k].name) return static_cast<int>(k);
  return -1;
}

template <class F>
void each_word(std::string_view words, F&& f) {
  while (!words.empty()) {
    const std::size_t end = std::min(words.find(' '), words.size());
    if (end > 0) f(words.substr(0, end));
    words.remove_prefix(std::min(end + 1, words.size()));
  }
}

using Set = std::array<bool, features_table.size()>;

void enable(Set& on, int k) {
  on[static_cast<std::size_t>(k)] = true;
  each_word(features_table[static_cast<std::size_t>(k)].needs, [&](std::string_view n) { enable(on, index_of(n)); });
}

void disable(Set& on, int k) {
  on[static_cast<std::size_t>(k)] = false;
  for (std::size_t j = 0; j < features_table.size(); ++j)
    each_word(features_table[j].needs, [&](std::string_view n) {
      if (on[j] && index_of(n) == k) disable(on, static_cast<int>(j));
    });
}

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

std::string listed(const std::vector<std::string>& words) {
  std::string all;
  for (const std::string& w : words) all += (all.empty() ? "" : ", ") + w;
  return all;
}

// Data caches of this machine by level, from cpuid leaf 4 (Intel) or 0x8000001D (AMD), which share a layout.
void read_caches(std::int64_t (&bytes)[3]) {
#if defined(__x86_64__)
  unsigned a = 0, b = 0, c = 0, d = 0;
  __get_cpuid(0, &a, &b, &c, &d);
  const bool amd = b == signature_AMD_ebx;
  for (unsigned k = 0; k < 8; ++k) {
    if (!__get_cpuid_count(amd ? 0x8000001Du : 4u, k, &a, &b, &c, &d)) return;
    const unsigned type = a & 31, level = (a >> 5) & 7;
    if (type == 0) return;
    if (type == 2 || level < 1 || level > 3) continue;  // instructions
    bytes[level - 1] = static_cast<std::int64_t>((b >> 22) + 1) * (((b >> 12) & 1023) + 1) * ((b & 4095) + 1) *
                       (static_cast<std::int64_t>(c) + 1);
  }
#else
  (void)bytes;
#endif
}

}  // namespace

struct Target::Parsed {
  std::string text, base, cpu;
  Architecture of = Architecture::x86_64;
  const System* system = &systems[0];
  Set on = {};
  std::vector<std::string> users;  // features of the user's own
  std::int64_t caches[3] = {};
  const Device* device = nullptr;
};

std::vector<std::string> Target::names() {
  std::vector<std::string> all;
  for (const Base& b : bases) all.push_back(b.name);
  all.push_back("host");
  for (const Device& d : devices()) all.push_back(d.name);
  return all;
}

std::vector<std::string> Target::features() {
  std::vector<std::string> all;
  for (const Feature& f : features_table) all.push_back(f.name);
  return all;
}

std::vector<std::string> Target::features(Architecture a) {
  std::vector<std::string> all;
  for (const Feature& f : features_table)
    if (f.of == a) all.push_back(f.name);
  return all;
}

Target Target::parse(std::string_view name, Where where) {
  Parsed p;
  for (const std::string& base : names())
    if (name.starts_with(base) && (name.size() == base.size() || name[base.size()] == '-' || name[base.size()] == '+') &&
        base.size() > p.base.size())
      p.base = base;
  if (p.base.empty())
    refuse("target", "one of " + listed(names()) + ", with -linux or -none and +feature or -feature behind it",
           "`" + std::string(name) + "`", where);
  if (p.base == "host") {
#if !defined(__x86_64__)
    refuse("target", "a machine whose features are known", "`host` on a machine that is not x86-64; name a target", where);
#endif
    for (std::size_t k = 0; k < features_table.size(); ++k)
      if (features_table[k].of == p.of && features_table[k].here()) enable(p.on, static_cast<int>(k));
    p.cpu = "x86-64";
    read_caches(p.caches);
  }
  for (const Base& b : bases)
    if (p.base == b.name) {
      p.cpu = b.cpu;
      p.of = b.of;
      std::copy(std::begin(b.caches), std::end(b.caches), p.caches);
      each_word(b.features, [&](std::string_view f) { enable(p.on, index_of(f)); });
    }
  for (const Device& d : devices())
    if (p.base == d.name) {
      p.device = &d;
      p.cpu = bases[0].cpu;
      std::copy(std::begin(bases[0].caches), std::end(bases[0].caches), p.caches);
      each_word(bases[0].features, [&](std::string_view f) { enable(p.on, index_of(f)); });
    }
  std::string suffixes;
  for (std::string_view rest = name.substr(p.base.size()); !rest.empty();) {
    const char sign = rest[0];
    const std::size_t end = std::min(rest.find_first_of("+-", 1), rest.size());
    const std::string_view word = rest.substr(1, end - 1);
    rest.remove_prefix(end);
    const auto system = std::find_if(systems.begin(), systems.end(), [&](const System& s) { return word == s.name; });
    if (sign == '-' && system != systems.end()) {
      p.system = &*system;
      continue;
    }
    const int feature = index_of(word);
    if (feature < 0 && is_declared(word)) {
      std::erase(p.users, std::string(word));
      if (sign == '+') p.users.emplace_back(word);
      suffixes += sign + std::string(word);
      continue;
    }
    if (feature < 0 || features_table[static_cast<std::size_t>(feature)].of != p.of)
      refuse("target", "a system (-linux, -none) or a feature: " + listed(features(p.of)),
             "`" + std::string(1, sign) + std::string(word) + "` in `" + std::string(name) + "`", where);
    if (sign == '-' && (word == "sse2" || word == "neon"))
      refuse("target", std::string(word) + ", which every " + (p.of == arm ? "AArch64" : "x86-64") + " machine has",
             "`" + std::string(name) + "`", where);
    if (sign == '+')
      enable(p.on, feature);
    else
      disable(p.on, feature);
    suffixes += sign + std::string(word);
  }
  p.text = p.base + (p.system == &systems[0] ? "" : std::string("-") + p.system->name) + suffixes;
  return Target(p);
}

Target::Target(const Parsed& p)
    : text_(p.text),
      base_(p.base),
      os_(p.system->name),
      triple_(p.system->triple[static_cast<std::size_t>(p.of)]),
      cpu_(p.cpu),
      architecture_(p.of),
      device_(p.device) {
  for (std::size_t k = 0; k < features_table.size(); ++k)
    if (p.on[k]) enabled_.push_back(features_table[k].name);
  enabled_.insert(enabled_.end(), p.users.begin(), p.users.end());
  std::copy(std::begin(p.caches), std::end(p.caches), std::begin(caches_));
  vector_bits_ = has("avx512f") ? 512 : has("avx2") ? 256 : 128;
  vector_registers_ = has("avx512f") || p.of == arm ? 32 : 16;
}

bool Target::has(const char* feature) const {
  if (std::find(enabled_.begin(), enabled_.end(), feature) != enabled_.end()) return true;
  if (!device_ || device_->kind != Device::Kind::cuda || std::string_view(feature).substr(0, 3) != "sm_") return false;
  // sm_80 holds on every later chip; sm_90a is of that one alone
  char* rest = nullptr;
  const long wanted = std::strtol(feature + 3, &rest, 10), chip = std::strtol(device_->chip + 3, nullptr, 10);
  return rest != feature + 3 && (*rest ? std::string_view(feature) == device_->chip : wanted <= chip);
}

TargetFeature::TargetFeature(const char* name, Where where) {
  const std::string_view n = name ? name : "";
  const bool word = !n.empty() && n.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789_.") == n.npos;
  if (!word || index_of(n) >= 0 || n == "linux" || n == "none")
    refuse("target feature", "a name of its own, of lower-case letters, digits, _ and .", "`" + std::string(n) + "`", where);
  Declared& d = declared();
  const std::lock_guard lock(d.mutex);
  d.names.emplace(n);
}

int Target::lanes(Type t) const {
  const int bits = t.bytes() * 8;
  // 8- and 16-bit lanes of 512-bit registers come with avx512bw
  const int width = vector_bits_ == 512 && bits < 32 && !has("avx512bw") ? 256 : vector_bits_;
  return bits == 0 ? 1 : std::max(1, width / bits);
}

std::int64_t Target::cache_bytes(int level) const { return level < 1 || level > 3 ? 0 : caches_[level - 1]; }

bool Target::runs_here(std::string* missing) const {
  for (const Feature& f : features_table)
    if (has(f.name) && !f.here()) {
      if (missing) *missing = f.name;
      return false;
    }
  return true;
}

}  // namespace ashlar
