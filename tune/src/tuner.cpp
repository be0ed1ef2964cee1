// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tune/src/tuner.h"

#include <algorithm>
#include <chrono>
#include <fstream>
#include <future>
#include <set>
#include <stdexcept>

#include <stdlib.h>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "tune/src/searchers.h"

namespace ashlar::tune {

namespace fs = std::filesystem;

class Folder {  // that goes with what is in it
 public:
  Folder() {
    std::string name = (fs::temp_directory_path() / "ashlar-tune.XXXXXX").string();
    if (!::mkdtemp(name.data()))
      throw std::runtime_error(fmt::format("no folder can be made in {}", fs::temp_directory_path().string()));
    path = name;
  }
  ~Folder() {
    std::error_code ignored;
    fs::remove_all(path, ignored);
  }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  fs::path path;
};

using FolderPointer = std::shared_ptr<Folder>;

namespace {

constexpr double noisy = 1.3;  // an incumbent that takes this much longer than it did: the machine was busy
constexpr int repeats = 2;     // of a measurement on a busy machine
constexpr int tries = 64;      // of a searcher that proposes what was tried

}  // namespace

std::string machine_name() {
  std::ifstream in("/proc/cpuinfo");
  std::string line, name, family, model;
  while (std::getline(in, line)) {
    const auto value = [&](const char* key) {
      return line.starts_with(key) && line.find(": ") != std::string::npos ? line.substr(line.find(": ") + 2) : std::string();
    };
    if (name.empty()) name = value("model name");
    if (family.empty()) family = value("cpu family");
    if (model.empty() && line.starts_with("model\t")) model = value("model");
  }
  return name.empty() ? "unknown" : fmt::format("{} family {} model {}", name, family, model);
}

// The state of one run.
struct Tuner::Work {
  Work(const GeneratorTool& t, TuneOptions& o, Database& d) : tool(t), options(o), database(d) {}

  const GeneratorTool& tool;
  TuneOptions& options;
  Database& database;
  SearchSpace space;
  Result result;
  std::unique_ptr<Problem> problem;
  FolderPointer usual, incumbent;
  Record incumbent_record;
  double incumbent_seconds = 0;
  bool one_at_a_time = false;  // what the searcher says of itself
  std::vector<Trial> trials;
  std::set<std::string> seen;

  void begin();
  void go_on();
  std::optional<Candidate> propose(Searcher&);
  void repeat(const Candidate& asked, const Candidate& made);
  Record record_of(const Built&) const;
  void take(const Candidate& asked, Built, FolderPointer, const std::function<void(const Progress&, const Record&)>&);
  void finish();
  void note(const Record&, const Candidate& asked);
  fs::path library(const FolderPointer& f) const { return f->path / "candidate.so"; }
};

void Tuner::Work::begin() {
  space.usual = tool.describe({}), space.seed = options.seed;
  const std::vector<std::string> tunable = tool.parameters_of_schedule();
  space.tuned = options.parameters.value_or(tunable);
  for (const std::string& name : space.tuned)
    if (std::find(tunable.begin(), tunable.end(), name) == tunable.end())
      throw std::runtime_error(fmt::format("--parameters {}: expected parameters that change the schedule alone: {}", name,
                                           fmt::join(tunable, ", ")));
  if (std::none_of(space.usual.knobs.begin(), space.usual.knobs.end(), [&](const Knob& k) { return is_tuned(space, k); }))
    throw std::runtime_error("there is nothing to tune: the schedule makes no choices, and no parameter changes it alone");
  const ToolOptions& t = tool.options();
  result.task = {space.usual.algorithm, t.generator, space.usual.target, machine_name(), options.measure.threads,
                 options.problem.sizes, {},          ASHLAR_VERSION};
  for (const auto& [name, value] : t.parameters) result.task.parameters[name] = value;

  Folder reference;
  const Built plain = tool.build_reference(reference.path);
  if (!plain.why.empty()) throw std::runtime_error(plain.why);
  problem = std::make_unique<Problem>(load(plain.library), options.problem);
  if (const std::string why = compute_reference(*problem, plain.library, options.measure); !why.empty())
    throw std::runtime_error(fmt::format("the program without a schedule: {}", why));

  usual = std::make_shared<Folder>();
  const Built built = tool.build({}, usual->path);
  if (!built.why.empty()) throw std::runtime_error(fmt::format("the usual schedule: {}", built.why));
  const Outcome outcome = measure(*problem, built.library, {}, options.measure);
  if (outcome.status != Outcome::Status::measured)
    throw std::runtime_error(fmt::format("the usual schedule is {}: {}", name_of(outcome.status), outcome.why));
  Record r = record_of(built);
  r.status = "measured", r.seconds = outcome.timing.seconds;
  incumbent = usual, incumbent_record = r, incumbent_seconds = outcome.timing.seconds;
  result.progress.usual_seconds = outcome.timing.seconds;
  database.add(r);
  note(r, {});
}

// What the database knows of this task, in times of this run.
void Tuner::Work::go_on() {
  const Record* best = nullptr;
  const std::vector<Record> known = database.of(result.task);
  for (const Record& r : known) {
    if (!seen.insert(r.candidate.key()).second) continue;
    Trial t{r.candidate,
            {space.usual.algorithm, space.usual.target, r.knobs},
            r.status == "measured",
            r.ratio * result.progress.usual_seconds};
    if (r.status == "measured")
      ++result.progress.measured;
    else
      ++(r.status == "refused" ? result.progress.refused : result.progress.failed);
    if (t.good && r.ratio < 1 && (!best || r.ratio < best->ratio)) best = &r;
    if (!t.good || !r.knobs.empty()) trials.push_back(std::move(t));
  }
  if (!best) return;
  auto folder = std::make_shared<Folder>();
  if (!tool.build(best->candidate, folder->path).why.empty()) return;  // the schedule has changed since
  incumbent = folder, incumbent_record = *best, incumbent_seconds = 0;
  result.progress.best_ratio = best->ratio;
}

Record Tuner::Work::record_of(const Built& built) const {
  Record r;
  r.task = result.task, r.candidate = spelled_out(built.made, space.tuned), r.knobs = built.made.knobs;
  return r;
}

void Tuner::Work::note(const Record& r, const Candidate& asked) {
  seen.insert(r.candidate.key()), seen.insert(asked.key());
  trials.push_back({asked,
                    {space.usual.algorithm, space.usual.target, r.knobs},
                    r.status == "measured",
                    r.ratio * result.progress.usual_seconds});
  if (r.status == "measured")
    ++result.progress.measured;
  else
    ++(r.status == "refused" ? result.progress.refused : result.progress.failed);
}

// For a searcher that waits for a candidate: the trial of it that there is already.
void Tuner::Work::repeat(const Candidate& asked, const Candidate& made) {
  const auto same = [&](const Trial& t) { return t.asked == asked || spelled_out(t.made, space.tuned) == made; };
  const auto known = std::find_if(trials.begin(), trials.end(), same);
  Trial again = known == trials.end() ? Trial{} : *known;
  again.asked = asked;
  trials.push_back(std::move(again));
}

std::optional<Candidate> Tuner::Work::propose(Searcher& searcher) {
  for (int k = 0; k < tries || searcher.one_at_a_time(); ++k) {
    std::optional<Candidate> c = searcher.next(trials);
    if (!c || c->seed || !seen.count(c->key())) return c;  // what is drawn is known only when it was built
    if (!searcher.one_at_a_time()) continue;
    repeat(*c, *c);
  }
  return std::nullopt;
}

void Tuner::Work::take(const Candidate& asked, Built built, FolderPointer folder,
                       const std::function<void(const Progress&, const Record&)>& told) {
  result.progress.cpu_seconds += built.cpu_seconds;
  Record r = record_of(built);
  if (built.made.knobs.empty()) r.candidate = asked;  // nothing is known of its choices
  if (seen.count(r.candidate.key())) {
    if (one_at_a_time) repeat(asked, r.candidate);
    return;
  }
  if (!built.why.empty()) {
    r.status = built.refused ? "refused" : "failed", r.why = built.why;
  } else if (built.made.algorithm != space.usual.algorithm) {
    r.status = "refused", r.why = "the parameters change what is computed";
  } else {
    Outcome o;
    for (int k = 0; k <= repeats; ++k) {
      o = measure(*problem, built.library, library(incumbent), options.measure);
      if (o.status != Outcome::Status::measured || incumbent_seconds == 0 || o.timing.incumbent < noisy * incumbent_seconds)
        break;
    }
    r.status = name_of(o.status), r.why = o.why;
    if (o.status == Outcome::Status::measured) {
      const double base = incumbent_record.ratio;
      r.ratio = base * o.timing.ratio, r.low = base * o.timing.low, r.high = base * o.timing.high;
      r.seconds = r.ratio * result.progress.usual_seconds;
      incumbent_seconds = incumbent_seconds == 0 ? o.timing.incumbent : std::min(incumbent_seconds, o.timing.incumbent);
      if (o.timing.high < 1) {
        incumbent = std::move(folder), incumbent_record = r, incumbent_seconds = o.timing.seconds;
        result.progress.best_ratio = r.ratio;
      }
    }
  }
  database.add(r);
  note(r, asked);
  if (told) told(result.progress, r);
}

// Errors of ratios add up along a chain of incumbents, so the last one is measured beside the usual candidate itself, for all
// of the time. One that is wrong then is not kept as a good one.
void Tuner::Work::finish() {
  result.best = incumbent_record;
  if (incumbent == usual) return;
  MeasureOptions longer = options.measure;
  longer.seconds *= 4, longer.limit += 4 * options.measure.seconds, longer.ends_early = false;
  const Outcome o = measure(*problem, library(incumbent), library(usual), longer);
  if (o.status != Outcome::Status::measured) {
    result.best.status = name_of(o.status), result.best.why = o.why;
    database.add(result.best);
    throw std::runtime_error(fmt::format("the best candidate ({}) is {} when it is measured again: {}; search again without it",
                                         result.best.candidate.key(), name_of(o.status), o.why));
  }
  result.best.ratio = o.timing.ratio, result.best.low = o.timing.low, result.best.high = o.timing.high;
  result.best.seconds = o.timing.seconds;
  result.progress.best_ratio = o.timing.ratio;
  database.add(result.best);
}

Tuner::Tuner(const GeneratorTool& tool, TuneOptions options, Database& database)
    : tool_(tool), options_(std::move(options)), database_(database) {}

Result Tuner::run() {
  make_searcher(options_.searcher, {});  // refuses its name before there is work
  Work work(tool_, options_, database_);
  work.begin();
  const std::unique_ptr<Searcher> searcher = make_searcher(options_.searcher, work.space);
  work.one_at_a_time = searcher->one_at_a_time();
  work.go_on();
  const auto begin = std::chrono::steady_clock::now();
  const auto ended = [&] {
    const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    return (stop && *stop) || work.result.progress.measured > options_.trials || seconds > options_.seconds;
  };
  int idle = 0;  // batches in a row in which nothing new was measured
  while (!ended() && (idle < tries || work.one_at_a_time)) {
    struct Job {
      Candidate candidate;
      FolderPointer folder;
      std::future<Built> built;
    };
    std::vector<Job> jobs;
    const int wanted = searcher->one_at_a_time() ? 1 : options_.jobs;
    for (int k = 0; k < wanted; ++k) {
      std::optional<Candidate> c = work.propose(*searcher);
      if (!c) break;
      Job& job = jobs.emplace_back(Job{std::move(*c), std::make_shared<Folder>(), {}});
      job.built = std::async(std::launch::async, [this, candidate = job.candidate, folder = job.folder] {
        return tool_.build(candidate, folder->path);
      });
    }
    if (jobs.empty()) {
      work.result.ended_early = true;
      break;
    }
    for (Job& job : jobs) job.built.wait();  // nothing compiles during a measurement
    const int before = work.result.progress.measured;
    for (Job& job : jobs)
      if (!ended()) work.take(job.candidate, job.built.get(), job.folder, on_record);
    idle = work.result.progress.measured == before ? idle + 1 : 0;
  }
  work.result.ended_early = work.result.ended_early || idle >= tries;
  work.finish();
  return work.result;
}

}  // namespace ashlar::tune
