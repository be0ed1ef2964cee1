// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Calls of intrinsics inside a launch: the table of ir/intrinsics.h in PTX. Which thread holds which element of a fragment is
// what the table says and what the PTX ISA manual says, so fragments travel as they lie in their registers.
//
// An intrinsic of a user's carries its instruction as `emit["ptx"]`: {name} stands for an operand (a tile in registers becomes
// the list of its registers, or the one that it is, a tile in memory its address, a value itself, a barrier its address).
// Results come first.
#include <bit>

#include <llvm/IR/IntrinsicsNVPTX.h>

#include <ashlar/analysis/fragment.h>
#include <ashlar/ir/emit_text.h>
#include <ashlar/ir/refusal.h>

#include "codegen/llvm/nvptx/nvptx.h"
#include "codegen/llvm/nvptx/asm.h"

namespace ashlar::codegen {

using ir::DeviceOp;
using llvm::Value;
using Operand = ir::IntrinsicOperand;

// ---- registers, 32 bits at a time ------------------------------------------------------------------------------------------
namespace {

Value* word_address(Emitter& e, ir::Id buffer, std::int64_t word) {
  return e.b.CreateConstInBoundsGEP1_64(e.b.getInt8Ty(), e.base_of(buffer), static_cast<std::uint64_t>(4 * word));
}

}  // namespace

Value* Emitter::register_word(ir::Id buffer, std::int64_t word, llvm::Type* type) {
  llvm::LoadInst* v = b.CreateAlignedLoad(type, word_address(*this, buffer, word), llvm::Align(4));
  unit.tag_access(v, buffer);
  return v;
}

void Emitter::set_register_word(ir::Id buffer, std::int64_t word, Value* v) {
  unit.tag_access(b.CreateAlignedStore(v, word_address(*this, buffer, word), llvm::Align(4)), buffer);
}

namespace {

class Calling {
 public:
  Calling(Emitter& emitter, const ir::KCall& call, Where call_where)
      : e(emitter),
        b(emitter.b),
        where(call_where),
        c(call),
        k(emitter.unit.kernel),
        f(k.intrinsics.at(call.intrinsic)),
        a(emitter) {}

  void run() {
    require_chip(e.unit.target, f.needs, "`" + f.name + "` in kernel `" + k.name + "`", where);
    if (const auto own = f.emit.find("ptx"); own != f.emit.end()) return custom(own->second);
    switch (f.device) {
      case DeviceOp::shuffle_xor:
        return shuffle(llvm::Intrinsic::nvvm_shfl_sync_bfly_i32, 31);
      case DeviceOp::shuffle_idx:
        return shuffle(llvm::Intrinsic::nvvm_shfl_sync_idx_i32, 31);
      case DeviceOp::shuffle_up:
        return shuffle(llvm::Intrinsic::nvvm_shfl_sync_up_i32, 0);
      case DeviceOp::shuffle_down:
        return shuffle(llvm::Intrinsic::nvvm_shfl_sync_down_i32, 31);
      case DeviceOp::ldmatrix:
      case DeviceOp::ldmatrix_transposed:
        return ldmatrix();
      case DeviceOp::stmatrix:
      case DeviceOp::stmatrix_transposed:
        return stmatrix();
      case DeviceOp::mma_m16n8k16:
        return mma();
      case DeviceOp::copy_async:
        return copy_async();
      case DeviceOp::tma_load:
        return tma_load();
      case DeviceOp::tma_store:
        return tma_store();
      case DeviceOp::wgmma:
        return wgmma();
      case DeviceOp::none:
        break;
    }
    refuse("cuda", "an intrinsic of the compiler's, or one with an instruction for `ptx`",
           "`" + f.name + "` in kernel `" + k.name + "`", where);
  }

 private:
  // ---- operands
  std::int64_t first_word(std::size_t n) const {
    std::int64_t first = 0;
    const int bytes = k.buffers.at(c.actuals[n].buffer).type.bytes();
    if (!ir::is_int(c.actuals[n].address, &first) || first * bytes % 4 != 0)
      throw InternalError("codegen: operand " + f.operands[n].name + " of " + f.name + " begins in the middle of a register");
    return first * bytes / 4;
  }
  // Registers of one thread, of 32 bits.
  std::int64_t words(std::size_t n) const {
    const Operand& o = f.operands[n];
    if (o.map.size() == 2)
      if (const analysis::FragmentRead held = analysis::fragment(o, f.group); held.fragment)
        return std::int64_t{held.fragment->registers} * o.type.bytes() / 4;
    std::int64_t elements = 1;
    for (std::int64_t extent : o.shape) elements *= extent;
    return elements / f.group * o.type.bytes() / 4;
  }
  bool is_real(std::size_t n) const { return f.operands[n].type == f32; }
  llvm::Type* word_type(std::size_t n) const { return is_real(n) ? b.getFloatTy() : static_cast<llvm::Type*>(b.getInt32Ty()); }
  const char* constraint(std::size_t n) const { return is_real(n) ? "f" : "r"; }

  static std::string list(const std::vector<std::string>& names) {
    std::string text;
    for (const std::string& n : names) text += (text.empty() ? "" : ", ") + n;
    return "{" + text + "}";
  }
  // The registers that operand n's results go to; finish() stores them.
  std::string written(std::size_t n) { return list(registers_written(n)); }
  std::vector<std::string> registers_written(std::size_t n) {
    std::vector<std::string> names;
    for (std::int64_t w = 0; w < words(n); ++w) {
      names.push_back(a.out(constraint(n), word_type(n)));
      results_.push_back({c.actuals[n].buffer, first_word(n) + w});
    }
    return names;
  }
  void tie(std::size_t n, std::size_t first_result) {
    for (std::int64_t w = 0; w < words(n); ++w)
      a.tied(first_result + static_cast<std::size_t>(w), e.register_word(c.actuals[n].buffer, first_word(n) + w, word_type(n)));
  }
  std::string read(std::size_t n) { return list(registers_read(n)); }
  std::vector<std::string> registers_read(std::size_t n) {
    std::vector<std::string> names;
    for (std::int64_t w = 0; w < words(n); ++w)
      names.push_back(a.in(constraint(n), e.register_word(c.actuals[n].buffer, first_word(n) + w, word_type(n))));
    return names;
  }
  Value* shared_value(std::size_t n) {
    const ir::Call::Actual& actual = c.actuals[n];
    const bool barrier = f.operands[n].kind == Operand::Kind::barrier;
    return e.shared_address(actual.buffer, actual.address, barrier ? 8 : k.buffers.at(actual.buffer).type.bytes());
  }
  std::string shared(std::size_t n) { return a.in("r", shared_value(n)); }

  // An address in shared memory as the instruction that uses it says it: `before` computes `at` in a block of its own.
  //
  //   (k % 4) * 4096 + (row(thread) + 16) * 32     { .reg .b32 at; add.s32 at, $fixed, $moving; … [at+1024] … }
  //
  // What the thread decides does not change in a loop over tiles, and which slot of a ring is next is the same for all threads:
  // apart they are a register each, one of them uniform. Added up here, LLVM would make one sum of them, in every iteration.
  struct SharedAt {
    std::string before, at;
  };
  struct Parts {
    Expr fixed = ir::index(0), moving = ir::index(0);
    std::int64_t distance = 0;
  };
  void take_apart(const Expr& address, bool plus, Parts& parts) const {
    const auto args = ir::args_of(address);
    std::int64_t number = 0;
    if (ir::is_int(address, &number)) {
      parts.distance += plus ? number : -number;
    } else if (ir::is(address, ir::Op::add) || ir::is(address, ir::Op::sub)) {
      take_apart(args[0], plus, parts);
      take_apart(args[1], plus == ir::is(address, ir::Op::add), parts);
    } else {
      Expr& sum = e.moves_with_loops(address) ? parts.moving : parts.fixed;
      sum = plus ? ir::add(sum, address) : ir::sub(sum, address);
    }
  }
  SharedAt shared_at(std::size_t n) {
    const ir::Call::Actual& actual = c.actuals[n];
    const std::int64_t bytes = k.buffers.at(actual.buffer).type.bytes();
    Parts parts;
    take_apart(actual.address, true, parts);
    llvm::APInt offset(64, 0);
    Value* memory = e.base_of(actual.buffer)->stripAndAccumulateConstantOffsets(e.unit.module->getDataLayout(), offset, true);
    const std::int64_t distance = offset.getSExtValue() + parts.distance * bytes;
    const auto scaled = [&](const Expr& index) {
      Value* v = e.address(index);
      return b.CreateMul(v, llvm::ConstantInt::get(v->getType(), static_cast<std::uint64_t>(bytes)));
    };
    Value* at = b.CreatePtrToInt(b.CreateGEP(b.getInt8Ty(), memory, scaled(parts.fixed)), b.getInt32Ty());
    const std::string fixed = a.in("r", at), plus = distance == 0 ? "" : "+" + std::to_string(distance);
    if (ir::is_int(parts.moving, std::int64_t{0})) return {"", fixed + plus};
    const std::string name = "at" + std::to_string(n);
    const std::string moving = a.in("r", b.CreateTrunc(scaled(parts.moving), b.getInt32Ty()));
    const std::string sum = ".reg .b32 " + name + "; add.s32 " + name + ", " + fixed + ", ";
    // ptxas 13.0 puts what it knows to be small into a uniform register that instructions add to the thread's, and knows it of
    // a counter if bits are masked.
    if (const auto most = e.most_counted(parts.moving)) {
      const std::uint64_t mask = std::bit_ceil(static_cast<std::uint64_t>(*most * bytes) + 1) - 1;
      const std::string slot = "slot" + std::to_string(n);
      return {
          ".reg .b32 " + slot + "; and.b32 " + slot + ", " + moving + ", " + std::to_string(mask) + "; " + sum + slot + "; ",
          name + plus};
    }
    return {sum + moving + "; ", name + plus};
  }
  static std::string in_block(const std::string& before, const std::string& text) {
    return before.empty() ? text : "{ " + before + text + " }";
  }

  std::string global(std::size_t n) {
    const ir::KBuffer& buffer = k.buffers.at(c.actuals[n].buffer);
    Value* at = e.element_of(buffer, c.actuals[n].address);
    return a.in("l", b.CreatePtrToInt(at, b.getInt64Ty()));
  }
  std::int64_t number(std::size_t n) const {
    std::int64_t v = 0;
    if (!ir::is_int(c.actuals[n].address, &v))
      refuse("cuda", "a constant for `" + f.operands[n].name + "` of `" + f.name + "`", "an expression", where);
    return v;
  }
  Value* word(std::size_t n) { return b.CreateTrunc(e.address(c.actuals[n].address), b.getInt32Ty()); }

  void finish(bool reads = false) {
    const std::vector<Value*> values = a.run(f.group > 1, reads);
    for (std::size_t n = 0; n < values.size(); ++n) e.set_register_word(results_[n].first, results_[n].second, values[n]);
  }

  // ---- the table
  void shuffle(llvm::Intrinsic::ID id, unsigned clamp_at) {
    const ir::KBuffer &to = k.buffers.at(c.actuals[0].buffer), &from = k.buffers.at(c.actuals[1].buffer);
    if (f.group != 32)
      refuse("cuda", "warps of 32 lanes", "`" + f.name + "` over " + std::to_string(f.group) + " in kernel `" + k.name + "`",
             where);
    Value* by = word(2);
    Value* clamp = b.getInt32(clamp_at);
    auto moved = [&](Value* v) { return b.CreateIntrinsic(b.getInt32Ty(), id, {b.getInt32(0xFFFFFFFF), v, by, clamp}); };
    const Type t = from.type;
    llvm::Type* held = e.math.memory_type(t);
    auto* bits = b.getIntNTy(held->getScalarSizeInBits());
    auto at = [&](const ir::KBuffer& buffer, std::size_t n) {
      return b.CreateGEP(held, e.base_of(buffer.id), e.expr(c.actuals[n].address));
    };
    llvm::LoadInst* load = b.CreateAlignedLoad(held, at(from, 1), llvm::Align(static_cast<std::uint64_t>(t.bytes())));
    e.unit.tag_access(load, from.id);
    Value* v = b.CreateBitCast(load, bits);
    if (t.bytes() <= 4) {
      v = b.CreateTrunc(moved(b.CreateZExt(v, b.getInt32Ty())), bits);
    } else {
      Value* low = moved(b.CreateTrunc(v, b.getInt32Ty()));
      Value* high = moved(b.CreateTrunc(b.CreateLShr(v, b.getInt64(32)), b.getInt32Ty()));
      v = b.CreateOr(b.CreateZExt(low, bits), b.CreateShl(b.CreateZExt(high, bits), b.getInt64(32)));
    }
    e.unit.tag_access(
        b.CreateAlignedStore(b.CreateBitCast(v, held), at(to, 0), llvm::Align(static_cast<std::uint64_t>(t.bytes()))), to.id);
  }

  std::string matrices(const char* stem) const {  // "ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 "
    const bool transposed = f.device == DeviceOp::ldmatrix_transposed || f.device == DeviceOp::stmatrix_transposed;
    return std::string(stem) + ".sync.aligned.m8n8.x" + std::to_string(f.operands[0].shape[0]) + (transposed ? ".trans" : "") +
           ".shared.b16 ";
  }
  void ldmatrix() {
    const std::string to = written(0);
    const SharedAt from = shared_at(1);
    a.text(in_block(from.before, matrices("ldmatrix") + to + ", [" + from.at + "];"));
    finish(true);
  }
  void stmatrix() {
    const SharedAt to = shared_at(0);
    a.text(in_block(to.before, matrices("stmatrix") + "[" + to.at + "], " + read(1) + ";"));
    finish();
  }

  std::string halves() const { return f.operands[1].type == f16 ? "f16" : "bf16"; }

  void mma() {
    const std::string d = written(0);
    tie(0, 0);
    const std::string t = halves(), left = read(1), right = read(2);
    a.text("mma.sync.aligned.m16n8k16.row.col.f32." + t + "." + t + ".f32 " + d + ", " + left + ", " + right + ", " + d + ";");
    finish();
  }

  // Of a number of elements that is `all` or 0, by choices: under which condition it is all of them; null for any other. The
  // condition goes into the copy's text as a predicate: LLVM makes a chain of choices of one that has several parts.
  Value* all_or_nothing(Expr number, std::int64_t all) {
    std::vector<Expr> conditions;
    std::int64_t n = 0;
    while (ir::is(number, ir::Op::select) && ir::is_int(ir::args_of(number)[2], &n) && n <= 0) {
      conditions.push_back(ir::args_of(number)[0]);
      number = Expr(ir::args_of(number)[1]);
    }
    if (conditions.empty() || !ir::is_int(number, &n) || n < all) return nullptr;
    Value* copies = nullptr;
    for (const Expr& condition : conditions) {
      Value* holds = e.expr(condition);
      copies = copies ? b.CreateAnd(copies, holds) : holds;
    }
    return copies;
  }

  void copy_async() {
    const int bytes = f.operands[0].type.bytes(), all = static_cast<int>(f.operands[0].shape[0]) * bytes;
    SharedAt to = shared_at(0);
    const std::string from = global(1);
    std::string text = std::string("cp.async.") + (all == 16 ? "cg" : "ca") + ".shared.global [" + to.at + "], [" + from +
                       "], " + std::to_string(all);
    std::int64_t valid = 0;
    if (Value* copies = all_or_nothing(c.actuals[2].address, all / bytes)) {
      to.before += ".reg .b32 size; selp.b32 size, " + std::to_string(all) + ", 0, " + a.in("b", copies) + "; ";
      text += ", size";
    } else if (!ir::is_int(c.actuals[2].address, &valid) || valid * bytes < all) {
      Value* n = e.exact(c.actuals[2].address);
      const auto number = [&](std::int64_t v) { return llvm::ConstantInt::getSigned(n->getType(), v); };
      n = b.CreateBinaryIntrinsic(llvm::Intrinsic::smax, n, number(0));
      n = b.CreateBinaryIntrinsic(llvm::Intrinsic::smin, n, number(all / bytes));
      text += ", " + a.in("r", b.CreateTrunc(b.CreateMul(n, number(bytes)), b.getInt32Ty()));
    }
    a.text(in_block(to.before, text + ";"));
    finish();
  }

  // [map, {fastest, …, slowest}]
  std::string box(std::size_t n) {
    const ir::Call::Actual& actual = c.actuals[n];
    std::vector<std::string> positions;
    const std::string map = a.in("l", b.CreatePtrToInt(e.base_of(actual.buffer), b.getInt64Ty()));
    for (std::size_t d = actual.positions.size(); d-- > 0;)
      positions.push_back(a.in("r", b.CreateTrunc(e.address(actual.positions[d]), b.getInt32Ty())));
    return "[" + map + ", " + list(positions) + "]";
  }
  std::string rank(std::size_t n) const { return std::to_string(c.actuals[n].positions.size()) + "d"; }

  void tma_load() {
    const std::string to = shared(0), from = box(1), barrier = shared(2);
    a.text("cp.async.bulk.tensor." + rank(1) + ".shared::cluster.global.mbarrier::complete_tx::bytes [" + to + "], " + from +
           ", [" + barrier + "];");
    finish();
  }
  void tma_store() {
    const std::string to = box(0), from = shared(1);
    a.text("cp.async.bulk.tensor." + rank(0) + ".global.shared::cta.bulk_group " + to + ", [" + from + "];");
    finish();
  }

  // The matrix descriptor of a tile in shared memory: PTX ISA, "Matrix Descriptor Format".
  Value* descriptor(std::size_t tile, std::int64_t leading, std::int64_t stride, std::int64_t swizzle) {
    const std::uint64_t mode = swizzle == 128 ? 1 : swizzle == 64 ? 2 : swizzle == 32 ? 3 : 0;
    if (leading % 16 != 0 || stride % 16 != 0 || leading >= (1 << 18) || stride >= (1 << 18))
      refuse("cuda", "offsets of a product's tiles in multiples of 16 bytes below 2^18",
             std::to_string(leading) + " and " + std::to_string(stride), where);
    const std::uint64_t fixed =
        static_cast<std::uint64_t>(leading / 16) << 16 | static_cast<std::uint64_t>(stride / 16) << 32 | mode << 62;
    Value* address = b.CreateLShr(b.CreateAnd(shared_value(tile), b.getInt32(0x3FFFF)), b.getInt32(4));
    return b.CreateOr(b.CreateZExt(address, b.getInt64Ty()), b.getInt64(fixed));
  }

  void wgmma() {
    const bool in_registers = f.operands[1].place == Operand::Place::registers;
    const std::size_t values = in_registers ? 3 : 5;  // of b_leading
    const std::int64_t swizzle = number(values + 2);
    const std::string d = written(0);
    tie(0, 0);
    const std::string t = halves();
    const std::string left = in_registers ? read(1) : a.in("l", descriptor(1, number(3), number(4), swizzle));
    const std::string right = a.in("l", descriptor(2, number(values), number(values + 1), swizzle));
    const std::string accumulate = a.in("r", word(values + 3));
    const std::string shape = "m64n" + std::to_string(f.operands[0].shape[1]) + "k16";
    a.text("{ .reg .pred p; setp.ne.b32 p, " + accumulate + ", 0; wgmma.mma_async.sync.aligned." + shape + ".f32." + t + "." +
           t + " " + d + ", " + left + ", " + right + ", p, 1, 1" + (in_registers ? ", 0" : ", 0, 0") + "; }");
    finish();
  }

  // ---- a user's instruction
  // Whether a text says the operand's address as "[{name}]" or "[{name.ptr}]" alone, where a number may be added to it.
  static bool only_addresses(const std::string& text, const std::string& name) {
    const auto count = [&](const std::string& what) {
      std::size_t n = 0;
      for (std::size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + 1)) ++n;
      return n;
    };
    return count("[{" + name + "}]") + count("[{" + name + ".ptr}]") == count("{" + name + "}") + count("{" + name + ".");
  }

  void custom(const std::string& text) {
    std::vector<std::string> names(f.operands.size());
    std::vector<std::vector<std::string>> registers(f.operands.size());  // of fragments
    std::size_t results = 0;
    std::vector<std::pair<std::size_t, std::size_t>> accumulators;
    for (std::size_t n = 0; n < f.operands.size(); ++n) {
      const Operand& o = f.operands[n];
      if (o.kind != Operand::Kind::tile || o.place != Operand::Place::registers || o.access == Operand::Access::read) continue;
      if (o.access == Operand::Access::accumulate) accumulators.emplace_back(n, results);
      results += static_cast<std::size_t>(words(n));
      registers[n] = registers_written(n), names[n] = list(registers[n]);
    }
    for (const auto& [n, first] : accumulators) tie(n, first);
    std::string before;
    for (std::size_t n = 0; n < f.operands.size(); ++n) {
      const Operand& o = f.operands[n];
      if (!names[n].empty()) continue;
      if (o.kind == Operand::Kind::value)
        names[n] = a.in("r", word(n));
      else if (o.kind == Operand::Kind::tensor_map)
        names[n] = box(n);
      else if (o.kind != Operand::Kind::barrier && o.place == Operand::Place::shared && only_addresses(text, o.name)) {
        const SharedAt at = shared_at(n);
        before += at.before, names[n] = at.at;
      } else if (o.kind == Operand::Kind::barrier || o.place == Operand::Place::shared)
        names[n] = shared(n);
      else if (o.place == Operand::Place::global)
        names[n] = global(n);
      else
        registers[n] = registers_read(n), names[n] = list(registers[n]);
    }
    const auto named = [&](std::string_view name) {
      std::size_t n = 0;
      while (n < f.operands.size() && (name.empty() || f.operands[n].name != name)) ++n;
      return n;
    };
    const auto said = [&](std::size_t n) {  // a tile of one register is that register
      const std::string& operand = names[n];
      return operand[0] == '{' && operand.find(',') == std::string::npos ? operand.substr(1, operand.size() - 2) : operand;
    };
    std::string plain, result;
    for (const char ch : text) plain += ch == '$' ? "$$" : std::string(1, ch);
    if (f.is_users()) {
      const std::string own = ir::filled(plain, [&](const ir::Placeholder& p) {
        const std::size_t n = named(p.name);
        const auto range = registers[n].empty() ? std::nullopt : ir::registers_named(p);
        if (!range) return said(n);
        const auto first = registers[n].begin() + range->first, end = registers[n].begin() + range->last + 1;
        return range->single ? *first : list({first, end});
      });
      a.text(in_block(before, own));
      return finish();
    }
    for (std::size_t at = 0; at < plain.size();) {  // braces around other words are the instruction's own
      const std::size_t end = plain[at] == '{' ? plain.find('}', at) : std::string::npos;
      const std::size_t n = named(end == std::string::npos ? "" : std::string_view(plain).substr(at + 1, end - at - 1));
      const bool operand = n < f.operands.size();
      result += operand ? said(n) : std::string(1, plain[at]);
      at = operand ? end + 1 : at + 1;
    }
    a.text(in_block(before, result));
    finish();
  }

  Emitter& e;
  llvm::IRBuilder<>& b;
  const Where where;
  const ir::Call& c;
  const ir::Kernel& k;
  const ir::Intrinsic& f;
  PtxAsm a;
  std::vector<std::pair<ir::Id, std::int64_t>> results_;
};

}  // namespace

void Emitter::call(const ir::KCall& s, Where where) {
  if (!thread_of) throw InternalError("codegen: a call outside a launch in kernel " + unit.name);
  Calling(*this, s, where).run();
}

// A line of the cache that all multiprocessors share; nothing where the buffer is not in global memory.
void Emitter::prefetch_on_device(const ir::KPrefetch& s) {
  const auto it = buffers.find(s.buffer);
  if (it == buffers.end() || it->second->getType()->getPointerAddressSpace() != 1) return;
  Value* index = address(s.address);
  if (index->getType()->isVectorTy()) index = b.CreateExtractElement(index, std::uint64_t{0});
  Value* at = element(unit.kernel.buffers.at(s.buffer), index);
  // prefetch exists on every device (PTX ISA), but LLVM selects its intrinsic from sm_90 on.
  PtxAsm a(*this);
  a.text("prefetch.global.L2 [" + a.in("l", at) + "];");
  a.run();
}

}  // namespace ashlar::codegen
