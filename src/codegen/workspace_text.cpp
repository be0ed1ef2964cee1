// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "codegen/workspace_text.h"

#include <algorithm>
#include <vector>

namespace ashlar::codegen {

std::string workspace_stages(const ir::Kernel& k) {
  std::vector<std::string> names;
  for (const auto& [id, b] : k.buffers)
    if (b.storage == ir::Storage::workspace && std::find(names.begin(), names.end(), b.name) == names.end())
      names.push_back(b.name);
  constexpr std::size_t most = 4;
  const std::size_t named = names.size() <= most ? names.size() : most - 1;
  std::string text;
  for (std::size_t i = 0; i < named; ++i) text += (i == 0 ? "" : i + 1 == names.size() ? " and " : ", ") + names[i];
  if (named < names.size()) text += " and " + std::to_string(names.size() - named) + " more";
  return text;
}

std::string about_workspace(const ir::Kernel& k, const std::string& sentence) {
  const std::string stages = workspace_stages(k);
  return stages.empty() ? sentence : sentence + ", which is for " + stages;
}

}  // namespace ashlar::codegen
