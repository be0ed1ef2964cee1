#pragma once
// The printer behind ir/print.h: gives every id a display name, unique by order of first appearance.
#include <map>
#include <set>
#include <string>

#include <ashlar/ir/print.h>

namespace ashlar::ir {

class Namer {
 public:
  // The display name of an id: its own name, or name_2, name_3, ... where another id had it first.
  const std::string& operator()(Id id, const std::string& name) {
    auto it = names_.find(id);
    if (it != names_.end()) return it->second;
    std::string unique = name.empty() ? "v" : name;
    for (int n = 2; !used_.insert(unique).second; ++n) unique = name + "_" + std::to_string(n);
    return names_.emplace(id, unique).first->second;
  }

 private:
  std::map<Id, std::string> names_;
  std::set<std::string> used_;
};

std::string text(const Expr&, Namer&);

}  // namespace ashlar::ir
