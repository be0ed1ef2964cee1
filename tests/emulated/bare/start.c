/* From reset to main on a Cortex-M: the vector table, the floating-point unit switched on, memory for malloc. */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

extern char stack_top[];
int main(void);
void initialise_monitor_handles(void);
void _init(void) {}
void _fini(void) {}

static char heap[HEAP_BYTES];

void* _sbrk(ptrdiff_t more) {
  static ptrdiff_t used;
  if (used + more < 0 || used + more > (ptrdiff_t)sizeof heap) return (void*)-1;
  used += more;
  return heap + used - more;
}

static void fault(void) { exit(2); }

void reset(void) {
  *(volatile uint32_t*)0xE000ED88 |= 0xF << 20; /* CPACR: full access to coprocessors 10 and 11 */
  __asm__ volatile("dsb\n isb");
  initialise_monitor_handles();
  exit(main());
}

__attribute__((section(".vectors"), used)) static void* const vectors[16] = {
    stack_top, (void*)reset, (void*)fault, (void*)fault, (void*)fault, (void*)fault, (void*)fault};
