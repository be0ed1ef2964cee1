// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
// A module after parsing: instructions with resolved operands, functions, variables.
#include <string>
#include <unordered_map>
#include <vector>

#include "tests/ptx/executor/executor.h"
#include "tests/ptx/executor/types.h"

namespace ashlar::ptx {

struct Warp;
struct Instr;

// An operand of an instruction. Registers are slots of 64 bits a lane (two for .b128), numbered inside of their function.
struct Operand {
  enum Kind : u8 {
    kNone,
    kReg,       // index: slot
    kPred,      // index: predicate
    kImm,       // index: entry of the pool; literal says how it was written
    kSpecial,   // index: Special
    kLocal,     // an address in the frame, offset bytes from its base
    kSink,      // _
    kVector,    // {parts}
    kAddress,   // [parts[0] + offset], behind a comma parts[1]: coordinates
    kLabel,     // index: instruction
    kFunction,  // index: function
    kList       // (parts), of a call; or what .branchtargets lists
  };
  enum Literal : u8 { kInteger, kFloat32, kFloat64 };
  Kind kind = kNone;
  Literal literal = kInteger;
  u8 bits = 0;                    // of the register
  bool negate = false;            // !p
  Space space = Space::kGeneric;  // of an immediate that is a variable's address
  u32 index = 0;
  i64 offset = 0;
  std::vector<Operand> parts;
};

enum class Flow : u8 { kNext, kBranch, kBranchIndexed, kCall, kReturn, kExit, kBarrier };

using Handler = void (*)(Warp&, const Instr&, u32 mask);
using Unknown = u64 (*)(const Instr&, const u64* values, const u64* unknown);  // partial.h

struct Instr {
  Handler run = nullptr;
  Unknown unknown = nullptr;  // of what nobody wrote some bits; null: one such bit makes all unknown
  Flow flow = Flow::kNext;
  bool guarded = false, guard_negated = false;
  bool propagate = false;            // the results are written where all sources are
  u8 results = 0;                    // the first operands
  u32 guard = 0;                     // predicate
  T type = T::none, from = T::none;  // of the instruction; of a conversion's source and the like
  Space space = Space::kGeneric;
  u8 count = 1;            // of a vector access, of matrices
  u8 mode = 0, mode2 = 0;  // of the handler
  u32 flags = 0;
  u64 extra = 0;
  std::vector<Operand> ops;
  int line = 0;         // of the text
  u32 source_file = 0;  // number in files; 0: none
  u32 source_line = 0;
  u32 begin = 0, end = 0;  // of the text
  u32 name = 0;            // of coverage
  u32 function = 0;
};

struct Variable {
  std::string name;
  Space space = Space::kGlobal;
  T type = T::none;
  u64 bytes = 0, align = 1;
  bool external = false;
  u64 offset = 0;         // in shared memory, in the frame, among the parameters
  int function = -1;      // whose frame or parameters it belongs to
  bool of_entry = false;  // a parameter of an entry
  struct Pointer {
    u64 at;
    u32 bytes;
    int variable, function;
    i64 addend;
    bool generic;
  };
  std::vector<u8> initial;
  std::vector<Pointer> pointers;
  std::string alias_of;
};

struct Function {
  std::string name;
  bool entry = false, defined = false;
  enum Builtin : u8 { kNo, kPrintf, kAssert } builtin = kNo;
  std::vector<Operand> parameters, results;  // kLocal with offset, and index: bytes; or kReg
  u32 slots = 0, predicates = 0, frame_bytes = 0;
  u32 code = 0, end = 0;
  u64 shared_end = 0;
  Kernel kernel;
  int alias = -1;
};

struct PoolEntry {
  u64 value = 0;
  int variable = -1;  // its address is added; that of a function: function
  int function = -1;
};

struct Image {
  std::string text, version, target;
  std::vector<Instr> code;
  std::vector<Function> functions;
  std::vector<Variable> variables;
  std::vector<PoolEntry> pool;
  std::vector<std::string> names;  // of coverage
  std::unordered_map<u32, std::string> files;
  std::vector<Kernel> kernels;
  std::vector<u32> kernel_functions;              // their numbers
  u64 dynamic_shared = 0;                         // where the .extern array of shared memory begins
  std::string instruction(const Instr& i) const;  // as written, on one line
};

}  // namespace ashlar::ptx
