#pragma once
namespace ashlar::lower_impl {

struct Place {
  int at = 0;
};

}  // namespace ashlar::lower_impl
