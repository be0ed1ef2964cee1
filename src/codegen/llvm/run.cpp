// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// f_run: the entry on plain pointers. It checks everything that can be checked, in the order of runtime/inspect.c, finds the
// workspace and calls the body. Until then nothing is written; it needs no runtime.
//
// Two checks are coarser than those of the tensor entries, which search: an output overlaps itself unless its dimensions, by
// growing stride, each step over all that the smaller ones reach; and an output overlaps another tensor when their spans do,
// unless both step by the same outermost stride and lie beside each other in it (parts of one matrix).
#include <ashlar/ir/print.h>
#include <ashlar/ir/refusal.h>

#include "codegen/extents.h"
#include "codegen/llvm/context_fields.h"
#include "codegen/workspace_text.h"

namespace ashlar::codegen {

using ir::Op;
using llvm::Value;

llvm::Function* fail_function(Unit& unit) {
  if (llvm::Function* known = unit.module->getFunction(unit.name + ".fail")) return known;
  llvm::LLVMContext& c = *unit.context;
  auto* pointer = llvm::PointerType::get(c, 0);
  llvm::Type *i32_type = llvm::Type::getInt32Ty(c), *i64_type = llvm::Type::getInt64Ty(c);
  auto* type = llvm::FunctionType::get(i32_type, {pointer, i32_type, i32_type, i32_type, i64_type, i64_type, pointer}, false);
  llvm::Function* f = unit.function(".fail", type, Unit::Visibility::internal);
  f->addFnAttr(llvm::Attribute::NoInline);
  f->addFnAttr(llvm::Attribute::Cold);
  Emitter e(unit, f);
  e.when(e.b.CreateIsNotNull(f->getArg(0)), [&] {
    Value* error = load_field(e.b, pointer, f->getArg(0), e.unit.offset(ContextField::error));
    e.when(e.b.CreateIsNotNull(error), [&] {
      for (unsigned k = 0; k < error_fields.size(); ++k)
        store_field(e.b, f->getArg(k + 1), error, offset_of(error_fields, k, unit.pointer_bytes()));
    });
  });
  e.b.CreateRet(f->getArg(1));
  return f;
}

namespace {

Value* at_least_one(Emitter& e, Value* extent) {
  return e.b.CreateBinaryIntrinsic(llvm::Intrinsic::smax, extent, e.b.getInt64(1));
}

// A tensor as f_run sees it.
struct View {
  const ArgField* field = nullptr;
  const ir::Buffer* buffer = nullptr;
  std::int64_t align = 1;
  int number = 0;            // among the arguments
  Value* address = nullptr;  // i64
  std::vector<Value*> extents, strides;
  std::vector<bool> given;                                  // dimensions with a stride field
  Value *empty = nullptr, *low = nullptr, *high = nullptr;  // i1; bytes from element 0: [low, high)
  std::int64_t bytes() const { return buffer->type.bytes(); }
  bool packed() const { return buffer->type.is_packed(); }
  std::size_t rank() const { return extents.size(); }
};

class RunChecks {
 public:
  RunChecks(Unit& unit, llvm::Function* f) : e(unit, f), k(unit.kernel), args(f->getArg(0)), context(f->getArg(1)) {}

  void fail_if(Value* bad, int code, int argument, int dimension, Value* expected, Value* found, const std::string& what) {
    llvm::BasicBlock *failed = e.block("failed"), *fine = e.block("fine");
    e.b.CreateCondBr(bad, failed, fine);
    e.b.SetInsertPoint(failed);
    auto number = [&](int v) { return e.b.getInt32(static_cast<std::uint32_t>(v)); };
    e.b.CreateRet(e.b.CreateCall(fail_function(e.unit), {context, number(code), number(argument), number(dimension), expected,
                                                         found, e.unit.text(k.name + ": " + what)}));
    e.b.SetInsertPoint(fine);
  }
  Value* word(std::int64_t v) { return e.b.getInt64(static_cast<std::uint64_t>(v)); }

  void call_itself() {
    Value* none = llvm::ConstantPointerNull::get(e.b.getPtrTy());
    llvm::BasicBlock *sized = e.block("sized"), *known = e.block("known");
    e.b.CreateCondBr(e.b.CreateIsNull(context), known, sized);
    e.b.SetInsertPoint(sized);
    const auto context_bytes = static_cast<std::int64_t>(size_of(context_fields, e.unit.pointer_bytes()));
    Value* size = load_field(e.b, e.b.getInt32Ty(), context, e.unit.offset(ContextField::size));
    Value* whole = context;
    context = none;  // a context of another size has no error record that could be trusted
    fail_if(e.b.CreateICmpULT(size, e.b.getInt32(static_cast<std::uint32_t>(context_bytes))), ASHLAR_E_ABI, -1, -1,
            word(context_bytes), e.b.CreateZExt(size, e.b.getInt64Ty()),
            "the context's size is {found}, expected at least {expected}");
    context = whole;
    e.b.CreateBr(known);
    e.b.SetInsertPoint(known);
    fail_if(e.b.CreateIsNull(args), ASHLAR_E_NULL, -1, -1, word(1), word(0), "the argument structure is NULL");
  }

  void symbols() {
    for (const ArgField& f : e.unit.layout.fields) {
      if (f.kind != ArgField::Kind::symbol) continue;
      const ir::Symbol& s = k.symbols.at(f.id);
      Value* v = e.value_of(f.id);
      const std::int64_t least = std::max<std::int64_t>(s.min, 0);
      fail_if(e.b.CreateICmpSLT(v, word(least)), s.min > 0 ? ASHLAR_E_FACT : ASHLAR_E_SHAPE, -1, -1, word(least), v,
              s.name + " is {found}, expected at least {expected}");
      const std::int64_t most = most_of(s, e.unit.pointer_bytes());
      if (most != INT64_MAX)
        fail_if(e.b.CreateICmpSGT(v, word(most)), most == s.max ? ASHLAR_E_FACT : ASHLAR_E_OVERFLOW, -1, -1, word(most), v,
                s.name + " is {found}, expected at most {expected}");
      if (s.multiple_of > 1)
        fail_if(e.b.CreateICmpNE(e.b.CreateSRem(v, word(s.multiple_of)), word(0)), ASHLAR_E_FACT, -1, -1, word(s.multiple_of),
                v, s.name + " is {found}, expected a multiple of {expected}");
    }
  }

  void look_at_tensors() {
    int number = -1;
    for (const ir::Argument& a : k.arguments) {
      ++number;
      if (a.kind == ir::ArgumentKind::scalar) continue;
      View v;
      v.field = &e.unit.layout.field(ArgField::Kind::pointer, a.id);
      v.buffer = &k.argument_buffers.at(a.id);
      v.number = number;
      const auto it = k.buffers.find(a.id);
      v.align = std::max({it == k.buffers.end() ? 1 : it->second.align, v.buffer->align, std::int64_t{v.bytes()}});
      Value* pointer = load_field(e.b, e.b.getPtrTy(), args, static_cast<std::size_t>(v.field->offset));
      v.address = e.b.CreatePtrToInt(pointer, e.b.getInt64Ty());
      shape(v);
      views.push_back(std::move(v));
    }
  }

  void shape(View& v) {
    const std::size_t rank = v.buffer->extents.size();
    v.empty = e.b.getFalse();
    for (std::size_t d = 0; d < rank; ++d) {
      Value* overflow = e.b.getFalse();
      const Expr& wanted = v.buffer->extents[d];
      Value* extent = e.checked(wanted, &overflow);
      const std::string shape = v.field->name + ".shape[" + std::to_string(d) + "]";
      fail_if(overflow, ASHLAR_E_OVERFLOW, v.number, static_cast<int>(d), word(INT64_MAX), extent,
              shape + " exceeds {expected}");
      fail_if(e.b.CreateICmpSLT(extent, word(0)), ASHLAR_E_SHAPE, v.number, static_cast<int>(d), word(0), extent,
              shape + " is {found}, expected at least {expected} (" + ir::text(wanted) + ")");
      v.extents.push_back(extent);
      v.empty = e.b.CreateOr(v.empty, e.b.CreateICmpEQ(extent, word(0)));
    }
    v.strides.resize(rank);
    v.given.assign(rank, false);
    Value *dense = word(1), *overflow = e.b.getFalse();
    for (std::size_t d = rank; d-- > 0;) {
      v.strides[d] = dense;
      for (const ArgField& f : e.unit.layout.fields)
        if (f.kind == ArgField::Kind::stride && f.buffer == v.field->id && f.dim == static_cast<int>(d)) {
          Value* given = e.value_of(f.id);
          v.strides[d] = e.b.CreateSelect(e.b.CreateICmpEQ(given, word(0)), dense, given);
          v.given[d] = true;
          e.bind(f.id, v.strides[d]);
          order(v, d, dense);
        }
      if (d > 0) dense = e.index_arithmetic(Op::mul, dense, at_least_one(e, v.extents[d]), &overflow);
    }
    fail_if(overflow, ASHLAR_E_OVERFLOW, v.number, -1, word(INT64_MAX), dense,
            v.field->name + " reaches past {expected} bytes");
    span(v);
  }

  void order(const View& v, std::size_t d, Value* dense) {
    const std::string text = v.field->name + ".strides[" + std::to_string(d) + "]";
    Value* stride = v.strides[d];
    Value* steps = e.b.CreateICmpSGT(v.extents[d], word(1));
    const bool inner = d + 1 == v.extents.size();
    using Order = ir::Buffer::Order;
    if (v.buffer->order == Order::dense || (inner && v.buffer->order == Order::inner_unit_stride))
      fail_if(e.b.CreateAnd(steps, e.b.CreateICmpNE(stride, dense)), ASHLAR_E_STRIDE, v.number, static_cast<int>(d), dense,
              stride, text + " is {found}, expected {expected}");
    else if (v.buffer->order != Order::any)
      fail_if(e.b.CreateAnd(steps, e.b.CreateICmpSLT(stride, word(0))), ASHLAR_E_STRIDE, v.number, static_cast<int>(d), word(0),
              stride, text + " is {found}, expected at least {expected}");
  }

  // What is touched, in bytes from element 0.
  void span(View& v) {
    Value *low = word(0), *high = word(0), *overflow = e.b.getFalse();
    for (std::size_t d = 0; d < v.rank(); ++d) {
      Value* last = e.b.CreateSub(at_least_one(e, v.extents[d]), word(1));
      Value* reach = e.index_arithmetic(Op::mul, last, v.strides[d], &overflow);
      Value* down = e.b.CreateICmpSLT(reach, word(0));
      low = e.index_arithmetic(Op::add, low, e.b.CreateSelect(down, reach, word(0)), &overflow);
      high = e.index_arithmetic(Op::add, high, e.b.CreateSelect(down, word(0), reach), &overflow);
    }
    high = e.index_arithmetic(Op::add, high, word(1), &overflow);
    if (v.packed()) {  // element e lies in byte e / 2
      low = e.b.CreateAShr(low, word(1));
      high = e.b.CreateAdd(e.b.CreateAShr(high, word(1)), e.b.CreateAnd(high, word(1)));
    }
    v.low = e.index_arithmetic(Op::mul, low, word(v.bytes()), &overflow);
    v.high = e.index_arithmetic(Op::mul, high, word(v.bytes()), &overflow);
    e.index_arithmetic(Op::sub, v.high, v.low, &overflow);
    Value* end = e.b.CreateAdd(v.address, v.high);
    Value* wraps = e.unit.pointer_bytes() == 8
                       ? e.b.CreateICmpULT(end, v.address)
                       : e.b.CreateOr(e.b.CreateICmpSGT(end, word(INT64_C(1) << 32)), e.b.CreateICmpSLT(end, v.address));
    overflow = e.b.CreateOr(overflow, e.b.CreateAnd(e.b.CreateNot(v.empty), wraps));
    fail_if(overflow, ASHLAR_E_OVERFLOW, v.number, -1, word(INT64_MAX), word(0),
            v.field->name + " reaches past {expected} bytes");
  }

  void memory() {
    for (const View& v : views) {
      Value* touched = e.b.CreateNot(v.empty);
      fail_if(e.b.CreateAnd(touched, e.b.CreateICmpEQ(v.address, word(0))), ASHLAR_E_NULL, v.number, -1,
              e.b.CreateSub(v.high, v.low), word(0), v.field->name + " is NULL, expected {expected} bytes");
      for (std::size_t d = 0; v.packed() && d + 1 < v.rank(); ++d) {
        const std::int64_t in_byte = 8 / v.buffer->type.bits;
        Value* rows = e.b.CreateAnd(touched, e.b.CreateICmpSGT(v.extents[d], word(1)));
        Value* off = e.b.CreateAnd(v.strides[d], word(in_byte - 1));
        fail_if(e.b.CreateAnd(rows, e.b.CreateICmpNE(off, word(0))), ASHLAR_E_STRIDE, v.number, static_cast<int>(d),
                word(in_byte), v.strides[d],
                v.field->name + ".strides[" + std::to_string(d) +
                    "] is {found}, expected a multiple of {expected} (rows start on bytes)");
      }
      if (v.align <= 1) continue;
      Value* past = e.b.CreateURem(v.address, word(v.align));
      fail_if(e.b.CreateAnd(touched, e.b.CreateICmpNE(past, word(0))), ASHLAR_E_ALIGN, v.number, -1, word(v.align), past,
              v.field->name + " begins {found} bytes past a multiple of {expected} bytes, expected a multiple of {expected}");
    }
  }

  void overlaps() {
    for (const View& out : views) {
      if (!out.field->written) continue;
      itself(out);
      for (const View& other : views)
        if (&other != &out && !(other.field->written && other.number > out.number)) each_other(out, other);
    }
  }

  void itself(const View& v) {
    bool any = false;
    for (bool g : v.given) any = any || g;
    if (!any) return;  // dense
    struct Dim {
      Value *stride, *extent, *number;
    };
    std::vector<Dim> dims;
    for (std::size_t d = v.rank(); d-- > 0;) {
      Value* steps = e.b.CreateICmpSGT(v.extents[d], word(1));
      Value* magnitude = e.b.CreateBinaryIntrinsic(llvm::Intrinsic::abs, v.strides[d], e.b.getFalse());
      dims.push_back({e.b.CreateSelect(steps, magnitude, word(INT64_MAX)), at_least_one(e, v.extents[d]),
                      word(static_cast<std::int64_t>(d))});
    }
    for (std::size_t n = dims.size(); n > 1; --n)  // sorted by exchanges: growing strides, those of single elements last
      for (std::size_t j = 0; j + 1 < n; ++j) {
        Dim &x = dims[j], &y = dims[j + 1];
        Value* swap = e.b.CreateICmpSGT(x.stride, y.stride);
        auto exchange = [&](Value*& p, Value*& q) {
          Value* first = e.b.CreateSelect(swap, q, p);
          q = e.b.CreateSelect(swap, p, q);
          p = first;
        };
        exchange(x.stride, y.stride);
        exchange(x.extent, y.extent);
        exchange(x.number, y.number);
      }
    Value *reach = word(0), *bad = e.b.getFalse(), *least = word(0), *found = word(0);
    for (const Dim& d : dims) {
      Value* steps = e.b.CreateICmpSGT(d.extent, word(1));
      Value* clash = e.b.CreateAnd(e.b.CreateAnd(steps, e.b.CreateNot(bad)), e.b.CreateICmpSLE(d.stride, reach));
      least = e.b.CreateSelect(clash, e.b.CreateAdd(reach, word(1)), least);
      found = e.b.CreateSelect(clash, d.stride, found);
      bad = e.b.CreateOr(bad, clash);
      reach = e.b.CreateAdd(reach, e.b.CreateSelect(steps, e.b.CreateMul(d.stride, e.b.CreateSub(d.extent, word(1))), word(0)));
    }
    fail_if(e.b.CreateAnd(bad, e.b.CreateNot(v.empty)), ASHLAR_E_ALIAS, v.number, -1, least, found,
            v.field->name + " overlaps itself: a stride is {found}, expected at least {expected}");
  }

  void each_other(const View& out, const View& other) {
    auto& b = e.b;
    Value* touched = b.CreateNot(b.CreateOr(out.empty, other.empty));
    Value* meets = b.CreateAnd(b.CreateICmpULT(b.CreateAdd(out.address, out.low), b.CreateAdd(other.address, other.high)),
                               b.CreateICmpULT(b.CreateAdd(other.address, other.low), b.CreateAdd(out.address, out.high)));
    Value* clash = b.CreateAnd(touched, meets);
    if (out.rank() >= 2 && other.rank() >= 2 && out.given[0] && other.given[0] && !other.packed()) {
      // beside each other in rows of the same distance: `other` begins `past` bytes after a row of `out` does
      Value* row = b.CreateMul(out.strides[0], word(out.bytes()));
      Value* same =
          b.CreateAnd(b.CreateICmpEQ(row, b.CreateMul(other.strides[0], word(other.bytes()))), b.CreateICmpSGT(row, word(0)));
      auto width = [&](const View& v) {
        return b.CreateSub(v.high, b.CreateMul(b.CreateMul(b.CreateSub(at_least_one(e, v.extents[0]), word(1)), v.strides[0]),
                                               word(v.bytes())));
      };
      Value* difference = b.CreateSub(other.address, out.address);
      Value* remainder = b.CreateSRem(difference, b.CreateSelect(same, row, word(1)));
      Value* past = b.CreateSelect(b.CreateICmpSLT(remainder, word(0)), b.CreateAdd(remainder, row), remainder);
      Value* beside = b.CreateAnd(b.CreateICmpSGE(past, width(out)), b.CreateICmpSLE(b.CreateAdd(past, width(other)), row));
      Value* forwards = b.CreateAnd(b.CreateICmpEQ(out.low, word(0)), b.CreateICmpEQ(other.low, word(0)));
      clash = b.CreateAnd(clash, b.CreateNot(b.CreateAnd(b.CreateAnd(same, forwards), beside)));
    }
    const bool may = out.buffer->may_alias_inputs && !other.field->written && out.rank() == other.rank() &&
                     out.bytes() == other.bytes() && !other.packed();
    if (may) {
      Value* equal = b.CreateICmpEQ(out.address, other.address);
      for (std::size_t d = 0; d < out.rank(); ++d)
        equal = b.CreateAnd(equal, b.CreateAnd(b.CreateICmpEQ(out.extents[d], other.extents[d]),
                                               b.CreateICmpEQ(out.strides[d], other.strides[d])));
      clash = b.CreateAnd(clash, b.CreateNot(equal));
    }
    fail_if(clash, ASHLAR_E_ALIAS, out.number, -1, word(-1), word(other.number),
            out.field->name + " overlaps " + other.field->name +
                (may ? ", expected the same elements or none" : ", expected memory of its own"));
  }

  void assumptions() {
    for (const Expr& a : k.assumptions) {
      Value* overflow = e.b.getFalse();
      Value* holds = e.checked(a, &overflow);
      fail_if(e.b.CreateOr(overflow, e.b.CreateNot(holds)), ASHLAR_E_FACT, -1, -1, word(1), word(0), "expected " + ir::text(a));
    }
  }

  void run(llvm::Function* body) {
    auto& b = e.b;
    Value* nothing = b.getTrue();
    for (const View& v : views)
      if (v.field->written) nothing = b.CreateAnd(nothing, v.empty);
    llvm::BasicBlock *idle = e.block("idle"), *busy = e.block("busy");
    b.CreateCondBr(nothing, idle, busy);
    b.SetInsertPoint(idle);
    b.CreateRet(b.getInt32(0));
    b.SetInsertPoint(busy);
    Value* inner = own_context();
    Value* block_to_release = nullptr;
    if (has_workspace(k) && e.unit.has_device())
      fail_if(workspace_bytes(e, b.getInt32(1)).overflow, ASHLAR_E_OVERFLOW, -1, -1, word(INT64_MAX), word(0),
              about_workspace(k, "the workspace exceeds {expected} bytes"));
    else if (has_workspace(k))
      block_to_release = workspace(inner);
    Value* rc = b.CreateCall(body, {own_arguments(), inner});
    if (block_to_release) {
      Value* hook = load_field(b, b.getPtrTy(), inner, e.unit.offset(ContextField::release));
      e.when(b.CreateAnd(b.CreateIsNotNull(block_to_release), b.CreateIsNotNull(hook)), [&] {
        auto* type =
            llvm::FunctionType::get(b.getVoidTy(), {b.getPtrTy(), b.getPtrTy(), b.getInt32Ty(), b.getInt32Ty()}, false);
        Value* user = load_field(b, b.getPtrTy(), inner, e.unit.offset(ContextField::user));
        b.CreateCall(type, hook, {user, block_to_release, b.getInt32(1), b.getInt32(0)});
      });
    }
    b.CreateRet(rc);
  }

  // A copy of the context, or of a zeroed one: the body never sees a null context, and its workspace is set.
  Value* own_context() {
    auto& b = e.b;
    llvm::IntegerType* word_type = e.unit.word();
    const std::size_t bytes = e.unit.pointer_bytes(), words = size_of(context_fields, bytes) / bytes;  // it ends with a pointer
    llvm::AllocaInst* copy = e.local(llvm::ArrayType::get(word_type, words), llvm::Align(8), "context");
    for (std::size_t w = 0; w < words; ++w) store_field(b, llvm::ConstantInt::get(word_type, 0), copy, bytes * w);
    e.when(b.CreateIsNotNull(context), [&] {
      for (std::size_t w = 0; w < words; ++w) store_field(b, load_field(b, word_type, context, bytes * w), copy, bytes * w);
    });
    return copy;
  }

  // The structure as it was given, with dense strides in place of zeros.
  Value* own_arguments() {
    auto& b = e.b;
    bool strides = false;
    for (const ArgField& f : e.unit.layout.fields) strides = strides || f.kind == ArgField::Kind::stride;
    if (!strides) return args;
    llvm::AllocaInst* copy =
        e.local(llvm::ArrayType::get(b.getInt8Ty(), static_cast<std::uint64_t>(e.unit.layout.bytes)), llvm::Align(8), "args");
    for (const ArgField& f : e.unit.layout.fields) {
      const auto offset = static_cast<std::size_t>(f.offset);
      if (f.kind == ArgField::Kind::stride)
        store_field(b, e.value_of(f.id), copy, offset);
      else
        store_field(b, load_field(b, b.getIntNTy(static_cast<unsigned>(8 * f.bytes)), args, offset), copy, offset);
    }
    return copy;
  }

  // Checks the workspace that was given, or asks `allocate`. Returns the block to release, null for none.
  Value* workspace(Value* inner) {
    auto& b = e.b;
    const WorkspaceBytes bytes = workspace_bytes(e, slots_of(e, inner));
    fail_if(bytes.overflow, ASHLAR_E_OVERFLOW, -1, -1, word(INT64_MAX), word(0),
            about_workspace(k, "the workspace exceeds {expected} bytes"));
    Value* given = load_field(b, b.getPtrTy(), inner, e.unit.offset(ContextField::workspace));
    llvm::AllocaInst* owned = e.local(b.getPtrTy(), llvm::Align(8), "owned");
    b.CreateStore(llvm::ConstantPointerNull::get(b.getPtrTy()), owned);
    llvm::BasicBlock *check = e.block("check"), *ask = e.block("ask"), *found = e.block("found");
    Value* enough = b.CreateOr(b.CreateIsNotNull(given), b.CreateICmpEQ(bytes.total, word(0)));
    b.CreateCondBr(enough, check, ask);
    b.SetInsertPoint(check);
    Value* room =
        b.CreateZExt(load_field(b, e.unit.word(), inner, e.unit.offset(ContextField::workspace_bytes)), b.getInt64Ty());
    fail_if(b.CreateICmpULT(room, bytes.total), ASHLAR_E_MEMORY, -1, -1, bytes.total, room,
            "the workspace has {found} bytes, expected at least {expected}");
    Value* past = b.CreateURem(b.CreatePtrToInt(given, b.getInt64Ty()), word(k.workspace_align));
    fail_if(b.CreateICmpNE(past, word(0)), ASHLAR_E_ALIGN, -1, -1, word(k.workspace_align), past,
            "the workspace begins {found} bytes past a multiple of {expected} bytes, expected a multiple of {expected}");
    b.CreateBr(found);
    b.SetInsertPoint(ask);
    Value* hook = load_field(b, b.getPtrTy(), inner, e.unit.offset(ContextField::allocate));
    fail_if(b.CreateIsNull(hook), ASHLAR_E_MEMORY, -1, -1, bytes.total, word(0),
            "the workspace has {found} bytes, expected at least {expected}, and the context has no allocator");
    auto* type = llvm::FunctionType::get(b.getPtrTy(),
                                         {b.getPtrTy(), e.unit.word(), e.unit.word(), b.getInt32Ty(), b.getInt32Ty()}, false);
    Value* user = load_field(b, b.getPtrTy(), inner, e.unit.offset(ContextField::user));
    Value* fresh = b.CreateCall(type, hook,
                                {user, b.CreateTrunc(bytes.total, e.unit.word()),
                                 b.CreateTrunc(word(k.workspace_align), e.unit.word()), b.getInt32(1), b.getInt32(0)});
    fail_if(b.CreateIsNull(fresh), ASHLAR_E_MEMORY, -1, -1, bytes.total, word(0),
            about_workspace(k, "no memory for a workspace of {expected} bytes"));
    b.CreateStore(fresh, owned);
    store_field(b, fresh, inner, e.unit.offset(ContextField::workspace));
    b.CreateBr(found);
    b.SetInsertPoint(found);
    return b.CreateLoad(b.getPtrTy(), owned);
  }

  Emitter e;
  const ir::Kernel& k;
  Value *args, *context;
  std::vector<View> views;
};

}  // namespace

void bind_dense_arguments(Emitter& e, Value* args) {
  bind_arguments(e, args);
  for (const ArgField& f : e.unit.layout.fields) {
    if (f.kind != ArgField::Kind::stride) continue;
    const auto& extents = e.unit.kernel.argument_buffers.at(f.buffer).extents;
    Value* dense = e.b.getInt64(1);
    for (std::size_t d = extents.size(); d-- > static_cast<std::size_t>(f.dim) + 1;)
      dense = e.b.CreateMul(dense, at_least_one(e, e.expr(extents[d])));
    Value* given = e.value_of(f.id);
    e.bind(f.id, e.b.CreateSelect(e.b.CreateICmpEQ(given, e.b.getInt64(0)), dense, given));
  }
}

llvm::Function* emit_run(Unit& unit, llvm::Function* body) {
  llvm::LLVMContext& c = *unit.context;
  auto* pointer = llvm::PointerType::get(c, 0);
  auto* type = llvm::FunctionType::get(llvm::Type::getInt32Ty(c), {pointer, pointer}, false);
  llvm::Function* f = unit.function("_run", type, Unit::Visibility::exported);
  // straight-line checks, executed once a call: not worth LLVM's time, but the memory of a small processor
  f->addFnAttr(llvm::Attribute::NoInline);
  if (unit.pointer_bytes() == 8) {
    f->addFnAttr(llvm::Attribute::OptimizeNone);
  } else {
    f->addFnAttr(llvm::Attribute::OptimizeForSize);
    f->addFnAttr(llvm::Attribute::MinSize);
  }
  RunChecks run(unit, f);
  run.call_itself();
  bind_arguments(run.e, run.args);
  run.symbols();
  run.look_at_tensors();
  run.memory();
  run.overlaps();
  run.assumptions();
  run.run(body);
  return f;
}

}  // namespace ashlar::codegen
