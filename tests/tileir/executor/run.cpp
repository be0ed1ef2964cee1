// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tests/tileir/executor/run.h"

#include <algorithm>
#include <map>
#include <numeric>

namespace ashlar::tileir {

Execute execute_of(Code code) {
  static const std::map<Code, Execute> known = [] {
    std::map<Code, Execute> m;
    const auto put = [&m](Execute e, std::initializer_list<Code> codes) {
      for (const Code c : codes) m[c] = e;
    };
    put(integers, {Code::kAbsI, Code::kAddI, Code::kAndI, Code::kDivI, Code::kMaxI, Code::kMinI, Code::kMulhiI, Code::kMulI,
                   Code::kNegI, Code::kOrI, Code::kRemI, Code::kShlI, Code::kShrI, Code::kSubI, Code::kXorI});
    put(floats, {Code::kAbsF, Code::kAddF, Code::kCeil, Code::kDivF, Code::kFloor, Code::kMaxF, Code::kMinF, Code::kMulF,
                 Code::kNegF, Code::kRemF, Code::kSqrt, Code::kSubF});
    put(mathematics, {Code::kCos, Code::kCosh, Code::kExp, Code::kExp2, Code::kLog, Code::kLog2, Code::kPow, Code::kRsqrt,
                      Code::kSin, Code::kSinh, Code::kTan, Code::kTanh, Code::kAtan2, Code::kPowI});
    put(convert, {Code::kExtI, Code::kTruncI, Code::kIToF, Code::kFToI, Code::kFToF, Code::kBitcast, Code::kIntToPtr,
                  Code::kPtrToInt, Code::kPtrToPtr});
    put(tokens, {Code::kMakeToken, Code::kJoinTokens, Code::kMemoryFenceAlias, Code::kGdcWait, Code::kGdcLaunchDependents});
    put(make_view, {Code::kMakePartitionView, Code::kMakeStridedView, Code::kMakeGatherScatterView});
    put(view_shape, {Code::kGetTensorShape, Code::kGetIndexSpaceShape});
    put(block_id, {Code::kGetTileBlockId, Code::kGetNumTileBlocks});
    put(reduction, {Code::kReduce, Code::kScan});
    m.insert({{Code::kCmpI, compare_integers},
              {Code::kCmpF, compare_floats},
              {Code::kFma, fma},
              {Code::kConstant, constant},
              {Code::kIota, iota},
              {Code::kReshape, reshape},
              {Code::kBroadcast, broadcast},
              {Code::kPermute, permute},
              {Code::kCat, cat},
              {Code::kExtract, extract},
              {Code::kInsert, insert},
              {Code::kSelect, select},
              {Code::kPack, pack},
              {Code::kUnpack, unpack},
              {Code::kMmaF, mma},
              {Code::kMmaI, mma_integers},
              {Code::kMmaFScaled, mma_scaled},
              {Code::kMakeTensorView, make_tensor_view},
              {Code::kLoadView, load_view},
              {Code::kStoreView, store_view},
              {Code::kAtomicRedView, reduce_view},
              {Code::kLoadPtr, load_pointers},
              {Code::kStorePtr, store_pointers},
              {Code::kAtomicRmw, atomic_rmw},
              {Code::kAtomicCas, atomic_cas},
              {Code::kOffset, offset},
              {Code::kAlloca, allocate},
              {Code::kGetGlobal, get_global},
              {Code::kAssume, assume},
              {Code::kAssert, assertion},
              {Code::kPrint, print}});
    return m;
  }();
  const auto at = known.find(code);
  return at == known.end() ? nullptr : at->second;
}

std::string_view name_of(FaultKind kind) {
  switch (kind) {
    case FaultKind::kOutOfBounds:
      return "out of bounds";
    case FaultKind::kMisaligned:
      return "misaligned";
    case FaultKind::kUndefined:
      return "undefined";
    case FaultKind::kAssumption:
      return "a broken assumption";
    case FaultKind::kBlockRace:
      return "a race of blocks";
    case FaultKind::kTokenRace:
      return "a race within a block";
    case FaultKind::kReadOnly:
      return "read only";
    case FaultKind::kAssert:
      return "an assertion";
    case FaultKind::kInvalid:
      return "invalid";
    case FaultKind::kTooLong:
      return "too long";
  }
  return "";
}

void Run::fault(FaultKind kind, const std::string& what, u64 address) const {
  const Location& l = image.locations[current->location];
  std::string text =
      std::string(name_of(kind)) + ": " + current->info->name + " (offset " + std::to_string(current->offset) + ")";
  if (l.line > 0) text += " at " + l.file + ":" + std::to_string(l.line);
  text += " in block " + std::to_string(block[0]) + "," + std::to_string(block[1]) + "," + std::to_string(block[2]) + " of " +
          function.name + ": " + what;
  Fault f(text);
  f.kind = kind, f.kernel = function.name, f.operation = current->info->name;
  f.source_file = l.file, f.source_line = l.line, f.offset = current->offset, f.block = block, f.address = address;
  throw f;
}

void Run::undefined(const Tile& t, const std::string& use) const {
  if (!device.checks.undefined) return;
  const Location& l = image.locations[t.since->location];
  std::string text =
      use + " depends on " + t.why + ", by " + t.since->info->name + " (offset " + std::to_string(t.since->offset) + ")";
  if (l.line > 0) text += " at " + l.file + ":" + std::to_string(l.line);
  fault(FaultKind::kUndefined, text);
}

i64 Run::scalar(const Op& op, int operand, std::size_t n, const char* use) const {
  const Tile& t = tile(op, operand, n);
  if (t.is_vague(0)) undefined(t, use);
  return signed_of(t.bits[0], bits_of(t.type->element()));
}

void Run::execute(const Op& op, bool last, Flow& flow, std::vector<Value>& out) {
  current = &op;
  ++counts[static_cast<std::size_t>(op.info->code)];
  if (++report.operations > device.checks.most_operations && device.checks.most_operations > 0)
    fault(FaultKind::kTooLong, "more than " + std::to_string(device.checks.most_operations) + " operations");
  if (last) {
    const auto& from = op.operands[0];
    std::vector<Value> handed;
    for (const u32 v : from) handed.push_back(values[v]);
    out = std::move(handed);
    const Code c = op.info->code;
    flow = c == Code::kYield      ? Flow::kYield
           : c == Code::kContinue ? Flow::kContinue
           : c == Code::kBreak    ? Flow::kBreak
                                  : Flow::kReturn;
    return;
  }
  switch (op.info->code) {
    case Code::kIf:
      branch(*this, op, flow, out);
      return;
    case Code::kFor:
    case Code::kLoop:
      loop(*this, op, flow);
      return;
    default:
      break;
  }
  const Execute e = execute_of(op.info->code);
  if (e == nullptr) throw Error("operation " + op.info->name + " is known and not executed", op.offset);
  e(*this, op);
}

// An operation in the midst of a block ends it only by break, continue or return from within an if, or by return from a loop.
Flow Run::execute(const Block& b, std::vector<Value>& out) {
  for (std::size_t n = 0; n < b.ops.size(); ++n) {
    Flow flow = Flow::kYield;
    const bool last = n + 1 == b.ops.size();
    execute(b.ops[n], last, flow, out);
    if (last || flow != Flow::kYield) return flow;
  }
  return Flow::kYield;
}

void Run::all(u64 order, std::span<const Argument> arguments) {
  const u64 count = static_cast<u64>(grid[0]) * grid[1] * grid[2];
  std::vector<u32> blocks(count);
  std::iota(blocks.begin(), blocks.end(), 0u);
  u64 state = order;
  for (u64 n = count; order != 0 && n > 1; --n) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    std::swap(blocks[n - 1], blocks[(state >> 33) % n]);
  }
  for (const u32 number : blocks) {
    block = {number % grid[0], number / grid[0] % grid[1], number / grid[0] / grid[1]};
    races.block_begins(number);
    values.assign(function.values, Value{});
    for (std::size_t n = 0; n < arguments.size(); ++n) {
      const Type& type = *function.type->parameters[n];
      Tile t = make(type, 1);
      std::memcpy(&t.bits[0], arguments[n].bytes.data(), arguments[n].size);
      if (type.element() == Kind::kI1) t.bits[0] = t.bits[0] != 0 ? 1 : 0;
      if (type.element() == Kind::kTf32) t.bits[0] >>= 13;
      values[n].tile = std::make_shared<const Tile>(std::move(t));
    }
    std::vector<Value> none;
    execute(function.body, none);
    for (const u64 a : block_memory) device.memory.free(a);
    block_memory.clear();
  }
}

}  // namespace ashlar::tileir
