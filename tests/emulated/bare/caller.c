/* Calls the plain entry of one kernel on a processor without an operating system: reads the arguments from a file of the host,
 * and writes the code and what the tensors hold to another. Semihosting opens them.
 *
 *   in     a count; for each tensor: bytes, data, the offset of its pointer in the kernel's arguments; bytes of the arguments,
 * data
 *
 * The linker gives the kernel's entries the names kernel_run and kernel_workspace_bytes. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <ashlar/runtime/abi.h>

enum { most = 24 };

int kernel_run(const void* args, const ashlar_context* context);
size_t kernel_workspace_bytes(const void* args, const ashlar_context* context);

static int64_t number(FILE* f) {
  int64_t n = 0;
  if (fread(&n, sizeof n, 1, f) != 1) abort();
  return n;
}

static char* memory(size_t bytes) {
  char* all = malloc(bytes + 128);
  if (!all) abort();
  return all + 64 - (uintptr_t)all % 64;
}

int main(void) {
  static char* tensors[most];
  static int64_t bytes[most], offsets[most];
  FILE *in = fopen("in", "rb"), *out = NULL;
  if (!in) abort();
  const int64_t count = number(in);
  if (count > most) abort();
  for (int64_t k = 0; k < count; ++k) {
    bytes[k] = number(in);
    tensors[k] = memory((size_t)bytes[k]);
    if (bytes[k] && fread(tensors[k], (size_t)bytes[k], 1, in) != 1) abort();
    offsets[k] = number(in);
  }
  const int64_t args_bytes = number(in);
  char* args = memory((size_t)args_bytes);
  if (args_bytes && fread(args, (size_t)args_bytes, 1, in) != 1) abort();
  for (int64_t k = 0; k < count; ++k) *(char**)(args + offsets[k]) = tensors[k];
  fclose(in);
  static ashlar_error error;
  ashlar_context context = {.size = sizeof context, .error = &error};
  context.workspace_bytes = kernel_workspace_bytes(args, &context);
  context.workspace = memory(context.workspace_bytes);
  const int64_t code = kernel_run(args, &context);
  out = fopen("out", "wb");
  if (!out || fwrite(&code, sizeof code, 1, out) != 1) abort();
  for (int64_t k = 0; k < count; ++k)
    if (bytes[k] && fwrite(tensors[k], (size_t)bytes[k], 1, out) != 1) abort();
  if (fclose(out) != 0) abort();
  return 0;
}
