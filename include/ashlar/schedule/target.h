#pragma once
// What code is generated for: a value made of tables, so that a schedule can ask it for lanes and registers and a user can
// see what a name stands for. Nothing here needs a code generator.
//
//   Target t = Target::parse("x86-64-v3+avx512f");   t.lanes(f32) == 16, t.has("fma"), t.text() == "x86-64-v3+avx512f"
//
// A name is  BASE[-OS][(+|-)FEATURE]...  where BASE is x86-64, x86-64-v2, x86-64-v3, x86-64-v4, aarch64 or host, OS is linux (the
// default) or none (no operating system). A feature that is switched on brings what it needs; one that is switched off takes
// along what needs it. Invariant: equal texts give equal Targets, except for `host`, which is read off this machine.
//
// A feature may be the user's own: what an intrinsic needs that no machine has of itself, such as a library that is linked.
//
//   const TargetFeature npu{"npu"};                       Target::parse("x86-64+npu").has("npu")
//
// The GPUs vulkan, cuda-sm_80, cuda-sm_90a and cuda-sm_100a are BASEs too: loops bound to blocks and threads run there, and the
// code around them, for x86-64 with the features that follow, launches them.
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <ashlar/ir/expr.h>

namespace ashlar {

// What schedules ask of parallel hardware. The limits are those that every device of the kind has (for vulkan: those of the
// desktop drivers and of Mesa's, above the 128 invocations and 16 KiB that the specification demands); the runtime checks the
// device at hand.
struct Device {
  enum class Kind { vulkan, cuda };
  const char* name;  // "cuda-sm_90a"
  Kind kind;
  const char* chip;           // "sm_90a"; vulkan: ""
  int warp;                   // lanes of a warp; 1 where schedules may not count on it
  int max_threads;            // of one block
  std::int64_t shared_bytes;  // of one block
  int max_registers;          // of one thread, 32 bits each
  std::int64_t registers;     // of one multiprocessor; 0: not told
  std::int64_t multiprocessor_shared_bytes;
  int multiprocessor_threads;
  std::int64_t max_grid[3];  // blocks
};

enum class Architecture { x86_64, aarch64 };

class Target {
 public:
  // Refused with the list of valid names when `name` is none, or a feature or system in it is unknown.
  static Target parse(std::string_view name, Where = Where::current());
  static Target host() { return parse("host"); }
  static std::vector<std::string> names();     // of the bases, as --help lists them
  static std::vector<std::string> features();  // every feature that can follow a + or a -
  static std::vector<std::string> features(Architecture);

  Target() : Target(parse("x86-64")) {}

  std::string_view text() const { return text_; }  // canonical: base, system if not linux, then features as given
  std::string_view base() const { return base_; }  // "x86-64-v3"
  std::string_view os() const { return os_; }      // "linux", "none"
  std::string_view triple() const { return triple_; }
  std::string_view cpu() const { return cpu_; }  // the name a code generator knows the base by
  Architecture architecture() const { return architecture_; }  // of the processor; of a GPU: of its host
  bool is_gpu() const { return device_ != nullptr; }
  const Device& device() const;                 // InternalError where the target is no GPU
  static const std::vector<Device>& devices();  // of all targets that are GPUs
  bool is_host() const { return base_ == "host"; }
  bool has(const char* feature) const;  // "avx2", "fma", "avx512bf16"; on CUDA "sm_80": that architecture or a later one
  const std::vector<std::string>& enabled() const { return enabled_; }  // all of them, in the order of the table

  int vector_bits() const { return vector_bits_; }  // of the widest vector register
  int vector_registers() const { return vector_registers_; }
  int lanes(Type) const;                      // elements of the type in one vector register; at least 1
  std::int64_t cache_bytes(int level) const;  // of the data cache one core uses; levels 1 to 3, 0 if there is none
  int cache_line() const { return 64; }

  // Whether this machine can execute code for the target; if not, the first feature that is missing is stored in *missing.
  bool runs_here(std::string* missing = nullptr) const;

 private:
  struct Parsed;
  explicit Target(const Parsed&);

  std::string text_, base_, os_, triple_, cpu_;
  Architecture architecture_ = Architecture::x86_64;
  std::vector<std::string> enabled_;
  int vector_bits_ = 128, vector_registers_ = 16;
  std::int64_t caches_[3] = {};
  const Device* device_ = nullptr;
};

// Declares a feature of the user's own, for as long as the process lives; Target::runs_here takes it on trust.
class TargetFeature {
 public:
  explicit TargetFeature(const char* name, Where = Where::current());
};

}  // namespace ashlar
