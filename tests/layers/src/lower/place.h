#pragma once
namespace ashlar::lowering {

struct Place {
  int at = 0;
};

}  // namespace ashlar::lowering
