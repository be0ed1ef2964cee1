// A C++11 unit that speaks DLPack: the order of the includes gives the overloads on DLTensor.
#include <cstdint>
#define DLPACK_DLPACK_H_  // the part of dlpack.h 1.0 that matters, so that the test stands alone
typedef enum : int { kDLCPU = 1 } DLDeviceType;
typedef struct {
  DLDeviceType device_type;
  int32_t device_id;
} DLDevice;
typedef struct {
  uint8_t code, bits;
  uint16_t lanes;
} DLDataType;
typedef struct {
  void* data;
  DLDevice device;
  int32_t ndim;
  DLDataType dtype;
  int64_t *shape, *strides;
  uint64_t byte_offset;
} DLTensor;
#include "matmul.h"
#include "conv1d.h"

extern "C" int dlpack_matmul(void);
int dlpack_matmul(void) {
  float a[4] = {1, 2, 3, 4}, b[4] = {0, 1, 1, 0}, c[4] = {};
  int64_t shape[2] = {2, 2};
  DLTensor A{a, {kDLCPU, 0}, 2, {2, 32, 1}, shape, nullptr, 0}, B = A, C = A;
  B.data = b, C.data = c;
  if (matmul(&A, &B, &C) != ASHLAR_OK || c[0] != 2 || c[1] != 1 || c[2] != 4 || c[3] != 3) return 1;
  ashlar_context context{};
  context.size = sizeof context;
  return matmul_with(&A, &B, &C, &context);
}
