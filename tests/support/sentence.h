#pragma once
// What the runtime says of a call that failed, as a sentence.
#include <string>

#include <ashlar/runtime/runtime.h>

namespace test {

inline std::string sentence(const ashlar_error& e) {
  std::string text(ashlar_error_text(&e, nullptr, 0), '\0');
  ashlar_error_text(&e, text.data(), text.size() + 1);
  return text;
}

inline std::string last_error() { return sentence(*ashlar_last_error()); }  // of this thread

}  // namespace test
