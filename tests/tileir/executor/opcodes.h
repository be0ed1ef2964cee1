// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
// The operations of CUDA Tile IR: opcodes, names, versions, how each lies in the bytecode, what types it takes.
#include <string>
#include <vector>

#include "tests/tileir/executor/numbers.h"

namespace ashlar::tileir {

enum class Code : u16 {
  kAbsF = 0,
  kAbsI,
  kAddF,
  kAddI,
  kAndI,
  kAssert,
  kAssume,
  kAtomicCas,
  kAtomicRmw,
  kBitcast,
  kBreak,
  kBroadcast,
  kCat,
  kCeil,
  kCmpF,
  kCmpI,
  kConstant,
  kContinue,
  kCos,
  kCosh,
  kDivF,
  kDivI,
  kEntry,
  kExp,
  kExp2,
  kExtI = 37,
  kExtract,
  kFloor,
  kFma,
  kFor,
  kFToF,
  kFToI,
  kGetGlobal,
  kGetIndexSpaceShape,
  kGetNumTileBlocks,
  kGetTensorShape,
  kGetTileBlockId,
  kGlobal,
  kIf,
  kIntToPtr,
  kIota = 58,
  kIToF,
  kJoinTokens,
  kLoadPtr,
  kLoadView,
  kLog,
  kLog2,
  kLoop,
  kMakePartitionView,
  kMakeTensorView,
  kMakeToken,
  kMaxF,
  kMaxI,
  kMinF,
  kMinI,
  kMmaF,
  kMmaI,
  kModule,
  kMulF,
  kMulhiI,
  kMulI,
  kNegF,
  kNegI,
  kOffset,
  kOrI,
  kPermute,
  kPow,
  kPrint,
  kPtrToInt,
  kPtrToPtr,
  kReduce,
  kRemF,
  kRemI,
  kReshape,
  kReturn,
  kRsqrt,
  kScan,
  kSelect,
  kShlI,
  kShrI,
  kSin,
  kSinh,
  kSqrt,
  kStorePtr,
  kStoreView,
  kSubF,
  kSubI,
  kTan,
  kTanh,
  kTruncI,
  kXorI,
  kYield,
  kAtan2,
  kPack,
  kUnpack,
  kAlloca,
  kMmaFScaled,
  kMakeGatherScatterView,
  kMakeStridedView,
  kAtomicRedView,
  kInsert,
  kGdcLaunchDependents,
  kGdcWait,
  kPowI,
  kMemoryFenceAlias,
  kMultimemLoadReduce,
  kMultimemReduce,
  kMultimemStore,
};

// One step of an operation's layout. The layout of the table is a line of words:
//   R2        two result types                      R*  a count, then as many; R*2: the count must be 2
//   F:a,b     flags: bit 0 is a, bit 1 is b
//   round:x   an attribute x of that kind           ?round:x  only where the flag x is set
//   N         a count of all operands that follow
//   o:x       an operand                            ?o:x only where the flag x is set; O:x a count and operands; V:x the rest
//   of N B1        regions
// @3 at the end: since 13.3 (before, an attribute is 0 and a flag not set).
struct Field {
  enum What : u8 { kResults, kFlags, kAttribute, kTotal, kOperand, kOperands, kRest, kRegions } what;
  bool counted = false;  // of results
  int count = -1;        // of results, regions
  int since = 0;
  int flag = -1;     // bit, of what is optional
  std::string kind;  // of an attribute
  std::string name;
  std::vector<std::string> flags;  // of kFlags
};

struct OpInfo {
  Code code;
  std::string name;
  int since;
  bool executed;
  // What it demands of types, as verify.cpp reads it: "i", "f", "n": all operands and results have one tile type, of integers,
  // of base floats (f16, bf16, f32, f64), of anything; else empty, and verify.cpp has a function of its own.
  std::string same;
  std::vector<Field> fields;
  std::vector<std::string> attributes, operands;  // names in order
  int attribute(std::string_view name) const;     // its place; -1: none
  int operand(std::string_view name) const;
};

const OpInfo* find(u64 opcode);  // null: the specification has none
const std::vector<OpInfo>& table();

// Of an enumeration attribute: its names in order; empty: not an enumeration.
const std::vector<std::string>& names_of(const std::string& kind);

}  // namespace ashlar::tileir
