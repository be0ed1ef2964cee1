// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
// A generator: parameters, arguments, an algorithm and a schedule, turned into objects by the command line tool.
//
//   class Scale : public Generator {
//    public:
//     Param<int> by{"by", 2};
//     Symbol N{"N"};
//     Input x{"x", f32, {N}};
//     Output y{"y", f32, {N}};
//     void algorithm() override { y = compute("y", {N}, [&](Var i) { return x(i) * by; }); }
//     void schedule(Schedule& s) override { s[y].vectorize(s[y].spatial<1>()[0], 8); }
//   };
//   ASHLAR_GENERATOR(Scale, "scale");             // ./gen -g scale -o out -e object,header target=x86-64-v3 by=3
//
// Arguments are members; their order of declaration is their order in the C interface. Invariant: algorithm() is called once,
// then schedule() once, on an object that only the tool or instantiate<G>() makes.
#include <initializer_list>
#include <string>
#include <utility>
#include <vector>

#include <ashlar/generator/extent.h>
#include <ashlar/generator/param.h>
#include <ashlar/lang.h>
#include <ashlar/runtime/abi.h>
#include <ashlar/schedule/schedule.h>

namespace ashlar {
namespace ir {
struct Program;
struct Kernel;
}  // namespace ir

struct Layout {                                                            // what the caller promises, checked at entry
  enum Order { inner_unit_stride, dense, any } order = inner_unit_stride;  // last dimension has stride 1; padded rows allowed
  int align = 0;                                                           // bytes; 0: the element's own
};

class Argument : public Tensor {  // a member of a generator
 public:
  Argument(const Argument&) = delete;
  Argument& operator=(const Argument&) = delete;

 protected:
  Argument() = default;
};

class Input : public Argument {  // a tensor that the caller gives
 public:
  Input(const char* name, Type, std::initializer_list<Extent> shape, Layout = {}, Where = Where::current());  // its name in C
  Input(const char* name, Type, const Shape&, Layout = {}, Where = Where::current());                         // of any rank
};

struct OutputMay {            // what calls may do with it
  bool alias_inputs = false;  // be exactly an input's memory, shape and strides
};
class Output : public Argument {  // a tensor that the caller gives and the kernel writes, all of it
 public:
  using May = OutputMay;
  Output(const char* name, Type, std::initializer_list<Extent> shape, Layout = {}, May = {}, Where = Where::current());
  Output(const char* name, Type, const Shape&, Layout = {}, May = {}, Where = Where::current());
  Output& operator=(const Tensor&);  // binds the stage that computes it; twice is refused
  Output& operator=(const Output& other) { return *this = static_cast<const Tensor&>(other); }

 private:
  Where where_;
};

class Scalar : public Expr {  // by value in the C interface; narrow floats as their bits
 public:
  Scalar(const char* name, Type, Where = Where::current());
  Scalar(const Scalar&) = default;
  Scalar& operator=(const Scalar&) = delete;
};

namespace generator {
struct GeneratorRecord;
}

class Generator {  // derive, add members, override algorithm() and schedule(), name it by ASHLAR_GENERATOR
 public:
  virtual ~Generator();
  Generator(const Generator&) = delete;
  Generator& operator=(const Generator&) = delete;
  virtual void algorithm() = 0;      // binds every Output
  virtual void schedule(Schedule&);  // left out: schedule_by_default (docs/default.md). An empty one leaves serial loops
  const Target& target() const;      // what code is made for; valid from the constructor on

 protected:
  Generator();  // members register with the generator under construction; refused unless made by the tool or instantiate<G>()

  // In a constructor: the value of a Param does not go with the others. The tool says "parameter NAME=VALUE: expected …" and
  // the algorithm is never run; the constructor goes on, and what it is refused afterwards is not reported.
  void reject(const char* param, const std::string& expected);

 private:
  generator::GeneratorRecord* record_;
};

namespace detail {

struct Registration {
  Registration(const char* name, Generator* (*make)(), Where, const char* group = "", const char* doc = "");
  const char* name;
  Generator* (*make)();
  Where where;
  const char *group, *doc;  // under what --list has it, and what it says of it
  const Registration* next;
};

// A generator that was made, run and scheduled in this process; a counted handle.
class AnyInstance {
 public:
  AnyInstance(Generator* (*make)(), const char* name, const Target&,
              const std::vector<std::pair<std::string, std::string>>& params, Where);
  AnyInstance(const AnyInstance&);
  AnyInstance& operator=(const AnyInstance&);
  ~AnyInstance();
  Generator* generator() const;
  const ir::Program& algorithm() const;  // as algorithm() left it
  const ir::Program& scheduled() const;  // as schedule() left it
  std::string trace() const;             // a line a step
  const ir::Kernel& kernel() const;      // lowered
  // The kernel, compiled when first called: ashlar_tensor* or the address of a scalar, in the order of declaration.
  int call(const void* const* arguments, std::size_t count, const ashlar_context* = nullptr) const;

 private:
  struct State;
  State* state_;
};

}  // namespace detail

// A generator in this process, to be called as a function:
//
//   auto scale = instantiate<Scale>(Target::host(), {{"by", "3"}});
//   ashlar_tensor x = ..., y = ...;
//   if (scale(x, y) != ASHLAR_OK) ...              // ashlar_last_error() says why
//   scale->y;                                      // the generator's own members
template <class G>
class Instance : public detail::AnyInstance {
 public:
  using AnyInstance::AnyInstance;
  G* operator->() const { return static_cast<G*>(generator()); }
  // Tensors as ashlar_tensor, scalars as values of their C type.
  template <class... A>
  [[nodiscard]] int operator()(const A&... arguments) const {
    const void* pointers[sizeof...(A) + 1] = {&arguments..., nullptr};
    return call(pointers, sizeof...(A));
  }
};

// Refused, at the caller's line, for a Param or a value that does not exist, and for everything the tool refuses.
template <class G>
[[nodiscard]] Instance<G> instantiate(const Target& target, const std::vector<std::pair<std::string, std::string>>& params = {},
                                      Where where = Where::current()) {
  return Instance<G>([]() -> Generator* { return new G; }, "", target, params, where);
}

// The command line tool over the generators that are registered; what main() of a generator executable calls.
int generator_main(int argc, char** argv);

}  // namespace ashlar

#define ASHLAR_CAT_(a, b) a##b
#define ASHLAR_CAT(a, b) ASHLAR_CAT_(a, b)
// ASHLAR_GENERATOR(Class, "name"), or with what `--list` says of it: ASHLAR_GENERATOR(Class, "name", "group", "C = A B")
#define ASHLAR_GENERATOR(Class, name, ...)                                                \
  static const ::ashlar::detail::Registration ASHLAR_CAT(ashlar_registration_, __LINE__)( \
      name, []() -> ::ashlar::Generator* { return new Class; }, ::ashlar::Where::current() __VA_OPT__(, ) __VA_ARGS__)
