// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
// Target: what code is generated for. A value made from tables, which schedules ask for lanes, registers and features. It needs
// no code generator.
//
//   Target t = Target::parse("x86-64-v3+avx512f");   t.lanes(f32) == 16, t.has("fma"), t.text() == "x86-64-v3+avx512f"
//
// A name is  BASE[-OS][(+|-)FEATURE]...  BASE is `host`, a processor of the table src/target/targets.json, or one that a file
// of your own adds (add_file). OS is linux (the default, if the processor has it), none (no operating system), android, macos,
// ios or windows, as far as the processor has it. Switching a feature on also switches on what it depends on; switching it off
// also switches off what depends on it. Equal texts give equal Targets, except for `host`, which is detected on this machine.
//
// A feature may be your own, for an intrinsic that needs something that no machine has, such as a library to link.
//
//   const TargetFeature npu{"npu"};                       Target::parse("x86-64+npu").has("npu")
//
// GPUs are BASEs too: vulkan, vulkan-256, cuda-sm_80, cuda-sm_90a, cuda-tile and others, GPU[-PROCESSOR][-OS][(+|-)FEATURE]...
// Loops that are bound to blocks and threads run there. The host code launches them: for x86-64, or the processor that is
// named, with the features that follow. The code of the device, and what schedules ask, are the same for every processor.
//
//   Target::parse("vulkan"), Target::parse("vulkan-aarch64-android"), Target::parse("cuda-sm_87-aarch64")
//
// A file of targets has the form of the table: an object with "features" (by architecture) and "targets", both optional.
//
//   {"targets": [{"name": "my-board", "is": "cortex-m7", "tune": "cortex-m7", "caches": [32768, 0, 0], "features": []}]}
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <ashlar/ir/expr.h>

namespace ashlar {

// The properties of a device that schedules ask for. Limits are those that every device of the kind has; for vulkan, those of
// the desktop drivers and of Mesa's, which exceed the 128 invocations and 16 KiB that the specification guarantees. The runtime
// checks the actual device.
struct Device {
  enum class Kind {
    vulkan,
    cuda,
    tile  // CUDA devices by programs over tiles (docs/tiles.md): schedules bind blocks, and say nothing of threads
  };
  const char* name;  // "cuda-sm_90a", "cuda-tile-sm_90"
  Kind kind;
  const char* chip;           // "sm_90a"; vulkan, and any chip: ""
  int warp;                   // lanes of a warp; 1 if schedules must not rely on it (vulkan without +subgroup32 or its like)
  int max_threads;            // in a block
  std::int64_t shared_bytes;  // for a block
  int max_registers;          // for a thread, of 32 bits each
  std::int64_t registers;     // of a multiprocessor; 0: unknown
  std::int64_t multiprocessor_shared_bytes;
  int multiprocessor_threads;
  std::int64_t max_grid[3];  // in blocks
  int multiprocessors;       // of a product with the chip (src/target/device.cpp names it); 0: unknown
};

// thumb: 32-bit ARM microcontrollers, which have only the Thumb instruction set.
enum class Architecture { x86_64, aarch64, arm, thumb, riscv64, wasm32 };
std::string_view name_of(Architecture);  // "x86-64", as in the table

class Target {  // what code is generated for: "x86-64-v3", "aarch64+dotprod", "cuda-sm_80" (docs/targets.md)
 public:
  // Refused, with the list of valid names: an unknown base, feature or system.
  static Target parse(std::string_view name, Where = Where::current());
  static Target host() { return parse("host"); }  // this machine
  static std::vector<std::string> names();        // all bases, as --help lists them
  // Adds the processors, features and systems of a JSON file for all later calls of parse. Refused at `where`, with the file
  // and the entry: a file of another form, a name that exists, an unknown feature or processor.
  static void add_file(const std::string& path, Where = Where::current());
  static std::vector<std::string> systems(std::string_view base);  // that the base supports; the first is the default
  static std::vector<std::string> features();                      // all features that may follow a + or a -
  static std::vector<std::string> features(Architecture);

  Target() : Target(parse("x86-64")) {}

  std::string_view text() const { return text_; }  // canonical: base, system unless it is the default, features as given
  std::string_view base() const { return base_; }  // "x86-64-v3"; of a GPU without its processor: "vulkan"
  std::string_view os() const { return os_; }      // "linux", "none", "windows"
  std::string_view triple() const { return triple_; }
  std::string_view cpu() const { return cpu_; }    // the code generator's name for the base
  std::string_view tune() const { return tune_; }  // the processor that instruction scheduling is tuned for; empty: generic
  Architecture architecture() const { return architecture_; }  // of the processor; for a GPU, of its host
  int pointer_bytes() const;                                   // of the processor
  bool is_gpu() const { return device_ != nullptr; }
  bool has_tiles() const { return device_ && device_->kind == Device::Kind::tile; }
  const Device& device() const;                 // InternalError unless the target is a GPU
  static const std::vector<Device>& devices();  // of all GPU targets
  // Of devices for Vulkan: features that not all have, "float16", "dot8", "subgroup32". Code that uses one is refused by a
  // device without it.
  static std::vector<std::string> vulkan_features();
  // A GPU whose name says nothing of what launches it, with the plain processor of t's architecture and t's system as that; any
  // other target is itself. "vulkan" by "neoverse-n1-android" is "vulkan-aarch64-android".
  Target launched_by(const Target& t, Where = Where::current()) const;
  bool is_host() const { return base_ == "host"; }
  // "avx2", "fma", "avx512bf16"; on CUDA "sm_80": that architecture or a later one; on Vulkan "float16"
  bool has(const char* feature) const;
  const std::vector<std::string>& enabled() const { return enabled_; }  // all enabled features, in the order of the table

  std::string compiler_features() const;  // "+sse2,-sse3,…": all features that a code generator knows, on or off
  // Whether the target has instructions for "fma" and "fma64" (f32, f64), "round" (to integers), "half" (f16 from and to f32).
  bool offers(std::string_view operation) const;
  // Instructions for tensorize that the features bring, such as "vpdpbusd".
  const std::vector<std::string>& instructions() const { return instructions_; }
  // Whether vector arithmetic on floats may treat subnormal numbers as zero (32-bit ARM with +flush; without it, floats are
  // computed in scalars).
  bool flushes_subnormals() const { return flushes_subnormals_; }

  int vector_bits() const { return vector_bits_; }            // of the widest vector register; 0: no vectors
  int vector_registers() const { return vector_registers_; }  // without vectors, the number of floating-point registers
  int lanes(Type) const;                                      // elements of the type in one vector register; at least 1
  std::int64_t cache_bytes(int level) const;  // of the data cache that one core uses, at level 1 to 3; 0 if there is none
  int cache_line() const { return cache_line_; }

  // Whether this machine can execute code for the target. If not, *missing receives the first missing feature.
  bool runs_here(std::string* missing = nullptr) const;

 private:
  struct Parsed;
  explicit Target(const Parsed&);

  std::string text_, base_, os_, triple_, cpu_, tune_;
  Architecture architecture_ = Architecture::x86_64;
  std::vector<std::string> enabled_, instructions_, operations_;
  int vector_bits_ = 0, narrow_vector_bits_ = 0, vector_registers_ = 0, cache_line_ = 64;
  bool flushes_subnormals_ = false;
  std::int64_t caches_[3] = {};
  const Device* device_ = nullptr;
  bool says_launcher_ = false;  // of a GPU: the name has more than the base
};

// Declares a feature of your own, until the process ends. Target::runs_here assumes that it is present.
class TargetFeature {
 public:
  explicit TargetFeature(const char* name, Where = Where::current());
};

}  // namespace ashlar
