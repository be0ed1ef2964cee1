#pragma once
// What the tool can write, and writing it: all files of a run appear together, or none does.
//
//   FileSet files;
//   files.add("out/blur.o", bytes);  files.add("out/blur.h", text);
//   files.commit();                   // temporary files beside the final ones, then renames; a failure removes all of them
#include <string>
#include <string_view>
#include <vector>

namespace ashlar::generator {

enum class OutputKind { object, static_library, header, assembly, llvm, program, schedule };

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

class FileError : public std::exception {
 public:
  explicit FileError(std::string text) : text_(std::move(text)) {}
  const char* what() const noexcept override { return text_.c_str(); }

 private:
  std::string text_;
};

class FileSet {
 public:
  void add(std::string path, std::string bytes);
  void commit();  // FileError, naming the path and the system's reason; nothing new is left behind then
  std::size_t size() const { return files_.size(); }

 private:
  struct File {
    std::string path, bytes, temporary;
  };
  std::vector<File> files_;
};

}  // namespace ashlar::generator
