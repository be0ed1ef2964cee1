// The folder of code that was generated before: what its keys tell apart, and what happens to damaged, old and shared entries.
#include <ashlar/codegen/cache.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <optional>

#include <sys/wait.h>
#include <unistd.h>

#include <ashlar/ir/refusal.h>
#include <ashlar/runtime/runtime.h>
#include <doctest/doctest.h>

#include "codegen/kernel_bytes.h"
#include "codegen/store.h"
#include "tests/codegen/kernels.h"

using namespace ashlar;
using codegen::CacheUse;
using codegen::Output;
namespace fs = std::filesystem;

namespace {

// A variable of the environment, for as long as it lives.
class Setting {
 public:
  Setting(const char* name, const char* value) : name_(name) {
    if (const char* old = std::getenv(name)) old_ = old;
    value ? setenv(name, value, 1) : unsetenv(name);
  }
  ~Setting() { old_ ? setenv(name_, old_->c_str(), 1) : unsetenv(name_); }

 private:
  const char* name_;
  std::optional<std::string> old_;
};

struct Folder {
  fs::path path;
  Folder() {
    std::string name = (fs::temp_directory_path() / "ashlar-cache-XXXXXX").string();
    REQUIRE(mkdtemp(name.data()) != nullptr);
    path = name;
  }
  ~Folder() { fs::remove_all(path); }
  std::vector<fs::path> entries() const {
    std::vector<fs::path> all;
    for (const auto& file : fs::recursive_directory_iterator(path))
      if (file.is_regular_file()) all.push_back(file.path());
    return all;
  }
};

// out[i] = in[i] * by
ir::Kernel scale(double by = 3) {
  kernels::Maker m("scale");
  const Expr n = m.symbol("N");
  const ir::Id in = m.tensor("in", f32, {n}), out = m.tensor("out", f32, {n}, true);
  const Expr i = ir::var(m.fresh(), "i");
  m.k.body = {kernels::loop(i, n, {kernels::store(out, i, ir::binary(ir::Op::mul, m.load(in, i), ir::float_const(f32, by)))})};
  return m.k;
}

std::vector<std::string> cached(const ir::Kernel& k, const Target& t, CacheUse& use,
                                std::vector<Output> outputs = {Output::object}, const codegen::Options& options = {}) {
  const codegen::Variant only{&k, t};
  return codegen::emit_cached(std::span(&only, 1), outputs, nullptr, options, &use);
}

}  // namespace

TEST_CASE("code that was generated before comes from the folder, with the same bytes") {
  const Folder folder;
  const Setting set("ASHLAR_CACHE", folder.path.c_str());
  const Target target = Target::parse("x86-64-v3");
  const std::vector<Output> outputs = {Output::object, Output::assembly};
  CacheUse use;
  const auto first = cached(scale(), target, use, outputs);
  CHECK(use.kind == CacheUse::Kind::stored);
  const auto second = cached(scale(), target, use, outputs);
  CHECK(use.kind == CacheUse::Kind::hit);
  CHECK(first == second);
  CHECK(second == codegen::emit(scale(), target, outputs));

  // another formula, target, kind of output or option is another entry
  cached(scale(4), target, use, outputs);
  CHECK(use.kind == CacheUse::Kind::stored);
  cached(scale(), Target::parse("x86-64-v2"), use, outputs);
  CHECK(use.kind == CacheUse::Kind::stored);
  cached(scale(), target, use);
  CHECK(use.kind == CacheUse::Kind::stored);
  cached(scale(), target, use, outputs, {.line_tables = true});
  CHECK(use.kind == CacheUse::Kind::stored);
  cached(scale(), target, use, outputs, {.profile = true});
  CHECK(use.kind == CacheUse::Kind::stored);
  CHECK(folder.entries().size() == 6);
}

TEST_CASE("a kernel that is compiled in process comes from the folder") {
  const Folder folder;
  const Setting set("ASHLAR_CACHE", folder.path.c_str());
  for (const auto expected : {CacheUse::Kind::stored, CacheUse::Kind::hit}) {
    CacheUse use;
    codegen::Seconds seconds;
    const codegen::Compiled f = codegen::compile_cached(scale(), Target::host(), &seconds, &use);
    CHECK(use.kind == expected);
    CHECK((seconds.llvm > 0) == (expected == CacheUse::Kind::stored));
    float in[] = {1, 2, 3}, out[3] = {};
    std::int64_t n = 3;
    ashlar_tensor tensors[2] = {};
    void* const data[] = {in, out};
    for (int k = 0; k < 2; ++k) {
      tensors[k].data = data[k], tensors[k].device_type = 1, tensors[k].ndim = 1, tensors[k].shape = &n;
      tensors[k].type_code = 2, tensors[k].type_bits = 32, tensors[k].type_lanes = 1;
    }
    const void* const pointers[] = {&tensors[0], &tensors[1]};
    REQUIRE(f.call(pointers) == ASHLAR_OK);
    CHECK(out[2] == 9);
  }
}

TEST_CASE("a damaged entry is made again") {
  const Folder folder;
  const Setting set("ASHLAR_CACHE", folder.path.c_str());
  const Target target = Target::parse("x86-64-v3");
  CacheUse use;
  const auto code = cached(scale(), target, use);
  REQUIRE(folder.entries().size() == 1);
  const fs::path entry = folder.entries()[0];
  const auto size = fs::file_size(entry);
  const auto damage = [&](const std::function<void()>& change) {
    change();
    CHECK(cached(scale(), target, use) == code);
    CHECK(use.kind == CacheUse::Kind::stored);
    CHECK(cached(scale(), target, use) == code);
    CHECK(use.kind == CacheUse::Kind::hit);
  };
  for (const std::uintmax_t kept : {std::uintmax_t{0}, std::uintmax_t{5}, size / 2, size - 1})
    damage([&] { fs::resize_file(entry, kept); });
  damage([&] {
    std::fstream file(entry, std::ios::in | std::ios::out | std::ios::binary);
    file.seekp(static_cast<std::streamoff>(size / 2));
    file.put('\x5a').put('\xa5');
  });
  damage([&] { std::ofstream(entry, std::ios::app | std::ios::binary) << "more"; });
}

TEST_CASE("what a key tells apart: every part of a kernel") {
  const auto bytes = [](const ir::Kernel& k) { return codegen::kernel_bytes(k, false); };
  const std::string whole = bytes(scale());
  CHECK(bytes(scale()) == whole);
  const std::vector<std::function<void(ir::Kernel&)>> changes = {
      [](ir::Kernel& k) { k.name = "scale2"; },
      [](ir::Kernel& k) { k.symbols.begin()->second.multiple_of = 8; },
      [](ir::Kernel& k) { k.symbols.begin()->second.max = 7; },
      [](ir::Kernel& k) { k.arguments.pop_back(); },
      [](ir::Kernel& k) { k.argument_buffers.begin()->second.align = 64; },
      [](ir::Kernel& k) { k.argument_buffers.begin()->second.order = ir::Buffer::Order::any; },
      [](ir::Kernel& k) { k.buffers.begin()->second.type = i32; },
      [](ir::Kernel& k) { k.buffers.begin()->second.inside.push_back(1); },
      [](ir::Kernel& k) { k.buffers.begin()->second.data = std::make_shared<const std::vector<std::byte>>(4, std::byte{1}); },
      [](ir::Kernel& k) { k.strides.push_back({9, 2, 0}); },
      [](ir::Kernel& k) { k.body[0].get<ir::KFor>().extent = ir::index(4); },
      [](ir::Kernel& k) { k.body[0].get<ir::KFor>().kind = ir::LoopKind::parallel; },
      [](ir::Kernel& k) { k.body[0].get<ir::KFor>().body[0].get<ir::KStore>().mask = ir::int_const(bool_, 1); },
      [](ir::Kernel& k) { k.body[0].get<ir::KFor>().body[0].get<ir::KStore>().atomic = ir::Op::add; },
      [](ir::Kernel& k) {
        auto& body = k.body[0].get<ir::KFor>().body;
        body.push_back(ir::KStmt(body[0]));
      },
      [](ir::Kernel& k) { k.assumptions.push_back(ir::int_const(bool_, 1)); },
      [](ir::Kernel& k) { k.workspace_shared = ir::index(64); },
      [](ir::Kernel& k) { k.workspace_per_worker = ir::index(64); },
      [](ir::Kernel& k) { k.workspace_align = 128; },
  };
  std::vector<std::string> seen = {whole};
  for (const auto& change : changes) {
    ir::Kernel k = scale();
    change(k);
    seen.push_back(bytes(k));
  }
  std::sort(seen.begin(), seen.end());
  CHECK(std::unique(seen.begin(), seen.end()) == seen.end());
  CHECK(bytes(scale(0.0)) != bytes(scale(-0.0)));

  // lines count only where they are written
  ir::Kernel moved = scale();
  moved.body[0].where = Where::current();
  CHECK(bytes(moved) == whole);
  CHECK(codegen::kernel_bytes(moved, true) != codegen::kernel_bytes(scale(), true));
}

TEST_CASE("a value that stands at many places is written once") {
  kernels::Maker m("shared");
  const ir::Id out = m.tensor("out", f32, {ir::index(1)}, true);
  Expr e = ir::float_const(f32, 1);
  for (int k = 0; k < 60; ++k) e = ir::binary(ir::Op::add, e, e);
  m.k.body = {kernels::store(out, ir::index(0), e)};
  CHECK(codegen::kernel_bytes(m.k, false).size() < 20000);
}

TEST_CASE("the folder stays below its size, and keeps what was used last") {
  const Folder folder;
  const codegen::Store store(folder.path, codegen::Store::min_bytes);  // 1 MiB for each of the 16 parts
  const std::string large(300 << 10, 'x');
  const auto key = [](int k) { return "a" + std::to_string(k); };  // all in one part
  const auto old = fs::file_time_type::clock::now() - std::chrono::hours(1);
  CHECK(store.keep(key(0), large));
  for (int k = 1; k < 40; ++k) {
    for (const auto& entry : folder.entries()) fs::last_write_time(entry, old + std::chrono::seconds(k));
    REQUIRE(store.find(key(0)).has_value());  // used again and again
    CHECK(store.keep(key(k), large));
    std::uintmax_t total = 0;
    for (const auto& entry : folder.entries()) total += fs::file_size(entry);
    CHECK(total <= 1 << 20);
  }
  CHECK(store.find(key(0)) == large);
  CHECK(store.find(key(39)) == large);
  CHECK_FALSE(store.find(key(1)).has_value());
  CHECK_FALSE(store.keep("b", std::string(2 << 20, 'x')));  // larger than its part
  CHECK_FALSE(store.find("b").has_value());

  // what a process that ended has left is removed after an hour, and not before
  std::ofstream(folder.path / "a" / ".tmp-1-0") << "unfinished";
  std::ofstream(folder.path / "a" / ".tmp-2-0") << "unfinished";
  fs::last_write_time(folder.path / "a" / ".tmp-1-0", fs::file_time_type::clock::now() - std::chrono::hours(2));
  CHECK(store.keep(key(40), large));
  CHECK_FALSE(fs::exists(folder.path / "a" / ".tmp-1-0"));
  CHECK(fs::exists(folder.path / "a" / ".tmp-2-0"));
}

TEST_CASE("several processes share a folder") {
  const Folder folder;
  std::vector<pid_t> children;
  for (int child = 0; child < 4; ++child) {
    const pid_t pid = fork();
    REQUIRE(pid >= 0);
    if (pid == 0) {  // every entry that is found is whole, whoever wrote or removed it meanwhile
      int wrong = 0;
      try {
        const codegen::Store store(folder.path, codegen::Store::min_bytes);
        for (int k = 0; k < 300; ++k) {
          const std::string key = "a" + std::to_string(k % 13),
                            bytes(static_cast<std::size_t>(1 + k % 13) << 14, static_cast<char>('a' + k % 13));
          const auto found = store.find(key);
          if (found && *found != bytes) ++wrong;
          if (!store.keep(key, bytes)) ++wrong;
        }
      } catch (const std::exception&) { wrong = 100; }
      _exit(wrong);
    }
    children.push_back(pid);
  }
  for (const pid_t pid : children) {
    int status = 0;
    REQUIRE(waitpid(pid, &status, 0) == pid);
    CHECK(WIFEXITED(status));
    CHECK(WEXITSTATUS(status) == 0);
  }
}

TEST_CASE("which folder it is, and what is refused") {
  const Target target = Target::parse("x86-64");
  const Folder folder;
  CacheUse use;
  {
    const Setting off("ASHLAR_CACHE", "off");
    cached(scale(), target, use);
    CHECK(use.kind == CacheUse::Kind::off);
    CHECK(use.why == "ASHLAR_CACHE is off");
  }
  const Setting none("ASHLAR_CACHE", nullptr);
  {
    const Setting cache("XDG_CACHE_HOME", folder.path.c_str());
    cached(scale(), target, use);
    CHECK(use.kind == CacheUse::Kind::stored);
    CHECK(fs::is_directory(folder.path / "ashlar"));
    CHECK((fs::status(folder.path / "ashlar").permissions() & fs::perms(0077)) == fs::perms::none);
  }
  const Setting no_cache("XDG_CACHE_HOME", nullptr);
  {
    const Setting home("HOME", folder.path.c_str());
    cached(scale(), target, use);
    CHECK(use.kind == CacheUse::Kind::stored);
    CHECK(fs::is_directory(folder.path / ".cache" / "ashlar"));
  }
  const fs::path file = folder.path / "file";
  std::ofstream(file) << "no folder";
  {
    const Setting home("HOME", file.c_str());
    cached(scale(), target, use);  // a home that is none does not stop a build
    CHECK(use.kind == CacheUse::Kind::off);
    CHECK(use.why.find("Not a directory") != std::string::npos);
  }
  const auto refused = [&](const char* name, const std::string& value) {
    const Setting set(name, value.c_str());
    try {
      cached(scale(), target, use);
    } catch (const RefusalError& e) { return e.refusal.primitive + ": expected " + e.refusal.expected; }
    return std::string("accepted");
  };
  CHECK(refused("ASHLAR_CACHE", file.string()) == "ASHLAR_CACHE: expected a folder that can be written, or \"off\"");
  CHECK(refused("ASHLAR_CACHE_MB", "2") == "ASHLAR_CACHE_MB: expected the size of the cache in MiB, 16 to 16777216");
  CHECK(refused("ASHLAR_CACHE_MB", "many") == "ASHLAR_CACHE_MB: expected the size of the cache in MiB, 16 to 16777216");
}
