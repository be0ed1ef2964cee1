#include "generator/outputs.h"

#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <system_error>

#include <fmt/format.h>

namespace ashlar::generator {

namespace fs = std::filesystem;

const std::vector<OutputKindInfo>& output_kinds() {
  static const std::vector<OutputKindInfo> kinds = {
      {OutputKind::object, "object", "", ".o", "object file with the kernel's C entries"},
      {OutputKind::static_library, "static_library", "lib", ".a", "the object in an archive"},
      {OutputKind::header, "header", "", ".h", "C99 and C++11 header of the kernel"},
      {OutputKind::assembly, "assembly", "", ".s", "the object's assembly text"},
      {OutputKind::llvm, "llvm", "", ".ll", "LLVM IR, optimised"},
      {OutputKind::program, "program", "", ".program", "the scheduled program as text"},
      {OutputKind::schedule, "schedule", "", ".schedule.json", "the schedule's steps, for --replay"},
  };
  return kinds;
}

const OutputKindInfo* find_output_kind(std::string_view name) {
  for (const OutputKindInfo& k : output_kinds())
    if (name == k.name) return &k;
  return nullptr;
}

const OutputKindInfo& info(OutputKind kind) { return output_kinds()[static_cast<std::size_t>(kind)]; }

void FileSet::add(std::string path, std::string bytes) { files_.push_back({std::move(path), std::move(bytes), {}}); }

namespace {

void write_file(const std::string& path, const std::string& bytes) {
  std::FILE* f = std::fopen(path.c_str(), "wb");
  if (!f) throw FileError(fmt::format("cannot write {}: {}", path, std::strerror(errno)));
  const bool whole = std::fwrite(bytes.data(), 1, bytes.size(), f) == bytes.size();
  const int error = errno;
  const bool closed = std::fclose(f) == 0;
  if (!whole || !closed) throw FileError(fmt::format("cannot write {}: {}", path, std::strerror(whole ? errno : error)));
}

}  // namespace

void FileSet::commit() {
  auto remove_temporaries = [&] {
    for (const File& f : files_)
      if (!f.temporary.empty()) std::remove(f.temporary.c_str());
  };
  try {
    for (File& f : files_) {
      std::error_code failed;
      const fs::path folder = fs::path(f.path).parent_path();
      if (!folder.empty()) fs::create_directories(folder, failed);
      if (failed) throw FileError(fmt::format("cannot make the folder {}: {}", folder.string(), failed.message()));
      if (fs::is_directory(f.path)) throw FileError(fmt::format("cannot write {}: it is a folder", f.path));
      const std::string temporary = fmt::format("{}.{}.part", f.path, ::getpid());
      f.temporary = temporary;
      write_file(temporary, f.bytes);
    }
    for (File& f : files_) {
      if (std::rename(f.temporary.c_str(), f.path.c_str()) != 0)
        throw FileError(fmt::format("cannot write {}: {}", f.path, std::strerror(errno)));
      f.temporary.clear();
    }
  } catch (...) {
    remove_temporaries();
    throw;
  }
}

}  // namespace ashlar::generator
