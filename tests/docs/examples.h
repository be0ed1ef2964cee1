#pragma once
// An example of every primitive: what docs/primitives.md shows, made by running it, and cases for tests/traces.
//
//   {"split", "split(loop, factor)", "What it is for.", "When it is legal.",
//    on<Plus>([](Plus& p, Schedule& s, Show& show) {
//      auto [i, j] = s[p.y].spatial<2>();       // steps that lead there
//      show.before();
//      s[p.y].split(j, 8);                      // the step
//      show.after();
//      REFUSED(s[p.y].split(i, 8, Tail::exact));
//    })}
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include <ashlar/lang/build_program.h>
#include <ashlar/schedule/schedule.h>

namespace primitives_page {

struct Refused {
  std::string call, said;  // C++, and what is printed
  std::string program;     // the definitions it is about
};

// What runs of examples leave behind: programs before and after, steps as C++, refusals.
class Show {
 public:
  using Use = std::function<void(const ashlar::lang::Built&, const ashlar::Schedule&)>;
  explicit Show(Use with_scheduled = {}) : use_(std::move(with_scheduled)) {}

  void about(const ashlar::lang::Built&, const ashlar::Schedule&);
  void before();
  void after();
  void refused(const char* call, const std::optional<ashlar::Refusal>&);
  const ashlar::Schedule& schedule() const { return *schedule_; }

  std::string text_before, steps, text_after;
  std::vector<std::string> primitives;  // of the steps between before() and after()
  std::vector<Refused> refusals;

 private:
  Use use_;
  const ashlar::lang::Built* built_ = nullptr;
  const ashlar::Schedule* schedule_ = nullptr;
  std::size_t made_ = 0;
};

struct Example {
  const char *primitive, *call, *purpose, *legality;
  std::function<void(Show&)> run;
  std::function<void(Show&)> refused_elsewhere = {};  // refusals on another program
  std::string title = {};                             // of its section; empty: what the user types
};
struct Group {
  const char *title, *about;
  std::vector<Example> examples;
};

Group loops();
Group kinds();
Group placement();
Group storage();
Group reductions();
Group devices();
Group promises();
Group choices();
std::vector<Group> groups();  // all of them, in the order of the page

// An example on a program with members `built` and `s`.
template <class Program, class Steps>
std::function<void(Show&)> on(Steps steps) {
  return [steps](Show& show) {
    Program p;
    show.about(p.built, p.s);
    steps(p, p.s, show);
  };
}

// The last of these statements, as they are written, is refused; `s` is the schedule, `show` what notes it.
#define REFUSED(...) show.refused(#__VA_ARGS__, s.attempt([&] { __VA_ARGS__; }))

}  // namespace primitives_page
