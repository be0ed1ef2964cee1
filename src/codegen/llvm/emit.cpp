// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <ashlar/codegen/emit.h>

#include <time.h>

#include <algorithm>
#include <optional>

#include <llvm/Support/raw_ostream.h>
#include <llvm/Target/TargetMachine.h>
#include <llvm/Transforms/Utils/Cloning.h>

#include <ashlar/codegen/launches.h>
#include <ashlar/codegen/library.h>
#include <ashlar/codegen/ptx.h>
#include <ashlar/codegen/spirv.h>
#include <ashlar/ir/refusal.h>

#include "codegen/llvm/backend.h"
#include "codegen/llvm/lines.h"
#include "codegen/llvm/profile.h"
#include "codegen/llvm/of_tiles.h"
#include "codegen/llvm/of_vulkan.h"

namespace ashlar::codegen {

namespace {

double cpu_seconds() {  // of this thread
  timespec t{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_nsec) * 1e-9;
}

// The launches of a kernel as its device takes them.
struct DeviceCode {
  VulkanCode vulkan;             // Vulkan: in one form or in the two of Unit::shaders
  std::optional<ptx::Code> ptx;  // CUDA
};

DeviceCode device_code(const ir::Kernel& kernel, const Target& target, const Options& options) {
  const bool launches = !launches_of(kernel).empty();
  if (!target.is_gpu()) {
    if (launches)
      refuse("target", "a target with a device, for the launches of kernel `" + kernel.name + "`", std::string(target.text()),
             Where{});
    return {};
  }
  const bool tiles = target.has_tiles(), cuda = target.device().kind == Device::Kind::cuda;
  if (kernel.body.empty())
    refuse("target", "something to compute on " + std::string(target.text()),
           "kernel `" + kernel.name + "`, whose outputs have no elements", Where{});
  if (!launches)
    refuse(tiles  ? "tiles"
           : cuda ? "cuda"
                  : "vulkan",
           "a schedule that binds loops to blocks and threads", "kernel `" + kernel.name + "`, which has no launch", Where{});
  for (const ir::KStmt* s : launches_of(kernel))
    if (const auto& l = s->get<ir::KLaunch>(); tiles != (l.tile != nullptr))
      refuse("target", tiles ? "launches of tiles (lower_tiles)" : "launches of threads (lower)",
             "launch `" + l.name + "` for " + std::string(target.text()), s->where);
  DeviceCode code;
  if (tiles) {
    code.ptx = tile_code(kernel, target);
    return code;
  }
  if (cuda) {
    code.ptx = ptx::translate(kernel, target, options.line_tables, options.wide_indices);
    code.ptx->cubin = ptx::cubin(code.ptx->text, target.device().chip, options.line_tables).value_or("");
    return code;
  }
  code.vulkan = vulkan_shaders(kernel, target, options.wide_indices, options.line_tables);
  return code;
}

bool is_device_output(Output o) { return o == Output::spirv || o == Output::ptx || o == Output::cubin; }

std::string device_bytes(const DeviceCode& code, Output output, const Target& target) {
  if (output == Output::spirv) {
    if (code.vulkan.shaders.empty()) refuse("spirv", "the target vulkan", std::string(target.text()), Where{});
    const auto& words = code.vulkan.shaders[0].words;
    return {reinterpret_cast<const char*>(words.data()), words.size() * sizeof words[0]};
  }
  const char* what = output == Output::ptx ? "ptx" : "cubin";
  if (!code.ptx || (output == Output::ptx && code.ptx->tiles))
    refuse(what, "a target that is a CUDA device with threads", std::string(target.text()), Where{});
  if (output == Output::ptx) return code.ptx->text;
  if (code.ptx->cubin.empty())
    refuse("cubin",
           code.ptx->tiles ? "tileiras (of CUDA's toolkit from 13.1 on), and a target that names a chip"
                           : "libnvJitLink of a CUDA toolkit that knows " + std::string(target.device().chip),
           code.ptx->tiles ? std::string(target.text()) : "none on this machine", Where{});
  return code.ptx->cubin;
}

// The outputs that are machine code, of a module that is whole; those of a device are left empty.
std::vector<std::string> host_outputs(Unit& unit, const Target& target, std::span<const Output> outputs) {
  const auto machine = target_machine(target);
  if (machine->createDataLayout() != unit.module->getDataLayout())
    throw InternalError("codegen: two data layouts for one target");
  optimize(*unit.module, *machine);
  std::string object;
  std::vector<std::string> results;
  for (const Output output : outputs) {
    std::string& result = results.emplace_back();
    if (is_device_output(output)) continue;
    if (output == Output::llvm) {
      llvm::raw_string_ostream out(result);
      unit.module->print(out, nullptr);
      continue;
    }
    if (output == Output::assembly) {
      const auto copy = llvm::CloneModule(*unit.module);
      result = machine_code(*copy, *machine, true);
      continue;
    }
    if (object.empty()) {
      const auto copy = llvm::CloneModule(*unit.module);
      object = machine_code(*copy, *machine, false);
      check_references(object, unit.name, target, unit.users_functions);
    }
    result = output == Output::object ? object : archive(object, unit.name + ".o", target);
  }
  return results;
}

Target common_of(std::span<const Variant> variants) {
  std::vector<Target> targets;
  for (const Variant& v : variants) targets.push_back(v.target);
  return common_target(targets);
}

void give_device_code(Unit& unit, const DeviceCode& device) {
  const VulkanCode& vulkan = device.vulkan;
  for (std::size_t v = 0; v < vulkan.shaders.size(); ++v) unit.shaders[v] = &vulkan.shaders[v];
  for (std::size_t v = 0; v < vulkan.wide.size(); ++v) unit.wide_shaders[v] = &vulkan.wide[v];
  unit.narrow_if = vulkan.narrow_if;
  if (device.ptx) unit.ptx = &*device.ptx;
}

// Of the one variant that has such code.
std::string device_bytes(std::span<const Variant> variants, const std::vector<DeviceCode>& devices, Output output) {
  std::size_t found = 0, count = 0;
  for (std::size_t v = 0; v < variants.size(); ++v)
    if (output == Output::spirv ? !devices[v].vulkan.shaders.empty()
                                : devices[v].ptx && (output == Output::cubin || !devices[v].ptx->tiles))
      found = v, ++count;
  if (count > 1)
    refuse(output == Output::spirv ? "spirv"
           : output == Output::ptx ? "ptx"
                                   : "cubin",
           output == Output::spirv ? "one target for Vulkan" : "one target that is a CUDA device",
           std::to_string(count) + " of them", Where{});
  return device_bytes(devices[found], output, variants[found].target);
}

}  // namespace

std::vector<std::string> emit(std::span<const Variant> variants, std::span<const Output> outputs, Seconds* seconds,
                              const Options& options) {
  const double begin = cpu_seconds();
  const auto begin_lines = [&](Unit& u) {
    if (options.line_tables) u.lines = std::make_shared<Lines>(*u.module, u.kernel);
    if (options.profile) u.profile = std::make_shared<Profile>(u);
  };
  const auto end_lines = [](Unit& u) {
    if (u.lines) u.lines->finish();
  };
  std::vector<DeviceCode> devices;
  if (options.profile)
    for (const Variant& v : variants)
      if (v.target.is_gpu() || v.target.os() == "none")
        refuse("profile", "processors with an operating system", std::string(v.target.text()), Where{});
  for (const Variant& v : variants) devices.push_back(device_code(*v.kernel, v.target, options));
  std::vector<std::string> results(outputs.size());
  double made = 0;
  if (!std::all_of(outputs.begin(), outputs.end(), is_device_output)) {
    const Target& first = variants[0].target;
    const Target common = variants.size() == 1 ? first : common_of(variants);
    Unit unit(*variants[0].kernel, common);
    if (variants.size() == 1) {
      give_device_code(unit, devices[0]);
      begin_lines(unit);
      llvm::Function* body = emit_body(unit);
      llvm::Function* workspace_bytes = emit_workspace_size(unit);
      emit_run(unit, body);
      if (first.os() != "none") emit_tensor_entries(unit, body, workspace_bytes);
      end_lines(unit);
    } else {
      std::vector<std::unique_ptr<Unit>> units;
      std::vector<VariantEntries> entries;
      for (std::size_t v = 0; v < variants.size(); ++v) {
        Unit& u = *units.emplace_back(std::make_unique<Unit>(*variants[v].kernel, variants[v].target, unit));
        give_device_code(u, devices[v]);
        begin_lines(u);
        llvm::Function* body = emit_body(u);
        llvm::Function* workspace_bytes = emit_workspace_size(u);
        llvm::Function* run = emit_run(u, body);
        entries.push_back({&u, emit_descriptor(u, body, workspace_bytes), run, workspace_bytes});
        end_lines(u);
        unit.users_functions.insert(u.users_functions.begin(), u.users_functions.end());
      }
      emit_library_entries(unit, entries);
    }
    verify(*unit.module);
    made = cpu_seconds();
    results = host_outputs(unit, common, outputs);
    if (seconds) seconds->llvm += cpu_seconds() - made;
  }
  if (seconds) seconds->build += (made > 0 ? made : cpu_seconds()) - begin;
  for (std::size_t k = 0; k < outputs.size(); ++k)
    if (is_device_output(outputs[k])) results[k] = device_bytes(variants, devices, outputs[k]);
  return results;
}

std::vector<std::string> emit(const ir::Kernel& kernel, const Target& target, std::span<const Output> outputs, Seconds* seconds,
                              const Options& options) {
  const Variant only{&kernel, target};
  return emit(std::span(&only, 1), outputs, seconds, options);
}

std::string emit(const ir::Kernel& kernel, const Target& target, Output output, Seconds* seconds, const Options& options) {
  return emit(kernel, target, std::span(&output, 1), seconds, options)[0];
}

}  // namespace ashlar::codegen
