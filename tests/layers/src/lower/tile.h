#pragma once
namespace ashlar::lower_impl {

struct Place {  // another one
  double at = 0, size = 0;
};

}  // namespace ashlar::lower_impl
