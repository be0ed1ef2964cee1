// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What is written first, and that nothing is missing: which reduction loop starts which blocks of a scheduled program, and what
// a complete output is.
#include <algorithm>

#include "interp/scheduled_code.h"

namespace ashlar::interp::scheduled {
namespace {

using ir::Stmt;

class Inits {
 public:
  explicit Inits(const ir::Program& p) : program_(p) {}

  void attach(std::vector<Code>& body, const ir::Stage* stage) const {
    for (Code& c : body) {
      if (c.stmt->kind == Stmt::Kind::nest) {
        attach(c.body, &program_.stage(c.stmt->stage));
      } else if (c.stmt->kind == Stmt::Kind::loop && c.reduce && stage) {
        nests_inside(c);
        whole_reductions(c, stage->id, c.inits);
      } else if (c.stmt->kind == Stmt::Kind::loop) {
        attach(c.body, stage);
      }
    }
  }

 private:
  void whole_reductions(const Code& c, ir::Id stage, std::vector<const Code*>& found) const {
    if (c.stmt->kind == Stmt::Kind::loop && c.reduce && !starts(c.stmt->part)) return;
    for (const Code& inner : c.body) {
      if (inner.stmt->kind == Stmt::Kind::block && inner.stmt->stage == stage && inner.stmt->piece == Stmt::Piece::whole)
        found.push_back(&inner);
      if (inner.stmt->kind != Stmt::Kind::nest) whole_reductions(inner, stage, found);
    }
  }
  void nests_inside(Code& c) const {
    for (Code& inner : c.body) {
      if (inner.stmt->kind == Stmt::Kind::nest)
        attach(inner.body, &program_.stage(inner.stmt->stage));
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
  throw RunError(RunError::Kind::uninitialised, "the output " + output.info->name + " was not written everywhere: element " +
                                                    std::to_string(hole - output.written.begin()) +
                                                    " in row-major order is missing");
}

}  // namespace ashlar::interp::scheduled
