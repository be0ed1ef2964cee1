#pragma once
// What a lesson prints: its text, and the loops of a program before and after every step of its schedule. The file NN_name.txt
// beside a lesson is what it printed; the tests hold the two together.
//
//   Lesson lesson("1. Hello");
//   lesson.say("A tensor is defined by the value of each of its elements.");
//   lesson.watch(s);                  // shows the loops as they stand, then every step and the loops after it
//
// An Array is numbers in memory with a shape, which is what compiled functions are called with.
#include <cstdio>
#include <string>
#include <vector>

#include <ashlar/ashlar.h>
#include <ashlar/codegen/jit.h>
#include <ashlar/generator/compile.h>
#include <ashlar/lang/build_program.h>
#include <ashlar/runtime/runtime.h>

namespace tutorial {

class Lesson {
 public:
  explicit Lesson(const char* title) {
    std::printf("%s\n%s\n", title, std::string(std::char_traits<char>::length(title), '=').c_str());
  }

  void say(const char* text) { std::printf("\n%s\n", text); }
  void show(const std::string& text) {
    std::string line;
    std::putchar('\n');
    for (char c : text)
      if (c == '\n')
        std::printf("%s%s\n", line.empty() ? "" : "    ", line.c_str()), line.clear();
      else
        line += c;
    if (!line.empty()) std::printf("    %s\n", line.c_str());
  }
  // The definitions alone, as the program holds them.
  void definitions(const ashlar::Schedule& s) {
    const std::string text = s.text();
    show(text.substr(0, loops_of(text)));
  }
  void loops(const ashlar::Schedule& s) {
    const std::string text = s.text();
    show(text.substr(loops_of(text)));
  }
  void watch(ashlar::Schedule& s) {
    loops(s);
    s.observe(
        [](void* lesson, const std::string& step, const std::string& program) {
          std::printf("\nafter  %s\n", step.substr(step.find_first_not_of(' ')).c_str());
          static_cast<Lesson*>(lesson)->show(program.substr(loops_of(program)));
        },
        this);
  }
  // A refusal is a value inside of attempt: what was expected, what was found, where, and why.
  void refused(const std::optional<ashlar::Refusal>& r) { show(r ? r->text() : "it was not refused"); }

 private:
  static std::size_t loops_of(const std::string& program) {
    std::size_t first = program.size();
    for (const char* start : {"\nalloc ", "\nnest "})
      if (const std::size_t at = program.find(start); at < first) first = at + 1;
    return first;
  }
};

template <class T>
struct Array {
  template <class F>
  Array(std::vector<std::int64_t> s, F value) : shape(std::move(s)) {
    std::int64_t n = 1;
    for (std::int64_t e : shape) n *= e;
    for (std::int64_t k = 0; k < n; ++k) data.push_back(static_cast<T>(value(k)));
    tensor.data = data.data(), tensor.device_type = 1, tensor.ndim = static_cast<std::int32_t>(shape.size());
    tensor.type_code = std::is_floating_point_v<T> ? 2 : std::is_signed_v<T> ? 0 : 1;
    tensor.type_bits = sizeof(T) * 8, tensor.type_lanes = 1, tensor.shape = shape.data();
  }
  Array(const Array&) = delete;  // the descriptor points into it
  Array& operator=(const Array&) = delete;
  T& operator()(std::int64_t i) { return data[static_cast<std::size_t>(i)]; }
  T& operator()(std::int64_t i, std::int64_t j) { return data[static_cast<std::size_t>(i * shape[1] + j)]; }
  std::vector<std::int64_t> shape;
  std::vector<T> data;
  ashlar_tensor tensor{};
};

// Compiles for this processor, calls, and says so if that failed.
template <class... A>
bool run(const ashlar::Schedule& s, A&... arrays) {
  const ashlar::codegen::Compiled f = ashlar::compile(s);
  const void* arguments[] = {&arrays.tensor...};
  if (f.call(arguments) == ASHLAR_OK) return true;
  char text[400];
  ashlar_error_text(ashlar_last_error(), text, sizeof text);
  std::printf("\nthe call failed: %s\n", text);
  return false;
}

}  // namespace tutorial
