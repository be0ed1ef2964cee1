// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <ashlar/codegen/library.h>

#include <algorithm>
#include <string>
#include <tuple>
#include <utility>

#include <ashlar/ir/refusal.h>
#include <ashlar/target/needs.h>

namespace ashlar::codegen {

namespace {

enum Kind { processor, cuda, vulkan };

Kind kind_of(const Target& t) { return !t.is_gpu() ? processor : t.device().kind == Device::Kind::vulkan ? vulkan : cuda; }

std::string named(const Target& t) { return std::string(t.text()); }

// What a target asks of a device for Vulkan beyond its size.
std::vector<std::string> of_device(const Target& t) {
  std::vector<std::string> all;
  for (const std::string& f : Target::vulkan_features())
    if (t.has(f.c_str())) all.push_back(f);
  return all;
}

bool alike(const Target& a, const Target& b) {
  if (kind_of(a) != kind_of(b)) return false;
  if (kind_of(a) == processor) return needs_of(a).features == needs_of(b).features;
  return std::string_view(a.device().name) == b.device().name && of_device(a) == of_device(b);
}

// Which of the code for one capability comes first: tiles, whose assembler knows more of the chip; for that chip alone; for its
// family; for all later ones.
int width(const Target& t) {
  if (t.has_tiles()) return 0;
  const char last = std::string_view(t.device().chip).back();
  return last == 'a' ? 1 : last == 'f' ? 2 : 3;
}

// The order in which the code for devices of one kind is tried.
bool earlier(const Target& a, const Target& b) {
  if (kind_of(a) != kind_of(b)) return kind_of(a) < kind_of(b);
  const Device &x = a.device(), &y = b.device();
  if (kind_of(a) == vulkan)
    return std::tuple(of_device(a).size(), x.max_threads, x.shared_bytes) >
           std::tuple(of_device(b).size(), y.max_threads, y.shared_bytes);
  return std::pair(-compute_capability(a), width(a)) < std::pair(-compute_capability(b), width(b));
}

std::string both_are(const Target& a, const Target& b) {
  const std::string two = named(a) + " and " + named(b);
  if (kind_of(a) == processor) return two + ", which need the same of a processor";
  return two + ", which are both for " + std::string(a.device().name);
}

// Repeatedly the first one given that no other of those left comes before: the features of none include its own.
std::vector<Target> by_features(std::vector<Target> given) {
  std::vector<Target> sorted;
  while (!given.empty()) {
    const auto next = std::find_if(given.begin(), given.end(), [&](const Target& t) {
      const std::uint64_t own = needs_of(t).features;
      return std::none_of(given.begin(), given.end(), [&](const Target& other) {
        const std::uint64_t more = needs_of(other).features;
        return more != own && (more & own) == own;
      });
    });
    sorted.push_back(*next);
    given.erase(next);
  }
  return sorted;
}

void check_processor(const Target& t, Where where) {
  const TargetNeeds needs = needs_of(t);
  if (needs.undetected.empty()) return;
  const bool even_what_all_have = needs.undetected[0] == t.enabled()[0];
  const std::string found = even_what_all_have ? named(t) + ", on a system that does not tell them"
                                               : named(t) + ", which needs " + needs.undetected[0];
  refuse("target", "features that the runtime can detect, where there are several targets for processors", found, where);
}

}  // namespace

int compute_capability(const Target& t) {
  int number = 0;
  for (const char c : std::string_view(t.device().chip))
    if (c >= '0' && c <= '9') number = number * 10 + (c - '0');
  return number == 0 && t.has_tiles() ? 80 : number;  // what the bytecode asks for
}

std::vector<Target> library_targets(std::vector<Target> targets, Where where) {
  if (targets.size() < 2) return targets;
  const auto launcher = std::find_if(targets.begin(), targets.end(), [](const Target& t) { return t.text() != t.base(); });
  const auto processor = std::find_if(targets.begin(), targets.end(), [](const Target& t) { return !t.is_gpu(); });
  if (const auto chosen = processor != targets.end() ? processor : launcher; chosen != targets.end()) {
    const Target by = *chosen;
    for (Target& t : targets) t = t.launched_by(by, where);
  }
  const Target first = targets[0];
  for (const Target& t : targets) {
    if (t.os() == "none") refuse("target", "targets with an operating system, where there are several", named(t), where);
    if (t.triple() != first.triple())
      refuse("target", "targets of one architecture and one system", named(first) + " and " + named(t), where);
  }
  const auto processors = std::count_if(targets.begin(), targets.end(), [](const Target& t) { return !t.is_gpu(); });
  for (const Target& t : targets)
    if (!t.is_gpu() && processors > 1) check_processor(t, where);
  for (std::size_t k = 0; k < targets.size(); ++k)
    for (std::size_t n = 0; n < k; ++n)
      if (alike(targets[n], targets[k]))
        refuse("target", "targets that the runtime can tell apart", both_are(targets[n], targets[k]), where);
  const auto devices = std::stable_partition(targets.begin(), targets.end(), [](const Target& t) { return !t.is_gpu(); });
  std::vector<Target> sorted = by_features({targets.begin(), devices});
  std::stable_sort(devices, targets.end(), earlier);
  sorted.insert(sorted.end(), devices, targets.end());
  return sorted;
}

Target common_target(const std::vector<Target>& targets) {
  const Architecture of = targets[0].architecture();
  std::string text = of == Architecture::arm ? "armv7" : std::string(name_of(of));
  text += "-" + std::string(targets[0].os());
  const Target plain = Target::parse(text);
  std::string less;
  for (const std::string& f : plain.enabled())
    if (!std::all_of(targets.begin(), targets.end(), [&](const Target& t) { return t.has(f.c_str()); })) less += "-" + f;
  return Target::parse(text + less);
}

}  // namespace ashlar::codegen
