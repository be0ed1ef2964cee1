// A set of files is written as one: all of them appear, or everything stays as it was.
#include <doctest/doctest.h>

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "generator/outputs.h"

using ashlar::generator::FileError;
using ashlar::generator::FileSet;
namespace fs = std::filesystem;

namespace {

struct Folder {  // a fresh one, removed at the end
  Folder() : path(fs::temp_directory_path() / ("ashlar.outputs." + std::to_string(::getpid()))) {
    fs::remove_all(path);
    fs::create_directories(path);
  }
  ~Folder() { fs::remove_all(path); }
  std::string operator/(const std::string& file) const { return (path / file).string(); }
  std::string held() const {  // every file with what it holds
    std::vector<std::string> all;
    for (const auto& entry : fs::recursive_directory_iterator(path)) {
      std::stringstream text;
      if (entry.is_regular_file()) text << std::ifstream(entry.path()).rdbuf();
      all.push_back(fs::relative(entry.path(), path).string() + (entry.is_directory() ? "/" : "=" + text.str()));
    }
    std::sort(all.begin(), all.end());
    std::string joined;
    for (const std::string& a : all) joined += (joined.empty() ? "" : " ") + a;
    return joined;
  }
  fs::path path;
};

void write(const std::string& path, const std::string& text) { std::ofstream(path) << text; }

std::string failure(FileSet& files, FileSet::Rename rename = std::rename) {
  try {
    files.commit(rename);
  } catch (const FileError& e) { return e.what(); }
  return "";
}

// The second rename of a set fails, as when somebody makes the folder read-only in between.
int calls = 0;
int second_fails(const char* from, const char* to) {
  if (++calls != 2) return std::rename(from, to);
  errno = EACCES;
  return -1;
}

}  // namespace

TEST_CASE("new files and replaced ones appear together, with nothing beside them") {
  Folder folder;
  write(folder / "b.h", "old b");
  FileSet files;
  files.add(folder / "a.o", "new a");
  files.add(folder / "b.h", "new b");
  files.add(folder / "deep/er/c", "new c");
  files.commit();
  CHECK(folder.held() == "a.o=new a b.h=new b deep/ deep/er/ deep/er/c=new c");
}

TEST_CASE("a rename that fails puts every former file back") {
  for (const char* existing : {"a.o", "b.h", "c.program"}) {
    Folder folder;
    write(folder / existing, "old");
    const std::string before = folder.held();
    FileSet files;
    for (const char* name : {"a.o", "b.h", "c.program"}) files.add(folder / name, "new");
    calls = 0;
    CHECK(failure(files, second_fails) == "cannot write " + (folder / "b.h") + ": " + std::strerror(EACCES));
    CHECK(folder.held() == before);
  }
}

TEST_CASE("a file that cannot be written keeps all others from being replaced") {
  Folder folder;
  write(folder / "a.o", "old a");
  fs::create_directories(folder / "b.h");
  FileSet files;
  files.add(folder / "a.o", "new a");
  files.add(folder / "new/folder/c", "new c");
  files.add(folder / "b.h", "new b");
  CHECK(failure(files) == "cannot write " + (folder / "b.h") + ": it is a folder");
  CHECK(folder.held() == "a.o=old a b.h/");
}

TEST_CASE("a pipe is not replaced by a file") {
  Folder folder;
  REQUIRE(::mkfifo((folder / "p").c_str(), 0600) == 0);
  FileSet files;
  files.add(folder / "p", "new");
  CHECK(failure(files) == "cannot write " + (folder / "p") + ": it is not a regular file; - is standard output");
  CHECK(fs::is_fifo(folder / "p"));
}

TEST_CASE("a folder that cannot be made is named") {
  Folder folder;
  write(folder / "file", "in the way");
  FileSet files;
  files.add(folder / "file/below", "text");
  CHECK(failure(files).find("cannot make the folder " + (folder / "file")) == 0);
  CHECK(folder.held() == "file=in the way");
}

TEST_CASE("a link stays, and what it leads to is written") {
  Folder folder;
  write(folder / "target", "former");
  fs::create_symlink("target", folder / "a.o");
  fs::create_symlink("a.o", folder / "b.o");
  fs::create_symlink("below/none", folder / "c.o");  // leads to what is not there yet
  fs::create_symlink("loop", folder / "loop");
  FileSet files;
  files.add(folder / "b.o", "new");
  files.add(folder / "c.o", "first");
  files.commit();
  CHECK(fs::is_symlink(folder / "a.o"));
  CHECK(fs::is_symlink(folder / "b.o"));
  CHECK(fs::is_symlink(folder / "c.o"));
  std::string text;
  std::ifstream(folder / "target") >> text;
  CHECK(text == "new");
  std::ifstream(folder / "below/none") >> text;
  CHECK(text == "first");
  FileSet loop;
  loop.add(folder / "loop", "new");
  CHECK(failure(loop) == "cannot write " + (folder / "loop") + ": the link leads nowhere");
}

TEST_CASE("the path - is standard output, and no file") {
  Folder folder;
  FileSet files;
  files.add(folder / "a.o", "new");
  files.add("-", std::string("text\0 of bytes", 14));
  files.commit();
  CHECK(folder.held() == "a.o=new");
  CHECK(files.for_standard_output() == std::string("text\0 of bytes", 14));
  for (const char* name : {"-", "/dev/stdout", "/dev//stdout", "/dev/fd/1", "/proc/self/fd/1"})
    CHECK(ashlar::generator::is_standard_output(name));
  CHECK_FALSE(ashlar::generator::is_standard_output("./-"));
}
