#include "examples.h"

#include <regex>

#include <ashlar/schedule/cpp_text.h>

namespace primitives_page {

using namespace ashlar;

void Show::about(const lang::Built& built, const Schedule& s) {
  built_ = &built, schedule_ = &s;
  before();
}

void Show::before() {
  text_before = schedule_->text();
  made_ = schedule_->scheduled().trace.size();
}

void Show::after() {
  text_after = schedule_->text();
  const auto& trace = schedule_->scheduled().trace;
  const auto text = schedule::cpp_text(schedule_->algorithm(), trace, schedule_->target(), "f");
  for (std::size_t k = made_; k < trace.size(); ++k) {
    primitives.push_back(trace[k].primitive);
    if (!text.statements[k].empty()) steps += text.statements[k] + "\n";
  }
  if (use_) use_(*built_, *schedule_);
}

void Show::refused(const char* call, const std::optional<Refusal>& refusal) {
  std::string statements = std::regex_replace(std::string(call), std::regex("; (?!\\})"), ";\n") + ";\n";
  std::string said;
  if (refusal) {  // the lines are the page's, so that a line more in a file of examples does not change it
    said = refusal->text();
    const std::string here = location(refusal->where);
    said = "matmul.cpp:31" + said.substr(here.size());
    said = std::regex_replace(said, std::regex(R"(at (?!matmul)\w+\.cpp:\d+)"), "at matmul.cpp:30");
  }
  refusals.push_back({std::move(statements), std::move(said), schedule_->text()});
}

std::vector<Group> groups() {
  return {loops(), kinds(), placement(), storage(), reductions(), devices(), promises(), choices()};
}

}  // namespace primitives_page
