// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
// What code is generated for: a value made of tables, so that a schedule can ask it for lanes and registers and a user can
// see what a name stands for. Nothing here needs a code generator.
//
//   Target t = Target::parse("x86-64-v3+avx512f");   t.lanes(f32) == 16, t.has("fma"), t.text() == "x86-64-v3+avx512f"
//
// A name is  BASE[-OS][(+|-)FEATURE]...  where BASE is `host`, a processor of the table src/target/targets.json, or one that
// a file of the user's adds (add_file); OS is linux (the default where there is one), none (no operating system), android,
// macos, ios or windows, as far as the processor has it. A feature that is switched on brings what it needs; one that is
// switched off takes along what needs it. Invariant: equal texts give equal Targets, except for `host`, which is read off this
// machine.
//
// A feature may be the user's own: what an intrinsic needs that no machine has of itself, such as a library that is linked.
//
//   const TargetFeature npu{"npu"};                       Target::parse("x86-64+npu").has("npu")
//
// The GPUs vulkan, cuda-sm_80, cuda-sm_90a and cuda-sm_100a are BASEs too: loops bound to blocks and threads run there, and the
// code around them, for x86-64 with the features that follow, launches them.
//
// A file of targets has the form of the table: an object of "features" (by architecture) and "targets", both optional.
//
//   {"targets": [{"name": "my-board", "is": "cortex-m7", "tune": "cortex-m7", "caches": [32768, 0, 0], "features": []}]}
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

// thumb: 32-bit ARM without ARM's own instruction set, the microcontrollers.
enum class Architecture { x86_64, aarch64, arm, thumb, riscv64, wasm32 };
std::string_view name_of(Architecture);  // "x86-64", as in the table

class Target {  // what code is made for: "x86-64-v3", "aarch64+dotprod", "cuda-sm_80" (docs/targets.md)
 public:
  // Refused with the list of valid names when `name` is none, or a feature or system in it is unknown.
  static Target parse(std::string_view name, Where = Where::current());
  static Target host() { return parse("host"); }  // this machine
  static std::vector<std::string> names();        // of the bases, as --help lists them
  // The processors, features and systems of a JSON file, from here on for every parse. Refused at `where`, with the file's name
  // and the entry: what is no such file, a name that is taken, a feature or processor that is not known.
  static void add_file(const std::string& path, Where = Where::current());
  static std::vector<std::string> systems(std::string_view base);  // it can be for; the first where none is named
  static std::vector<std::string> features();                      // every feature that can follow a + or a -
  static std::vector<std::string> features(Architecture);

  Target() : Target(parse("x86-64")) {}

  std::string_view text() const { return text_; }  // canonical: base, system if not the usual one, then features as given
  std::string_view base() const { return base_; }  // "x86-64-v3"
  std::string_view os() const { return os_; }      // "linux", "none", "windows"
  std::string_view triple() const { return triple_; }
  std::string_view cpu() const { return cpu_; }                // the name a code generator knows the base by
  std::string_view tune() const { return tune_; }              // the processor whose timing its choices follow; empty: any
  Architecture architecture() const { return architecture_; }  // of the processor; of a GPU: of its host
  int pointer_bytes() const;                                   // of the processor
  bool is_gpu() const { return device_ != nullptr; }
  const Device& device() const;                 // InternalError where the target is no GPU
  static const std::vector<Device>& devices();  // of all targets that are GPUs
  bool is_host() const { return base_ == "host"; }
  bool has(const char* feature) const;  // "avx2", "fma", "avx512bf16"; on CUDA "sm_80": that architecture or a later one
  const std::vector<std::string>& enabled() const { return enabled_; }  // all of them, in the order of the table

  std::string compiler_features() const;  // "+sse2,-sse3,…": all that a code generator knows of the architecture, on or off
  // Whether instructions do it: "fma" and "fma64" (f32, f64), "round" (to integers), "half" (f16 from and to f32).
  bool offers(std::string_view operation) const;
  // Instructions worth naming in tensorize that the features bring: "vpdpbusd".
  const std::vector<std::string>& instructions() const { return instructions_; }
  // Vector arithmetic on floats may take subnormal numbers for zero (32-bit ARM, +flush; without it is done in scalars).
  bool flushes_subnormals() const { return flushes_subnormals_; }

  int vector_bits() const { return vector_bits_; }            // of the widest vector register; 0: there are none
  int vector_registers() const { return vector_registers_; }  // without vectors those of floats
  int lanes(Type) const;                                      // elements of the type in one vector register; at least 1
  std::int64_t cache_bytes(int level) const;  // of the data cache one core uses; levels 1 to 3, 0 if there is none
  int cache_line() const { return cache_line_; }

  // Whether this machine can execute code for the target; if not, the first feature that is missing is stored in *missing.
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
};

// Declares a feature of the user's own, for as long as the process lives; Target::runs_here takes it on trust.
class TargetFeature {
 public:
  explicit TargetFeature(const char* name, Where = Where::current());
};

}  // namespace ashlar
