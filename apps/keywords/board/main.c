/* The network on a board: reads inputs from the host's file `keywords.in` (a count of 32 bits, then 490 bytes each), and writes
 * to `keywords.out` the bytes of its workspace, then for each input the result of the call, what it took in ticks of the system
 * timer (0: more than it counts) and bytes of stack, and the outputs. Everything is static; nothing allocates. */
#include <stdint.h>

#include <keywords.h>

#include "semihosting.h"

/* What the network writes besides its results. The size is a number in the generated header, since every extent is one. */
static _Alignas(KEYWORDS_WORKSPACE_ALIGN) unsigned char workspace[KEYWORDS_WORKSPACE_BYTES];

static struct {
  int32_t code;
  uint32_t ticks, stack;
  float probability[12];
  int8_t logits[12];
} result;

static int8_t x[49 * 10];

/* The system timer counts 24 bits down at the processor's clock; one that reached 0 meanwhile is no measure. There are no
 * interrupts: their frames would count as stack. */
static volatile uint32_t* const timer = (volatile uint32_t*)0xE000E010; /* SYST_CSR, RVR, CVR */
static uint32_t begin_ticks(void) {
  timer[1] = 0xFFFFFF, timer[2] = 0, timer[0] = 5;
  while (timer[2] == 0) {}
  return timer[2];
}
static uint32_t ticks_since(uint32_t begin) {
  const uint32_t now = timer[2], reached_0 = timer[0] >> 16 & 1;
  return reached_0 ? 0 : begin - now;
}

/* The stack below this function is filled with a pattern; how much of it was overwritten by what ran since? */
extern uint32_t stack_low[];
static const uint32_t paint = 0xA5C35A3C;
static uint32_t* stack_now(void) {
  uint32_t* sp;
  __asm__ volatile("mov %0, sp" : "=r"(sp));
  return sp;
}
static void paint_stack(uint32_t* end) {
  for (volatile uint32_t* p = stack_low; p < end; ++p) *p = paint;
}
static uint32_t stack_used(const uint32_t* end) {
  const volatile uint32_t* p = stack_low;
  while (p < end && *p == paint) ++p;
  return (uint32_t)((const char*)end - (const char*)p);
}

void halt(uint32_t code) { host_exit(code); }

int main(void) {
  const int32_t in = host_open("keywords.in", 11, read_binary), out = host_open("keywords.out", 12, write_binary);
  const uint32_t bytes = sizeof workspace;
  uint32_t count = 0;
  if (in < 0 || out < 0 || host_read(in, &count, sizeof count) || host_write(out, &bytes, sizeof bytes)) return 3;
  static ashlar_error error;
  ashlar_context context = {.size = sizeof context, .error = &error};
  context.workspace = workspace, context.workspace_bytes = sizeof workspace;
  const keywords_args args = {.x = x, .logits = result.logits, .probability = result.probability};
  while (count-- > 0) {
    if (host_read(in, x, sizeof x)) return 4;
    uint32_t* const end = stack_now() - 16; /* room for what paint_stack itself may save */
    paint_stack(end);
    const uint32_t begin = begin_ticks();
    result.code = keywords_run(&args, &context);
    result.ticks = ticks_since(begin);
    result.stack = stack_used(end) + 64;
    if (host_write(out, &result, sizeof result)) return 5;
  }
  return host_close(in) || host_close(out);
}
