// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
// Target: the machine that code is generated for. Schedules ask it for lanes, registers and features. It is made from tables
// and needs no code generator.
//
//   Target t = Target::parse("x86-64-v3+avx512f");   t.lanes(f32) == 16, t.has("fma"), t.text() == "x86-64-v3+avx512f"
//
// A name is BASE[-OS][(+|-)FEATURE]... BASE is `host`, a processor in the table src/target/targets.json, or one that a file of
// your own adds (add_file). OS is linux (the default, if the processor supports it), none (no operating system), android,
// macos, ios or windows, if the processor supports it. Switching a feature on also switches on what it depends on; switching it
// off also switches off what depends on it. Equal texts give equal Targets, except for `host`, which is detected on this
// machine.
//
// You can declare a feature of your own for an intrinsic that needs something that is not a property of the machine, such as a
// library to link.
//
//   const TargetFeature npu{"npu"};                       Target::parse("x86-64+npu").has("npu")
//
// GPUs are BASEs too: vulkan, vulkan-256, cuda-sm_80, cuda-sm_90a, cuda-tile and others, GPU[-PROCESSOR][-OS][(+|-)FEATURE]...
// Loops that are bound to blocks and threads run on the GPU. Host code launches them; it is for x86-64 or for the named
// processor, with the features that follow. The device code and the answers that schedules get do not depend on the processor.
//
//   Target::parse("vulkan"), Target::parse("vulkan-aarch64-android"), Target::parse("cuda-sm_87-aarch64")
//
// A file of targets has the same form as the table: an object with "features" (by architecture) and "targets", both optional.
//
//   {"targets": [{"name": "my-board", "is": "cortex-m7", "tune": "cortex-m7", "caches": [32768, 0, 0], "features": []}]}
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <ashlar/ir/expr.h>

namespace ashlar {

// The properties of a device that schedules ask for. Limits are those that every device of the kind supports; for vulkan, those
// of desktop drivers and of Mesa, which exceed the 128 invocations and 16 KiB that the specification guarantees. The runtime
// checks the actual device.
struct Device {
  enum class Kind {
    vulkan,
    cuda,
    tile  // CUDA devices, programmed by tiles (docs/tiles.md): schedules bind blocks and do not mention threads
  };
  const char* name;  // "cuda-sm_90a", "cuda-tile-sm_90"
  Kind kind;
  const char* chip;           // "sm_90a"; vulkan, and any chip: ""
  int warp;                   // lanes of a warp; 1 if schedules must not rely on it (vulkan without +subgroup32 or its like)
  int max_threads;            // threads of a block
  std::int64_t shared_bytes;  // for a block
  int max_registers;          // for a thread, of 32 bits each
  std::int64_t registers;     // of a multiprocessor; 0: unknown
  std::int64_t multiprocessor_shared_bytes;
  int multiprocessor_threads;
  std::int64_t max_grid[3];  // in blocks
  int multiprocessors;       // of one product with the chip (src/target/device.cpp names it); 0: unknown
};

// thumb: 32-bit ARM microcontrollers, which have only the Thumb instruction set.
enum class Architecture { x86_64, aarch64, arm, thumb, riscv64, wasm32 };
std::string_view name_of(Architecture);  // "x86-64", as in the table

class Target {  // what code is generated for: "x86-64-v3", "aarch64+dotprod", "cuda-sm_80" (docs/targets.md)
 public:
  // An unknown base, feature or system is refused, with a list of the valid names.
  static Target parse(std::string_view name, Where = Where::current());
  static Target host() { return parse("host"); }  // this machine
  static std::vector<std::string> names();        // all bases, as --help lists them
  // Adds the processors, features and systems of a JSON file for all later calls of parse. A malformed file, a name that
  // already exists, and an unknown feature or processor are refused at `where`, with the file and the entry.
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
  // Optional features of Vulkan devices: "float16", "dot8", "subgroup32". A device without one refuses code that uses it.
  static std::vector<std::string> vulkan_features();
  // If this is a GPU whose name does not include a host processor: the same GPU, launched by the plain processor of t's
  // architecture on t's system. "vulkan" launched by "neoverse-n1-android" is "vulkan-aarch64-android". Any other target is
  // returned unchanged.
  Target launched_by(const Target& t, Where = Where::current()) const;
  bool is_host() const { return base_ == "host"; }
  // "avx2", "fma", "avx512bf16"; on CUDA "sm_80": that architecture or a later one; on Vulkan "float16"
  bool has(const char* feature) const;
  const std::vector<std::string>& enabled() const { return enabled_; }  // all enabled features, in the order of the table

  std::string compiler_features() const;  // "+sse2,-sse3,…": all features that a code generator knows, on or off
  // Whether the target has instructions for "fma" and "fma64" (f32, f64), "round" (to integral values), "half" (f16 from and to
  // f32).
  bool offers(std::string_view operation) const;
  // Instructions for tensorize that the features provide, such as "vpdpbusd".
  const std::vector<std::string>& instructions() const { return instructions_; }
  // Whether vector arithmetic on floats may treat subnormal numbers as zero (32-bit ARM with +flush; without it, floats are
  // computed one by one).
  bool flushes_subnormals() const { return flushes_subnormals_; }

  int vector_bits() const { return vector_bits_; }            // of the widest vector register; 0: no vectors
  int vector_registers() const { return vector_registers_; }  // without vectors, the number of floating-point registers
  int lanes(Type) const;                                      // elements of the type in one vector register; at least 1
  std::int64_t cache_bytes(int level) const;  // of the data cache that one core uses, at level 1 to 3; 0 if there is none
  int cache_line() const { return cache_line_; }

  // Whether this machine can execute code for the target. If it cannot, *missing receives the first missing feature.
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
  bool says_launcher_ = false;  // of a GPU: the name includes a host processor
};

// Declares a feature of your own, until the process ends. Target::runs_here assumes that it is present.
class TargetFeature {
 public:
  explicit TargetFeature(const char* name, Where = Where::current());
};

}  // namespace ashlar
