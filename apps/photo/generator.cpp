#include "apps/photo/means.h"
#include "apps/photo/pipeline.h"

ASHLAR_GENERATOR(photo::Raw, "photo_raw");
ASHLAR_GENERATOR(photo::Picture, "photo_picture");
ASHLAR_GENERATOR(photo::Means, "photo_means");
