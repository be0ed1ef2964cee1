#include "tests/ops/runners.h"

#include <cstdio>
#include <cstdlib>
#include <stdexcept>

#include <ashlar/codegen/abi_layout.h>
#include <ashlar/codegen/jit.h>
#include <ashlar/ir/refusal.h>
#include <ashlar/lower/lower.h>
#include <ashlar/runtime/runtime.h>
#include <ashlar/schedule/step.h>
#include <ashlar/schedules/by_default.h>

#include "tests/emulated/emulator.h"
#include "tests/in_c/c_compiled.h"
#include "tests/ops/pointers.h"
#include "tests/skip.h"
#include "tests/support/sentence.h"
#ifdef ASHLAR_TEST_VULKAN
#include "tests/vulkan/device.h"
#endif

namespace ops_test {

namespace {

std::string setting(const char* name) {
  const char* text = std::getenv(name);
  return text ? text : "";
}

std::vector<std::string> asked_for() {
  std::vector<std::string> names;
  const std::string list = setting("ASHLAR_OPS_ON");
  for (std::size_t at = 0; at < list.size();) {
    const std::size_t end = std::min(list.find(',', at), list.size());
    names.push_back(list.substr(at, end - at));
    at = end + 1;
  }
  return names;
}

void check(int status) {
  if (status == ASHLAR_OK) return;
  throw std::runtime_error(test::last_error());
}

// Elements of 4 bits: two to a byte, where the interpreter has one.
void pack(interp::Array& a) {
  if (!a.type.is_packed()) return;
  std::vector<std::byte> bytes((a.bytes.size() + 1) / 2);
  for (std::size_t k = 0; k < a.bytes.size(); ++k)
    bytes[k / 2] |= static_cast<std::byte>((static_cast<unsigned>(a.bytes[k]) & 15u) << (k % 2 * 4));
  a.bytes = std::move(bytes);
}
interp::Arguments packed(const interp::Arguments& arguments) {
  interp::Arguments r = arguments;
  for (interp::Actual& a : r)
    if (!a.is_scalar) pack(a.array);
  return r;
}

// Copies what came back of tensors that are not packed; no operator has a packed result.
void copy_back(interp::Arguments& to, const interp::Arguments& from) {
  for (std::size_t k = 0; k < to.size(); ++k)
    if (!to[k].is_scalar && !to[k].array.type.is_packed()) to[k].array.bytes = from[k].array.bytes;
}

template <class Code>
class InProcess : public Runner {
 public:
  explicit InProcess(Code code) : code_(std::move(code)) {}
  void call(interp::Arguments& arguments) const override {
    interp::Arguments there = packed(arguments);
    const Pointers pointers(there);
    check(code_.call(pointers.all));
    copy_back(arguments, there);
  }

 private:
  Code code_;
};

class InEmulator : public Runner {
 public:
  InEmulator(const ir::Kernel& kernel, const Target& target) : program_(kernel, target) {}
  void call(interp::Arguments& arguments) const override {
    interp::Arguments there = packed(arguments);
    program_.run(there);
    copy_back(arguments, there);
  }

 private:
  emulated::Program program_;
};

// The launches of a kernel, thread by thread; and that text can be made of them for the device.
class Interpreted : public Runner {
 public:
  Interpreted(const ir::Kernel& kernel, const Target& target) : kernel_(kernel) {
    (void)codegen::emit(kernel, target, codegen::Output::ptx);
  }
  void call(interp::Arguments& arguments) const override { interp::run(kernel_, arguments, {.races = true}); }

 private:
  ir::Kernel kernel_;
};

#ifdef ASHLAR_TEST_VULKAN
class OnVulkan : public Runner {
 public:
  explicit OnVulkan(const ir::Kernel& kernel) : code_(codegen::compile(kernel, Target::parse("vulkan"))) {}
  void call(interp::Arguments& arguments) const override {
    interp::Arguments there = packed(arguments);
    std::vector<std::unique_ptr<vulkan::OnDevice>> tensors(there.size());
    std::vector<interp::Array> scalars(there.size());
    std::vector<const void*> pointers;
    for (std::size_t k = 0; k < there.size(); ++k)
      if (there[k].is_scalar) {
        scalars[k] = of_scalar(there[k].scalar);
        pointers.push_back(scalars[k].bytes.data());
      } else {
        tensors[k] = std::make_unique<vulkan::OnDevice>(there[k].array);
        pointers.push_back(&tensors[k]->tensor);
      }
    check(code_.call(pointers));
    for (std::size_t k = 0; k < there.size(); ++k)
      if (tensors[k]) tensors[k]->read(there[k].array);
    copy_back(arguments, there);
    const std::string said = vulkan::TestDevice::get()->said();
    vulkan::TestDevice::get()->forget();
    if (!said.empty()) throw std::runtime_error("the validation layer: " + said);
  }

 private:
  codegen::Compiled code_;
};
#endif

// Why nothing runs for the target here; "" if something does.
std::string missing(const Target& target) {
  if (target.is_gpu()) {
#ifdef ASHLAR_TEST_VULKAN
    if (target.text() == "vulkan") return vulkan::TestDevice::get() ? "" : "there is no device";
#else
    if (target.text() == "vulkan") return "what Vulkan needs was not found";
#endif
    return "";
  }
  if (target.architecture() == Target::host().architecture()) {
    std::string lacks;
    return target.runs_here(&lacks) ? "" : "this machine has no " + lacks;
  }
  const char* why = emulated::missing(target);
  return why ? why : "";
}

std::unique_ptr<Runner> runner(const ir::Kernel& kernel, const Target& target) {
#ifdef ASHLAR_TEST_VULKAN
  if (target.text() == "vulkan") return std::make_unique<OnVulkan>(kernel);
#endif
  if (target.is_gpu()) return std::make_unique<Interpreted>(kernel, target);
  if (target.architecture() != Target::host().architecture()) return std::make_unique<InEmulator>(kernel, target);
  return std::make_unique<InProcess<codegen::Compiled>>(codegen::compile(kernel, target));
}

// Are there sums that the threads of a block have together? Alone the interpreter of launches adds them in the same order.
bool combines(const ir::Program& p) {
  bool found = false;
  ir::walk(p.body, [&](const ir::Stmt& s) {
    if (const ir::LoopStmt* loop = s.as<ir::LoopStmt>()) found = found || loop->combines;
  });
  return found;
}

}  // namespace

std::vector<std::unique_ptr<Runner>> runners_for(const std::string& program, const lang::Built& built, bool marked,
                                                 const char* refused_on_devices) {
  static const std::vector<std::string> asked = asked_for(),
                                        everywhere{"host", "aarch64", "riscv64", "armv7+vfp4", "x86-64", "c"};
  const std::string how = setting("ASHLAR_OPS_BY_DEFAULT");
  std::vector<std::string> names = asked;
  if (names.empty()) {
    names = everywhere;
    names.resize(!marked ? 1 : how.empty() ? everywhere.size() : 2);
  }
  std::vector<std::unique_ptr<Runner>> all;
  for (const std::string& name : names) {
    const bool in_c = name == "c";
    const Target target = Target::parse(in_c ? "host" : name);
    if (const std::string why = in_c ? "" : missing(target); !why.empty()) {
      if (asked.empty())
        std::printf("skipped: %s on %s, %s\n", program.c_str(), name.c_str(), why.c_str());
      else
        skip::because("operators on " + name, why);
      continue;
    }
    const bool scheduled = !how.empty() || target.is_gpu(), regroups = scheduled && how != "exact";
    Schedule s(built, target);
    if (scheduled) schedule_by_default(s, {.regroup = regroups});
    const auto lowered = [&] {
      schedule::finish(s.scheduled(), target);
      return lower(s.scheduled().program, options_for(target));
    };
    if (target.is_gpu() && refused_on_devices) {
      try {
        (void)lowered();
      } catch (const RefusalError& e) {
        if (std::string(e.what()).find(refused_on_devices) != std::string::npos) continue;
        throw;
      }
      throw std::runtime_error(program + " is not refused for " + name);
    }
    const ir::Kernel kernel = lowered();
    const std::size_t before = all.size();
    if (in_c) {
      static std::size_t turn = 0;  // one compiler after the other, unless C was asked for
      const std::vector<in_c::Compiler> compilers = in_c::compilers();
      for (std::size_t k = 0; k < compilers.size(); ++k)
        if (!asked.empty() || k == turn % compilers.size())
          all.push_back(std::make_unique<InProcess<in_c::Compiled>>(in_c::compile(kernel, target, compilers[k])));
      ++turn;
    } else {
      all.push_back(runner(kernel, target));
    }
    for (std::size_t k = before; k < all.size(); ++k) {
      all[k]->name = name;
      if (!regroups) continue;
      if (!target.is_gpu())
        all[k]->regrouped = [p = s.scheduled().program](interp::Arguments& a) { interp::run(p, a); };
      else if (combines(s.scheduled().program))
        all[k]->regrouped = [kernel](interp::Arguments& a) { interp::run(kernel, a); };
    }
  }
  return all;
}

}  // namespace ops_test
