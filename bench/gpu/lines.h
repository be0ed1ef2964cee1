#pragma once
// Results as lines of JSON, each written whole and at once: what a process has found is there when it hangs or dies.
//
//   Line("case", "softmax").text("result", "passed").number("call_s", 0.002).print();
#include <cmath>
#include <cstdio>
#include <string>

namespace gpu_bench {

class Line {
 public:
  Line(const char* key, const std::string& value) { text(key, value); }
  Line& text(const char* key, const std::string& value) {
    begin(key) += '"';
    for (const char c : value) {
      if (c == '"' || c == '\\')
        (text_ += '\\') += c;
      else if (static_cast<unsigned char>(c) >= ' ')
        text_ += c;
      else
        text_ += c == '\n' ? "\\n" : " ";
    }
    text_ += '"';
    return *this;
  }
  Line& number(const char* key, double value) {
    char digits[40];
    std::snprintf(digits, sizeof digits, "%.6g", value);
    begin(key) += std::isfinite(value) ? digits : "null";
    return *this;
  }
  std::string str() const { return text_ + "}"; }
  void print(std::FILE* to = stdout) const {
    std::fprintf(to, "%s}\n", text_.c_str());
    std::fflush(to);
  }

 private:
  std::string& begin(const char* key) {
    text_ += text_.empty() ? "{\"" : ", \"";
    return (text_ += key) += "\": ";
  }
  std::string text_;
};

}  // namespace gpu_bench
