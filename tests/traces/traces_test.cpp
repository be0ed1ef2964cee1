// The text of a trace, compiled, makes the same program by the same steps.
#include <doctest/doctest.h>

#include <bit>
#include <set>

#include <ashlar/schedule/cpp_text.h>

#include "cases.h"
#include "tests/golden.h"

namespace traces {
namespace {

using namespace ashlar;

template <class Map>
ir::Id key_of(const Map& map, ir::Id value) {
  for (const auto& [key, v] : map)
    if (v == value) return key;
  return 0;
}

// The handles of the language for what the text names.
Handles handles(const lang::Built& built, const schedule::CppText& text) {
  Handles h;
  for (const auto& p : text.parameters) {
    if (p.kind == schedule::CppText::Kind::tensor) {
      const ir::Id tensor = key_of(built.buffer_of, p.id);
      REQUIRE_MESSAGE(tensor != 0, p.name << " is no tensor of the algorithm");
      h.tensors.push_back(ashlar::detail::Access::tensor(tensor));
    } else if (p.kind == schedule::CppText::Kind::symbol) {
      h.exprs.push_back(ir::var(key_of(built.variable_of, p.id), p.name));
    } else {
      static_assert(sizeof(Intrinsic) == sizeof(p.intrinsic));  // a handle is the address of the description
      h.intrinsics.push_back(std::bit_cast<Intrinsic>(p.intrinsic));
    }
  }
  return h;
}

}  // namespace

TEST_CASE("what was printed and compiled schedules the algorithm as the original does") {
  const std::vector<Case> all = cases();
  REQUIRE(printed().size() == all.size());
  std::size_t steps = 0, replayed = 0;
  for (std::size_t k = 0; k < all.size(); ++k) {
    CAPTURE(all[k].name);
    CHECK(printed()[k].name == all[k].name);
    all[k].make([&](const lang::Built& built, const Schedule& original) {
      const auto text = schedule::cpp_text(original.algorithm(), original.scheduled().trace, original.target(), "f");
      Schedule again(built, original.target());
      printed()[k].apply(again, handles(built, text));
      CHECK(again.text() == original.text());
      CHECK(again.trace_hash() == original.trace_hash());
      REQUIRE(text.statements.size() == original.scheduled().trace.size());
      steps += text.statements.size();
      for (const std::string& s : text.statements) replayed += s.find("s.replay(") == 0;
    });
  }
  MESSAGE(all.size() << " schedules of " << steps << " steps, of which " << replayed << " have no call of the language");
  CHECK(replayed * 20 < steps);
}

TEST_CASE("the text of some, as a user reads it") {
  std::set<std::string> wanted = {"tiles",
                                  "peeled at both ends",
                                  "cut in three",
                                  "caches and layouts",
                                  "one definition, two places",
                                  "npu_matmul for x86-64-v3+npu"};
  std::string all;
  bool drawn = false;  // of those that the fuzzer drew the first, whichever seeds they have now
  for (const Case& c : cases())
    if (wanted.erase(c.name) || (!drawn && c.name.starts_with("fuzzed ") && (drawn = true)))
      c.make([&](const lang::Built&, const Schedule& s) { all += "// " + c.name + "\n" + s.to_cpp() + "\n"; });
  CHECK(wanted.empty());
  CHECK(drawn);
  CHECK(golden("traces/golden/texts.txt", all) == "");
}

TEST_CASE("every primitive has a form, and is among what is compiled") {
  std::set<std::string> seen, as_calls;
  for (const Case& c : cases())
    c.make([&](const lang::Built&, const Schedule& s) {
      const auto text = schedule::cpp_text(s.algorithm(), s.scheduled().trace, s.target(), "f");
      for (std::size_t k = 0; k < text.statements.size(); ++k) {
        seen.insert(s.scheduled().trace[k].primitive);
        if (!text.statements[k].empty() && text.statements[k].find("s.replay(") == std::string::npos)
          as_calls.insert(s.scheduled().trace[k].primitive);
      }
    });
  for (const std::string_view name : schedule::primitive_names()) {
    CAPTURE(name);
    CHECK_MESSAGE(seen.count(std::string(name)), "add a schedule with it to tests/traces/primitives.cpp");
    CHECK(as_calls.count(std::string(name)));
  }
}

TEST_CASE("the hash of a trace is of what was done, not of where") {
  cases().front().make([](const lang::Built& built, const Schedule& original) {
    std::vector<schedule::Step> steps = original.scheduled().trace;
    REQUIRE(!steps.empty());
    steps[0].place = "elsewhere.cpp:1";
    CHECK(schedule::trace_hash(steps) == original.trace_hash());
    steps.pop_back();
    CHECK(schedule::trace_hash(steps) != original.trace_hash());
    CHECK(Schedule(built, original.target()).trace_hash() != original.trace_hash());
  });
}

}  // namespace traces
