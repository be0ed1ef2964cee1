#include "tests/ops/check.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include <ashlar/ir/function.h>
#include <ashlar/runtime/runtime.h>
#ifdef ASHLAR_TEST_LLVM
#include <ashlar/generator/compile.h>
#include <ashlar/lower/explain.h>
#include <ashlar/schedule/step.h>
#include <ashlar/schedules/by_default.h>

#include "tests/emulated/emulator.h"
#endif

namespace ops_test {

void each(const Dims& shape, const std::function<void(const Dims&)>& f) {
  Dims at(shape.size(), 0);
  for (std::int64_t k = 0, n = Nd::count(shape); k < n; ++k) {
    std::int64_t rest = k;
    for (std::size_t d = at.size(); d-- > 0; rest /= shape[d]) at[d] = rest % shape[d];
    f(at);
  }
}

namespace {

constexpr double inf = std::numeric_limits<double>::infinity();
double ordinary(std::uint64_t r) { return static_cast<double>(static_cast<std::int64_t>(r >> 20 & 1023) - 512) / 128; }

// Steele, Lea and Flood, Fast splittable pseudorandom number generators, 2014
std::uint64_t mixed(std::uint64_t z) {
  z += 0x9e3779b97f4a7c15u;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return z ^ (z >> 31);
}

double as_double(const ir::Value& v) {
  if (v.type.is_float()) return v.f;
  return v.type.is_unsigned() && v.type.bits == 64 ? static_cast<double>(static_cast<std::uint64_t>(v.i))
                                                   : static_cast<double>(v.i);
}

Nd plain(const interp::Array& a) {
  Nd r(a.shape);
  std::size_t k = 0;
  each(a.shape, [&](const Dims& i) { r.v[k++] = as_double(a.at(i)); });
  return r;
}

ir::Value value_of_type(Type t, double v) {
  return t.is_float() ? ir::float_value(t, v) : ir::int_value(t, static_cast<std::int64_t>(v));
}

void near(const Nd& found, const Nd& expected, const Tolerance& tolerance) {
  double largest = 0;
  for (const double e : expected.v)
    if (std::isfinite(e)) largest = std::max(largest, std::fabs(e));
  for (std::size_t k = 0; k < found.v.size(); ++k) {
    const double f = found.v[k], e = expected.v[k];
    if (std::isnan(e) ? std::isnan(f) : f == e) continue;
    const double bound = tolerance.relative * (tolerance.of_largest ? largest : std::fabs(e)) + tolerance.absolute;
    if (std::fabs(f - e) <= bound && std::isfinite(e)) continue;
    CAPTURE(k);
    CAPTURE(f);
    CAPTURE(e);
    CAPTURE(bound);
    FAIL_CHECK("an element that is not the reference's");
    return;
  }
}

#ifdef ASHLAR_TEST_LLVM
// Elements of 4 bits: two to a byte, where the interpreter has one.
void pack(interp::Array& a) {
  if (!a.type.is_packed()) return;
  std::vector<std::byte> bytes((a.bytes.size() + 1) / 2);
  for (std::size_t k = 0; k < a.bytes.size(); ++k)
    bytes[k / 2] |= static_cast<std::byte>((static_cast<unsigned>(a.bytes[k]) & 15u) << (k % 2 * 4));
  a.bytes = std::move(bytes);
}

ashlar_tensor seen(interp::Array& a) {
  ashlar_tensor t{};
  t.data = a.bytes.data(), t.device_type = 1, t.ndim = static_cast<std::int32_t>(a.shape.size());
  const ir::TensorCode type = ir::tensor_code(a.type);
  t.type_code = type.code, t.type_bits = type.bits, t.type_lanes = 1, t.shape = a.shape.data();
  return t;
}

// Other processors that run here: AArch64, and those that ASHLAR_OPS_TARGETS names, "riscv64,armv7+vfp4".
std::vector<Target> elsewhere(const std::string& name) {
  std::string list = "aarch64";
  if (const char* more = std::getenv("ASHLAR_OPS_TARGETS")) list += std::string(",") + more;
  std::vector<Target> all;
  for (std::size_t at = 0; at < list.size();) {
    const std::size_t end = std::min(list.find(',', at), list.size());
    const Target t = Target::parse(list.substr(at, end - at));
    if (const char* why = emulated::missing(t))
      std::printf("skipped: %s for %s, %s\n", name.c_str(), std::string(t.text()).c_str(), why);
    else
      all.push_back(t);
    at = end + 1;
  }
  return all;
}

// ASHLAR_OPS_BY_DEFAULT=1: programs are scheduled by schedule_by_default before they are compiled; =exact: without regrouping.
// What a stage computes is then what the interpreter makes of the scheduled program.
const char* by_default() { return std::getenv("ASHLAR_OPS_BY_DEFAULT"); }
bool regroups() { return by_default() && std::string(by_default()) != "exact"; }
Schedule scheduled(const lang::Built& built, const Target& target) {
  if (!by_default()) return Schedule(built, target);
  return schedule_by_default(built, target, {.regroup = regroups()}).schedule;
}

std::string error_text() {
  char text[400];
  ashlar_error_text(ashlar_last_error(), text, sizeof text);
  return text;
}
#endif

}  // namespace

Values between(double low, double high) {
  return [=](std::uint64_t r, std::int64_t) { return low + (high - low) * static_cast<double>(r >> 20 & 255) / 256; };
}
Values whole(std::int64_t low, std::int64_t high) {
  return [=](std::uint64_t r, std::int64_t) {
    return static_cast<double>(low + static_cast<std::int64_t>((r >> 12) % static_cast<std::uint64_t>(high - low + 1)));
  };
}
Values edges() {
  return [](std::uint64_t r, std::int64_t) {
    const double list[] = {std::nan(""), inf, -inf, 0.0, -0.0, 3e38, -3e38, 1e-40, -1e-40, 88.5, -104.0, 1e-3};
    return r % 3 == 0 ? list[(r >> 8) % 12] : ordinary(r);
  };
}
Values infinities() {
  return [](std::uint64_t r, std::int64_t) {
    const double list[] = {inf, -inf, 0.0, -0.0, 100.0, -100.0};
    return r % 4 == 0 ? list[(r >> 8) % 6] : ordinary(r);
  };
}
Values falls_to(double value, int one_in) {
  return [=](std::uint64_t r, std::int64_t) { return r % static_cast<std::uint64_t>(one_in) == 0 ? value : ordinary(r); };
}

Tensor Maker::in(const char* name, Type type, const std::vector<Extent>& shape, Values values) {
  const Tensor t = lang::make_input(name, type, shape);
  inputs.push_back({t, {}, type, std::move(values)});
  return t;
}
Expr Maker::scalar(const char* name, Type type) {
  const Expr e = lang::make_scalar(name, type);
  inputs.push_back({{}, e, type, {}});
  return e;
}
void Maker::out(const Tensor& t) { results.push_back(t); }

void check(const std::string& name, const std::function<void(Maker&)>& build, const std::vector<Run>& runs,
           const std::function<Results(const Inputs&)>& reference, Tolerance tolerance) {
  CAPTURE(name);
  lang::DefinitionScope scope;
  Maker m;
  lang::Built built;
  std::vector<std::string> names;
  try {
    build(m);
    std::vector<lang::ArgumentRef> arguments;
    for (const Maker::Input& i : m.inputs)
      if (!i.tensor.empty()) arguments.emplace_back(i.tensor);
    for (const Maker::Input& i : m.inputs)
      if (i.tensor.empty()) arguments.emplace_back(i.scalar);
    for (std::size_t k = 0; k < m.results.size(); ++k) names.push_back("result" + std::to_string(k));
    for (std::size_t k = 0; k < m.results.size(); ++k) {
      const Tensor& t = m.results[k];
      const Tensor out = lang::make_output(names[k].c_str(), t.type(), t.shape().extents());
      lang::bind(out, t);
      arguments.emplace_back(out);
    }
    built = lang::build_program("operator_", arguments);
  } catch (const RefusalError& e) {
    FAIL_CHECK(std::string(e.what()));
    return;
  }
#ifdef ASHLAR_TEST_LLVM
  const Schedule here = scheduled(built, Target::host());
  const codegen::Compiled compiled = compile(here);
  std::vector<Target> others;
  if (tolerance.emulated) others = elsewhere(name);
#endif
  std::uint64_t seed = 0;
  for (const char c : name) seed = mixed(seed ^ static_cast<unsigned char>(c));
  for (const Run& run : runs) {
    std::string shapes;
    for (const Dims& d : run.shapes) {
      shapes += "[";
      for (const std::int64_t e : d) shapes += " " + std::to_string(e);
      shapes += " ]";
    }
    CAPTURE(shapes);
    interp::Arguments given;
    Inputs in;
    std::size_t next = 0;
    for (const Maker::Input& i : m.inputs) {
      if (i.tensor.empty()) continue;
      REQUIRE(next < run.shapes.size());
      std::int64_t position = 0;
      given.emplace_back(interp::Array::make(i.type, run.shapes[next++], [&](auto) {
        seed = mixed(seed);
        return i.values(seed, position++);
      }));
      in.push_back(plain(given.back().array));
    }
    REQUIRE(next == run.shapes.size());
    next = 0;
    for (const Maker::Input& i : m.inputs)
      if (i.tensor.empty()) {
        REQUIRE(next < run.scalars.size());
        given.emplace_back(value_of_type(i.type, run.scalars[next++]));
        in.emplace_back(Dims{}, as_double(given.back().scalar));
      }
    const std::size_t outputs = given.size();
    const Results expected = reference(in);
    REQUIRE(expected.size() == m.results.size());
    for (std::size_t k = 0; k < expected.size(); ++k) {
      interp::Array a = interp::Array::zeros(m.results[k].type(), expected[k].shape);
      std::fill(a.bytes.begin(), a.bytes.end(), std::byte{0x5b});
      given.emplace_back(std::move(a));
    }
    interp::Arguments meant = given;
    try {
      interp::run_algorithm(built.program, meant);
    } catch (const std::exception& e) {
      FAIL_CHECK(std::string(e.what()));
      return;
    }
    for (std::size_t k = 0; k < expected.size(); ++k) {
      CAPTURE(k);
      near(plain(meant[outputs + k].array), expected[k], tolerance);
    }
#ifdef ASHLAR_TEST_LLVM
    if (regroups()) {
      meant = given;
      try {
        interp::run(here.scheduled().program, meant);
      } catch (const std::exception& e) {
        FAIL_CHECK(std::string(e.what()));
        return;
      }
      for (std::size_t k = 0; k < expected.size(); ++k) near(plain(meant[outputs + k].array), expected[k], tolerance);
    }
    interp::Arguments got = given;
    std::vector<ashlar_tensor> tensors(got.size());
    std::vector<std::uint64_t> scalars(got.size());
    std::vector<const void*> pointers;
    for (std::size_t k = 0; k < got.size(); ++k) {
      if (!got[k].is_scalar) {
        pack(got[k].array);
        tensors[k] = seen(got[k].array);
        pointers.push_back(&tensors[k]);
        continue;
      }
      const interp::Array one = interp::Array::make(got[k].scalar.type, {1}, [&](auto) { return as_double(got[k].scalar); });
      std::memcpy(&scalars[k], one.bytes.data(), one.bytes.size());
      pointers.push_back(&scalars[k]);
    }
    const int status = compiled.call(pointers);
    if (status != ASHLAR_OK) {
      FAIL_CHECK(error_text());
      return;
    }
    for (std::size_t k = outputs; k < got.size(); ++k) CHECK(interp::difference(got[k].array, meant[k].array) == "");
    for (const Target& target : others) {
      CAPTURE(std::string(target.text()));
      interp::Arguments there = given;
      const Schedule there_too = scheduled(built, target);
      schedule::finish(there_too.scheduled(), target);
      try {
        emulated::run(lower(there_too.scheduled().program, options_for(target)), target, there);
      } catch (const std::exception& e) {
        FAIL_CHECK(std::string(e.what()));
        continue;
      }
      if (regroups()) {
        meant = given;
        interp::run(there_too.scheduled().program, meant);
      }
      for (std::size_t k = outputs; k < there.size(); ++k) CHECK(interp::difference(there[k].array, meant[k].array) == "");
    }
    others.clear();
#endif
  }
}

}  // namespace ops_test
