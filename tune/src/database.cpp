// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tune/src/database.h"

#include <istream>
#include <ostream>
#include <stdexcept>

#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <sqlite3.h>

namespace ashlar::tune {

namespace {

using nlohmann::json;

constexpr int application = 0x41736854;  // "AshT"
constexpr int version = 1;

json as_json(const Record& r) {
  json j{{"algorithm", r.task.algorithm},
         {"generator", r.task.generator},
         {"target", r.task.target},
         {"machine", r.task.machine},
         {"threads", r.task.threads},
         {"sizes", r.task.sizes},
         {"given", r.task.parameters},
         {"compiler", r.task.compiler},
         {"parameters", r.candidate.parameters},
         {"choices", r.candidate.choices},
         {"status", r.status},
         {"why", r.why},
         {"seconds", r.seconds},
         {"ratio", r.ratio},
         {"low", r.low},
         {"high", r.high}};
  if (r.candidate.seed) j["seed"] = *r.candidate.seed;
  return j;
}

json knobs_json(const std::vector<Knob>& knobs) {
  json list = json::array();
  for (const Knob& k : knobs)
    list.push_back(
        {{"name", k.name}, {"parameter", k.parameter}, {"values", k.values}, {"value", k.value}, {"usual", k.usual}});
  return list;
}

Record from_json(const json& j) {
  Record r;
  r.task = {j.at("algorithm"), j.at("generator"), j.at("target"), j.at("machine"),
            j.at("threads"),   j.at("sizes"),     j.at("given"),  j.at("compiler")};
  r.candidate = {j.at("parameters"), j.at("choices"), {}};
  if (j.contains("seed")) r.candidate.seed = j.at("seed").get<std::uint64_t>();
  r.status = j.at("status"), r.why = j.at("why");
  r.seconds = j.at("seconds"), r.ratio = j.at("ratio"), r.low = j.at("low"), r.high = j.at("high");
  if (j.contains("knobs"))
    for (const json& k : j.at("knobs"))
      r.knobs.push_back({k.at("name"), k.at("parameter"), k.at("values"), k.at("value"), k.at("usual")});
  return r;
}

}  // namespace

std::string Task::key() const {
  return json{algorithm, target, machine, threads, sizes, parameters, compiler, generator}.dump();
}

class Database::Statement {
 public:
  Statement(const Database& db, const char* sql) : db_(db) {
    if (sqlite3_prepare_v2(db.db_, sql, -1, &statement_, nullptr) != SQLITE_OK) db.fail("cannot be read");
  }
  ~Statement() { sqlite3_finalize(statement_); }
  Statement(const Statement&) = delete;
  Statement& operator=(const Statement&) = delete;
  Statement& bind(int place, const std::string& text) {
    if (sqlite3_bind_text(statement_, place, text.c_str(), static_cast<int>(text.size()), SQLITE_TRANSIENT) != SQLITE_OK)
      db_.fail("cannot be written");
    return *this;
  }
  Statement& bind(int place, double number) {
    if (sqlite3_bind_double(statement_, place, number) != SQLITE_OK) db_.fail("cannot be written");
    return *this;
  }
  bool step() {  // whether there is a row
    const int code = sqlite3_step(statement_);
    if (code != SQLITE_ROW && code != SQLITE_DONE) db_.fail("cannot be used");
    return code == SQLITE_ROW;
  }
  std::string text(int column) const {
    const auto* t = reinterpret_cast<const char*>(sqlite3_column_text(statement_, column));
    return t ? t : "";
  }
  int integer(int column) const { return sqlite3_column_int(statement_, column); }

 private:
  const Database& db_;
  sqlite3_stmt* statement_ = nullptr;
};

void Database::fail(const char* what) const {
  throw std::runtime_error(fmt::format("{}: {}: {}", path_, what, db_ ? sqlite3_errmsg(db_) : "no memory"));
}

void Database::run(const char* sql) const {
  if (sqlite3_exec(db_, sql, nullptr, nullptr, nullptr) != SQLITE_OK) fail("cannot be used");
}

Database::Database(const std::filesystem::path& path) : path_(path.string()), empty_(!std::filesystem::exists(path)) {
  if (empty_) return;  // a file is made by the first record
  try {
    open();
    // Looked at before anything is written, and at one moment: another tuner may just be making the tables.
    const auto number = [&](const char* sql) {
      Statement one(*this, sql);
      one.step();
      return one.integer(0);
    };
    run("BEGIN");
    const int tables = number("SELECT count(*) FROM sqlite_master"), ours = number("PRAGMA application_id"),
              of = number("PRAGMA user_version");
    run("COMMIT");
    empty_ = tables == 0 && ours == 0;
    if (empty_) return;
    if (ours != application)
      throw std::runtime_error(fmt::format("{}: expected a database of ashlar-tune, found one of another program", path_));
    if (of != version)
      throw std::runtime_error(fmt::format("{}: expected version {} of the database, found {}", path_, version, of));
    Statement whole(*this, "PRAGMA quick_check(1)");
    whole.step();
    if (whole.text(0) != "ok") throw std::runtime_error(fmt::format("{}: the database is damaged: {}", path_, whole.text(0)));
  } catch (...) {
    sqlite3_close_v2(db_);
    throw;
  }
}

void Database::open() {
  if (sqlite3_open_v2(path_.c_str(), &db_, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, nullptr) != SQLITE_OK)
    fail("cannot be opened");
  sqlite3_busy_timeout(db_, 60000);
}

void Database::create() {
  if (!db_) open();
  run("BEGIN IMMEDIATE");  // two that make it at once
  run("CREATE TABLE IF NOT EXISTS trials (task TEXT NOT NULL, candidate TEXT NOT NULL, status TEXT NOT NULL, seconds REAL NOT "
      "NULL, "
      "record TEXT NOT NULL, PRIMARY KEY (task, candidate))");
  run(fmt::format("PRAGMA application_id={}", application).c_str());
  run(fmt::format("PRAGMA user_version={}", version).c_str());
  run("COMMIT");
  empty_ = false;
}

Database::~Database() { sqlite3_close_v2(db_); }

void Database::add(const Record& r) {
  if (empty_) create();
  json record = as_json(r);
  record["knobs"] = knobs_json(r.knobs);
  Statement s(*this, "INSERT OR REPLACE INTO trials VALUES (?, ?, ?, ?, ?)");
  s.bind(1, r.task.key()).bind(2, r.candidate.key()).bind(3, r.status).bind(4, r.seconds).bind(5, record.dump());
  s.step();
}

namespace {
template <class Statement>
std::vector<Record> records(Statement& s) {
  std::vector<Record> all;
  while (s.step()) all.push_back(from_json(json::parse(s.text(0))));
  return all;
}
}  // namespace

std::optional<Record> Database::find(const Task& task, const Candidate& c) const {
  if (empty_) return std::nullopt;
  Statement s(*this, "SELECT record FROM trials WHERE task = ? AND candidate = ?");
  s.bind(1, task.key()).bind(2, c.key());
  const std::vector<Record> found = records(s);
  return found.empty() ? std::nullopt : std::optional(found[0]);
}

std::vector<Record> Database::all() const {
  if (empty_) return {};
  Statement s(*this, "SELECT record FROM trials ORDER BY rowid");
  return records(s);
}

std::vector<Record> Database::of(const Task& task) const {
  if (empty_) return {};
  Statement s(*this, "SELECT record FROM trials WHERE task = ? ORDER BY rowid");
  s.bind(1, task.key());
  return records(s);
}

std::vector<Record> Database::best() const {
  if (empty_) return {};
  // By the ratio to the usual candidate: seconds of different days are not compared.
  Statement s(
      *this,
      "SELECT record FROM (SELECT record, rowid AS place, row_number() OVER (PARTITION BY task ORDER BY "
      "json_extract(record, '$.ratio'), rowid) AS rank FROM trials WHERE status = 'measured') WHERE rank = 1 ORDER BY place");
  return records(s);
}

void write_lines(std::ostream& out, const std::vector<Record>& all) {
  for (const Record& r : all) out << as_json(r).dump() << "\n";
}

std::vector<Record> read_lines(std::istream& in, const std::string& name) {
  std::vector<Record> all;
  std::string line;
  for (int number = 1; std::getline(in, line); ++number) {
    if (line.empty()) continue;
    try {
      all.push_back(from_json(json::parse(line)));
    } catch (const json::exception& e) {
      throw std::runtime_error(fmt::format("{}:{}: expected a record of ashlar-tune: {}", name, number, e.what()));
    }
  }
  return all;
}

}  // namespace ashlar::tune
