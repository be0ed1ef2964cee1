// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "bench/gpu/ahead/case_file.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <istream>
#include <ostream>
#include <random>
#include <sstream>
#include <stdexcept>

namespace ahead {

namespace {

const char* const kSources[] = {"fill", "reals", "whole", "bits", "numbers", "stored"};
const char* const kExpected[] = {"hash", "near", "sums"};

template <class Kind, std::size_t n>
Kind kind_of(const std::string& word, const char* const (&names)[n]) {
  const auto at = std::find(std::begin(names), std::end(names), word);
  if (at == std::end(names)) throw std::runtime_error("unknown word " + word);
  return static_cast<Kind>(at - std::begin(names));
}

std::string hex(const void* from, std::size_t bytes) {
  static const char digits[] = "0123456789abcdef";
  std::string s = "x";  // so that no bytes are a word too
  for (std::size_t n = 0; n < bytes; ++n) {
    const unsigned b = static_cast<const unsigned char*>(from)[n];
    (s += digits[b >> 4]) += digits[b & 15u];
  }
  return s;
}

Bytes unhex(const std::string& s) {
  Bytes bytes;
  const auto digit = [](char c) { return c <= '9' ? c - '0' : c - 'a' + 10; };
  for (std::size_t n = 1; n + 1 < s.size(); n += 2) bytes.push_back(static_cast<std::byte>(digit(s[n]) * 16 + digit(s[n + 1])));
  return bytes;
}

class Words {
 public:
  explicit Words(const std::string& line) : in_(line) {}
  template <class T>
  T next() {
    T v{};
    if (!(in_ >> v)) throw std::runtime_error("a word is missing or no number");
    return v;
  }
  double real() { return std::stod(next<std::string>()); }  // a hexadecimal one too
  std::vector<std::int64_t> list(int count) {
    std::vector<std::int64_t> all;
    for (int n = 0; n < count; ++n) all.push_back(next<std::int64_t>());
    return all;
  }
  std::string rest() {
    std::string s;
    std::getline(in_ >> std::ws, s);
    return s;
  }

 private:
  std::istringstream in_;
};

Argument tensor(Words& w) {
  Argument a;
  a.type.code = w.next<int>(), a.type.bits = w.next<int>();
  const int rank = w.next<int>();
  a.shape = w.list(rank), a.strides = w.list(rank);
  a.elements = w.next<std::int64_t>();
  a.source.kind = kind_of<Source::Kind>(w.next<std::string>(), kSources);
  if (a.source.kind == Source::Kind::stored)
    a.source.bytes = unhex(w.next<std::string>());
  else
    a.source.seed = w.next<std::uint64_t>();
  Expected& e = a.expected;
  e.kind = kind_of<Expected::Kind>(w.next<std::string>(), kExpected);
  if (e.kind == Expected::Kind::hash) {
    e.hash = w.next<std::uint64_t>();
    return a;
  }
  if (e.kind == Expected::Kind::near)
    e.relative = w.real(), e.absolute = w.real();
  else
    e.last = w.real();
  e.bytes = unhex(w.next<std::string>());
  if (e.kind != Expected::Kind::sums) return a;
  const Bytes most = unhex(w.next<std::string>());
  e.most.resize(most.size() / sizeof(float));
  std::memcpy(e.most.data(), most.data(), most.size());
  if (static_cast<std::int64_t>(e.most.size()) != a.elements) throw std::runtime_error("a bound is missing");
  return a;
}

void write_tensor(std::ostream& out, const Argument& a) {
  out << "tensor " << a.type.code << ' ' << a.type.bits << ' ' << a.shape.size();
  for (const auto* list : {&a.shape, &a.strides})
    for (const std::int64_t n : *list) out << ' ' << n;
  out << ' ' << a.elements << ' ' << kSources[static_cast<int>(a.source.kind)] << ' ';
  if (a.source.kind == Source::Kind::stored)
    out << hex(a.source.bytes.data(), a.source.bytes.size());
  else
    out << a.source.seed;
  const Expected& e = a.expected;
  out << ' ' << kExpected[static_cast<int>(e.kind)] << ' ';
  if (e.kind == Expected::Kind::hash) {
    out << e.hash << '\n';
    return;
  }
  out << std::hexfloat;
  if (e.kind == Expected::Kind::near)
    out << e.relative << ' ' << e.absolute;
  else
    out << e.last;
  out << std::defaultfloat << ' ' << hex(e.bytes.data(), e.bytes.size());
  if (e.kind == Expected::Kind::sums) out << ' ' << hex(e.most.data(), e.most.size() * sizeof(float));
  out << '\n';
}

}  // namespace

Bytes generate(const Source& s, Type t, std::int64_t elements) {
  if (s.kind == Source::Kind::stored) return s.bytes;
  Bytes bytes(bytes_of(t, elements), s.kind == Source::Kind::fill ? static_cast<std::byte>(s.seed) : std::byte{});
  if (s.kind == Source::Kind::fill) return bytes;
  std::mt19937 random(static_cast<unsigned>(s.seed));
  if (s.kind == Source::Kind::bits) {
    for (std::byte& b : bytes) b = static_cast<std::byte>(random() % (t.code == 6 ? 2 : 256));
    return bytes;
  }
  const bool unsigned_ = t.code == 1;
  std::uint64_t state = s.seed;
  for (std::int64_t n = 0; n < elements; ++n) {
    double v = 0;
    if (s.kind == Source::Kind::numbers) {
      state = state * 6364136223846793005u + 1442695040888963407u;  // Knuth's linear congruence
      const auto r = static_cast<std::int64_t>(state >> 40);
      v = t.code == 6    ? static_cast<double>(r % 2)
          : t.is_float() ? static_cast<double>(r % 1024 - 512) / 256
                         : static_cast<double>(unsigned_ ? r % 4 : r % 7 - 3);
    } else if (s.kind == Source::Kind::reals && t.is_float())
      v = static_cast<double>(static_cast<int>(random() % 20001) - 10000) / 4096;
    else
      v = static_cast<double>(static_cast<int>(random() % 5) - (unsigned_ ? 0 : 2));
    put(bytes, n, t, v);
  }
  return bytes;
}

std::string difference(const Expected& e, const Bytes& found, Type t, std::int64_t elements) {
  if (e.kind == Expected::Kind::hash) {
    const std::uint64_t h = hash(found, t);
    if (h == e.hash) return "";
    std::string first;
    for (std::int64_t n = 0; n < std::min<std::int64_t>(elements, 8); ++n) first += (n > 0 ? " " : "") + text(get(found, n, t));
    return "another hash than the interpreter's result has; it begins with " + first;
  }
  return apart(found, e.bytes, t, elements, [&](std::int64_t n, double x, double y) {
    const double largest = std::max(std::abs(x), std::abs(y));
    const double most = e.kind == Expected::Kind::near
                            ? std::max(e.absolute, e.relative * largest)
                            : static_cast<double>(e.most[static_cast<std::size_t>(n)]) + e.last * (std::abs(x) + std::abs(y));
    return t.is_float() && std::isfinite(largest) && std::isfinite(most) ? most : -1;  // -1: equal elements alone
  });
}

void write(std::ostream& out, const Case& c) {
  out << "case " << c.name << '\n';
  if (!c.refused.empty()) {
    std::string line = c.refused;
    std::replace(line.begin(), line.end(), '\n', ' ');
    out << "refused " << line << '\n';
    return;
  }
  out << "symbol " << c.symbol << '\n';
  for (const auto& call : c.calls) {
    out << "call\n";
    for (const Argument& a : call) {
      if (a.scalar)
        out << "scalar " << a.value << '\n';
      else
        write_tensor(out, a);
    }
  }
}

std::vector<Case> read(std::istream& in) {
  std::vector<Case> all;
  std::string line;
  for (int number = 1; std::getline(in, line); ++number) try {
      Words w(line);
      const auto word = w.next<std::string>();
      if (word == "case") {
        all.emplace_back();
        all.back().name = w.rest();
        continue;
      }
      if (all.empty()) throw std::runtime_error("expected case, found " + word);
      Case& c = all.back();
      if (word == "refused" || word == "symbol")
        (word == "symbol" ? c.symbol : c.refused) = w.rest();
      else if (word == "call")
        c.calls.emplace_back();
      else if (c.calls.empty() || (word != "scalar" && word != "tensor"))
        throw std::runtime_error("unexpected " + word);
      else if (word == "tensor")
        c.calls.back().push_back(tensor(w));
      else {
        c.calls.back().emplace_back();
        c.calls.back().back().scalar = true;
        c.calls.back().back().value = w.next<std::uint64_t>();
      }
    } catch (const std::exception& e) {
      throw std::runtime_error("line " + std::to_string(number) + " of the cases: " + e.what());
    }
  return all;
}

}  // namespace ahead
