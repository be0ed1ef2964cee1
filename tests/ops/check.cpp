#include "tests/ops/check.h"

#include <algorithm>

#ifdef ASHLAR_TEST_LLVM
#include "tests/ops/runners.h"
#include "tests/ops/times.h"
#endif

namespace ops_test {

namespace {

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

}  // namespace

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
  if (times_are_asked_for()) {
    const auto elements = [](const Run& r) {
      std::int64_t n = 0;
      for (const Dims& d : r.shapes) n = std::max(n, Nd::count(d));
      return n;
    };
    if (!runs.empty())
      print_times(name, m, built, *std::max_element(runs.begin(), runs.end(), [&](const Run& a, const Run& b) {
                    return elements(a) < elements(b);
                  }));
    return;
  }
  std::vector<std::unique_ptr<Runner>> runners;
  try {
    runners = runners_for(name, built, tolerance.emulated, tolerance.refused_on_devices);
  } catch (const std::exception& e) {
    FAIL_CHECK(std::string(e.what()));
    return;
  }
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
    for (const std::unique_ptr<Runner>& runner : runners) {
      CAPTURE(runner->name);
      interp::Arguments there = meant, got = given;
      try {
        if (runner->regrouped) {
          there = given;
          runner->regrouped(there);
        }
        runner->call(got);
      } catch (const std::exception& e) {
        FAIL_CHECK(std::string(e.what()));
        continue;
      }
      for (std::size_t k = 0; k < expected.size(); ++k) {
        CAPTURE(k);
        near(plain(there[outputs + k].array), expected[k], tolerance);
        CHECK(interp::difference(got[outputs + k].array, there[outputs + k].array) == "");
      }
    }
#endif
  }
}

}  // namespace ops_test
