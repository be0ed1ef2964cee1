#pragma once
/* What a debugger or emulator does for a program on a board (Arm, Semihosting for AArch32 and AArch64): files of the host, the
 * end. */
#include <stddef.h>
#include <stdint.h>

static inline int32_t semihost(int32_t operation, const void* argument) {
  register int32_t r0 __asm__("r0") = operation;
  register const void* r1 __asm__("r1") = argument;
  __asm__ volatile("bkpt 0xAB" : "+r"(r0) : "r"(r1) : "memory");
  return r0;
}

enum { read_binary = 1, write_binary = 5 };

static inline int32_t host_open(const char* name, uint32_t length, uint32_t mode) {
  const uint32_t a[3] = {(uint32_t)name, mode, length};
  return semihost(0x01, a);
}
static inline int host_read(int32_t file, void* to, uint32_t bytes) { /* 0: all of them */
  const uint32_t a[3] = {(uint32_t)file, (uint32_t)to, bytes};
  return semihost(0x06, a) != 0;
}
static inline int host_write(int32_t file, const void* from, uint32_t bytes) {
  const uint32_t a[3] = {(uint32_t)file, (uint32_t)from, bytes};
  return semihost(0x05, a) != 0;
}
static inline int host_close(int32_t file) {
  const uint32_t a[1] = {(uint32_t)file};
  return semihost(0x02, a) != 0;
}
static inline void host_exit(uint32_t code) {
  const uint32_t a[2] = {0x20026, code}; /* ADP_Stopped_ApplicationExit */
  for (;;) semihost(0x20, a);
}
