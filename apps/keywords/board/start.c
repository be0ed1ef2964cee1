/* From reset to main on a Cortex-M without a library: the vector table, the floating-point unit (and with it Helium) switched
 * on, .data copied from flash, .bss cleared. */
#include <stdint.h>

extern char stack_top[], data_in_flash[], data_begin[], data_end[], bss_begin[], bss_end[];
int main(void);
void halt(uint32_t code);

static void fault(void) { halt(2); }

void reset(void) {
  *(volatile uint32_t*)0xE000ED88 |= 0xFu << 20; /* CPACR: full access to coprocessors 10 and 11 */
  __asm__ volatile("dsb\n isb");
  for (char *to = data_begin, *from = data_in_flash; to < data_end;) *to++ = *from++;
  for (char* to = bss_begin; to < bss_end;) *to++ = 0;
  halt((uint32_t)main());
}

__attribute__((section(".vectors"), used)) static void* const vectors[16] = {
    stack_top, (void*)reset, (void*)fault, (void*)fault, (void*)fault, (void*)fault, (void*)fault};
