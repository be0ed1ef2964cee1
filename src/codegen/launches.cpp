#include <ashlar/codegen/launches.h>

#include <functional>

namespace ashlar::codegen {

std::vector<const ir::KStmt*> launches_of(const ir::Kernel& k) {
  std::vector<const ir::KStmt*> all;
  const std::function<void(const std::vector<ir::KStmt>&)> find = [&](const std::vector<ir::KStmt>& list) {
    for (const ir::KStmt& s : list) {
      if (s.kind == ir::KStmt::Kind::launch) {
        all.push_back(&s);
        continue;
      }
      find(s.body);
      find(s.otherwise);
    }
  };
  find(k.body);
  return all;
}

}  // namespace ashlar::codegen
