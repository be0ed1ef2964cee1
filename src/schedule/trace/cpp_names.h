// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
// Names, numbers and index arithmetic as C++ says them.
#include <functional>
#include <set>
#include <string>
#include <vector>

#include <ashlar/ir/build.h>

namespace ashlar::schedule::cpp {

// "loop", where its operands mean the same in the language; false: it holds what an index map or a point over symbols does not.
// `name`: of a variable; empty if it has none.
bool expression(const Expr&, const std::function<std::string(ir::Id, const std::string&)>& name, std::string& text);
bool constant(const Expr&, std::string& text);  // a number of any type; false: it is none
std::string quoted(const char*);

struct Line {                      // a statement
  std::vector<std::size_t> binds;  // handles
  bool single = false;             // one handle: Loop k = ...; else auto [i, j] = ...
  std::string type, call;
  bool step = false;     // stands whether its handles are used or not
  bool replays = false;  // gives out no handle
};

// Handles get their names at the end, when those that are used are known; parameters at once.
class Names {
 public:
  std::string take(const std::string& wish);  // a name that nothing else has
  std::size_t handle(std::string name, std::string of);
  std::string use(std::size_t handle);  // a mark that stands for its name
  // Empty for a line of unused handles.
  std::vector<std::string> written(const std::vector<Line>&);

 private:
  struct Handle {
    std::string name, of;
    bool used = false, named = false;
    std::string text;
  };
  std::set<std::string> taken_;
  std::vector<Handle> handles_;
};

}  // namespace ashlar::schedule::cpp
