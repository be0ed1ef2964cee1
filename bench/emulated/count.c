/* A plugin for qemu that counts the instructions a program executes, and says so at its end:
 *
 *   qemu-aarch64 -plugin count.so program     ->   instructions 6024466
 *
 * The declarations are those of version 1 of qemu's interface for plugins (documentation: "QEMU TCG Plugins"); Debian's
 * packages of qemu are built with it but lack its header. */
#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>

struct qemu_plugin_tb;
typedef void (*at_translation)(uint64_t plugin, struct qemu_plugin_tb*);
typedef void (*at_exit)(uint64_t plugin, void*);
enum { inline_add_u64 = 0 };
void qemu_plugin_register_vcpu_tb_trans_cb(uint64_t plugin, at_translation);
void qemu_plugin_register_vcpu_tb_exec_inline(struct qemu_plugin_tb*, int operation, void* counter, uint64_t operand);
void qemu_plugin_register_atexit_cb(uint64_t plugin, at_exit, void*);
size_t qemu_plugin_tb_n_insns(const struct qemu_plugin_tb*);

#define EXPORT __attribute__((visibility("default")))
EXPORT int qemu_plugin_version = 1;

static uint64_t executed; /* of one thread: the addition is not atomic */

static void count_block(uint64_t plugin, struct qemu_plugin_tb* block) {
  (void)plugin;
  qemu_plugin_register_vcpu_tb_exec_inline(block, inline_add_u64, &executed, qemu_plugin_tb_n_insns(block));
}

static void report(uint64_t plugin, void* unused) {
  (void)plugin, (void)unused;
  fprintf(stderr, "instructions %" PRIu64 "\n", executed);
}

EXPORT int qemu_plugin_install(uint64_t plugin, const void* machine, int argc, char** argv) {
  (void)machine, (void)argc, (void)argv;
  qemu_plugin_register_vcpu_tb_trans_cb(plugin, count_block);
  qemu_plugin_register_atexit_cb(plugin, report, NULL);
  return 0;
}
