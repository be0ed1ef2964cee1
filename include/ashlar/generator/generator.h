// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
// Generator: a class of parameters, arguments, an algorithm and a schedule. The command-line tool turns it into object files.
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
// Arguments are members; the C interface lists them in the order of declaration. Only the tool and instantiate<G>() create
// generators. Each object runs algorithm() once, then schedule() once.
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

struct Layout {  // the layout of the data that callers pass; each call checks it
  // inner_unit_stride: the last dimension has stride 1; rows may be padded.
  enum Order { inner_unit_stride, dense, any } order = inner_unit_stride;
  int align = 0;  // in bytes; 0: the alignment of an element
};

class Argument : public Tensor {  // a tensor of the interface; a member of a generator
 public:
  Argument(const Argument&) = delete;
  Argument& operator=(const Argument&) = delete;

 protected:
  Argument() = default;
};

class Input : public Argument {  // a tensor that the kernel reads
 public:
  // `name` is also the name in C.
  Input(const char* name, Type, std::initializer_list<Extent> shape, Layout = {}, Where = Where::current());
  Input(const char* name, Type, const Shape&, Layout = {}, Where = Where::current());  // of any rank
};

struct OutputMay {            // what a call may do
  bool alias_inputs = false;  // pass an input as the output as well: the same memory, shape and strides
};
class Output : public Argument {  // a tensor that the kernel writes completely
 public:
  using May = OutputMay;
  Output(const char* name, Type, std::initializer_list<Extent> shape, Layout = {}, May = {}, Where = Where::current());
  Output(const char* name, Type, const Shape&, Layout = {}, May = {}, Where = Where::current());
  Output& operator=(const Tensor&);  // defines it; a second definition is refused
  Output& operator=(const Output& other) { return *this = static_cast<const Tensor&>(other); }

 private:
  Where where_;
};

class Scalar : public Expr {  // a number that each call passes by value; floats of fewer than 32 bits travel as their bits
 public:
  Scalar(const char* name, Type, Where = Where::current());
  Scalar(const Scalar&) = default;
  Scalar& operator=(const Scalar&) = delete;
};

namespace generator {
struct GeneratorRecord;
}

class Generator {  // derive, add members, override algorithm() and schedule(), register with ASHLAR_GENERATOR
 public:
  virtual ~Generator();
  Generator(const Generator&) = delete;
  Generator& operator=(const Generator&) = delete;
  virtual void algorithm() = 0;      // defines the program; must bind every Output
  virtual void schedule(Schedule&);  // by default schedule_by_default (docs/default.md); an empty one leaves serial loops
  const Target& target() const;      // the target of the code; valid in constructors too

 protected:
  Generator();  // members register with the generator under construction; refused outside the tool and instantiate<G>()

  // For constructors: rejects the value of a Param that does not go with the others. The tool reports "parameter NAME=VALUE:
  // expected …" and does not run the algorithm. The constructor continues; later refusals in it are not reported.
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
  const char *group, *doc;  // the group and the description that --list prints
  const Registration* next;
};

// A generator that was created and run in this process, with its compiled kernel. A reference-counted handle.
class AnyInstance {
 public:
  AnyInstance(Generator* (*make)(), const char* name, const Target&,
              const std::vector<std::pair<std::string, std::string>>& params, Where);
  AnyInstance(const AnyInstance&);
  AnyInstance& operator=(const AnyInstance&);
  ~AnyInstance();
  Generator* generator() const;
  const ir::Program& algorithm() const;  // the program that algorithm() defined
  const ir::Program& scheduled() const;  // the program after schedule()
  std::string trace() const;             // one line for each step
  const ir::Kernel& kernel() const;      // the lowered program
  // Calls the kernel; the first call compiles it. Arguments, in the order of declaration, are an
  // ashlar_tensor* for each tensor and the address of each scalar.
  int call(const void* const* arguments, std::size_t count, const ashlar_context* = nullptr) const;

 private:
  struct State;
  State* state_;
};

}  // namespace detail

// A generator in this process, to be called like a function:
//
//   auto scale = instantiate<Scale>(Target::host(), {{"by", "3"}});
//   ashlar_tensor x = ..., y = ...;
//   if (scale(x, y) != ASHLAR_OK) ...              // ashlar_last_error() says why
//   scale->y;                                      // members of the generator
template <class G>
class Instance : public detail::AnyInstance {
 public:
  using AnyInstance::AnyInstance;
  G* operator->() const { return static_cast<G*>(generator()); }
  // Tensors are passed as ashlar_tensor, scalars as values of their C type.
  template <class... A>
  [[nodiscard]] int operator()(const A&... arguments) const {
    const void* pointers[sizeof...(A) + 1] = {&arguments..., nullptr};
    return call(pointers, sizeof...(A));
  }
};

// Creates and runs a generator. Refused, at the caller's line: an unknown Param, a value that a Param does not allow, and
// everything that the tool refuses.
template <class G>
[[nodiscard]] Instance<G> instantiate(const Target& target, const std::vector<std::pair<std::string, std::string>>& params = {},
                                      Where where = Where::current()) {
  return Instance<G>([]() -> Generator* { return new G; }, "", target, params, where);
}

// The command-line tool for all registered generators (docs/generators.md, "On the command line"). main() of a generator calls
// it. Returns the exit code.
int generator_main(int argc, char** argv);

}  // namespace ashlar

#define ASHLAR_CAT_(a, b) a##b
#define ASHLAR_CAT(a, b) ASHLAR_CAT_(a, b)
// Registers a generator: ASHLAR_GENERATOR(Class, "name"), or with the group and description that `--list` prints:
// ASHLAR_GENERATOR(Class, "name", "group", "C = A B").
#define ASHLAR_GENERATOR(Class, name, ...)                                                   \
  static const ::ashlar::detail::Registration ASHLAR_CAT(ashlar_registration_, __COUNTER__)( \
      name, []() -> ::ashlar::Generator* { return new Class; }, ::ashlar::Where::current() __VA_OPT__(, ) __VA_ARGS__)
