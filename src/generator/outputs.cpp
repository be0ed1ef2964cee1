// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
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
      {OutputKind::llvm, "llvm", "", ".ll", "LLVM IR, optimized"},
      {OutputKind::spirv, "spirv", "", ".spv", "shaders of a kernel for vulkan, which its object holds too"},
      {OutputKind::ptx, "ptx", "", ".ptx", "PTX of a kernel for a CUDA device, which its object holds too"},
      {OutputKind::cubin, "cubin", "", ".cubin",
       "machine code for that device, through nvJitLink of a CUDA toolkit; for tiles, through tileiras"},
      {OutputKind::tileir, "tileir", "", ".tileirbc", "CUDA Tile IR bytecode of a kernel for cuda-tile targets"},
      {OutputKind::tileir_text, "tileir_text", "", ".tileir.txt",
       "the tile kernels that the bytecode is written from, as text"},
      {OutputKind::c, "c", "", ".c", "C99 of the kernel, for any compiler; needs no LLVM"},
      {OutputKind::program, "program", "", ".program", "the scheduled program as text"},
      {OutputKind::schedule, "schedule", "", ".schedule.json", "the schedule's steps, for --replay"},
      {OutputKind::schedule_cpp, "schedule_cpp", "", ".schedule.h", "the schedule's steps as C++, one call each"},
      {OutputKind::choices, "choices", "", ".choices.json", "the choices that the schedule makes, for --choose"},
      {OutputKind::explain, "explain", "", ".explain.txt", "what the kernel costs on its target; needs no device"},
      {OutputKind::html, "html", "", ".html", "a page for a browser: program, schedule, code, a run of small size, charts"},
      {OutputKind::torch, "torch", "", ".torch.c", "C that registers the kernel as an operator of PyTorch; needs --namespace"},
      {OutputKind::torch_python, "torch_python", "_", ".py", "the operator's Python module: fake kernel, vmap, derivative"},
      {OutputKind::jax, "jax", "", ".jax.c", "C of the kernel as a handler of XLA's FFI, for JAX; needs --namespace"},
      {OutputKind::jax_python, "jax_python", "_", ".py", "its Python module: a function of JAX"},
      {OutputKind::onnxruntime, "onnxruntime", "", ".onnxruntime.c", "C of the kernel as a custom operator of ONNX Runtime"},
      {OutputKind::python, "python", "", ".python.c", "C of the kernel as a function of Python, for an extension module"},
      {OutputKind::python_stub, "python_stub", "", ".pyi", "the types of that function"},
      {OutputKind::cpp, "cpp", "", ".hpp", "C++17 over the header: a function on views; needs --namespace"},
      {OutputKind::rust, "rust", "", ".rs", "Rust over the C entries: declarations, and a function on views"},
  };
  return kinds;
}

const OutputKindInfo* find_output_kind(std::string_view name) {
  for (const OutputKindInfo& k : output_kinds())
    if (name == k.name) return &k;
  return nullptr;
}

std::string back_end_missing(OutputKind kind) {
  const std::vector<std::string> missing = missing_back_ends();
  switch (kind) {
    case OutputKind::tileir:
    case OutputKind::tileir_text:
    case OutputKind::c:
    case OutputKind::header:
    case OutputKind::program:
    case OutputKind::schedule:
    case OutputKind::schedule_cpp:
    case OutputKind::choices:
    case OutputKind::explain:
    case OutputKind::html:
    case OutputKind::torch:
    case OutputKind::torch_python:
    case OutputKind::jax:
    case OutputKind::jax_python:
    case OutputKind::onnxruntime:
    case OutputKind::python:
    case OutputKind::python_stub:
    case OutputKind::cpp:
    case OutputKind::rust:
      return "";
    default:
      return missing.empty() || (missing[0] != "LLVM" && kind != OutputKind::spirv) ? "" : missing[0];
  }
}

const OutputKindInfo& info(OutputKind kind) { return output_kinds()[static_cast<std::size_t>(kind)]; }

void FileSet::add(std::string path, std::string bytes) {
  if (path == standard_output)
    standard_output_ += bytes;
  else
    files_.push_back({std::move(path), std::move(bytes), {}, {}});
}

namespace {

void write_file(const std::string& path, const std::string& bytes) {
  std::FILE* f = std::fopen(path.c_str(), "wb");
  if (!f) throw FileError(fmt::format("cannot write {}: {}", path, std::strerror(errno)));
  const bool whole = std::fwrite(bytes.data(), 1, bytes.size(), f) == bytes.size();
  const int error = errno;
  const bool closed = std::fclose(f) == 0;
  if (!whole || !closed) throw FileError(fmt::format("cannot write {}: {}", path, std::strerror(whole ? errno : error)));
}

// The folders of a path that do not exist, the outermost first.
std::vector<std::string> missing_folders(const fs::path& file) {
  std::vector<std::string> missing;
  std::error_code ignored;
  for (fs::path folder = file.parent_path(); !folder.empty() && !fs::exists(folder, ignored); folder = folder.parent_path())
    missing.insert(missing.begin(), folder.string());
  return missing;
}

}  // namespace

bool is_standard_output(const std::string& path) {
  const std::string name = fs::path(path).lexically_normal().string();
  return path == standard_output || name == "/dev/stdout" || name == "/dev/fd/1" || name == "/proc/self/fd/1";
}

namespace {

// What a link leads to, which need not exist: that is what is written, and the link stays.
std::string behind_links(const std::string& path) {
  fs::path file = path;
  std::error_code failed;
  for (int hops = 0; fs::is_symlink(file, failed); ++hops) {
    const fs::path to = fs::read_symlink(file, failed);
    if (failed || hops == 40) throw FileError(fmt::format("cannot write {}: the link leads nowhere", path));
    file = file.parent_path() / to;  // an absolute one replaces the folder
  }
  return file.string();
}

}  // namespace

void FileSet::prepare(File& f, std::vector<std::string>& folders) {
  std::error_code failed;  // a link that leads nowhere is none of these
  if (fs::is_directory(f.path, failed)) throw FileError(fmt::format("cannot write {}: it is a folder", f.path));
  if (fs::exists(f.path, failed) && !fs::is_regular_file(f.path, failed))  // a device or a pipe would be replaced by a file
    throw FileError(fmt::format("cannot write {}: it is not a regular file; - is standard output", f.path));
  f.path = behind_links(f.path);
  const fs::path folder = fs::path(f.path).parent_path();
  const auto missing = missing_folders(f.path);
  folders.insert(folders.end(), missing.begin(), missing.end());
  if (!folder.empty()) fs::create_directories(folder, failed);
  if (failed) throw FileError(fmt::format("cannot make the folder {}: {}", folder.string(), failed.message()));
  f.temporary = fmt::format("{}.{}.part", f.path, ::getpid());
  write_file(f.temporary, f.bytes);
}

void FileSet::replace(File& f, Rename rename) {
  // A second name for the former file, so that the first one never names nothing; where there are no hard links, it moves.
  const std::string former = fmt::format("{}.{}.former", f.path, ::getpid());
  std::remove(former.c_str());
  if (::link(f.path.c_str(), former.c_str()) == 0 || std::rename(f.path.c_str(), former.c_str()) == 0)
    f.former = former;
  else if (errno != ENOENT)
    throw FileError(fmt::format("cannot replace {}: {}", f.path, std::strerror(errno)));
  if (rename(f.temporary.c_str(), f.path.c_str()) != 0)
    throw FileError(fmt::format("cannot write {}: {}", f.path, std::strerror(errno)));
  f.temporary.clear();
  f.replaced = true;
}

void FileSet::put_back() noexcept {
  for (File& f : files_) {
    if (!f.temporary.empty()) std::remove(f.temporary.c_str());
    if (!f.former.empty()) {
      std::rename(f.former.c_str(), f.path.c_str());
      std::remove(f.former.c_str());  // two names of one file: renaming one to the other keeps both
    } else if (f.replaced) {
      std::remove(f.path.c_str());
    }
  }
}

void FileSet::commit(Rename rename) {
  std::vector<std::string> folders;  // made by this call
  try {
    for (File& f : files_) prepare(f, folders);
    for (File& f : files_) replace(f, rename);
  } catch (...) {
    put_back();
    for (auto folder = folders.rbegin(); folder != folders.rend(); ++folder) std::remove(folder->c_str());
    throw;
  }
  for (const File& f : files_)
    if (!f.former.empty()) std::remove(f.former.c_str());
}

}  // namespace ashlar::generator
