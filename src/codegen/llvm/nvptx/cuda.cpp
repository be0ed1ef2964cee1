// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The host's side of a kernel for a CUDA device: its machine code and PTX and what the runtime must know of its launches as
// constant data, and in the body a call of the runtime for each launch.
//
//   int body(args, ctx) {
//     ashlar_abi1_cuda_call c;  uint64_t workspace;
//     if (rc = ashlar_abi1_cuda_begin(fits in 32 bits ? &module : &wide, ctx, bytes, align, &c, &workspace)) return rc;
//     ashlar_abi1_cuda_run(&c, 0, (int64_t[3]){grid…}, (uint64_t[]){x, N, …});      … one a launch; failures are kept in c
//     return ashlar_abi1_cuda_end(&c);
//   }
#include <cstddef>

#include <llvm/IR/Constants.h>

#include <ashlar/codegen/library.h>
#include <ashlar/codegen/ptx.h>
#include <ashlar/ir/refusal.h>
#include <ashlar/runtime/cuda.h>

#include "codegen/llvm/context_fields.h"

namespace ashlar::codegen {

using llvm::Constant;
using llvm::Value;

namespace {

std::uint64_t hash_of(const std::string& bytes, std::uint64_t h = 14695981039346656037u) {  // FNV-1a
  for (char ch : bytes) h = (h ^ static_cast<unsigned char>(ch)) * 1099511628211u;
  return h;
}

// CUtensorMapDataType, by the bits that travel; 8-bit and bool elements are bytes.
unsigned map_type(Type t) {
  if (t == f16) return 6;
  if (t == f32) return 7;
  if (t == f64) return 8;
  if (t == bf16) return 9;
  const bool with_sign = t.is_signed();
  return t.bytes() == 1 ? 0u : t.bytes() == 2 ? 1u : t.bytes() == 4 ? (with_sign ? 3u : 2u) : with_sign ? 5u : 4u;
}

Constant* map_row(const Record& r, const ir::TensorMap& m) {
  const std::size_t rank = m.box.size();
  std::vector<Constant*> box;
  for (std::size_t d = 0; d < 5; ++d) box.push_back(r.i32c(d < rank ? m.box[d] : 0));
  Constant* row =
      r.of({r.i32c(map_type(m.type)), r.i32c(rank), r.i32c(m.type.bytes()), r.i32c(m.swizzle), r.array(box), r.i32c(0)});
  r.check(row, sizeof(ashlar_abi1_cuda_map));
  return row;
}

// Null where no launch has anything to tell.
Constant* more_of(const Record& r, const ptx::Code& code) {
  std::vector<Constant*> rows;
  bool any = false;
  for (const ptx::Entry& e : code.entries) {
    std::vector<Constant*> cluster;
    for (const std::int64_t blocks : e.cluster) {
      cluster.push_back(r.i32c(blocks));
      any = any || blocks > 1;
    }
    any = any || e.folded;
    rows.push_back(r.of({r.array(cluster), r.i32c(e.folded ? ASHLAR_ABI1_CUDA_FOLDED : 0)}));
    r.check(rows.back(), sizeof(ashlar_abi1_cuda_launch_more));
  }
  return any ? r.global(r.array(rows), ".more") : r.null();
}

// With the machine code, or as PTX alone in the form for any indices.
Constant* module_data(Unit& unit, const std::string& text, const std::string& machine_code, const char* suffix) {
  const Record r(unit);
  const ptx::Code& code = *unit.ptx;
  const std::string chip = code.tiles ? std::string(unit.target.base()) : unit.target.device().chip;
  if (code.entries.empty()) throw InternalError("codegen: a kernel for a device without a launch");
  std::vector<Constant*> rows;
  for (const ptx::Entry& e : code.entries) {
    std::vector<Constant*> maps;
    for (const ir::TensorMap& m : e.maps) maps.push_back(map_row(r, m));
    const std::size_t parameters = e.parameters.size() + e.numbers;
    if (parameters > ASHLAR_ABI1_CUDA_MAX_PARAMETERS || e.maps.size() > ASHLAR_ABI1_CUDA_MAX_MAPS)
      refuse("cuda",
             "a launch of at most " + std::to_string(ASHLAR_ABI1_CUDA_MAX_PARAMETERS) + " parameters and " +
                 std::to_string(ASHLAR_ABI1_CUDA_MAX_MAPS) + " tensor maps",
             "launch `" + e.name + "`", Where{});
    rows.push_back(r.of({unit.text(e.name), maps.empty() ? r.null() : r.global(r.array(maps), ".maps"),
                         r.i32c(e.launch.threads), r.i32c(e.shared_bytes), r.i32c(parameters), r.i32c(e.maps.size())}));
    r.check(rows.back(), sizeof(ashlar_abi1_cuda_launch));
  }
  const auto capability = static_cast<unsigned>(compute_capability(unit.target));
  const unsigned flags =
      (code.lines ? unsigned{ASHLAR_ABI1_CUDA_LINES} : 0) | (code.tiles ? unsigned{ASHLAR_ABI1_CUDA_TILES} : 0);
  const unsigned accepts = code.tiles           ? ASHLAR_ABI1_CUDA_LATER
                           : chip.back() == 'a' ? ASHLAR_ABI1_CUDA_EXACT
                           : chip.back() == 'f' ? ASHLAR_ABI1_CUDA_FAMILY
                                                : ASHLAR_ABI1_CUDA_LATER;
  auto bytes = [&](const std::string& b, bool terminated) {
    return llvm::ConstantDataArray::getString(*unit.context, b, terminated);
  };
  Constant* cubin = machine_code.empty() ? r.null() : r.global(bytes(machine_code, false), ".cubin");
  if (auto* g = llvm::dyn_cast<llvm::GlobalVariable>(cubin)) g->setAlignment(llvm::Align(16));
  Constant* value = r.of({r.i32c(1), r.i32c(sizeof(ashlar_abi1_cuda_module)), unit.text(unit.kernel.name), unit.text(chip),
                          r.i32c(capability), r.i32c(accepts), cubin, r.i64c(machine_code.size()),
                          r.global(bytes(text, true), ".ptx"), r.i64c(hash_of(machine_code, hash_of(text))),
                          r.global(r.array(rows), ".launches"), r.i32c(rows.size()), r.i32c(flags), more_of(r, code)});
  r.check(value, sizeof(ashlar_abi1_cuda_module));
  return r.global(value, suffix);
}

// The form that a call takes: that with indices of 32 bits where they are right for its extents and strides.
Value* module_of_call(Emitter& e) {
  const ptx::Code& code = *e.unit.ptx;
  Constant* narrow = module_data(e.unit, code.text, code.cubin, ".cuda");
  if (code.wide.empty()) return narrow;
  Constant* wide = module_data(e.unit, code.wide, "", ".cuda_wide");
  return e.b.CreateSelect(holds_without_overflow(e, code.narrow_if), narrow, wide);
}

}  // namespace

Value* begin_cuda_call(Emitter& e, Value* context, const WorkspaceBytes* bytes) {
  auto& b = e.b;
  llvm::Type* word = b.getInt64Ty();
  llvm::AllocaInst* call = e.local(llvm::ArrayType::get(word, sizeof(ashlar_abi1_cuda_call) / 8), llvm::Align(8), "call");
  Value* workspace = begin_device_call(e, "ashlar_abi1_cuda_begin", module_of_call(e), context, bytes, call);
  e.device_call = call;
  return b.CreateLoad(word, workspace);
}

Value* end_cuda_call(Emitter& e) {
  return e.b.CreateCall(runtime_function(e.unit, "ashlar_abi1_cuda_end", {e.b.getPtrTy()}), {e.device_call});
}

void Emitter::launch_cuda(const ir::KLaunch& s) {
  // entries stand in the order of the launches; a host body is emitted once, in that order
  const std::size_t number = launches_++;
  const ptx::Entry& entry = unit.ptx->entries.at(number);
  auto* word = b.getInt64Ty();
  std::size_t count = entry.parameters.size() + entry.numbers;
  for (const ir::TensorMap& m : entry.maps) count += 2 * m.box.size();
  llvm::AllocaInst* grid = local(llvm::ArrayType::get(word, 3), llvm::Align(8), "grid");
  llvm::AllocaInst* parameters =
      local(llvm::ArrayType::get(word, std::max<std::size_t>(count, 1)), llvm::Align(8), "parameters");
  for (std::size_t d = 0; d < 3; ++d) {
    const Expr& blocks = s.grid[d];
    store_field(b, blocks.empty() ? static_cast<Value*>(b.getInt64(1)) : expr(blocks), grid, 8 * d);
  }
  store_parameters(*this, entry.parameters, parameters);
  std::size_t at = 8 * entry.parameters.size();
  auto put = [&](Value* v) {
    store_field(b, v, parameters, at);
    at += 8;
  };
  for (const Expr& e : s.parameters) put(in_word(*this, expr(e), e.type()));
  for (const ir::TensorMap& m : entry.maps) {
    put(b.CreatePtrToInt(base_of(m.buffer), word));
    for (const Expr& e : m.extents) put(expr(e));
    for (std::size_t d = 0; d + 1 < m.strides.size(); ++d)
      put(b.CreateMul(expr(m.strides[d]), b.getInt64(static_cast<std::uint64_t>(m.type.bytes()))));
  }
  const auto run = runtime_function(unit, "ashlar_abi1_cuda_run", {b.getPtrTy(), b.getInt32Ty(), b.getPtrTy(), b.getPtrTy()});
  b.CreateCall(run, {device_call, b.getInt32(static_cast<std::uint32_t>(number)), grid, parameters});
}

}  // namespace ashlar::codegen
