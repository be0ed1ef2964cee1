// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
// Completion of the tool's command line in shells. The scripts that --completion prints ask the tool itself, by --complete and
// the words up to the cursor; the last one is the word that is being written.
//
//   complete({"-g", "sc"})                  scale
//   complete({"-e", "object,he"})           object,header
//   complete({"-g", "scale", "mode="})      mode=plain  mode=doubled
#include <span>
#include <string>
#include <vector>

namespace ashlar::generator {

std::vector<std::string> complete(std::span<const std::string> words);  // none: a file, or nothing that is known

// Of "bash", "zsh" or "fish", for a program of this name; UsageError for others.
std::string completion_script(const std::string& shell, const std::string& program);

}  // namespace ashlar::generator
