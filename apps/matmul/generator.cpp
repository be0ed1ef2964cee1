#include "apps/matmul/product.h"

ASHLAR_GENERATOR(product::Matmul, "matmul");
ASHLAR_GENERATOR(product::MatmulBias, "matmul_bias");
