// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "codegen/store.h"

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <system_error>
#include <vector>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace ashlar::codegen {

namespace fs = std::filesystem;

namespace {

[[noreturn]] void failed(int error, const fs::path& path) {
  throw std::system_error(error, std::generic_category(), path.string());
}

void make_private(const fs::path& folder) {
  if (mkdir(folder.c_str(), 0700) != 0 && errno != EEXIST) failed(errno, folder);
}

struct Descriptor {
  int fd;
  explicit Descriptor(int f) : fd(f) {}
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  ~Descriptor() {
    if (fd >= 0) close(fd);
  }
};

constexpr const char* kUnfinished = ".tmp-";
constexpr auto kAbandoned = std::chrono::hours(1);  // an unfinished file this old was left by a process that ended

void write_all(int fd, const std::string& bytes, const fs::path& path) {
  for (std::size_t done = 0; done < bytes.size();) {
    const ssize_t n = write(fd, bytes.data() + done, bytes.size() - done);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) failed(errno, path);
    done += static_cast<std::size_t>(n);
  }
}

}  // namespace

Store::Store(fs::path folder, std::int64_t max_bytes) : folder_(std::move(folder)), part_bytes_(max_bytes / 16) {
  fs::create_directories(folder_.parent_path());
  make_private(folder_);
  if (!fs::is_directory(folder_)) failed(ENOTDIR, folder_);
  if (access(folder_.c_str(), W_OK | X_OK) != 0) failed(errno, folder_);
}

fs::path Store::path_of(const std::string& key) const { return folder_ / key.substr(0, 1) / key; }

std::optional<std::string> Store::find(const std::string& key) const {
  const fs::path path = path_of(key);
  const Descriptor file(open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (file.fd < 0) {
    if (errno == ENOENT) return std::nullopt;
    failed(errno, path);
  }
  struct stat facts = {};
  if (fstat(file.fd, &facts) != 0) failed(errno, path);
  std::string bytes(static_cast<std::size_t>(facts.st_size), '\0');
  for (std::size_t done = 0; done < bytes.size();) {
    const ssize_t n = read(file.fd, bytes.data() + done, bytes.size() - done);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) failed(errno, path);
    if (n == 0) return bytes.substr(0, done);  // its checksum will tell
    done += static_cast<std::size_t>(n);
  }
  // A folder that may be read alone serves all the same; its entries are then never the latest used.
  static_cast<void>(futimens(file.fd, nullptr));
  return bytes;
}

bool Store::keep(const std::string& key, const std::string& bytes) const {
  if (static_cast<std::int64_t>(bytes.size()) > part_bytes_) return false;
  const fs::path path = path_of(key), part = path.parent_path();
  make_private(part);
  static std::atomic<unsigned> count{0};
  const fs::path unfinished = part / (kUnfinished + std::to_string(getpid()) + "-" + std::to_string(count++));
  try {
    const Descriptor file(open(unfinished.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
    if (file.fd < 0) failed(errno, unfinished);
    write_all(file.fd, bytes, unfinished);
    if (rename(unfinished.c_str(), path.c_str()) != 0) failed(errno, path);
  } catch (const std::system_error&) {
    unlink(unfinished.c_str());
    throw;
  }
  trim(part);
  return true;
}

void Store::forget(const std::string& key) const {
  const fs::path path = path_of(key);
  if (unlink(path.c_str()) != 0 && errno != ENOENT) failed(errno, path);
}

// Another process may trim the same folder: a file that is gone by now is one less to remove.
void Store::trim(const fs::path& part) const {
  struct Entry {
    fs::path path;
    std::int64_t bytes;
    fs::file_time_type used;
  };
  std::vector<Entry> entries;
  std::int64_t total = 0;
  const auto now = fs::file_time_type::clock::now();
  for (const fs::directory_entry& file : fs::directory_iterator(part)) {
    std::error_code gone;
    const fs::file_time_type used = file.last_write_time(gone);
    const auto bytes = gone ? std::uintmax_t{0} : file.file_size(gone);
    if (gone) continue;
    if (file.path().filename().string().starts_with(kUnfinished)) {
      if (now - used > kAbandoned) fs::remove(file.path(), gone);
      continue;
    }
    entries.push_back({file.path(), static_cast<std::int64_t>(bytes), used});
    total += entries.back().bytes;
  }
  if (total <= part_bytes_) return;
  std::sort(entries.begin(), entries.end(), [](const Entry& a, const Entry& b) { return a.used < b.used; });
  for (const Entry& e : entries) {
    if (total <= part_bytes_ / 4 * 3) break;
    std::error_code gone;
    fs::remove(e.path, gone);
    total -= e.bytes;
  }
}

}  // namespace ashlar::codegen
