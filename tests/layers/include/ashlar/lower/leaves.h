#pragma once
#include "lower/place.h"
