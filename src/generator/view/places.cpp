// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>

#include "generator/view/parts.h"

namespace ashlar::generator::view {

namespace {

namespace fs = std::filesystem;

constexpr std::uintmax_t most_bytes = 256 * 1024;  // of a source that is shown

std::optional<std::string> read(const fs::path& path) {
  std::error_code failed;
  if (!fs::is_regular_file(path, failed) || failed || fs::file_size(path, failed) > most_bytes || failed) return std::nullopt;
  std::ifstream in(path, std::ios::binary);
  std::string text{std::istreambuf_iterator<char>(in), {}};
  if (!in.is_open() || in.bad()) return std::nullopt;
  return text;
}

// A name that is relative was relative to the folder that the compiler ran in, or to the project. It is looked for from the
// current folder and from the program's own upwards.
std::optional<std::string> source(const std::string& name) {
  if (fs::path(name).is_absolute()) return read(name);
  std::error_code failed;
  for (fs::path folder : {fs::current_path(failed), fs::read_symlink("/proc/self/exe", failed).parent_path()})
    for (; !folder.empty(); folder = folder.parent_path()) {
      if (auto text = read(folder / name)) return text;
      if (folder == folder.root_path()) break;
    }
  return std::nullopt;
}

}  // namespace

json Sources::place(Where where) {
  if (where.line() == 0 || !*where.file_name()) return nullptr;
  const auto [at, first] = known_.try_emplace(where.file_name(), order_.size());
  if (first) order_.emplace_back(where.file_name());
  return json::array({at->second, where.line()});
}

json Sources::files() const {
  json all = json::array();
  for (const std::string& name : order_) {
    json file = {{"name", fs::path(name).filename().string()}};
    if (auto text = source(name)) file["text"] = std::move(*text);
    all.push_back(std::move(file));
  }
  return all;
}

std::size_t LineTable::add(const std::string& line) {
  const auto [at, first] = known_.try_emplace(line, lines_.size());
  if (first) lines_.push_back(line);
  return at->second;
}

}  // namespace ashlar::generator::view
