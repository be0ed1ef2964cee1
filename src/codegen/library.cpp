#include <ashlar/codegen/library.h>

#include <algorithm>
#include <string>

#include <ashlar/ir/refusal.h>

namespace ashlar::codegen {

namespace {

Target level_target(int level) { return Target::parse(level == 1 ? "x86-64" : "x86-64-v" + std::to_string(level)); }

bool has_all(const Target& of, const Target& t) {
  return std::all_of(t.enabled().begin(), t.enabled().end(), [&](const std::string& f) { return of.has(f.c_str()); });
}

int kind_of(const Target& t) { return !t.is_gpu() ? 0 : t.device().kind == Device::Kind::cuda ? 1 : 2; }

// What the runtime tells variants of one kind apart by.
int rank_of(const Target& t) { return kind_of(t) == 0 ? x86_level(t) : kind_of(t) == 1 ? compute_capability(t) : 0; }

std::string both_are(const Target& a, const Target& b) {
  const std::string two = std::string(a.text()) + " and " + std::string(b.text());
  if (kind_of(a) == 0) return two + ", which both need a processor of " + std::string(level_target(rank_of(a)).text());
  if (kind_of(a) == 1) return two + ", which are both for compute capability " + std::to_string(rank_of(a));
  return two + ", which are both for Vulkan";
}

}  // namespace

int x86_level(const Target& t) {
  if (t.architecture() != Architecture::x86_64) return 0;
  for (int level = 1; level < 4; ++level)
    if (has_all(level_target(level), t)) return level;
  return 4;
}

int compute_capability(const Target& t) {
  int number = 0;
  for (const char c : std::string_view(t.device().chip))
    if (c >= '0' && c <= '9') number = number * 10 + (c - '0');
  return number;
}

std::vector<Target> library_targets(std::vector<Target> targets, Where where) {
  if (targets.size() < 2) return targets;
  std::stable_sort(targets.begin(), targets.end(), [](const Target& a, const Target& b) {
    return kind_of(a) != kind_of(b) ? kind_of(a) < kind_of(b) : rank_of(a) > rank_of(b);
  });
  const auto processors = std::count_if(targets.begin(), targets.end(), [](const Target& t) { return !t.is_gpu(); });
  const Target highest = level_target(4);
  for (std::size_t k = 0; k < targets.size(); ++k) {
    const Target& t = targets[k];
    if (t.os() == "none")
      refuse("target", "targets with an operating system, where there are several", std::string(t.text()), where);
    if (k > 0 && kind_of(targets[k - 1]) == kind_of(t) && rank_of(targets[k - 1]) == rank_of(t))
      refuse("target", "targets that the runtime can tell apart", both_are(targets[k - 1], t), where);
    if (t.architecture() != Architecture::x86_64)
      refuse("target", "targets of x86-64 and its GPUs, where there are several", std::string(t.text()), where);
    if (!t.is_gpu() && processors > 1)
      for (const std::string& f : t.enabled())
        if (!highest.has(f.c_str()))
          refuse("target", "levels of x86-64, where there are several targets for processors",
                 std::string(t.text()) + ", which needs " + f, where);
  }
  return targets;
}

}  // namespace ashlar::codegen
