// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tests/ptx/executor/lexer.h"

#include <bit>
#include <cstdlib>

#include "tests/ptx/executor/executor.h"

namespace ashlar::ptx {
namespace {

bool begins_word(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c == '$' || c == '%' || c == '.';
}
bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool in_word(char c) { return begins_word(c) || is_digit(c); }

class Lexer {
 public:
  explicit Lexer(const std::string& text) : s_(text) {}

  std::vector<Token> run() {
    out_.reserve(s_.size() / 4 + 16);
    for (skip(); at_ < s_.size(); skip()) next();
    Token end;
    end.line = line_, end.begin = end.end = static_cast<u32>(s_.size());
    out_.push_back(end);
    return std::move(out_);
  }

 private:
  char peek(std::size_t n = 0) const { return at_ + n < s_.size() ? s_[at_ + n] : '\0'; }

  void skip() {
    while (at_ < s_.size()) {
      const char c = s_[at_];
      if (c == '\n') {
        ++line_, ++at_;
      } else if (c == ' ' || c == '\t' || c == '\r' || c == '\0') {
        ++at_;
      } else if (c == '/' && peek(1) == '/') {
        while (at_ < s_.size() && s_[at_] != '\n') ++at_;
      } else if (c == '/' && peek(1) == '*') {
        for (at_ += 2; at_ < s_.size() && !(s_[at_] == '*' && peek(1) == '/'); ++at_)
          if (s_[at_] == '\n') ++line_;
        at_ += 2;
      } else {
        return;
      }
    }
  }

  void push(Token::Kind kind, std::size_t begin, u64 value = 0) {
    Token t;
    t.kind = kind, t.text = std::string_view(s_).substr(begin, at_ - begin), t.value = value, t.line = line_;
    t.begin = static_cast<u32>(begin), t.end = static_cast<u32>(at_);
    out_.push_back(t);
  }

  void next() {
    const std::size_t begin = at_;
    const char c = s_[at_];
    if (is_digit(c)) return number();
    if (c == '"') {
      for (++at_; at_ < s_.size() && s_[at_] != '"'; ++at_)
        if (s_[at_] == '\\') ++at_;
      ++at_;
      return push(Token::kString, begin);
    }
    if (begins_word(c)) {
      const bool directive = c == '.';  // ".reg.b32" is two words
      while ((in_word(peek()) && !(directive && at_ > begin && peek() == '.')) ||
             (peek() == ':' && peek(1) == ':' && in_word(peek(2))))
        at_ += peek() == ':' ? 2 : 1;
      return push(Token::kWord, begin);
    }
    static constexpr std::string_view punctuation = "{}()[]<>,;:@!|+-*=~&^/?#";
    if (punctuation.find(c) == std::string_view::npos) throw Error(std::string("\"") + c + "\" is no character of PTX", line_);
    ++at_;
    push(Token::kPunctuation, begin);
  }

  void number() {
    const std::size_t begin = at_;
    if (peek() == '0' && (peek(1) == 'f' || peek(1) == 'F' || peek(1) == 'd' || peek(1) == 'D')) {
      const bool single = peek(1) == 'f' || peek(1) == 'F';
      const u64 bits = digits(begin + 2, 16, single ? 8 : 16);
      return push(single ? Token::kFloat32 : Token::kFloat64, begin, bits);
    }
    std::size_t end = at_;
    while (is_digit(end < s_.size() ? s_[end] : '\0')) ++end;
    const char after = end < s_.size() ? s_[end] : '\0';
    const bool hexadecimal = peek() == '0' && (peek(1) == 'x' || peek(1) == 'X');
    if (!hexadecimal && (after == '.' || after == 'e' || after == 'E')) {
      char* stop = nullptr;
      const double value = std::strtod(s_.c_str() + begin, &stop);
      at_ = static_cast<std::size_t>(stop - s_.c_str());
      return push(Token::kFloat64, begin, std::bit_cast<u64>(value));
    }
    u64 value = 0;
    if (hexadecimal)
      value = digits(begin + 2, 16, 0);
    else if (peek() == '0' && (peek(1) == 'b' || peek(1) == 'B'))
      value = digits(begin + 2, 2, 0);
    else
      value = digits(begin, peek() == '0' ? 8 : 10, 0);
    if (peek() == 'U') ++at_;
    push(Token::kInteger, begin, value);
  }

  u64 digits(std::size_t from, u64 base, int expected) {
    u64 value = 0;
    int count = 0;
    for (at_ = from; at_ < s_.size(); ++at_, ++count) {
      const char c = s_[at_];
      const int d = is_digit(c) ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : c >= 'A' && c <= 'F' ? c - 'A' + 10 : 99;
      if (static_cast<u64>(d) >= base) break;
      value = value * base + static_cast<u64>(d);
    }
    if (count == 0 || (expected != 0 && count != expected))
      throw Error("\"" + s_.substr(from, static_cast<std::size_t>(count)) + "\" is no number", line_);
    return value;
  }

  const std::string& s_;
  std::size_t at_ = 0;
  int line_ = 1;
  std::vector<Token> out_;
};

}  // namespace

std::vector<Token> tokens_of(const std::string& text) { return Lexer(text).run(); }

}  // namespace ashlar::ptx
