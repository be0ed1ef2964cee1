// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "codegen/llvm/of_tiles.h"

#include <sys/stat.h>

#include <algorithm>
#include <optional>

#include <llvm/IR/Constants.h>

#include <ashlar/codegen/tileir.h>
#include <ashlar/ir/print.h>
#include <ashlar/ir/tile.h>

#include "codegen/llvm/context_fields.h"

namespace ashlar::codegen {

using llvm::Value;

namespace {

std::vector<ir::tile::Kernel> tile_kernels(const ir::Kernel& kernel) {
  std::vector<ir::tile::Kernel> all;
  for (const ir::KStmt* s : launches_of(kernel)) all.push_back(*s->get<ir::KLaunch>().tile);
  return all;
}

// What a number that is passed in 32 bits is called in errors, and where it comes from.
struct Origin {
  std::string name;
  int argument = -1, dimension = -1;
};

Origin origin_of(const ir::Kernel& k, const Expr& value) {
  const auto number = [&](ir::Id buffer) {
    const auto at = std::find_if(k.arguments.begin(), k.arguments.end(), [&](const ir::Argument& a) { return a.id == buffer; });
    return static_cast<int>(at - k.arguments.begin());
  };
  for (const ir::StrideArg& s : k.strides)
    if (ir::uses_var(value, s.id))
      return {k.argument_buffers.at(s.buffer).name + ".strides[" + std::to_string(s.dim) + "]", number(s.buffer), s.dim};
  for (const auto& [id, b] : k.argument_buffers)
    for (std::size_t d = 0; d < b.extents.size(); ++d)
      if (ir::same(b.extents[d], value)) return {b.name + ".shape[" + std::to_string(d) + "]", number(id), static_cast<int>(d)};
  return {ir::text(value)};
}

constexpr std::int64_t largest_index = ir::tile::largest_extent;

void check_number(Emitter& e, Value* context, const Expr& value, bool not_negative) {
  auto& b = e.b;
  const Origin from = origin_of(e.unit.kernel, value);
  Value* overflow = b.getFalse();
  Value* found = e.checked(value, &overflow);
  const auto word = [&](std::int64_t n) { return b.getInt64(static_cast<std::uint64_t>(n)); };
  const auto number = [&](int n) { return b.getInt32(static_cast<std::uint32_t>(n)); };
  const auto fail_if = [&](Value* bad, std::int64_t bound, const char* than) {
    llvm::BasicBlock *failed = e.block("failed"), *fine = e.block("fine");
    b.CreateCondBr(bad, failed, fine);
    b.SetInsertPoint(failed);
    llvm::Constant* text = e.unit.text(e.unit.kernel.name + ": " + from.name + " is {found}, expected at " + than +
                                       " {expected} for tiles (" + std::string(e.unit.target.text()) + ")");
    b.CreateRet(b.CreateCall(fail_function(e.unit), {context, number(ASHLAR_E_TARGET), number(from.argument),
                                                     number(from.dimension), word(bound), found, text}));
    b.SetInsertPoint(fine);
  };
  fail_if(b.CreateOr(overflow, b.CreateICmpSGT(found, word(largest_index))), largest_index, "most");
  const std::int64_t least = not_negative ? 0 : -largest_index;
  fail_if(b.CreateICmpSLT(found, word(least)), least, "least");
}

}  // namespace

std::string tile_bytecode(const ir::Kernel& kernel) { return tileir::bytecode(tile_kernels(kernel)); }

std::string tile_assembler_version() {
  const std::string file = tileir::assembler();
  struct stat facts = {};
  if (file.empty() || stat(file.c_str(), &facts) != 0) return file;
  return file + ' ' + std::to_string(facts.st_size) + ' ' + std::to_string(facts.st_mtim.tv_sec) + '.' +
         std::to_string(facts.st_mtim.tv_nsec);
}

ptx::Code tile_code(const ir::Kernel& kernel, const Target& target) {
  ptx::Code code;
  code.tiles = true;
  code.text = tile_bytecode(kernel);
  const std::string chip = target.device().chip;
  if (!chip.empty() && !tileir::assembler().empty()) code.cubin = tileir::cubin(code.text, chip, Where{});
  for (const ir::KStmt* s : launches_of(kernel)) {
    const ir::KLaunch& l = s->get<ir::KLaunch>();
    ptx::Entry& entry = code.entries.emplace_back();
    entry.name = l.name;
    entry.launch = l;
    entry.numbers = l.parameters.size();
    for (std::size_t k = 0; k < l.tensors.size(); ++k)
      entry.parameters.push_back({LaunchParameter::Kind::address, l.tensors[k], {}, static_cast<std::int64_t>(8 * k)});
  }
  return code;
}

void check_tile_numbers(Emitter& e, Value* context) {
  std::vector<std::pair<Expr, bool>> numbers;  // and whether one that is negative is wrong
  for (const ir::KStmt* s : launches_of(e.unit.kernel)) {
    const ir::KLaunch& l = s->get<ir::KLaunch>();
    for (std::size_t k = 0; k < l.parameters.size(); ++k) {
      if (!l.parameters[k].type().is_index()) continue;
      const bool not_negative = l.tile->parameters[k].not_negative;
      const auto same =
          std::find_if(numbers.begin(), numbers.end(), [&](const auto& n) { return ir::same(n.first, l.parameters[k]); });
      if (same == numbers.end())
        numbers.emplace_back(l.parameters[k], not_negative);
      else
        same->second = same->second || not_negative;
    }
  }
  for (const auto& [value, not_negative] : numbers) check_number(e, context, value, not_negative);
}

}  // namespace ashlar::codegen
