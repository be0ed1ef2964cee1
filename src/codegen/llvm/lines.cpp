// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "codegen/llvm/lines.h"

#include <algorithm>

#include <llvm/BinaryFormat/Dwarf.h>
#include <llvm/IR/DebugInfoMetadata.h>
#include <llvm/IR/Metadata.h>
#include <llvm/TargetParser/Triple.h>

#include "codegen/llvm/releases.h"

namespace ashlar::codegen {

namespace {
constexpr unsigned kDwarf = 4;  // debuggers for boards are often old
}

Lines::Lines(llvm::Module& module, const ir::Kernel& kernel) : kernel_(kernel), places_(kernel), builder_(module) {
  if (!module.getModuleFlag("Dwarf Version")) {
    module.addModuleFlag(llvm::Module::Max, "Dwarf Version", kDwarf);
    module.addModuleFlag(llvm::Module::Warning, "Debug Info Version", llvm::DEBUG_METADATA_VERSION);
  }
  const std::string* name = places_.file(places_.kernel());
  builder_.createCompileUnit(releases::language(), file(name ? *name : "none"), "ashlar",
                             /*isOptimized=*/true, /*Flags=*/"", /*RV=*/0, /*SplitName=*/"",
                             // of PTX the lines alone: with more, its assembler would not optimize
                             llvm::Triple(module.getTargetTriple()).isNVPTX()
                                 ? llvm::DICompileUnit::DebugEmissionKind::DebugDirectivesOnly
                                 : llvm::DICompileUnit::DebugEmissionKind::FullDebug);
}

llvm::DIFile* Lines::file(const std::string& name) {
  llvm::DIFile*& known = files_[name];
  return known ? known : known = builder_.createFile(name, "");
}

llvm::DISubprogram* Lines::subprogram(const std::string& name, llvm::DIFile* in, unsigned line) {
  auto* type = builder_.createSubroutineType(builder_.getOrCreateTypeArray({}));
  return builder_.createFunction(in, name, "", in, line, type, line, llvm::DINode::FlagZero,
                                 llvm::DISubprogram::SPFlagDefinition | llvm::DISubprogram::SPFlagOptimized);
}

// Columns differ between compilers of the generator, lines do not.
llvm::DILocation* Lines::location(llvm::DIScope* scope, llvm::DIFile* in, unsigned line, llvm::DILocation* inlined_at) {
  if (scope->getFile() != in) {
    llvm::DIScope*& part = other_files_[{scope, in}];
    if (!part) part = builder_.createLexicalBlockFile(scope, in);
    scope = part;
  }
  return llvm::DILocation::get(scope->getContext(), line, 0, scope, inlined_at);
}

llvm::DebugLoc Lines::begin(llvm::Function* f, Where where) {
  if (!places_.file(where)) where = places_.kernel();
  const std::string* name = places_.file(where);
  llvm::DIFile* in = file(name ? *name : "none");
  const unsigned line = where.line();
  std::string shown = f->getName().str();
  std::replace(shown.begin(), shown.end(), '.', '_');  // as a user could type it
  f->setSubprogram(subprogram(shown, in, line));
  return location(f->getSubprogram(), in, line, nullptr);
}

llvm::DebugLoc Lines::of(const ir::KStmt& s, llvm::Function* f, const llvm::DebugLoc& loop) {
  const std::string* name = places_.file(s.where);
  if (!name) return {};
  llvm::DIFile* in = file(*name);
  const unsigned line = s.where.line();
  const std::string stage = has_loop(s) ? "" : computed_by(kernel_, s);
  if (stage.empty()) return location(f->getSubprogram(), in, line, nullptr);
  llvm::DISubprogram*& scope = stages_[{stage, in, line}];
  if (!scope) scope = subprogram(stage, in, line);
  return location(scope, in, line, loop.get());
}

llvm::DebugLoc Lines::inside(const llvm::DebugLoc& around, Where where) {
  const std::string* name = places_.file(where);
  if (!name || !around) return around;
  llvm::DISubprogram* scope = around->getScope()->getSubprogram();  // not a part of it in another file
  return location(scope, file(*name), where.line(), around->getInlinedAt());
}

void Lines::variable(llvm::IRBuilderBase& b, const std::string& name, llvm::Value* value, const llvm::DebugLoc& loop) {
  if (!loop || !loop->getScope()) return;
  llvm::DIScope* scope = loop->getScope()->getSubprogram();
  llvm::DILocalVariable*& known = variables_[{name, scope, loop.getLine()}];
  if (!known) {
    llvm::DIType* type = builder_.createBasicType("long", 64, llvm::dwarf::DW_ATE_signed);
    known = builder_.createAutoVariable(scope, name, loop->getFile(), loop.getLine(), type);
  }
  releases::debug_value(builder_, b, value, known, loop.get());
}

}  // namespace ashlar::codegen
