// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What is written first, and that nothing is missing: which reduction loop starts which blocks of a scheduled program, and what
// a complete output is.
#include <algorithm>

#include "interp/scheduled_code.h"

namespace ashlar::interp::scheduled {
namespace {

using ir::BlockStmt;
using ir::LoopStmt;
using ir::NestStmt;
using ir::Stmt;

class Inits {
 public:
  explicit Inits(const ir::Program& p) : program_(p) {}

  void attach(std::vector<Code>& body, const ir::Stage* stage) const {
    for (Code& c : body) {
      if (const NestStmt* nest = c.stmt->as<NestStmt>()) {
        attach(c.body, &program_.stage(nest->stage));
      } else if (c.stmt->is<LoopStmt>() && c.reduce && stage) {
        nests_inside(c);
        whole_reductions(c, stage->id, c.inits);
      } else if (c.stmt->is<LoopStmt>()) {
        attach(c.body, stage);
      }
    }
  }

 private:
  void whole_reductions(const Code& c, ir::Id stage, std::vector<const Code*>& found) const {
    if (const LoopStmt* loop = c.stmt->as<LoopStmt>(); loop && c.reduce && !starts(loop->part)) return;
    for (const Code& inner : c.body) {
      if (const BlockStmt* block = inner.stmt->as<BlockStmt>();
          block && block->stage == stage && block->piece == ir::Piece::whole)
        found.push_back(&inner);
      if (!inner.stmt->is<NestStmt>()) whole_reductions(inner, stage, found);
    }
  }
  void nests_inside(Code& c) const {
    for (Code& inner : c.body) {
      if (const NestStmt* nest = inner.stmt->as<NestStmt>())
        attach(inner.body, &program_.stage(nest->stage));
      else
        nests_inside(inner);
    }
  }

  const ir::Program& program_;
};

}  // namespace

void attach_inits(const ir::Program& p, std::vector<Code>& body) { Inits(p).attach(body, nullptr); }

void require_written(const Place& output) {
  const auto hole = std::find(output.written.begin(), output.written.end(), false);
  if (hole == output.written.end()) return;
  throw RunError(RunError::Kind::uninitialized, "the output " + output.info->name + " was not written everywhere: element " +
                                                    std::to_string(hole - output.written.begin()) +
                                                    " in row-major order is missing");
}

}  // namespace ashlar::interp::scheduled
