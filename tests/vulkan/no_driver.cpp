// Run where the loader finds no driver (VK_DRIVER_FILES names nothing): prints the sentence, and succeeds if there is one.
#include <cstdio>

#include <ashlar/runtime/runtime.h>
#include <ashlar/runtime/vulkan.h>

int main() {
  ashlar_vulkan_queue* queue = nullptr;
  ashlar_error error = {};
  if (ashlar_vulkan_open(nullptr, &queue, &error) == ASHLAR_OK) return 1;
  char text[300];
  ashlar_error_text(&error, text, sizeof text);
  std::printf("%s: %s\n", ashlar_code_name(error.code), text);
}
