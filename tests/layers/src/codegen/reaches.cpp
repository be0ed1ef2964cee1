#include "lower/place.h"
