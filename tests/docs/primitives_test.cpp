// docs/primitives.md is what the examples give; and there is one for every primitive.
#include <doctest/doctest.h>

#include <algorithm>
#include <cctype>
#include <regex>
#include <set>
#include <sstream>

#include <ashlar/schedule/step.h>

#include "examples.h"
#include "tests/golden.h"

namespace primitives_page {
namespace {

// A program as it is printed: the lines of its declarations and definitions, and the loop tree.
struct Text {
  std::vector<std::string> head, tree;
  explicit Text(const std::string& program) {
    std::istringstream lines(program);
    std::string line;
    std::getline(lines, line);  // "program matmul"
    while (std::getline(lines, line)) (tree.empty() && line.starts_with("  ") ? head : tree).push_back(line);
  }
};

// Says no more than a name and a shape.
bool plain(const std::string& line) {
  static const std::regex declaration(R"(  (symbol \w+|(input|output) \w+: \w+\[[^\]]*\]))");
  return std::regex_match(line, declaration);
}

// What the page shows of the head: what is not plain, and not in the other one already.
std::string head(const Text& text, const Text* known = nullptr) {
  std::string found;
  for (const std::string& line : text.head)
    if (!plain(line) && (!known || std::count(known->head.begin(), known->head.end(), line) == 0))
      found += line.substr(2) + "\n";
  return found;
}

std::string tree(const Text& text) {
  std::string found;
  for (const std::string& line : text.tree) found += line + "\n";
  return found;
}

std::string block(const char* language, const std::string& text) {
  return std::string("```") + language + "\n" + text + (text.ends_with('\n') ? "```\n" : "\n```\n");
}

std::string anchor(const std::string& title) {
  std::string a;
  for (const char c : title) a += c == ' ' ? '-' : static_cast<char>(std::tolower(c));
  return a;
}

// What a user types: "store_in" of "store_in(scope)", "clone" of "s.clone(stage, {readers})".
std::string typed(const Example& e) {
  std::string call = e.call;
  if (call.starts_with("s.")) call.erase(0, 2);
  return call.substr(0, call.find_first_of("(<"));
}

std::string section(const Example& e, const std::string& title) {
  Show show, elsewhere;
  e.run(show);
  if (e.refused_elsewhere) e.refused_elsewhere(elsewhere);
  REQUIRE_MESSAGE(std::count(show.primitives.begin(), show.primitives.end(), e.primitive) > 0,
                  e.primitive << " is not among the steps of its example");
  REQUIRE_MESSAGE(show.refusals.size() + elsewhere.refusals.size() > 0, e.primitive << ": no refusal is shown");
  const Text before(show.text_before), after(show.text_after);
  CHECK_MESSAGE(show.text_before != show.text_after, e.primitive << ": the step does not show");
  const std::string in_traces = typed(e) == e.primitive ? "" : std::string(" In traces it is `") + e.primitive + "`.";
  std::string text = "### " + title + "\n\n`" + e.call + "`: " + e.purpose + in_traces + "\n\n*Legal:* " + e.legality + "\n\n" +
                     block("", head(before) + tree(before)) + "\n" + block("cpp", show.steps) + "\n" +
                     block("", head(after, &before) + tree(after));
  for (const Show* from : {&show, &elsewhere})
    for (const Refused& r : from->refusals) {
      CHECK_MESSAGE(!r.said.empty(), e.primitive << ": not refused: " << r.call);
      const std::string program = head(Text(r.program));
      text += "\nRefused";
      text += from == &show || program == head(before) ? ":\n" : ", for the program\n\n" + block("", program);
      text += "\n" + block("cpp", r.call) + "\n" + block("", r.said);
    }
  return text;
}

}  // namespace

TEST_CASE("the page is what the examples give") {
  std::string page =
      "# The primitives\n\n"
      "Each section shows one step of a schedule on the smallest program that needs it: what the step is for, when it is "
      "legal, "
      "the program before, the call, the program afterwards, and calls that are refused. Tests run the steps and print this "
      "page "
      "(`tests/docs`). Declarations that say no more than a name and a shape are left out, and the program afterwards shows "
      "only "
      "new ones. The line numbers in refusals are made up. [schedules.md](schedules.md) explains how steps work together.\n\n";
  std::string sections;
  for (const Group& g : groups()) {
    page += "**" + std::string(g.title) + "**:";
    sections += "\n## " + std::string(g.title) + "\n\n" + g.about + "\n";
    for (std::size_t k = 0; k < g.examples.size(); ++k) {
      const Example& e = g.examples[k];
      const std::string title = e.title.empty() ? typed(e) : e.title;
      CAPTURE(title);
      page += (k ? ", [" : " [") + title + "](#" + anchor(title) + ")";
      sections += "\n" + section(e, title);
    }
    page += "\n\n";
  }
  page.pop_back();
  CHECK(golden("../docs/primitives.md", page + sections) == "");
}

TEST_CASE("every primitive has a section, and one only") {
  std::multiset<std::string> shown;
  for (const Group& g : groups())
    for (const Example& e : g.examples) shown.insert(e.primitive);
  for (const std::string_view name : ashlar::schedule::primitive_names()) {
    CAPTURE(name);
    CHECK(shown.count(std::string(name)) == 1);
  }
  CHECK(shown.size() == ashlar::schedule::primitive_names().size());
}

}  // namespace primitives_page
