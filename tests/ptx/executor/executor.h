// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
// Runs PTX on the host, for tests: a functional model of the instructions as the PTX ISA document defines them, one warp at a
// time, which tells where a program does what the document leaves undefined.
//
//   const ptx::Module module = ptx::Module::parse(text);            // an unknown instruction or modifier is an Error, with its
//   line ptx::Device device; const std::uint64_t x = device.alloc(4096); device.write(x, host, 4096); const std::int64_t n =
//   1024; device.launch(module, "scale", {.grid = {8, 1, 1}, .block = {128, 1, 1}}, {ptx::piece(x), ptx::piece(n)});
//   device.read(host, x, 4096);
//
// Approximations (`.approx`: rcp, sqrt, rsqrt, ex2, lg2, sin, cos, tanh; div.full) are computed to the nearest value, which is
// within the error that the document allows; compare what uses them within a bound. Sums of mma and wgmma are made in f64 from
// exact products, in order of k, the accumulator first, and rounded once.
#include <array>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <map>
#include <memory>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

namespace ashlar::ptx {

// The text is not PTX, or has what the executor does not know; or a call of this interface that cannot be.
struct Error : std::runtime_error {
  Error(const std::string& text, int where) : std::runtime_error(text), line(where) {}
  int line;  // of the text, from 1; 0: none
};

struct Parameter {
  std::string name;
  std::size_t offset, bytes, align;
};

struct Kernel {
  std::string name;
  std::vector<Parameter> parameters;
  std::size_t parameter_bytes = 0;
  std::size_t shared_bytes = 0;                               // static ones
  std::array<std::uint32_t, 3> required_threads = {0, 0, 0};  // .reqntid; 0: none
  std::array<std::uint32_t, 3> most_threads = {0, 0, 0};      // .maxntid
  std::array<std::uint32_t, 3> cluster = {0, 0, 0};           // .reqnctapercluster
};

struct Image;  // what a module was parsed into

class Module {
 public:
  static Module parse(std::string text);

  const std::vector<Kernel>& kernels() const;
  const Kernel& kernel(std::string_view name) const;  // Error if there is none
  const std::string& text() const;
  const Image& image() const { return *image_; }

 private:
  explicit Module(std::shared_ptr<const Image> image) : image_(std::move(image)) {}
  std::shared_ptr<const Image> image_;
  friend class Device;
};

// What is reported as a Fault; all are off where a test switches them off. Accesses outside of every allocation always are.
struct Checks {
  bool alignment = true;
  bool unwritten = true;                // an address, a branch, or a result in global memory depends on what nobody wrote
  bool shared_races = true;             // between barriers, of threads of a block, warps in lockstep notwithstanding
  bool global_races = false;            // between blocks of a launch
  bool barriers = true;                 // lanes of a warp at different .aligned barriers, or exited before one
  bool pending_copies = true;           // what cp.async copies is accessed before its wait
  std::uint64_t most_instructions = 0;  // of all warps of a launch; 0: as many as it takes
};

enum class FaultKind {
  kOutOfBounds,
  kMisaligned,
  kReadOnly,  // a store to .const or parameters
  kUnwritten,
  kSharedRace,
  kGlobalRace,
  kDivergentBarrier,
  kDeadlock,      // a barrier or a wait that never completes
  kMissingLanes,  // a warp instruction whose mask names lanes that do not come
  kPendingCopy,
  kAsyncGroup,  // a wait that waits for nothing, an mbarrier that is none, bytes that do not add up
  kTrap,        // trap, brkpt, a failed assertion
  kInvalid,     // what an instruction says is undefined: a bad selector, a bad descriptor, a call of what is not a function
  kTooLong,
};
std::string_view name_of(FaultKind);

// what() says all: kind, instruction and its line, the source's line where the text has line tables, thread and block.
struct Fault : std::runtime_error {
  using std::runtime_error::runtime_error;
  FaultKind kind = FaultKind::kInvalid;
  std::string kernel, instruction;  // as written
  int line = 0;                     // of the PTX text
  std::string source_file;          // from .loc; else empty
  int source_line = 0;
  std::array<std::uint32_t, 3> thread = {0, 0, 0}, block = {0, 0, 0};
  std::uint64_t address = 0;
};

// How often instructions were executed by a warp, by opcode with all its modifiers.
struct Coverage {
  std::map<std::string, std::uint64_t> counts;
  void merge(const Coverage& other);
  std::string text() const;  // a line for each, sorted by name
};

struct Grid {
  std::array<std::uint32_t, 3> grid = {1, 1, 1}, block = {1, 1, 1};
  std::uint32_t dynamic_shared = 0;
  std::array<std::uint32_t, 3> cluster = {0, 0, 0};  // 0: as the kernel demands, else 1
};

struct Report {
  std::uint64_t warp_instructions = 0, lane_instructions = 0;
  std::string printed;  // by vprintf
};

using Piece = std::vector<std::byte>;  // the bytes of one parameter
template <class T>
Piece piece(const T& value) {
  static_assert(std::is_trivially_copyable_v<T>);
  const auto bytes = std::as_bytes(std::span<const T, 1>(&value, 1));
  return Piece(bytes.begin(), bytes.end());
}

class Device {
 public:
  Device();
  ~Device();
  Device(Device&&) noexcept;
  Device& operator=(Device&&) noexcept;

  // Global memory. An address is a pointer of the host. Nothing of it is written at first.
  std::uint64_t alloc(std::size_t bytes, std::size_t align = 256);
  void adopt(void* memory, std::size_t bytes);  // the host's memory as an allocation, all written; free() forgets it
  void free(std::uint64_t address);             // what alloc() gave or adopt() took
  void write(std::uint64_t to, const void* from, std::size_t bytes);  // Error outside of allocations
  void read(void* to, std::uint64_t from, std::size_t bytes) const;
  void fill(std::uint64_t to, std::uint8_t value, std::size_t bytes);
  bool holds(std::uint64_t address, std::size_t bytes) const;    // lies in one allocation
  bool written(std::uint64_t address, std::size_t bytes) const;  // all of it, by the host or a kernel
  std::size_t allocations() const;                               // by alloc(), not freed

  // A variable of the module in .global or .const: address and size. Error if there is none.
  std::pair<std::uint64_t, std::size_t> variable(const Module&, std::string_view name);

  // Runs the whole grid. Parameters: one buffer laid out as the kernel says, or one piece for each. Throws Fault, or Error
  // where the launch does not fit the kernel.
  Report launch(const Module&, std::string_view kernel, const Grid&, std::span<const std::byte> parameters);
  Report launch(const Module&, std::string_view kernel, const Grid&, const std::vector<Piece>& parameters);
  Report launch(const Module& m, std::string_view kernel, const Grid& g, std::initializer_list<Piece> parameters) {
    return launch(m, kernel, g, std::vector<Piece>(parameters));
  }

  void unload(const Module&);  // frees its variables; a later launch loads it anew

  Checks& checks();
  Coverage& coverage();

  struct State;

 private:
  std::unique_ptr<State> state_;
};

// A tensor map as cuTensorMapEncodeTiled makes it, in the executor's own layout of its 128 bytes. Dimensions from the fastest.
struct TensorMap {
  std::uint64_t address = 0;
  std::uint32_t element_bytes = 0, rank = 0;
  std::array<std::uint64_t, 5> extents = {}, strides = {};  // strides in bytes; that of dimension 0 is the element's
  std::array<std::uint32_t, 5> box = {}, element_strides = {1, 1, 1, 1, 1};
  std::uint32_t swizzle = 0;  // bytes: 0, 32, 64, 128
};
std::array<std::uint64_t, 16> encode(const TensorMap&);
TensorMap decode(const std::array<std::uint64_t, 16>&);

}  // namespace ashlar::ptx
