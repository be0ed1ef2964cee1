#include <ashlar/runtime/runtime.h>
#include <stdio.h>

int main(void) {
  if (ashlar_set_threads(3) != ASHLAR_OK || ashlar_threads() != 3) return 1;
  puts("three threads");
  return 0;
}
