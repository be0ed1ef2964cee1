#pragma once
namespace ashlar::lowering {

struct Place {  // another one
  double at = 0, size = 0;
};

}  // namespace ashlar::lowering
