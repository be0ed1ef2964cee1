#include "tests/vulkan/device.h"

#include <dlfcn.h>

#include <cstdio>
#include <cstring>
#include <set>
#include <stdexcept>

#include <doctest/doctest.h>

#define VK_NO_PROTOTYPES
#include <ashlar/codegen/abi_layout.h>
#include <ashlar/ir/refusal.h>
#include <vulkan/vulkan_core.h>

#include "tests/skip.h"
#include "tests/support/sentence.h"

namespace vulkan {

Launching::Launching(kernels::Maker& m, const std::string& name, std::int64_t threads, int warp) {
  l.name = name;
  l.threads = threads;
  l.warp = warp;
  for (int d = 0; d < 3; ++d) {
    l.block[d] = m.fresh();
    block[d] = ir::var(l.block[d], std::string("b") + "xyz"[d]);
    l.cluster[d] = ir::index(1);
  }
  l.thread = m.fresh();
  thread = ir::var(l.thread, "t");
}

ir::KStmt launch(const Launching& of, std::vector<Expr> grid, std::vector<ir::KStmt> body) {
  ir::Launch l = of.l;
  for (std::size_t d = 0; d < 3; ++d) l.grid[d] = d < grid.size() ? grid[d] : ir::index(1);
  return {{}, ir::KLaunch{std::move(l), std::move(body)}};
}

ir::KStmt barrier() { return {{}, ir::KSync{}}; }

// ---- a device with the validation layer ----------------------------------------------------------------------------
namespace {

// The layer adds up the shared memory of all launches of a module, of which a block has that of its own alone
// (Vulkan-ValidationLayers, issue 6961); the runtime compares each launch's with the device.
constexpr const char* kSumOfLaunches = "VUID-RuntimeSpirv-Workgroup-06530";

VkBool32 VKAPI_PTR keep(VkDebugUtilsMessageSeverityFlagBitsEXT, VkDebugUtilsMessageTypeFlagsEXT,
                        const VkDebugUtilsMessengerCallbackDataEXT* data, void* messages) {
  const std::string message = data->pMessage;
  if (message.find(kSumOfLaunches) == std::string::npos) static_cast<std::vector<std::string>*>(messages)->push_back(message);
  return VK_FALSE;
}

constexpr const char* kLayer = "VK_LAYER_KHRONOS_validation";

}  // namespace

TestDevice* TestDevice::get() {
  static TestDevice& device = *new TestDevice;
  static bool absent = false;
  static const std::string reason = device.open(absent);
  if (reason.empty()) return &device;
  if (!absent) throw std::runtime_error("a Vulkan device is here and cannot be used: " + reason);
  skip::for_want_of_vulkan(reason);
  return nullptr;
}

std::string TestDevice::said() const {
  std::string all;
  for (const std::string& m : messages_) all += m + "\n";
  return all;
}

std::string TestDevice::open(bool& absent) {
  absent = true;
  library_ = dlopen("libvulkan.so.1", RTLD_NOW);
  if (!library_) return "libvulkan.so.1 is not here";
  const auto get = reinterpret_cast<PFN_vkGetInstanceProcAddr>(dlsym(library_, "vkGetInstanceProcAddr"));
  const auto create = reinterpret_cast<PFN_vkCreateInstance>(get(nullptr, "vkCreateInstance"));
  VkDebugUtilsMessengerCreateInfoEXT messenger = {};
  messenger.sType = VK_STRUCTURE_TYPE_DEBUG_UTILS_MESSENGER_CREATE_INFO_EXT;
  messenger.messageSeverity = VK_DEBUG_UTILS_MESSAGE_SEVERITY_WARNING_BIT_EXT | VK_DEBUG_UTILS_MESSAGE_SEVERITY_ERROR_BIT_EXT;
  messenger.messageType = VK_DEBUG_UTILS_MESSAGE_TYPE_VALIDATION_BIT_EXT | VK_DEBUG_UTILS_MESSAGE_TYPE_PERFORMANCE_BIT_EXT;
  messenger.pfnUserCallback = keep;
  messenger.pUserData = &messages_;
  const VkValidationFeatureEnableEXT enabled[] = {VK_VALIDATION_FEATURE_ENABLE_SYNCHRONIZATION_VALIDATION_EXT};
  VkValidationFeaturesEXT features = {};
  features.sType = VK_STRUCTURE_TYPE_VALIDATION_FEATURES_EXT;
  features.enabledValidationFeatureCount = 1;
  features.pEnabledValidationFeatures = enabled;
  features.pNext = &messenger;
  VkApplicationInfo application = {};
  application.sType = VK_STRUCTURE_TYPE_APPLICATION_INFO;
  application.apiVersion = VK_API_VERSION_1_3;
  const char* extensions[] = {"VK_EXT_debug_utils"};
  VkInstanceCreateInfo info = {};
  info.sType = VK_STRUCTURE_TYPE_INSTANCE_CREATE_INFO;
  info.pNext = &features;
  info.pApplicationInfo = &application;
  info.enabledLayerCount = 1;
  info.ppEnabledLayerNames = &kLayer;
  info.enabledExtensionCount = 1;
  info.ppEnabledExtensionNames = extensions;
  VkInstance instance = nullptr;
  if (const VkResult r = create(&info, nullptr, &instance); r != VK_SUCCESS) {
    absent = r == VK_ERROR_INCOMPATIBLE_DRIVER || r == VK_ERROR_LAYER_NOT_PRESENT;
    return std::string("no Vulkan instance with ") + kLayer + " can be made (" + std::to_string(r) + ")";
  }
  instance_ = instance;
  auto of_instance = [&]<class F>(F& f, const char* name) { f = reinterpret_cast<F>(get(instance, name)); };
  PFN_vkCreateDebugUtilsMessengerEXT create_messenger;
  of_instance(create_messenger, "vkCreateDebugUtilsMessengerEXT");
  VkDebugUtilsMessengerEXT made = {};
  create_messenger(instance, &messenger, nullptr, &made);
  messenger_ = reinterpret_cast<void*>(made);
  PFN_vkEnumeratePhysicalDevices enumerate;
  of_instance(enumerate, "vkEnumeratePhysicalDevices");
  std::uint32_t count = 1;
  VkPhysicalDevice physical = nullptr;
  const VkResult found = enumerate(instance, &count, &physical);
  if (found == VK_SUCCESS && count == 0) return "no Vulkan device is here";
  absent = false;
  if (found != VK_SUCCESS && found != VK_INCOMPLETE) return "vkEnumeratePhysicalDevices returned " + std::to_string(found);
  VkPhysicalDeviceShaderIntegerDotProductFeatures dots = {};
  dots.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SHADER_INTEGER_DOT_PRODUCT_FEATURES;
  VkPhysicalDeviceSubgroupSizeControlFeatures sizes = {};
  sizes.pNext = &dots;
  sizes.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SUBGROUP_SIZE_CONTROL_FEATURES;
  VkPhysicalDeviceVulkan12Features v12 = {};
  v12.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_2_FEATURES;
  v12.pNext = &sizes;
  v12.shaderInt8 = v12.storageBuffer8BitAccess = v12.bufferDeviceAddress = VK_TRUE;
  VkPhysicalDeviceVulkan11Features v11 = {};
  v11.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_1_FEATURES;
  v11.pNext = &v12;
  v11.storageBuffer16BitAccess = VK_TRUE;
  VkPhysicalDeviceFeatures2 base = {};
  base.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FEATURES_2;
  base.pNext = &v11;
  base.features.shaderInt16 = base.features.shaderInt64 = base.features.shaderFloat64 = VK_TRUE;
  const float priority = 1;
  VkDeviceQueueCreateInfo queue = {};
  queue.sType = VK_STRUCTURE_TYPE_DEVICE_QUEUE_CREATE_INFO;
  queue.queueCount = 1;
  queue.pQueuePriorities = &priority;
  VkDeviceCreateInfo device_info = {};
  device_info.sType = VK_STRUCTURE_TYPE_DEVICE_CREATE_INFO;
  device_info.pNext = &base;
  device_info.queueCreateInfoCount = 1;
  device_info.pQueueCreateInfos = &queue;
  // What not all devices have is switched on where it is there. That subnormal numbers of f16 stay is taken for granted: Mesa's
  // llvmpipe does not promise it, and does it.
  VkPhysicalDeviceVulkan12Features has12 = {};
  has12.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_2_FEATURES;
  VkPhysicalDeviceShaderIntegerDotProductFeatures has_dots = dots;
  has12.pNext = &has_dots;
  VkPhysicalDeviceFeatures2 has = {};
  has.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FEATURES_2;
  has.pNext = &has12;
  PFN_vkGetPhysicalDeviceFeatures2 get_features;
  of_instance(get_features, "vkGetPhysicalDeviceFeatures2");
  get_features(physical, &has);
  v12.shaderFloat16 = has12.shaderFloat16;
  dots.shaderIntegerDotProduct = has_dots.shaderIntegerDotProduct;
  v12.vulkanMemoryModel = v12.vulkanMemoryModelDeviceScope = has12.vulkanMemoryModel && has12.vulkanMemoryModelDeviceScope;
  PFN_vkCreateDevice create_device;
  of_instance(create_device, "vkCreateDevice");
  VkDevice device = nullptr;
  if (const VkResult r = create_device(physical, &device_info, nullptr, &device); r != VK_SUCCESS) {
    absent = r == VK_ERROR_FEATURE_NOT_PRESENT;
    return "no Vulkan device with the features of the tests can be made (" + std::to_string(r) + ")";
  }
  device_ = device;
  PFN_vkGetDeviceQueue get_queue;
  of_instance(get_queue, "vkGetDeviceQueue");
  VkQueue handle = nullptr;
  get_queue(device, 0, 0, &handle);
  ashlar_vulkan_given& given = given_;
  given.size = sizeof given;
  given.get_instance_proc_addr = reinterpret_cast<void*>(get);
  given.instance = instance, given.physical_device = physical, given.device = device, given.queue = handle;
  given.features = ASHLAR_VULKAN_INT8 | ASHLAR_VULKAN_INT16 | ASHLAR_VULKAN_INT64 | ASHLAR_VULKAN_FLOAT64 |
                   ASHLAR_VULKAN_STORAGE8 | ASHLAR_VULKAN_STORAGE16 | ASHLAR_VULKAN_ADDRESSES |
                   (v12.shaderFloat16 ? std::uint32_t{ASHLAR_VULKAN_FLOAT16} : 0u) |
                   (dots.shaderIntegerDotProduct ? std::uint32_t{ASHLAR_VULKAN_DOT8} : 0u) |
                   (v12.vulkanMemoryModel ? std::uint32_t{ASHLAR_VULKAN_MEMORY_MODEL} : 0u);
  ashlar_error error = {};
  if (ashlar_vulkan_open(&given, &queue_, &error) != ASHLAR_OK) return sentence(error);
  return "";
}

std::string sentence(const ashlar_error& error) { return test::sentence(error); }

// ---- running --------------------------------------------------------------------------------------------------------
namespace {

std::int64_t value_of(const Expr& e, const std::map<ir::Id, std::int64_t>& variables) {
  if (e.empty()) return 1;  // of a grid
  ir::Substitution all;
  for (const auto& [id, v] : variables) all.emplace_back(id, ir::index(v));
  std::int64_t v = 0;
  if (!ir::is_int(ir::substitute(e, all), &v)) throw InternalError("a grid that is not a constant");
  return v;
}

std::uint64_t hash_of(const std::vector<std::uint32_t>& words) {
  std::uint64_t h = 14695981039346656037u;
  for (std::uint32_t w : words) h = (h ^ w) * 1099511628211u;
  return h;
}

}  // namespace

std::string TestDevice::run(const ir::Kernel& k, std::vector<Bytes>& arguments, const std::map<ir::Id, std::int64_t>& variables,
                            const codegen::spirv::Options& options, ashlar_vulkan_queue* other) {
  ashlar_vulkan_queue* const on = other ? other : queue_;
  codegen::spirv::Options emulated = options;
  emulated.native_fma = false;
  const codegen::spirv::Code code[2] = {codegen::spirv::translate(k, options), codegen::spirv::translate(k, emulated)};
  std::vector<ashlar_abi1_vulkan_launch> launches;
  for (const codegen::spirv::Entry& e : code[0].entries)
    launches.push_back({e.name.c_str(), static_cast<std::uint32_t>(e.launch.threads), static_cast<std::uint32_t>(e.launch.warp),
                        static_cast<std::uint32_t>(e.shared_bytes), static_cast<std::uint32_t>(e.parameter_bytes),
                        (e.parameters_in_memory ? std::uint32_t{ASHLAR_VULKAN_PARAMETERS_IN_MEMORY} : 0u) |
                            (e.uses_subgroups ? std::uint32_t{ASHLAR_VULKAN_USES_SUBGROUPS} : 0u) |
                            (e.folded ? std::uint32_t{ASHLAR_VULKAN_FOLDED} : 0u),
                        0});
  ashlar_abi1_vulkan_module m = {};
  m.abi = 1, m.size = sizeof m, m.name = k.name.c_str();
  for (int v = 0; v < 2; ++v) {
    m.words[v] = code[v].words.data(), m.word_count[v] = code[v].words.size();
    m.hash[v] = hash_of(code[v].words), m.features[v] = code[v].features;
  }
  m.launch_count = static_cast<std::uint32_t>(launches.size()), m.launches = launches.data();

  ashlar_error error = {};
  std::map<ir::Id, ashlar_vulkan_buffer*> buffers;
  int rc = ASHLAR_OK;
  auto make = [&](ir::Id id, std::size_t bytes, const Bytes* contents) {
    ashlar_vulkan_buffer*& b = buffers[id];
    if (rc == ASHLAR_OK) rc = ashlar_vulkan_alloc(on, bytes, &b, &error);
    if (rc == ASHLAR_OK && contents) rc = ashlar_vulkan_upload(b, 0, contents->data(), contents->size(), &error);
  };
  std::size_t n = 0;
  for (const ir::Argument& a : k.arguments)
    if (a.kind != ir::ArgumentKind::scalar) make(a.id, arguments.at(n).size(), &arguments.at(n)), ++n;
  for (const auto& [id, b] : k.buffers)
    if (b.storage == ir::Storage::workspace)
      make(id, static_cast<std::size_t>(value_of(b.elements, variables) * b.type.bytes()), nullptr);
  ashlar_context context = {};
  context.size = sizeof context;
  context.stream = on;
  context.error = &error;
  ashlar_abi1_vulkan_call* call = nullptr;
  std::uint64_t workspace = 0;
  if (rc == ASHLAR_OK) rc = ashlar_abi1_vulkan_begin(&m, &context, 0, 0, &call, &workspace);
  if (rc == ASHLAR_OK) {
    for (std::uint32_t l = 0; l < launches.size(); ++l) {
      const codegen::spirv::Entry& e = code[0].entries[l];
      std::vector<std::uint64_t> parameters;
      for (const codegen::spirv::Parameter& p : e.parameters)
        parameters.push_back(p.kind == codegen::spirv::Parameter::Kind::address
                                 ? buffers.at(p.id)->address
                                 : static_cast<std::uint64_t>(variables.at(p.id)));
      parameters.push_back(0);
      const std::int64_t grid[3] = {value_of(e.launch.grid[0], variables), value_of(e.launch.grid[1], variables),
                                    value_of(e.launch.grid[2], variables)};
      if (rc == ASHLAR_OK) rc = ashlar_abi1_vulkan_run(call, l, grid, parameters.data());
    }
    const int ended = ashlar_abi1_vulkan_end(call);
    if (rc == ASHLAR_OK) rc = ended;
  }
  if (rc == ASHLAR_OK) rc = ashlar_vulkan_wait(on, &error);
  n = 0;
  for (const ir::Argument& a : k.arguments)
    if (a.kind != ir::ArgumentKind::scalar) {
      Bytes& bytes = arguments.at(n++);
      if (rc == ASHLAR_OK) rc = ashlar_vulkan_download(buffers.at(a.id), 0, bytes.data(), bytes.size(), &error);
    }
  for (const auto& [id, b] : buffers) ashlar_vulkan_free(b);
  return rc == ASHLAR_OK ? "" : sentence(error);
}

OnDevice::OnDevice(const interp::Array& a, ashlar_vulkan_queue* queue) : shape(a.shape) {
  ashlar_error error = {};
  REQUIRE(ashlar_vulkan_alloc(queue, a.bytes.size(), &buffer, &error) == ASHLAR_OK);
  REQUIRE(ashlar_vulkan_upload(buffer, 0, a.bytes.data(), a.bytes.size(), &error) == ASHLAR_OK);
  const codegen::TensorType t = codegen::tensor_type(a.type);
  tensor.data = buffer, tensor.device_type = 7, tensor.ndim = static_cast<std::int32_t>(shape.size());
  tensor.type_code = t.code, tensor.type_bits = t.bits, tensor.type_lanes = 1, tensor.shape = shape.data();
}

void OnDevice::read(interp::Array& a) const {
  ashlar_error error = {};
  REQUIRE(ashlar_vulkan_download(buffer, 0, a.bytes.data(), a.bytes.size(), &error) == ASHLAR_OK);
}

}  // namespace vulkan
