#include "apps/convolution/conv3x3.h"

ASHLAR_GENERATOR(convolution::U8S8, "conv3x3_u8s8");
ASHLAR_GENERATOR(convolution::Bf16, "conv3x3_bf16");
ASHLAR_GENERATOR(convolution::Stored, "conv3x3_stored");
