// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
// What the tool can write, and writing it: all files of a run appear together, or none does.
//
//   FileSet files;
//   files.add("out/blur.o", bytes);  files.add("out/blur.h", text);
//   files.commit();
//
// Every file is first written under another name beside its final one, so that a full disk or a missing permission is met
// before anything is replaced. Then they are renamed one by one, the former files kept under a third name until the last rename
// has succeeded; where one fails, they are put back. No file system renames several files at once: a process that is killed
// between two renames leaves some of the new files beside some of the former ones, each of them whole.
#include <cstdio>
#include <string>
#include <string_view>
#include <vector>

namespace ashlar::generator {

enum class OutputKind {
  object,
  static_library,
  header,
  assembly,
  llvm,
  spirv,
  ptx,
  cubin,
  tileir,
  tileir_text,
  c,
  program,
  schedule,
  schedule_cpp,
  choices,
  explain,
  html,
  torch,
  torch_python,
  jax,
  jax_python,
  onnxruntime,
  python,
  python_stub,
  cpp,
  rust
};

struct OutputKindInfo {
  OutputKind kind;
  const char* name;    // after -e
  const char* prefix;  // of the file's name: prefix + function + suffix
  const char* suffix;
  const char* doc;
};
const std::vector<OutputKindInfo>& output_kinds();
const OutputKindInfo* find_output_kind(std::string_view name);
const OutputKindInfo& info(OutputKind);

struct Output {
  OutputKind kind;
  std::string path;  // empty: directory / (prefix + function + suffix)
};

std::vector<std::string> missing_back_ends();  // what this build lacks: LLVM, and with it all else; or Vulkan
std::string back_end_missing(OutputKind);      // which of those the kind needs; empty: it can be written

constexpr const char* standard_output = "-";
bool is_standard_output(const std::string& path);  // - or one of the names that systems have for it

class FileError : public std::exception {
 public:
  explicit FileError(std::string text) : text_(std::move(text)) {}
  const char* what() const noexcept override { return text_.c_str(); }

 private:
  std::string text_;
};

class FileSet {
 public:
  using Rename = int (*)(const char* from, const char* to);  // as std::rename

  void add(std::string path, std::string bytes);  // each path once; a link stays, and what it leads to is written
  // FileError, naming the path and the system's reason; everything is as it was before, then, except for times of change.
  // `rename` is the system's: a test gives one that fails.
  void commit(Rename rename = std::rename);
  std::size_t size() const { return files_.size(); }
  const std::string& for_standard_output() const {
    return standard_output_;
  }  // what the path - was given; commit() writes none of it

 private:
  struct File {
    std::string path, bytes, temporary, former;  // former: where what stood at `path` waits
    bool replaced = false;
  };
  void prepare(File&, std::vector<std::string>& folders);
  void replace(File&, Rename);
  void put_back() noexcept;
  std::vector<File> files_;
  std::string standard_output_;
};

}  // namespace ashlar::generator
