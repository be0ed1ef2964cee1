#pragma once
// What a text has in it.
#include <string>

namespace text_parts {

inline bool has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }
inline int count(const std::string& text, const std::string& part) {
  int n = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++n;
  return n;
}

}  // namespace text_parts
