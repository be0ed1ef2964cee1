/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Whether Fma rounds once: Vulkan lets a driver round the product, and does not tell. A shader of the compiler's own form
 * (probe_words.h) computes Fma of numbers that it reads from memory, so that nothing is folded, and the answers are compared
 * with the right ones. Kernels that need the answer ask the first time they run. */
#include <string.h>

#include "probe_words.h"
#include "queue.h"

enum { kCases = 4 };

/* (x, y, z, x y + z rounded once). The first two tell a product that was rounded; the others tell a sum that was rounded to a
 * wider format before, whose result lay half way. */
static const float cases32[kCases][4] = {
    {0x1.000002p0f, 0x1.fffffcp-1f, -1.0f, -0x1p-46f},
    {0x1.000002p0f, 0x1.000002p0f, -0x1.000004p0f, 0x1p-46f},
    {0x1.000002p0f, 0x1.fffffcp-25f, 0x1.000002p0f, 0x1.000002p0f},
    {-0x1.000002p0f, 0x1.fffffcp-25f, -0x1.000002p0f, -0x1.000002p0f},
};
static const double cases64[kCases][4] = {
    {0x1.0000000000001p0, 0x1.ffffffffffffep-1, -1.0, -0x1p-104},
    {0x1.0000000000001p0, 0x1.0000000000001p0, -0x1.0000000000002p0, 0x1p-104},
    {0x1.0000000000001p0, 0x1.ffffffffffffep-54, 0x1.0000000000001p0, 0x1.0000000000001p0},
    {-0x1.0000000000001p0, 0x1.ffffffffffffep-54, -0x1.0000000000001p0, -0x1.0000000000001p0},
};

/* Runs one probe; *same says whether all of `out` equals what was expected. */
static int run(ashlar_vulkan_queue* q, ashlar_error* error, const ashlar_abi1_vulkan_module* m, const void* cases,
               size_t element, bool* same) {
  Memory memory;
  int rc = ashlar_vulkan_make_memory(q, error, m->name, kCases * 4 * element, kMemoryOfBoth, &memory);
  if (rc != ASHLAR_OK) return rc;
  memcpy(memory.mapped, cases, kCases * 4 * element); /* the right answers are overwritten by the device's */
  for (int k = 0; k < kCases; ++k) memset((char*)memory.mapped + (4 * (size_t)k + 3) * element, 0, element);
  ashlar_abi1_vulkan_call* call = NULL;
  rc = ashlar_vulkan_start(q, m, 0, error, true, &call);
  if (rc == ASHLAR_OK) {
    const int64_t grid[3] = {1, 1, 1};
    rc = ashlar_vulkan_record(call, 0, grid, &memory.address);
    if (rc == ASHLAR_OK)
      rc = ashlar_vulkan_submit(q, error, m->name, call->submission, true);
    else
      ashlar_vulkan_abandon(q, call->submission);
  }
  *same = rc == ASHLAR_OK && memcmp(memory.mapped, cases, kCases * 4 * element) == 0;
  ashlar_vulkan_drop_memory(q, &memory);
  return rc;
}

int ashlar_vulkan_probe(ashlar_vulkan_queue* q, ashlar_error* error) {
  if (q->probed) return ASHLAR_OK;
  static const ashlar_abi1_vulkan_launch launch = {"probe", kCases, 0, 0, 8, 0, 0};
  const ashlar_abi1_vulkan_module modules[2] = {{1,
                                                 sizeof modules[0],
                                                 "vulkan: the probe of Fma of f32",
                                                 {kProbe32, NULL},
                                                 {sizeof kProbe32 / 4, 0},
                                                 {32, 0},
                                                 {0, 0},
                                                 1,
                                                 0,
                                                 &launch},
                                                {1,
                                                 sizeof modules[0],
                                                 "vulkan: the probe of Fma of f64",
                                                 {kProbe64, NULL},
                                                 {sizeof kProbe64 / 4, 0},
                                                 {64, 0},
                                                 {0, 0},
                                                 1,
                                                 0,
                                                 &launch}};
  bool same = false;
  int rc = run(q, error, &modules[0], cases32, sizeof(float), &same);
  if (rc != ASHLAR_OK) return rc;
  if (same) q->features |= ASHLAR_VULKAN_FMA32;
  if ((q->features & ASHLAR_VULKAN_FLOAT64) != 0) {
    rc = run(q, error, &modules[1], cases64, sizeof(double), &same);
    if (rc != ASHLAR_OK) return rc;
    if (same) q->features |= ASHLAR_VULKAN_FMA64;
  }
  q->probed = true;
  return ASHLAR_OK;
}
