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
  for (const char c : title) a += static_cast<char>(std::tolower(c));
  return a;
}

std::string section(const Example& e) {
  Show show, elsewhere;
  e.run(show);
  if (e.refused_elsewhere) e.refused_elsewhere(elsewhere);
  REQUIRE_MESSAGE(std::count(show.primitives.begin(), show.primitives.end(), e.primitive) > 0,
                  e.primitive << " is not among the steps of its example");
  REQUIRE_MESSAGE(show.refusals.size() + elsewhere.refusals.size() > 0, e.primitive << ": no refusal is shown");
  const Text before(show.text_before), after(show.text_after);
  CHECK_MESSAGE(show.text_before != show.text_after, e.primitive << ": the step does not show");
  std::string text = std::string("### ") + e.primitive + "\n\n`" + e.call + "`: " + e.purpose + "\n\n*Legal:* " + e.legality +
                     "\n\n" + block("", head(before) + tree(before)) + "\n" + block("cpp", show.steps) + "\n" +
                     block("", head(after, &before) + tree(after));
  for (const Show* from : {&show, &elsewhere})
    for (const Refused& r : from->refusals) {
      CHECK_MESSAGE(!r.said.empty(), e.primitive << ": not refused: " << r.call);
      const std::string program = head(Text(r.program));
      text += "\nRefused";
      text += from == &show || program == head(before) ? ":\n" : ", of\n\n" + block("", program);
      text += "\n" + block("cpp", r.call) + "\n" + block("", r.said);
    }
  return text;
}

}  // namespace

TEST_CASE("the page is what the examples give") {
  std::string page =
      "# The primitives\n\n"
      "Every step of a schedule on a program as small as can be: what it is for, when it is legal, the program before, the "
      "call, "
      "the program afterwards, and calls that are refused. All of it was printed by running the steps (`tests/docs`). Of what "
      "stands above the loops only those lines are shown that say more than a name and a shape, afterwards only new ones; the "
      "lines that refusals name are invented. [schedules.md](schedules.md) says how steps go together.\n\n";
  std::string sections;
  for (const Group& g : groups()) {
    page += "**" + std::string(g.title) + "**:";
    sections += "\n## " + std::string(g.title) + "\n\n" + g.about + "\n";
    for (std::size_t k = 0; k < g.examples.size(); ++k) {
      const std::string name = g.examples[k].primitive;
      CAPTURE(name);
      page += (k ? ", [" : " [") + name + "](#" + anchor(name) + ")";
      sections += "\n" + section(g.examples[k]);
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
