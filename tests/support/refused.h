#pragma once
// The text of the refusal that f meets; empty if it meets none.
#include <string>

#include <ashlar/ir/refusal.h>

template <class F>
std::string refused(F&& f) {
  try {
    f();
  } catch (const ashlar::RefusalError& e) { return e.what(); }
  return "";
}
template <class F>
ashlar::Refusal refusal(F&& f) {
  try {
    f();
  } catch (const ashlar::RefusalError& e) { return e.refusal; }
  return {};
}
