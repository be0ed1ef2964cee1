// Arguments of programs that tests put together without the language.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include <ashlar/ir/program.h>

inline ashlar::ir::Id add_argument(ashlar::ir::Program& p, ashlar::ir::ArgumentKind kind, const std::string& name,
                                   ashlar::Type type, std::vector<ashlar::Expr> extents) {
  ashlar::ir::Buffer b;
  b.id = p.fresh();
  b.name = name;
  b.type = type;
  b.rank = static_cast<int>(extents.size());
  b.role = kind == ashlar::ir::ArgumentKind::input ? ashlar::ir::Role::input : ashlar::ir::Role::output;
  b.extents = std::move(extents);
  p.arguments.push_back({kind, b.id});
  p.buffers[b.id] = b;
  return b.id;
}
