#include "apps/matmul/narrow.h"
#include "apps/matmul/product.h"

ASHLAR_GENERATOR(product::Matmul, "matmul");
ASHLAR_GENERATOR(product::MatmulBias, "matmul_bias");
ASHLAR_GENERATOR(product::MatmulU8S8, "matmul_u8s8");
ASHLAR_GENERATOR(product::MatmulBf16, "matmul_bf16");
ASHLAR_GENERATOR(product::MatmulStored, "matmul_stored");
ASHLAR_GENERATOR(product::MatmulS8S8, "matmul_s8s8");
