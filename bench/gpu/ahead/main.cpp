// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The cases of one target, compiled ahead, on the device at hand. 0: all is well; 1: results differ or something failed; 3: no
// device can be used, with the reason; 4: a kernel failed and took the context along.
//
//   cases-cuda-sm_80 --probe | --list | CASE ...      the lines of JSON of bench/gpu/check.h
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <exception>
#include <sstream>
#include <stdexcept>
#include <vector>

#include <ashlar/runtime/runtime.h>

#include "bench/gpu/ahead/case_file.h"
#include "bench/gpu/ahead/place.h"
#include "bench/gpu/ahead/table.h"
#include "bench/gpu/lines.h"

namespace {

using namespace ahead;
using gpu_bench::Line;

constexpr std::size_t kBand = 256;  // bytes on both sides of a tensor: no kernel may write them
constexpr std::byte kUntouched{0xa5};

class Tensor {
 public:
  Tensor(const Place& place, const Argument& a) : shape_(a.shape), strides_(a.strides), bytes_(bytes_of(a.type, a.elements)) {
    Bytes all(bytes_ + 2 * kBand, kUntouched);
    const Bytes inside = generate(a.source, a.type, a.elements);
    if (inside.size() != bytes_) throw std::runtime_error("the bytes of an argument are not those of its shape");
    std::copy(inside.begin(), inside.end(), all.begin() + kBand);
    block_ = place.memory(all.size());
    block_->upload(all.data());
    tensor.data = block_->data(), tensor.device_type = ahead_device_type,
    tensor.ndim = static_cast<std::int32_t>(shape_.size());
    tensor.type_code = static_cast<std::uint8_t>(a.type.code), tensor.type_bits = static_cast<std::uint8_t>(a.type.bits);
    tensor.type_lanes = 1, tensor.shape = shape_.data(), tensor.strides = strides_.empty() ? nullptr : strides_.data();
    tensor.byte_offset = kBand;
  }
  // "": what was expected, and nothing in front of it or behind it.
  std::string wrong(const Argument& a) const {
    Bytes all(bytes_ + 2 * kBand);
    block_->download(all.data());
    const auto begin = all.begin() + kBand, end = begin + static_cast<std::ptrdiff_t>(bytes_);
    const auto untouched = [](std::byte b) { return b == kUntouched; };
    if (!std::all_of(all.begin(), begin, untouched) || !std::all_of(end, all.end(), untouched))
      return "bytes in front of it or behind it were written";
    return difference(a.expected, {begin, end}, a.type, a.elements);
  }
  ashlar_tensor tensor = {};

 private:
  std::vector<std::int64_t> shape_, strides_;
  std::size_t bytes_;
  std::unique_ptr<Block> block_;
};

std::string shapes(const std::vector<Argument>& call) {
  std::string s;
  for (const Argument& a : call) {
    if (a.scalar) continue;
    s += s.empty() ? "[" : " [";
    for (std::size_t d = 0; d < a.shape.size(); ++d) s += (d > 0 ? "," : "") + std::to_string(a.shape[d]);
    s += "]";
  }
  return s;
}

double seconds() { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); }

struct Outcome {
  std::string result = "passed", text;
  double first_call = 0, calls = 0;
  int runs = 0, bounds = 0;  // bounds: tensors that were compared within a bound
};

const ashlar_abi1_desc* function(const std::string& symbol) {
  for (int n = 0; n < ahead_function_count; ++n)
    if (symbol == ahead_functions[n].symbol) return ahead_functions[n].desc;
  throw std::runtime_error("the program has no function " + symbol);
}

// False: the call failed or something differs.
bool run_call(const Place& place, const ashlar_abi1_desc* f, const std::vector<Argument>& call, Outcome& o) {
  Line("stage", "running " + shapes(call)).print();
  std::vector<std::unique_ptr<Tensor>> tensors;
  std::vector<const void*> list;
  for (const Argument& a : call) {
    tensors.push_back(a.scalar ? nullptr : std::make_unique<Tensor>(place, a));
    list.push_back(a.scalar ? static_cast<const void*>(&a.value) : &tensors.back()->tensor);
  }
  const double begun = seconds();
  const int code = ashlar_abi1_call(f, list.data(), nullptr);
  (o.runs++ == 0 ? o.first_call : o.calls) += seconds() - begun;
  if (code != ASHLAR_OK) {
    std::string text(ashlar_error_text(ashlar_last_error(), nullptr, 0), '\0');
    ashlar_error_text(ashlar_last_error(), text.data(), text.size() + 1);
    // A target's objects may need a chip or a feature that this device lacks. The kernel has not failed then.
    o.result = code == ASHLAR_E_TARGET ? "refused" : "error", o.text = shapes(call) + ": " + text;
    return false;
  }
  for (std::size_t n = 0; n < call.size(); ++n) {
    if (call[n].scalar) continue;
    o.bounds += call[n].expected.kind != Expected::Kind::hash;
    const std::string wrong = tensors[n]->wrong(call[n]);
    if (wrong.empty()) continue;
    o.result = "differs", o.text = "argument " + std::to_string(n) + " of " + shapes(call) + ": " + wrong;
    return false;
  }
  return true;
}

Outcome run_case(const Place& place, const Case& c) {
  Outcome o;
  if (!c.refused.empty()) {
    o.result = "refused", o.text = c.refused;
    return o;
  }
  try {
    const ashlar_abi1_desc* f = function(c.symbol);
    for (const auto& call : c.calls)
      if (!run_call(place, f, call, o)) break;
  } catch (const std::exception& e) { o.result = "error", o.text = e.what(); }
  return o;
}

int run(const Place& place, const std::vector<const Case*>& cases) {
  bool bad = false;
  for (const Case* c : cases) {
    Line("begin", c->name).print();
    const Outcome o = run_case(place, *c);
    const bool lost = o.result == "error" && place.lost();
    Line line("case", c->name);
    line.text("result", o.result).number("runs", o.runs);
    if (!o.text.empty()) line.text("text", o.text);
    if (o.bounds > 0) line.number("within_bounds", o.bounds);
    line.number("first_call_s", o.first_call).number("calls_s", o.calls).print();
    if (lost) return 4;
    bad = bad || o.result == "differs" || o.result == "error";
  }
  return bad ? 1 : 0;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    const std::vector<std::string> words(argv + 1, argv + argc);
    std::istringstream text(std::string(ahead_cases, ahead_cases_end));
    const std::vector<Case> all = read(text);
    if (words.empty()) {
      std::fprintf(stderr, "usage: %s --probe | --list | CASE ...\n", argv[0]);
      return 2;
    }
    if (words[0] == "--list") {
      for (const Case& c : all) std::printf("%s\n", c.name.c_str());
      return 0;
    }
    std::vector<const Case*> chosen;
    for (const std::string& name : words) {
      if (name == "--probe") continue;
      const auto at = std::find_if(all.begin(), all.end(), [&](const Case& c) { return c.name == name; });
      if (at == all.end()) throw std::runtime_error("no case \"" + name + "\": --list names them");
      chosen.push_back(&*at);
    }
    std::string why;
    const auto place = Place::open(ahead_device_type, &why);
    if (!place) {
      std::printf("no GPU can be used: %s\n", why.c_str());
      return 3;
    }
    if (words[0] != "--probe") return run(*place, chosen);
    std::printf("%s, %s\n", place->name().c_str(), ahead_target);
    return 0;
  } catch (const std::exception& e) {
    std::fprintf(stderr, "%s: %s\n", argv[0], e.what());
    return 1;
  }
}
