/* What the two files of the stand-in driver share: its objects, and what it has seen. */
#ifndef ASHLAR_TESTS_CUDA_STANDIN_STATE_H
#define ASHLAR_TESTS_CUDA_STANDIN_STATE_H
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/cuda/driver.h"

#include "tests/cuda/standin.h"

enum { kInvalidValue = 1, kNotInitialized = 3, kInvalidDevice = 101, kInvalidPtx = 218, kInvalidHandle = 400, kNotFound = 500 };
enum { kContext = 0x43, kStream, kModule, kFunction, kPool, kGraph, kHeld, kDead };
enum { kNotSupported = 801, kCapturing = 900 };
enum { kMost = 256, kBytes = 1 << 16 };

struct CudaContextObject {
  int kind, device;
  unsigned long long id;
  CudaContext next;
};
struct CudaStreamObject {
  int kind;
  CudaContext context;
  CudaStream next;
};
struct CudaFunctionObject {
  int kind;
  char name[64];
  CudaModule module;
  uint32_t threads, count, sizes[64];
  int shared;
};
struct CudaModuleObject {
  int kind;
  CudaContext context;
  bool ptx;
  const char* image;
  struct CudaFunctionObject functions[16];
  int count;
  CudaModule next;
};

struct CudaPoolObject {
  int kind;
  uint64_t threshold;
};
struct CudaUserObject {
  int kind, references;
  void* value;
  void (*destroy)(void*);
  CudaHeld next; /* of the same graph */
};
struct CudaGraphObject {
  int kind;
  CudaHeld held;
};

#pragma GCC visibility push(hidden)
extern struct Standin {
  char calls[kBytes], complaints[kBytes];
  struct {
    char function[64];
    int countdown, result;
  } failures[2]; /* to come */
  int lost;
  int attributes[256];
  int devices;
  bool cubin, initialized;
  CudaContext stack[16], primary;
  int depth;
  unsigned long long ids;
  CudaContext contexts; /* all there ever were */
  CudaStream streams;
  CudaModule modules; /* likewise */
  StandinLaunch launches[kMost];
  int launch_count, blocks;
  CudaPool pool;       /* the last one */
  CudaStream captured; /* NULL: none */
  CudaGraph graph;
  uint64_t captures;
  char jit_error[1024], jit_info[1024];
  bool jit_lines;
} s;

CudaResult called(const char* name); /* records the call; 0, or what it must return */
CudaResult complain(const char* format, ...) __attribute__((format(printf, 1, 2)));
/* What no call may do while a stream is captured. */
#define UNCAPTURED \
  if (s.captured != NULL) return kCapturing
#define CALLED(name)                    \
  const CudaResult told = called(name); \
  if (told != 0) return told

bool valid_context(CudaContext);
CudaContext current(void);
bool stream_of(CudaStream, CudaContext);
/* Of cuLaunchKernel and cuLaunchKernelEx; in the latter's the launch has attributes. */
CudaResult launch(CudaFunction, const CudaLaunchConfig*, void** parameters, void** extra);
CudaResult load(CudaModule*, const void* image);
void release(CudaHeld);
#pragma GCC visibility pop

#endif
