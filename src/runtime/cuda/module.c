/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Modules, loaded once a CUDA context: machine code where it is for this device, else the PTX, which the driver assembles. */
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cuda.h"

static _Atomic(CudaLoaded*) modules; /* grows at the head and never shrinks: readers need no lock */

static const CudaLoaded* find(const CudaPlace* place, const ashlar_abi1_cuda_module* m) {
  for (const CudaLoaded* l = atomic_load_explicit(&modules, memory_order_acquire); l != NULL; l = l->next)
    if (l->place == place && l->hash == m->hash && l->count == m->launch_count) return l;
  return NULL;
}

ashlar_abi1_cuda_launch_more ashlar_cuda_more(const ashlar_abi1_cuda_module* m, uint32_t launch) {
  const bool tells = m->size >= sizeof *m && m->more != NULL;
  return tells ? m->more[launch] : (ashlar_abi1_cuda_launch_more){{1, 1, 1}, 0};
}

/* Families (PTX ISA, "Target: family-specific"): code for sm_100f runs on 10.0 and 10.3. 10.1 is what 11.0 was called at first,
 * and has a family of its own. */
static bool accepts(const ashlar_abi1_cuda_module* m, uint32_t capability) {
  switch (m->accepts) {
    case ASHLAR_ABI1_CUDA_LATER:
      return capability >= m->capability;
    case ASHLAR_ABI1_CUDA_FAMILY:
      return capability >= m->capability && capability / 10 == m->capability / 10 &&
             (capability == m->capability || capability != 101);
    default: /* what a later runtime knows is not taken for more than it is */
      return capability == m->capability;
  }
}

static int check_device(const CudaDriver* cu, const CudaPlace* place, const ashlar_abi1_cuda_module* m, ashlar_error* error) {
  char name[128];
  if (!accepts(m, (uint32_t)place->capability)) {
    ashlar_cuda_device_name(cu, place->device, name, sizeof name);
    return ashlar_error_record(error, ASHLAR_E_TARGET, -1, -1, m->capability, place->capability,
                               m->accepts == ASHLAR_ABI1_CUDA_LATER
                                   ? "%s: made for %s, compute capability {expected} or later (times ten); %s has {found}"
                               : m->accepts == ASHLAR_ABI1_CUDA_FAMILY
                                   ? "%s: made for %s, which is the family of compute capability {expected} (times "
                                     "ten); %s has {found}"
                                   : "%s: made for %s, which is compute capability {expected} alone (times ten); %s "
                                     "has {found}",
                               m->name, m->chip, name);
  }
  for (uint32_t k = 0; k < m->launch_count; ++k) {
    const ashlar_abi1_cuda_launch* what = &m->launches[k];
    const struct {
      uint32_t wanted, most;
      const char* what;
    } limits[] = {{what->threads, (uint32_t)place->most_threads, "threads"},
                  {what->shared_bytes, (uint32_t)place->most_shared, "bytes of shared memory"}};
    for (size_t n = 0; n < 2; ++n)
      if (limits[n].wanted > limits[n].most) {
        ashlar_cuda_device_name(cu, place->device, name, sizeof name);
        return ashlar_error_record(error, ASHLAR_E_TARGET, -1, -1, limits[n].most, limits[n].wanted,
                                   "%s: a block of launch `%s` takes {found} %s, %s has {expected}", m->name, what->entry,
                                   limits[n].what, name);
      }
  }
  return ASHLAR_OK;
}

enum { kLogBytes = 2048 };

/* The lines of a log in one: "ptxas …, line 3; error   : …; ptxas fatal   : …". */
static const char* in_one_line(char* log) {
  size_t end = strlen(log);
  while (end > 0 && (log[end - 1] == '\n' || log[end - 1] == ' ')) log[--end] = '\0';
  for (char* c = log; *c != '\0'; ++c)
    if (*c == '\n' || *c == '\r' || *c == '\t') *c = *c == '\n' ? ';' : ' ';
  return log;
}

/* Loads an image; what the driver's assembler says about PTX it cannot take is in `log`. */
static CudaResult load_data(const CudaDriver* cu, const void* image, bool lines, CudaModule* module, char log[kLogBytes]) {
  log[0] = '\0';
  if (cu->ModuleLoadDataEx == NULL) return cu->ModuleLoadData(module, image);
  char info[kLogBytes] = "";
  int options[5] = {kCudaJitErrorLog, kCudaJitErrorLogBytes, kCudaJitInfoLog, kCudaJitInfoLogBytes, kCudaJitLineInfo};
  void* values[5] = {log, (void*)(uintptr_t)kLogBytes, info, (void*)(uintptr_t)kLogBytes, (void*)(uintptr_t)1};
  const CudaResult r = cu->ModuleLoadDataEx(module, image, lines ? 5 : 4, options, values);
  log[kLogBytes - 1] = info[kLogBytes - 1] = '\0';
  if (log[0] == '\0') memcpy(log, info, sizeof info); /* some drivers put everything there */
  return r;
}

/* The driver that compiles bytecode of Tile IR, as CUDA counts versions: the one of its format, which the file says, and the
 * one that first compiled it for the device. (CUDA Toolkit release notes: 10.x and 12.x since 13.1, 8.x since 13.2, 9.0
 * since 13.3.) */
static int driver_for_tiles(const CudaPlace* place, const ashlar_abi1_cuda_module* m) {
  const unsigned char* head = (const unsigned char*)m->ptx; /* magic of 8 bytes, major, minor */
  const int format = 1000 * head[8] + 10 * head[9], family = place->capability / 10;
  const int device = family == 8 ? 13020 : family == 9 ? 13030 : 13010;
  return format > device ? format : device;
}

static int load_tiles(const CudaDriver* cu, const CudaPlace* place, const ashlar_abi1_cuda_module* m, ashlar_error* error,
                      CudaModule* module) {
  char log[kLogBytes], name[128];
  const int needed = driver_for_tiles(place, m);
  int version = 0;
  if (cu->DriverGetVersion != NULL) {
    const CudaResult r = cu->DriverGetVersion(&version);
    if (r != kCudaSuccess) return ashlar_cuda_failed(cu, error, m->name, "cuDriverGetVersion", r);
  }
  if (version < needed) {
    ashlar_cuda_device_name(cu, place->device, name, sizeof name);
    return ashlar_error_record(error, ASHLAR_E_TARGET, -1, -1, needed, version,
                               "%s: made for %s: tiles on %s need a driver of CUDA %d.%d or later, this one is of CUDA %d.%d",
                               m->name, m->chip, name, needed / 1000, needed % 1000 / 10, version / 1000, version % 1000 / 10);
  }
  const char* function = cu->ModuleLoadDataEx != NULL ? "cuModuleLoadDataEx" : "cuModuleLoadData";
  const CudaResult r = load_data(cu, m->ptx, false, module, log);
  if (r == kCudaSuccess) return ASHLAR_OK;
  char what[64];
  snprintf(what, sizeof what, "%s of bytecode", function);
  return ashlar_cuda_failed_with(cu, error, m->name, what, r, in_one_line(log));
}

static int load_image(const CudaDriver* cu, const CudaPlace* place, const ashlar_abi1_cuda_module* m, ashlar_error* error,
                      CudaModule* module) {
  char log[kLogBytes];
  const char* function = cu->ModuleLoadDataEx != NULL ? "cuModuleLoadDataEx" : "cuModuleLoadData";
  if (m->cubin != NULL) {
    const CudaResult r = load_data(cu, m->cubin, false, module, log);
    if (r == kCudaSuccess) return ASHLAR_OK;
    if (r != kCudaNoBinaryForGpu && r != kCudaInvalidImage)
      return ashlar_cuda_failed_with(cu, error, m->name, function, r, in_one_line(log));
  }
  if ((m->flags & ASHLAR_ABI1_CUDA_TILES) != 0) return load_tiles(cu, place, m, error, module);
  const CudaResult r = load_data(cu, m->ptx, (m->flags & ASHLAR_ABI1_CUDA_LINES) != 0, module, log);
  if (r == kCudaSuccess) return ASHLAR_OK;
  char what[64];
  snprintf(what, sizeof what, "%s of PTX", function);
  return ashlar_cuda_failed_with(cu, error, m->name, what, r, in_one_line(log));
}

static int failed_at(const CudaDriver* cu, ashlar_error* error, const char* who, const char* function, const char* entry,
                     CudaResult r) {
  char what[200];
  snprintf(what, sizeof what, "%s of `%s`", function, entry);
  return ashlar_cuda_failed(cu, error, who, what, r);
}

static int take_functions(const CudaDriver* cu, const ashlar_abi1_cuda_module* m, ashlar_error* error, CudaLoaded* l) {
  for (uint32_t k = 0; k < m->launch_count; ++k) {
    const ashlar_abi1_cuda_launch* what = &m->launches[k];
    CudaResult r = cu->ModuleGetFunction(&l->functions[k], l->module, what->entry);
    if (r != kCudaSuccess) return failed_at(cu, error, m->name, "cuModuleGetFunction", what->entry, r);
    int threads = 0;
    r = cu->FuncGetAttribute(&threads, kCudaFuncMaxThreads, l->functions[k]);
    if (r != kCudaSuccess) return failed_at(cu, error, m->name, "cuFuncGetAttribute", what->entry, r);
    if (what->threads > (uint32_t)threads)
      return ashlar_error_record(error, ASHLAR_E_TARGET, -1, -1, threads, what->threads,
                                 "%s: a block of launch `%s` takes {found} threads, whose registers leave room for {expected}",
                                 m->name, what->entry);
    if (what->shared_bytes == 0) continue;
    r = cu->FuncSetAttribute(l->functions[k], kCudaFuncMaxDynamicShared, (int)what->shared_bytes);
    if (r != kCudaSuccess) return failed_at(cu, error, m->name, "cuFuncSetAttribute", what->entry, r);
  }
  return ASHLAR_OK;
}

int ashlar_cuda_load(const CudaDriver* cu, CudaPlace* place, const ashlar_abi1_cuda_module* m, ashlar_error* error,
                     const CudaLoaded** result) {
  *result = find(place, m);
  if (*result != NULL) return ASHLAR_OK;
  static Lock lock = LOCK; /* one thread loads, the others then find */
  lock_take(&lock);
  int rc = ASHLAR_OK;
  CudaLoaded* l = NULL;
  *result = find(place, m);
  if (*result == NULL) {
    rc = check_device(cu, place, m, error);
    const size_t bytes = sizeof *l + m->launch_count * sizeof l->functions[0];
    if (rc == ASHLAR_OK && (l = calloc(1, bytes)) == NULL)
      rc = ashlar_error_record(error, ASHLAR_E_MEMORY, -1, -1, (int64_t)bytes, 0, "%s: no host memory for {expected} bytes",
                               m->name);
    if (rc == ASHLAR_OK) rc = load_image(cu, place, m, error, &l->module);
    if (rc == ASHLAR_OK && (rc = take_functions(cu, m, error, l)) != ASHLAR_OK)
      (void)cu->ModuleUnload(l->module); /* what went wrong is already told */
    if (rc == ASHLAR_OK) {
      l->place = place, l->hash = m->hash, l->count = m->launch_count;
      l->next = atomic_load_explicit(&modules, memory_order_relaxed);
      atomic_store_explicit(&modules, l, memory_order_release);
      *result = l;
    } else {
      free(l);
    }
  }
  lock_leave(&lock);
  return rc;
}
