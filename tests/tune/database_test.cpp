// The database: what it keeps, several writers, and files that it does not touch.
#include <doctest/doctest.h>

#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <sstream>
#include <stdexcept>

#include <sqlite3.h>

#include "tune/src/database.h"

namespace ashlar::tune {
namespace {

namespace fs = std::filesystem;

struct File {
  fs::path path;
  explicit File(const std::string& name) : path(fs::temp_directory_path() / (name + std::to_string(::getpid()))) { remove(); }
  ~File() { remove(); }
  void remove() const {
    for (const char* more : {"", "-wal", "-shm"}) fs::remove(path.string() + more);
  }
  std::string bytes() const {
    std::ifstream in(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
  }
};

Record record(int edge, double ratio, const std::string& target = "x86-64-v3") {
  Record r;
  r.task = {"0123", "matmul", target, "a machine", 1, {{"M", 64}}, {{"type", "f32"}}, "0.1.0"};
  r.candidate.choices["edge"] = std::to_string(edge);
  r.knobs = {{"edge", false, {"64", "32"}, std::to_string(edge), "64"}};
  r.status = ratio > 0 ? "measured" : "refused";
  r.why = ratio > 0 ? "" : "a.cpp:1: split: \"no\"";
  r.seconds = ratio * 1e-3, r.ratio = ratio;
  return r;
}

std::string lines(const std::vector<Record>& all) {
  std::ostringstream out;
  write_lines(out, all);
  return out.str();
}

void sql(const fs::path& path, const char* text) {
  sqlite3* db = nullptr;
  REQUIRE(sqlite3_open(path.c_str(), &db) == SQLITE_OK);
  CHECK(sqlite3_exec(db, text, nullptr, nullptr, nullptr) == SQLITE_OK);
  sqlite3_close(db);
}

}  // namespace

TEST_CASE("records come back as they were, and the best of each task is the fastest that was measured") {
  const File file("tune_records");
  {
    Database db(file.path);
    CHECK_FALSE(fs::exists(file.path));  // nothing was added yet
    CHECK(db.all().empty());
    for (const Record& r : {record(64, 1), record(32, 0.5), record(16, 0.7), record(8, 0), record(64, 1, "zen4")}) db.add(r);
    db.add(record(16, 0.8));  // again
  }
  const Database db(file.path);
  CHECK(db.all().size() == 5);
  CHECK(db.of(record(1, 1).task).size() == 4);
  const std::optional<Record> found = db.find(record(1, 1).task, record(16, 1).candidate);
  REQUIRE(found);
  CHECK(found->ratio == 0.8);
  CHECK(found->knobs.size() == 1);
  CHECK_FALSE(db.find(record(1, 1, "zen5").task, record(16, 1).candidate));
  CHECK(lines(db.best()) == lines({record(32, 0.5), record(64, 1, "zen4")}));
  std::istringstream in(lines(db.all()));
  CHECK(lines(read_lines(in, "f")) == lines(db.all()));
  std::istringstream wrong(lines(db.all()) + "{\"algorithm\": 1}\n");
  CHECK_THROWS_WITH_AS(read_lines(wrong, "f.jsonl"), doctest::Contains("f.jsonl:6: expected a record"), std::runtime_error);
}

TEST_CASE("several processes write one file") {
  const File file("tune_writers");
  std::vector<pid_t> children;
  for (int c = 0; c < 4; ++c) {
    children.push_back(::fork());
    if (children.back() != 0) continue;
    int code = 0;
    try {
      Database db(file.path);
      for (int k = 0; k < 50; ++k) db.add(record(c * 100 + k, 1));
    } catch (const std::exception&) { code = 1; }
    ::_exit(code);
  }
  for (const pid_t child : children) {
    int status = 0;
    ::waitpid(child, &status, 0);
    CHECK(status == 0);
  }
  CHECK(Database(file.path).all().size() == 200);
}

TEST_CASE("a damaged, foreign or newer file is refused by name, and stays as it is") {
  const File file("tune_wrong");
  const auto refused = [&](const char* why) {
    const std::string before = file.bytes();
    CHECK_THROWS_WITH_AS(Database(file.path), doctest::Contains(why), std::runtime_error);
    CHECK(file.bytes() == before);
    file.remove();
  };
  std::ofstream(file.path)
      << "this is no database at all, and longer than the header of one, which has a hundred bytes in it, or so\n";
  refused("file is not a database");
  sql(file.path, "CREATE TABLE t (a)");
  refused("expected a database of ashlar-tune, found one of another program");
  Database(file.path).add(record(1, 1));
  sql(file.path, "PRAGMA user_version=7");
  refused("expected version 1 of the database, found 7");
  {
    Database db(file.path);
    for (int k = 0; k < 400; ++k) db.add(record(k, 1));
  }
  sql(file.path, "PRAGMA wal_checkpoint(TRUNCATE)");
  fs::resize_file(file.path, fs::file_size(file.path) / 2);
  refused("malformed");
  fs::create_directory(file.path);
  CHECK_THROWS_AS(Database(file.path).add(record(1, 1)), std::runtime_error);
}

}  // namespace ashlar::tune
