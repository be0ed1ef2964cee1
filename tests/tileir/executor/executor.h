// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
// Runs the bytecode of CUDA Tile IR on the host, for tests: what the specification says of every operation, one block after
// another, and a report where a program does what the specification leaves undefined.
//
//   const tileir::Module module = tileir::Module::read(bytes);  // Error, with the offset in the file
//   tileir::Device device;
//   const std::uint64_t x = device.alloc(4096);
//   device.write(x, host, 4096);
//   device.run(module, "scale", {8, 1, 1}, {tileir::argument(x), tileir::argument(std::int32_t{1024})});  // Fault
//   device.read(host, x, 4096);
//
// Sources: NVIDIA's "Tile IR" documentation 13.1 to 13.5 (operations, types, binary format, memory model), the definitions of
// the dialect in the repository NVIDIA/cuda-tile, and for what came after 13.1 the bytecode that cuTile Python (wheel
// cuda-tile) writes.
//
// Numbers where the specification leaves freedom:
// - add, sub, mul, div, sqrt, fma: rounded once, as the rounding says; approx and full are the nearest number.
//   flush_to_zero (f32) is done to operands and results.
// - exp, log, sin, pow, …: of f64 as the host's library has them; of shorter formats computed in f64 and rounded once.
// - mmaf, mmaf_scaled: f64 sums of products in order of k, the accumulator first, rounded once to its type; of f64 a chain
//   of fma. Products of operands up to f32 are exact in f64. Hardware sums in other orders and with fewer bits: compare
//   within a bound.
// - reduce, scan: from the identity through elements in order of the index (scan with `reverse`: from the last); the body
//   gets the element first, then what was accumulated.
// - ftof to formats of 8 bits and less: what is too large becomes the largest number, as tileiras compiles it. itof to one
//   without infinity: NaN.
// - ftoi of what the integer does not hold: the nearest that it holds; since 13.4, which has a flag for that, undefined
//   without the flag. Of an infinity undefined without it.
//
// What is undefined is carried along with every element, from where it came (memory that nobody wrote, what lies outside of a
// view that has no padding, a masked element without padding, division by zero, an overflow in spite of no_wrap) to where it
// matters: a store, an address, a mask, a branch, a bound of a loop, print. There it is reported. So a tail that is computed
// and not stored is not a fault.
//
// Races: two blocks touch one byte, one of them writes, and neither atomics of enough scope nor a release that tokens put
// behind the one and an acquire that they put before the other order them; two operations of one block do so and no token
// orders them; two elements of one store write different values to one place. A block that waits for one that runs after it
// never ends (Checks::most_operations): blocks are not interleaved.
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <map>
#include <memory>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

namespace ashlar::tileir {

// The bytes are not bytecode, or have what the executor does not know; or a call of this interface that cannot be.
struct Error : std::runtime_error {
  explicit Error(const std::string& text) : std::runtime_error(text), offset(0) {}
  Error(const std::string& text, std::size_t where)
      : std::runtime_error(text + " (offset " + std::to_string(where) + ")"), offset(where) {}
  std::size_t offset;  // in the file; 0: none
};

struct Parameter {
  std::string type;  // as text() prints it: tile<ptr<f32>>
  std::size_t bytes;
};

struct Kernel {
  std::string name;
  std::vector<Parameter> parameters;
};

struct Version {
  int major, minor, tag;
};

struct Image;  // what a module was read into

class Module {
 public:
  static Module read(std::span<const std::byte> file);

  Version version() const;
  const std::vector<Kernel>& kernels() const;
  const Kernel& kernel(std::string_view name) const;        // Error if there is none
  std::string text() const;                                 // all of it, one operation a line
  std::map<std::string, std::uint64_t> operations() const;  // how often each stands in it
  const Image& image() const { return *image_; }

 private:
  explicit Module(std::shared_ptr<const Image> image) : image_(std::move(image)) {}
  std::shared_ptr<const Image> image_;
  friend class Device;
};

// Operations of the specification, by name, and what of them is executed.
struct Operation {
  int opcode;
  std::string name;
  int since;  // 13.since
  bool executed;
};
std::vector<Operation> operations();

// What is reported as a Fault; all are off where a test switches them off. Accesses outside of every allocation always are.
struct Checks {
  bool alignment = true;
  bool undefined = true;              // see above
  bool assumptions = true;            // assume, inbounds
  bool block_races = true;            // between blocks of a launch
  bool token_races = true;            // within a block
  std::uint64_t most_operations = 0;  // of all blocks of a launch; 0: as many as it takes
};

enum class FaultKind {
  kOutOfBounds,
  kMisaligned,
  kUndefined,   // a result, an address, a branch depends on what is not defined
  kAssumption,  // assume or inbounds, and it is not so
  kBlockRace,
  kTokenRace,
  kReadOnly,  // a store to a constant global
  kAssert,
  kInvalid,  // what the specification forbids: a slice that does not exist, a step that is not positive
  kTooLong,
};
std::string_view name_of(FaultKind);

// what() says all: kind, operation, the source's line where the file has it, block.
struct Fault : std::runtime_error {
  using std::runtime_error::runtime_error;
  FaultKind kind = FaultKind::kInvalid;
  std::string kernel, operation;
  std::string source_file;  // from the debug section; else empty
  int source_line = 0;
  std::size_t offset = 0;  // of the operation, in the file
  std::array<std::uint32_t, 3> block = {0, 0, 0};
  std::uint64_t address = 0;
};

// How often operations were executed, by name.
using Coverage = std::map<std::string, std::uint64_t>;

struct Report {
  std::uint64_t operations = 0;
  std::string printed;
};

struct Argument {
  std::array<std::byte, 8> bytes = {};
  std::size_t size = 0;
};
template <class T>
Argument argument(const T& value) {
  static_assert(std::is_trivially_copyable_v<T> && sizeof(T) <= 8);
  Argument a;
  std::memcpy(a.bytes.data(), &value, sizeof(T));
  a.size = sizeof(T);
  return a;
}

using Grid = std::array<std::uint32_t, 3>;

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
  bool written(std::uint64_t address, std::size_t bytes) const;  // all of it, by the host or a kernel

  // Runs the whole grid: blocks in order, x the fastest, or in an order drawn by a seed other than 0. Throws Fault, or Error
  // where the launch does not fit the kernel.
  Report run(const Module&, std::string_view kernel, const Grid& grid, std::span<const Argument> arguments,
             std::uint64_t order = 0);
  Report run(const Module& m, std::string_view kernel, const Grid& grid, std::initializer_list<Argument> arguments,
             std::uint64_t order = 0) {
    return run(m, kernel, grid, std::span<const Argument>(arguments.begin(), arguments.size()), order);
  }

  Checks& checks();
  Coverage& coverage();

  struct State;

 private:
  std::unique_ptr<State> state_;
};

}  // namespace ashlar::tileir
