// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
// The printer behind ir/print.h: gives every id a display name. Names follow the scopes of the text: an id that is declared in
// a scope has a name that no other id visible there has; beside that scope another may be called the same.
//
//   for i in M          i
//   for i in N          i, another one
//     for i_2 in 4      i_2: both are visible
#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include <ashlar/ir/print.h>

namespace ashlar::ir {

class Namer {
 public:
  // The display name of an id: its own name, or name_2, name_3, ... where another visible id has it.
  const std::string& operator()(Id id, const std::string& name) {
    const auto it = names_.find(id);
    if (it != names_.end()) return it->second.unique;
    const std::string own = name.empty() ? "v" : name;
    int& first = free_.try_emplace(own, 1).first->second;
    int n = first;
    std::string unique;
    do unique = n == 1 ? own : own + "_" + std::to_string(n), ++n;
    while (!ids_.emplace(unique, id).second);
    first = n;
    order_.push_back(id);
    return names_.emplace(id, Named{unique, own, n - 1}).first->second.unique;
  }

  // A scope: what was named since then is forgotten at its end.
  class Scope {
   public:
    explicit Scope(Namer& namer) : namer_(namer), begin_(namer.order_.size()) {}
    Scope(const Scope&) = delete;
    Scope& operator=(const Scope&) = delete;
    ~Scope() { namer_.forget(begin_); }

   private:
    Namer& namer_;
    std::size_t begin_;
  };

 private:
  void forget(std::size_t from) {
    for (; order_.size() > from; order_.pop_back()) {
      const auto it = names_.find(order_.back());
      ids_.erase(it->second.unique);
      int& first = free_.at(it->second.own);
      first = std::min(first, it->second.number);
      names_.erase(it);
    }
  }

  struct Named {
    std::string unique, own;
    int number;  // own_number, 1: own itself
  };
  std::map<Id, Named> names_;
  std::map<std::string, int> free_;  // of each own name the lowest number that may be free
  std::map<std::string, Id> ids_;
  std::vector<Id> order_;
};

std::string text(const Expr&, Namer&);

}  // namespace ashlar::ir
