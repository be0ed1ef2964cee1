/* C = A B, row-major, n x n x n: what each of the programs that are compared implements. */
#pragma once
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif
void product_f32(const float* a, const float* b, float* c, int64_t n);
void product_s8(const int8_t* a, const int8_t* b, int32_t* c, int64_t n);
#ifdef __cplusplus
}
#endif
