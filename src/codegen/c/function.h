// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
// One function of C in the making: statements of a kernel become statements of C, expressions become expressions.
//
// A vector is a loop over lanes: what one lane computes stands inside, what all lanes share before it. A store whose value
// reads memory that it may write computes all lanes into an array first. Subexpressions that occur twice, or are long, get
// names. Both arms of a choice may be computed beforehand: a load that must not happen carries a mask (docs/ir.md, "Lowered
// form").
#include <functional>
#include <map>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "codegen/addresses.h"
#include "codegen/c/file.h"

namespace ashlar::codegen::c {

// How tightly an expression's outermost operator binds.
enum Level { kChoice = 3, kOr = 4, kAnd = 5, kBits = 8, kCompare = 10, kSum = 12, kProduct = 13, kPrefix = 14, kPrimary = 15 };

struct Text {
  std::string s;
  int level = kPrimary;
  bool literal = false;  // of an integer: of type int or unsigned, whatever the value's type is
};

class Function {
 public:
  explicit Function(File& f) : file(f), k(f.kernel) { declared_.emplace_back(); }

  File& file;
  const ir::Kernel& k;
  bool is_worker = false;  // runs in a slot: parallel loops inside are serial, a failure is handed on
  bool has_worker_bytes = false;
  bool is_helper = false;  // names are its own: it computes what its parameters say

  // ---- lines
  void line(const std::string&);
  void open(const std::string& head);  // "if (...)"; a brace is added
  void close(const std::string& rest = "");
  void reopen();  // behind close(" else {")
  std::string text;

  // ---- names
  void bind(ir::Id var, const std::string& name, bool is_array = false, bool wild = false);
  void bind_value(ir::Id var, const std::string& name, Type);
  bool is_bound(ir::Id var) const { return vars_.count(var) != 0; }
  void bind_buffer(ir::Id id, const std::string& name) { buffers_[id] = name; }
  struct Variable {
    Text text;
    bool is_array = false;  // of lanes
    bool wild = false;      // an index out of data, which may be anything
    Type type;
  };
  const std::map<ir::Id, Variable>& variables() const { return vars_; }
  const std::map<ir::Id, std::string>& bases() const { return buffers_; }

  // ---- expressions
  std::string value(const Expr&);    // a scalar root; names that it needs are declared before
  std::string operand(const Expr&);  // the same, as an operand of anything
  std::string checked(const Expr&);  // an index whose overflow is or-ed into the variable `overflow`

  // ---- statements
  void statements(const std::vector<ir::KStmt>&);
  void allocate(const std::vector<ir::KStmt>& region);  // arrays of what this function holds of `region`
  std::string declare(const std::string& name);         // in the block at hand; "{" where it must be another one
  void prepare(std::initializer_list<const Expr*>);     // before the values of a statement are asked for

 private:
  using Occurrences = std::unordered_map<Expr, int, ir::ExprHash, ir::ExprSame>;
  void count(const Expr&);
  Text emit(const Expr&);
  Text root(const Expr&);
  Text node(const Expr&);
  Text constant(const ir::Node&) const;
  Text load(const Expr&);
  Text call(const Expr&);
  Text choice(const Expr&);
  Text shift(const Expr&);
  Text comparison(const Expr&);
  Text unary(const Expr&);
  Text real_unary(ir::Op, Type, const Text&);
  Text binary(const Expr&);
  Text real_binary(ir::Op, Type, const Text&, const Text&);
  Text ramp(const Expr&);
  std::string spelled(ir::Op, Type result, std::initializer_list<Type> operands);  // spelled.cpp
  Text infix(ir::Op, int level, const Text&, const Text&, Type);
  std::string amount(const Expr&);
  bool is_wild(const Expr&);
  Text named(const Expr&, const Text&);
  std::string element(ir::Id buffer, const std::string& index);  // an lvalue or a load's value
  const std::string& base_of(ir::Id buffer);
  bool reads_what_may_overlap(const Expr&, ir::Id buffer, const Expr* except);

  std::string assignment(const ir::KBuffer&, const std::string& mask, const std::string& index, const std::string& value);
  void store(const ir::KStore&);
  void store_lanes(const ir::KStore&);
  void update(const ir::KStore&);
  void lanes(int count, const std::function<std::string()>& inside);
  void for_loop(const ir::KFor&, const ir::KStmt&);
  void branch(const ir::KIf&, const ir::KStmt&);
  void let(const ir::KLet&);
  void prefetch(const ir::KPrefetch&);
  void parallel_for(const ir::KFor&, const ir::KStmt&);
  void call_of_region(const ir::KCall&);
  void call_of_user(const ir::KCall&, Where);
  void comment(const ir::KStmt&);

  std::map<ir::Id, Variable> vars_;
  std::map<ir::Id, std::string> buffers_;
  std::vector<std::set<std::string>> declared_;  // names of each open block
  Occurrences uses_;
  std::unordered_map<Expr, Text, ir::ExprHash, ir::ExprSame> named_;
  std::unordered_map<const ir::Node*, bool> wild_;
  std::string lane_;   // the loop's variable, where lanes are computed
  std::string inner_;  // lines inside the loop over lanes
  int depth_ = 1;
  std::string place_;  // the directive of the statement at hand (File::directive)
  std::string said_;   // the comment that holds for what follows
};

std::string wrapped(const Text&, int level);  // in parentheses where it binds less tightly

}  // namespace ashlar::codegen::c
