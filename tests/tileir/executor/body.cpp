// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Functions: operations in order, by the layouts of opcodes.cpp. Values are numbered as they are defined; at the end of a block
// the numbers of what was defined in it are free again.
#include <algorithm>

#include "tests/tileir/executor/image.h"

namespace ashlar::tileir {

namespace {

constexpr int kDeepest = 64;

class Reader {
 public:
  Reader(const Image& image, Function& f, const std::vector<u32>& locations)
      : image_(image), function_(f), locations_(locations) {
    if (!locations.empty()) f.location = locations[0];
  }

  void function(Cursor c) {
    Block& body = function_.body;
    body.present = true;
    body.arguments = function_.type->parameters;
    values_ = function_.type->parameters;
    while (!c.done()) body.ops.push_back(operation(c, nullptr, 0));
    finish(c, body, false);
    function_.values = most_;
  }

 private:
  Op operation(Cursor& c, const Block* loop, int depth) {
    Op op;
    op.offset = c.at();
    const u64 code = c.varint("an operation");
    op.info = find(code);
    if (op.info == nullptr) c.fail("there is no operation with the code " + std::to_string(code), op.offset);
    if (image_.version.minor < op.info->since)
      c.fail(op.info->name + " came with version 13." + std::to_string(op.info->since), op.offset);
    if (!locations_.empty()) {
      if (++seen_ >= locations_.size()) c.fail("there are fewer locations than operations", op.offset);
      op.location = locations_[seen_];
    }
    total_ = -1;
    try {
      for (const Field& f : op.info->fields) field(c, op, f, loop, depth);
    } catch (const Error& e) {
      if (named_) throw;
      named_ = true;
      Error in(std::string(e.what()) + ", in " + op.info->name);
      in.offset = e.offset;
      throw in;
    }
    verify(image_, function_, op, loop);
    op.first_result = static_cast<u32>(values_.size());
    values_.insert(values_.end(), op.results.begin(), op.results.end());
    most_ = std::max(most_, static_cast<u32>(values_.size()));
    return op;
  }

  void field(Cursor& c, Op& op, const Field& f, const Block* loop, int depth) {
    const bool there = image_.version.minor >= std::max(f.since, 1) && (f.flag < 0 || op.flag(f.flag));
    switch (f.what) {
      case Field::kResults:
        results(c, op, f);
        break;
      case Field::kFlags:
        if (!there) break;
        op.flags = c.varint("flags");
        if ((op.flags >> f.flags.size()) != 0) c.fail("flags of " + op.info->name + ": " + std::to_string(op.flags), op.offset);
        break;
      case Field::kAttribute:
        op.attributes.push_back(there ? read_attribute(image_, c, f.kind) : absent(f));
        break;
      case Field::kTotal:
        total_ = static_cast<i64>(c.count("the number of operands"));
        break;
      case Field::kOperand:
        operands(c, op, there ? 1 : 0);
        break;
      case Field::kOperands:
        operands(c, op, c.count("the number of operands"));
        break;
      case Field::kRest:
        if (total_ < 0) c.fail(op.info->name + " has fewer operands than it takes", op.offset);
        operands(c, op, static_cast<u64>(total_));
        break;
      case Field::kRegions:
        regions(c, op, f, loop, depth);
        break;
    }
  }

  static Attribute absent(const Field& f) {
    Attribute a;
    if (f.flag < 0)
      a.tag = Attribute::kInteger;  // before it was there it was 0: rounding of exp and tanh is `full` all the same
    return a;
  }

  void results(Cursor& c, Op& op, const Field& f) {
    const u64 n = f.counted ? c.count("the number of results") : static_cast<u64>(f.count);
    if (f.counted && f.count >= 0 && n != static_cast<u64>(f.count))
      c.fail(op.info->name + " has " + std::to_string(n) + " results, expected " + std::to_string(f.count), op.offset);
    for (u64 k = 0; k < n; ++k) {
      const std::size_t at = c.at();
      const u64 t = c.varint("the type of a result");
      if (t >= image_.types.size()) c.fail("there is no type " + std::to_string(t), at);
      if (image_.types[t]->kind == Kind::kFunction || !(image_.types[t]->kind >= Kind::kTile))
        c.fail("a result of type " + image_.types[t]->text, at);
      op.results.push_back(image_.types[t]);
    }
  }

  void operands(Cursor& c, Op& op, u64 n) {
    op.operands.emplace_back();
    op.operand_types.emplace_back();
    for (u64 k = 0; k < n; ++k) {
      const std::size_t at = c.at();
      const u64 v = c.varint("an operand");
      if (v >= values_.size())
        c.fail("there is no value " + std::to_string(v) + ", and " + std::to_string(values_.size()) + " are defined here", at);
      op.operands.back().push_back(static_cast<u32>(v));
      op.operand_types.back().push_back(values_[v]);
      if (total_ >= 0 && --total_ < 0) c.fail(op.info->name + " has fewer operands than it takes", op.offset);
    }
  }

  void regions(Cursor& c, Op& op, const Field& f, const Block* loop, int depth) {
    if (depth > kDeepest) c.fail("regions are nested more than " + std::to_string(kDeepest) + " deep");
    const u64 n = c.count("the number of regions");
    if (n != static_cast<u64>(f.count))
      c.fail(op.info->name + " has " + std::to_string(n) + " regions, expected " + std::to_string(f.count), op.offset);
    const Code code = op.info->code;
    for (u64 k = 0; k < n; ++k) {
      Block b;
      const u64 blocks = c.count("the number of blocks");
      if (blocks > 1 || (blocks == 0 && !(code == Code::kIf && k == 1)))
        c.fail("a region of " + std::to_string(blocks) + " blocks");
      if (blocks == 1)
        block(c, op, b, code == Code::kFor || code == Code::kLoop ? &b : code == Code::kIf ? loop : nullptr, depth);
      op.regions.push_back(std::move(b));
    }
  }

  void block(Cursor& c, const Op& op, Block& b, const Block* loop, int depth) {
    const std::size_t outside = values_.size();
    b.present = true;
    b.first_argument = static_cast<u32>(outside);
    const u64 arguments = c.count("the number of a block's arguments");
    for (u64 k = 0; k < arguments; ++k) {
      const std::size_t at = c.at();
      const u64 t = c.varint("the type of an argument");
      if (t >= image_.types.size()) c.fail("there is no type " + std::to_string(t), at);
      b.arguments.push_back(image_.types[t]);
      values_.push_back(image_.types[t]);
    }
    most_ = std::max(most_, static_cast<u32>(values_.size()));
    b.counts = op.info->code == Code::kFor;
    block_results(c, op, b);
    const u64 ops = c.count("the number of a block's operations");
    for (u64 k = 0; k < ops; ++k) b.ops.push_back(operation(c, loop, depth + 1));
    finish(c, b, true);
    values_.resize(outside);
  }

  // What a region gets must be what the operation has to give: a loop's values, pairs of scalars of a reduction.
  static void block_results(const Cursor& c, const Op& op, const Block& b) {
    std::vector<const Type*> expected;
    switch (op.info->code) {
      case Code::kFor:
        expected = {op.operand_types[0][0]};
        expected.insert(expected.end(), op.operand_types[3].begin(), op.operand_types[3].end());
        break;
      case Code::kLoop:
        expected = op.operand_types[0];
        break;
      case Code::kReduce:
      case Code::kScan: {
        bool good = b.arguments.size() == 2 * op.operand_types[0].size();
        for (std::size_t n = 0; good && n < b.arguments.size(); ++n)
          good = b.arguments[n]->is_tile() && b.arguments[n]->shape.empty() && op.operand_types[0][n / 2]->is_tile() &&
                 b.arguments[n]->of == op.operand_types[0][n / 2]->of;
        if (!good) c.fail("the region of " + op.info->name + " must take two scalars of each tile's element");
        return;
      }
      default:
        break;
    }
    if (b.arguments != expected) c.fail("the region of " + op.info->name + " takes other types than it is given");
  }

  static bool ends(Code code) {
    return code == Code::kYield || code == Code::kContinue || code == Code::kBreak || code == Code::kReturn;
  }

  static void finish(const Cursor& c, Block& b, bool region) {
    if (b.ops.empty() || !ends(b.ops.back().info->code)) {
      if (!(b.ops.empty() && !region)) c.fail("a block does not end with yield, continue, break or return");
    }
    if (b.ops.empty()) c.fail("a function without operations");
    for (std::size_t n = 0; n + 1 < b.ops.size(); ++n)
      if (ends(b.ops[n].info->code)) c.fail("operations follow " + b.ops[n].info->name, b.ops[n].offset);
    b.lanewise = std::all_of(b.ops.begin(), b.ops.end(), [](const Op& op) {
      if (!op.regions.empty() || op.info->code == Code::kReturn) return false;
      const bool pure = !op.info->same.empty() || op.info->code == Code::kYield || op.info->code == Code::kConstant ||
                        op.info->code == Code::kSelect || op.info->code == Code::kCmpI || op.info->code == Code::kCmpF ||
                        op.info->code == Code::kExtI || op.info->code == Code::kTruncI || op.info->code == Code::kFToF ||
                        op.info->code == Code::kFToI || op.info->code == Code::kIToF || op.info->code == Code::kBitcast;
      return pure;
    });
  }

  const Image& image_;
  Function& function_;
  const std::vector<u32>& locations_;
  std::vector<const Type*> values_;
  u32 most_ = 0;
  std::size_t seen_ = 0;
  i64 total_ = -1;
  bool named_ = false;  // the innermost operation is said
};

}  // namespace

void read_body(const Image& image, Cursor code, Function& f, const std::vector<u32>& locations) {
  f.values = static_cast<u32>(f.type->parameters.size());
  Reader(image, f, locations).function(code);
}

}  // namespace ashlar::tileir
