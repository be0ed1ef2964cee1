#include "bench/gpu/check.h"

#include <algorithm>
#include <chrono>
#include <fstream>
#include <optional>
#include <stdexcept>

#include <ashlar/codegen/jit.h>
#include <ashlar/codegen/ptx.h>
#include <ashlar/ir/refusal.h>

#include "bench/gpu/kernels.h"
#include "bench/gpu/lines.h"
#include "bench/gpu/rounding.h"
#include "tests/generators/op_arguments.h"

namespace gpu_bench {

using namespace ashlar;
using interp::Arguments;

namespace {

class Clock {
 public:
  double seconds() {  // since the last time
    const auto now = std::chrono::steady_clock::now();
    const double s = std::chrono::duration<double>(now - last_).count();
    last_ = now;
    return s;
  }

 private:
  std::chrono::steady_clock::time_point last_ = std::chrono::steady_clock::now();
};

constexpr double kLong = 1;  // seconds

struct Outcome {
  std::string result = "passed", text;
  double make = 0, compile = 0, interpret = 0, first_call = 0, calls = 0;
  int runs = 0, left_out = 0;
  bool rounds = false;  // sums by instructions that round freely
  int rounded = 0;      // arguments that such sums left otherwise, within their bound

  void wrong(const char* what, const std::string& why) { result = what, text = why; }
};

std::string shapes(const Arguments& all) {
  std::string s;
  for (const interp::Actual& a : all) {
    if (a.is_scalar) continue;
    s += s.empty() ? "[" : " [";
    for (std::size_t d = 0; d < a.array.shape.size(); ++d) s += (d > 0 ? "," : "") + std::to_string(a.array.shape[d]);
    s += "]";
  }
  return s;
}

// The first argument that is not what the interpreter left, to the bit or within the bound of the case or of sums that are
// rounded freely; and what within bounds for sums in another order it still is.
void compare(const Tensors& tensors, const Prepared& p, const Arguments& given, const Arguments& expected, Outcome& o) {
  const double relative = p.relative;
  std::optional<FreeSums> free;
  for (std::size_t n = 0; n < given.size(); ++n) {
    if (given[n].is_scalar) continue;
    interp::Array found = given[n].array;
    const interp::Array& meant = expected[n].array;
    const std::string where = "argument " + std::to_string(n) + " of " + shapes(given) + ": ";
    const std::string outside = tensors.read(n, found);
    if (!outside.empty()) return o.wrong("differs", where + outside);
    std::string d = relative == 0 ? interp::difference(found, meant) : interp::difference(found, meant, relative, relative);
    if (!d.empty() && relative == 0 && o.rounds && !p.whole) {
      if (!free) free.emplace(p.kernel, given);
      d = free->beyond(n, found, meant);
      o.rounded += d.empty();
    }
    if (d.empty()) continue;
    const double bound = op_tests::bound_of(meant.type);
    const bool close = relative == 0 && bound > 0 && interp::difference(found, meant, bound, bound).empty();
    return o.wrong(close ? "close" : "differs", where + d);
  }
}

void run_case(const Device* device, const std::string& target, const Case& c, Outcome& o) {
  Clock clock;
  const Prepared p = c.prepare();
  o.make = clock.seconds();
  o.rounds = rounds_freely(p.kernel);
  const codegen::Compiled f = codegen::compile(p.kernel, Target::parse(target));
  o.compile = clock.seconds();
  for (const Arguments& given : p.data) {
    // no memory is given out of 0 bytes, and nothing is computed
    if (std::any_of(given.begin(), given.end(), [](const interp::Actual& a) { return !a.is_scalar && a.array.bytes.empty(); }))
      continue;
    if (p.growing && o.interpret > kLong) {
      ++o.left_out;
      continue;
    }
    Line("stage", "interpreting " + shapes(given)).print();
    clock.seconds();
    Arguments expected = given;
    p.expect(expected);
    o.interpret += clock.seconds();
    ++o.runs;
    if (!device) continue;
    Line("stage", "running " + shapes(given)).print();
    const Tensors tensors(*device, given);
    clock.seconds();
    const int code = f.call(tensors.list());
    (o.runs == 1 ? o.first_call : o.calls) += clock.seconds();
    if (code != ASHLAR_OK) return o.wrong("error", shapes(given) + ": " + last_sentence());
    compare(tensors, p, given, expected, o);
    if (o.result != "passed") return;
  }
}

Outcome outcome(const Device* device, const std::string& target, const Case& c) {
  Outcome o;
  try {
    run_case(device, target, c, o);
  } catch (const RefusalError& e) { o.wrong("refused", e.what()); } catch (const std::exception& e) {
    o.wrong("error", e.what());
  }
  return o;
}

}  // namespace

Checked check(const Device* device, const std::string& target, const std::vector<Case>& all) {
  bool bad = false;
  for (const Case& c : all) {
    Line("begin", c.name).print();
    Outcome o = outcome(device, target, c);
    const bool lost = o.result == "error" && device && device->lost();
    Line line("case", c.name);
    line.text("result", device || o.result != "passed" ? o.result : "interpreted").number("runs", o.runs);
    if (!o.text.empty()) line.text("text", o.text);
    line.number("make_s", o.make).number("compile_s", o.compile).number("interpret_s", o.interpret);
    if (o.rounds) line.number("sums_rounded_freely", o.rounded);
    if (o.left_out > 0) line.number("shapes_left_out", o.left_out);
    if (device) line.number("first_call_s", o.first_call).number("calls_s", o.calls);
    line.print();
    if (lost) return Checked::lost;
    bad = bad || o.result == "differs" || o.result == "error";
  }
  return bad ? Checked::bad : Checked::well;
}

std::vector<Case> chosen(std::vector<Case> all, const std::vector<std::string>& names) {
  if (names.empty()) return all;
  std::vector<Case> some;
  for (const std::string& name : names) {
    const auto at = std::find_if(all.begin(), all.end(), [&](const Case& c) { return c.name == name; });
    if (at == all.end()) throw std::runtime_error("no case \"" + name + "\": --list names them");
    some.push_back(*at);
  }
  return some;
}

void write_ptx(const std::string& folder, const std::string& target, const std::vector<Case>& all) {
  for (std::size_t n = 0; n < all.size(); ++n) {
    try {
      const Prepared p = all[n].prepare();
      const std::string path = folder + "/" + std::to_string(n) + ".ptx";
      std::ofstream out(path, std::ios::binary);
      out << "// " << all[n].name << "\n" << codegen::ptx::translate(p.kernel, Target::parse(target)).text;
      if (!out.flush()) throw std::runtime_error(path + " cannot be written");
      Line("case", all[n].name).text("file", path).print();
    } catch (const RefusalError& e) { Line("case", all[n].name).text("refused", e.what()).print(); }
  }
}

}  // namespace gpu_bench
