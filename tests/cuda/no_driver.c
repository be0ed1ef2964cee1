/* What a call says where there is no driver, no device, or a driver that is too old: ASHLAR_CUDA_LIBRARY is set by the test. */
#include <stdio.h>

#include <ashlar/runtime/cuda.h>
#include <ashlar/runtime/runtime.h>

int main(void) {
  const ashlar_abi1_cuda_launch launch = {"f", NULL, 32, 0, 0, 0};
  const ashlar_abi1_cuda_module m = {1, sizeof m, "f", "sm_80", 80, 0, NULL, 0, ".version 7.0", 1, &launch, 1, 0, NULL};
  ashlar_error error = {0, -1, -1, 0, 0, ""};
  ashlar_context context = {.size = sizeof context, .error = &error};
  ashlar_abi1_cuda_call call;
  uint64_t workspace = 0;
  char text[400];
  const int rc = ashlar_abi1_cuda_begin(&m, &context, 0, 0, &call, &workspace);
  ashlar_error_text(&error, text, sizeof text);
  printf("%s: %s\n", ashlar_code_name(rc), text);
  return rc == ASHLAR_OK;
}
