// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
// Byte strings by key in a folder that several processes share, bounded in size.
//
//   Store store(folder, 1 << 30);
//   if (std::optional<std::string> bytes = store.find(key)) …
//   store.keep(key, bytes);
//
// An entry is a file DIR/K/KEY, K the first digit of the key, that appears by a rename: a reader sees all of it or nothing.
// Each of the 16 folders has a sixteenth of the size; one that exceeds it after keep() loses what was used longest ago, down to
// three quarters. Use is the file's time of modification, which find() sets.
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

namespace ashlar::codegen {

class Store {
 public:
  static constexpr std::int64_t min_bytes = 16 << 20;

  // Makes the folder, for its owner alone. std::system_error where it cannot be made or written.
  Store(std::filesystem::path folder, std::int64_t max_bytes);
  // Nothing where there is no such entry. std::system_error where there is one that cannot be read.
  std::optional<std::string> find(const std::string& key) const;
  // std::system_error where it cannot be written; then nothing of it is left. What alone exceeds its folder is not kept: false.
  bool keep(const std::string& key, const std::string& bytes) const;
  void forget(const std::string& key) const;
  const std::filesystem::path& folder() const { return folder_; }

 private:
  std::filesystem::path path_of(const std::string& key) const;
  void trim(const std::filesystem::path& part) const;

  std::filesystem::path folder_;
  std::int64_t part_bytes_;  // of each of the 16
};

}  // namespace ashlar::codegen
