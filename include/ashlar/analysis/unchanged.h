// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
// The parts of a program that a step has not changed. An answer that depends only on these parts is still valid after the step.
//
//   nest P            after a step that split the loop of C, in which Q is computed: P and all inside it are unchanged; Q is
//     for i           not, since a loop around it changed
//   nest C
//     for j
//       nest Q
#include <cstdint>
#include <vector>

#include <ashlar/ir/program.h>

namespace ashlar::analysis {

class Unchanged {
 public:
  Unchanged(const ir::Program& before, const ir::Program& now);

  bool arguments() const { return arguments_; }      // with symbols, scalars and assumptions: the facts that hold everywhere
  bool definitions() const { return definitions_; }  // arguments(), and all stages and buffers
  bool formulas() const { return formulas_; }        // definitions() except for scopes and layouts of buffers
  // The definition of a stage, the buffers that it stores to, and those that it reads.
  bool stage(ir::Id id) const { return has(id, definition); }
  bool formula(ir::Id stage) const { return has(stage, defined); }  // the same except for scopes and layouts
  bool storage(ir::Id buffer_id) const { return has(buffer_id, buffer); }
  bool provenance(ir::Id axis_id) const { return has(axis_id, axis); }
  // The statement without its contents, and everything around it.
  bool place(ir::Id statement) const { return has(statement, own); }
  // A nest: its place(), its axes, and its own loops and blocks, but not the nests inside it.
  bool nest(ir::Id statement) const { return has(statement, shape); }
  // The statement with its contents, everything around it, and the definitions of the stages in it.
  bool inside(ir::Id statement) const { return has(statement, whole); }
  // Stages that have lost a nest.
  const std::vector<ir::Id>& left() const { return left_; }

 private:
  enum Flag : std::uint8_t { own = 1, shape = 2, whole = 4, definition = 8, axis = 16, buffer = 32, defined = 64, typed = 128 };
  struct Then {
    const ir::Stmt* statement = nullptr;
    ir::Id parent = 0;
  };

  bool has(ir::Id id, Flag f) const { return id < flags_.size() && (flags_[id] & f) != 0; }
  void set(ir::Id id, Flag f) {
    if (id >= flags_.size()) flags_.resize(static_cast<std::size_t>(id) + 1);
    flags_[id] = static_cast<std::uint8_t>(flags_[id] | f);
  }
  void note(const std::vector<ir::Stmt>&, ir::Id parent);
  void compare_definitions();
  void compare_axes();
  bool axes_below(ir::Id) const;
  bool compare(const std::vector<ir::Stmt>&, ir::Id parent, bool around);
  bool same_shape(const ir::Stmt& now, const ir::Stmt& before) const;
  bool same_statement(const ir::Stmt& now, const ir::Stmt& before) const;
  bool same_nest(const ir::NestStmt& now, const ir::NestStmt& before) const;
  bool same_loop(const ir::LoopStmt& now, const ir::LoopStmt& before) const;

  const ir::Program &before_, &now_;
  std::vector<std::uint8_t> flags_;  // by id, of all kinds
  std::vector<Then> then_;
  std::vector<ir::Id> left_;
  bool arguments_ = false, definitions_ = false, formulas_ = false;
};

}  // namespace ashlar::analysis
