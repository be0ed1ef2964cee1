// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "codegen/places.h"

#include <algorithm>

#include <ashlar/ir/function.h>

namespace ashlar::codegen {

using ir::KStmt;

namespace {

// Folders above the one that the compiler ran in say where that was: a/b.cpp of ../../a/b.cpp.
std::string written(std::string name) {
  if (name.starts_with('/')) return name.substr(name.rfind('/') + 1);
  for (;;) {
    if (name.starts_with("./"))
      name.erase(0, 2);
    else if (name.starts_with("../"))
      name.erase(0, 3);
    else
      return name;
  }
}

}  // namespace

Places::Places(const ir::Kernel& k) {
  for (const ir::Argument& a : k.arguments)
    if (const auto it = k.argument_buffers.find(a.id); it != k.argument_buffers.end()) add(it->second.where);
  add(k.body);
}

void Places::add(Where where) {
  if (where.line() == 0) return;
  if (whole_.line() == 0) whole_ = where;
  names_.try_emplace(where.file_name(), written(where.file_name()));
}

void Places::add(const std::vector<KStmt>& list) {
  for (const KStmt& s : list) {
    add(s.where);
    for (const auto* part : s.bodies()) add(*part);
  }
}

const std::string* Places::file(Where where) const {
  if (where.line() == 0) return nullptr;
  const auto [it, first] = known_.try_emplace(where.file_name(), nullptr);
  if (first)
    if (const auto named = names_.find(std::string_view(where.file_name())); named != names_.end()) it->second = &named->second;
  return it->second;
}

std::string computed_by(const ir::Kernel& k, const KStmt& s) {
  if (const auto* store = s.as<ir::KStore>()) return k.buffers.at(store->buffer).name;
  if (const auto* prefetch = s.as<ir::KPrefetch>()) return k.buffers.at(prefetch->buffer).name;
  if (const auto* call = s.as<ir::KCall>())
    return call->function ? ir::function(call->function).symbol : k.intrinsics.at(call->intrinsic).name;
  for (const auto* list : s.bodies())
    for (const KStmt& inside : *list)
      if (std::string name = computed_by(k, inside); !name.empty()) return name;
  return {};
}

bool has_loop(const KStmt& s) {
  if (s.is<ir::KFor>()) return true;
  for (const auto* part : s.bodies())
    if (std::any_of(part->begin(), part->end(), has_loop)) return true;
  return false;
}

}  // namespace ashlar::codegen
