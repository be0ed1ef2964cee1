// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// run: everything of a pack on the machine at hand, so that neither a case that hangs nor one that loses the device costs the
// rest.
#include <dirent.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <sstream>
#include <stdexcept>
#include <thread>

#include "bench/gpu/ahead/supervise.h"

namespace {

using namespace ahead;

const char kUsage[] =
    "usage: run --out FOLDER [--seconds S] [--limit S] [--jobs N] [--only STEP]... [--match TEXT]...\n"
    "\n"
    "Runs what lies beside it. FOLDER/lines.jsonl gets a line of JSON for each result as soon as it is there, and\n"
    "FOLDER/summary.txt the counts. Steps, each at most as long as is left of --seconds (600):\n"
    "  versions    of the driver, the toolkit and this system\n"
    "  ceilings    what this device reaches: copies, tensor cores, multiply-adds\n"
    "  TARGET      cuda-sm_90a, cuda-sm_80, cuda-tile-sm_90, vulkan: every case once, in a process of its own, against the\n"
    "              hash or the bound that was made of the interpreter's result\n"
    "  sanitizer   a few cases of CUDA under compute-sanitizer, where that is installed\n"
    "  pytorch     kernels beside PyTorch's (cuBLAS, cuDNN, SDPA), where python3 and PyTorch are installed; those of tiles\n"
    "              beside cuTile Python's and Triton's too, where those are\n"
    "--limit: seconds of silence after which a case counts as hung (25). --match: cases whose names contain TEXT.\n"
    "Exit code 1 if anything differs, fails, hangs or crashes; 3 if no device can be used.\n";

struct Options {
  std::string out;
  double seconds = 600, limit = 25;
  int jobs = static_cast<int>(std::max(1u, std::thread::hardware_concurrency()));
  std::vector<std::string> only, match;
  bool wants(const std::string& step) const { return only.empty() || std::find(only.begin(), only.end(), step) != only.end(); }
  bool matches(const std::string& name) const {
    return match.empty() ||
           std::any_of(match.begin(), match.end(), [&](const auto& m) { return name.find(m) != std::string::npos; });
  }
};

double number(const std::string& word, const std::string& text) {
  char* end = nullptr;
  const double v = std::strtod(text.c_str(), &end);
  if (end == text.c_str() || *end != '\0' || !(v > 0))
    throw std::runtime_error(word + " " + text + ", expected a number above 0");
  return v;
}

Options options(int argc, char** argv) {
  Options o;
  for (int n = 1; n < argc; ++n) {
    const std::string word = argv[n];
    if (n + 1 == argc) throw std::runtime_error(word + ": expected a value behind it, or no such option\n" + kUsage);
    const std::string v = argv[++n];
    if (word == "--out")
      o.out = v;
    else if (word == "--seconds")
      o.seconds = number(word, v);
    else if (word == "--limit")
      o.limit = number(word, v);
    else if (word == "--jobs")
      o.jobs = static_cast<int>(std::max(1.0, number(word, v)));
    else if (word == "--only")
      o.only.push_back(v);
    else if (word == "--match")
      o.match.push_back(v);
    else
      throw std::runtime_error(word + ": no such option\n" + kUsage);
  }
  if (o.out.empty()) throw std::runtime_error(std::string("--out is missing\n") + kUsage);
  return o;
}

// Of the programs cases-TARGET: the newest chip first, then tiles, Vulkan last.
std::vector<std::string> targets(const std::string& bin) {
  std::vector<std::string> all;
  DIR* d = opendir(bin.c_str());
  if (!d) throw std::runtime_error(bin + " cannot be read: " + std::strerror(errno));
  while (const dirent* e = readdir(d))
    if (std::strncmp(e->d_name, "cases-", 6) == 0) all.emplace_back(e->d_name + 6);
  closedir(d);
  std::sort(all.begin(), all.end(), [](const auto& a, const auto& b) {
    const auto rank = [](const std::string& t) { return t.rfind("cuda-sm", 0) == 0 ? 0 : t.rfind("cuda", 0) == 0 ? 1 : 2; };
    return rank(a) != rank(b) ? rank(a) < rank(b) : a > b;
  });
  return all;
}

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> all;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) all.push_back(line);
  return all;
}

class Plan {
 public:
  Plan(Options o, std::string root)
      : o_(std::move(o)), root_(std::move(root)), log_(o_.out + "/lines.jsonl"), end_(now() + o_.seconds) {}

  int run() {
    if (o_.wants("versions")) versions();
    if (o_.wants("ceilings")) ceilings();
    bool any = false;
    for (const std::string& t : targets(root_ + "/bin"))
      if (o_.wants(t)) any = cases(t) || any;
    if (o_.wants("sanitizer")) sanitizer();
    if (o_.wants("pytorch")) pytorch();
    std::string text;
    for (const std::string& s : steps_) text += log_.summary(s) + "\n";
    std::FILE* f = std::fopen((o_.out + "/summary.txt").c_str(), "w");
    if (!f || std::fputs(text.c_str(), f) < 0 || std::fclose(f) != 0)
      throw std::runtime_error(o_.out + "/summary.txt cannot be written");
    std::printf("\n%s", text.c_str());
    return log_.bad() ? 1 : any ? 0 : 3;
  }

 private:
  std::string program(const std::string& target) const { return root_ + "/bin/cases-" + target; }
  Limits limits(int jobs) const { return {jobs, o_.limit, end_}; }

  void step(const std::string& name, const std::deque<Job>& jobs, int at_once) {
    const double begun = now();
    steps_.push_back(name);
    supervise(name, jobs, limits(at_once), log_);
    char took[40];
    std::snprintf(took, sizeof took, "; %.0f s", now() - begun);
    log_.note(log_.summary(name) + took);
  }

  void versions() {
    for (const std::vector<std::string>& command : std::vector<std::vector<std::string>>{
             {"uname", "-srm"},
             {"nvidia-smi", "--query-gpu=name,driver_version,clocks.max.sm,clocks.max.mem,power.limit,memory.total",
              "--format=csv,noheader"},
             {"nvcc", "--version"},
             {"compute-sanitizer", "--version"}}) {
      std::string said;
      const int code = asked(command, 10, &said);
      const auto lines = lines_of(said);
      log_.note(command[0] + ": " + (code == 127 ? "not here" : lines.empty() ? "says nothing" : lines.back()));
    }
  }

  void ceilings() {
    std::string names;
    const std::string p = root_ + "/bin/ceilings";
    if (const int code = asked({p, "--list"}, 10, &names); code != 0) return log_.note("ceilings: " + names);
    std::string said;
    if (const int code = asked({p, "--probe"}, 30, &said); code != 0)
      return log_.note("ceilings: " + (code == -1 ? "the probe hangs" : said));
    std::deque<Job> jobs;
    for (const std::string& n : lines_of(names))
      if (o_.matches(n) || o_.match.empty()) jobs.push_back({{n}, {p}});
    step("ceilings", jobs, 1);
  }

  // False: no device can be used.
  bool cases(const std::string& target) {
    std::string said, names;
    const int code = asked({program(target), "--probe"}, 30, &said);
    log_.note(target + ": " + (code == -1 ? "the probe hangs; " + said : said));
    if (code != 0) return false;
    if (asked({program(target), "--list"}, 30, &names) != 0) throw std::runtime_error(program(target) + " --list: " + names);
    std::deque<Job> jobs;
    for (const std::string& n : lines_of(names))
      if (o_.matches(n)) jobs.push_back({{n}, {program(target)}});
    step(target, jobs, o_.jobs);
    return true;
  }

  void sanitizer() {
    std::string said;
    if (asked({"compute-sanitizer", "--version"}, 20, &said) != 0) return log_.note("sanitizer: compute-sanitizer is not here");
    for (const std::string& t : targets(root_ + "/bin")) {
      std::string probe;
      if (t.rfind("cuda", 0) != 0 || asked({program(t), "--probe"}, 30, &probe) != 0) continue;
      std::string names;
      if (asked({program(t), "--list"}, 30, &names) != 0) continue;
      for (const char* tool : {"memcheck", "racecheck", "synccheck", "initcheck"}) {
        std::deque<Job> jobs;  // what it finds it prints itself, and makes the exit code 9
        for (const std::string& n : lines_of(names))
          if (o_.matches(n) && (n.rfind("library: ", 0) != 0 || n == "library: matmul" || n == "library: attention") &&
              n.rfind("operations on", 0) != 0)
            jobs.push_back({{n}, {"sh", "-c", kSanitized, "sh", tool, program(t)}});
        step("sanitizer, " + std::string(tool), jobs, std::max(1, o_.jobs / 2));
      }
      return;  // the newest target that this device has
    }
  }

  // The case's own line is held back until the tool has spoken.
  static constexpr char kSanitized[] =
      "out=$(compute-sanitizer --tool \"$1\" --error-exitcode 9 \"$2\" \"$3\" 2>&1); code=$?; "
      "if [ $code = 9 ]; then printf '%s\\n' \"$out\" | grep -v '^{' >&2; exit 9; fi; printf '%s\\n' \"$out\"; exit $code";

  void pytorch() {
    std::string said;
    const std::string script = root_ + "/beside_torch.py", library = root_ + "/lib/libashlar_gpu.so";
    if (access(library.c_str(), R_OK) != 0) return log_.note("pytorch: this pack has no kernels for it");
    const int code = asked({"python3", script, library, "--list"}, 120, &said);
    if (code != 0) return log_.note("pytorch: " + (code == 127 ? "python3 is not here" : said));
    Job job{{}, {"python3", "-u", script, library}};  // one process: reading PyTorch from disk takes seconds
    for (const std::string& n : lines_of(said))
      if (o_.matches(n)) job.cases.push_back(n);
    if (!job.cases.empty()) step("pytorch", {job}, 1);
  }

  Options o_;
  std::string root_;
  Log log_;
  double end_;
  std::vector<std::string> steps_;
};

std::string folder_of(const std::string& path) {
  const auto at = path.rfind('/');
  return at == std::string::npos ? "." : path.substr(0, at);
}

}  // namespace

int main(int argc, char** argv) {
  try {
    if (argc == 2 && std::strcmp(argv[1], "--help") == 0) return std::fputs(kUsage, stdout) < 0;
    Options o = options(argc, argv);
    if (mkdir(o.out.c_str(), 0777) != 0 && errno != EEXIST)
      throw std::runtime_error(o.out + " cannot be made: " + std::strerror(errno));
    return Plan(std::move(o), folder_of(argv[0])).run();
  } catch (const std::exception& e) {
    std::fprintf(stderr, "run: %s\n", e.what());
    return 2;
  }
}
