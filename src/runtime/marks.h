/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Marks for perf, bpftrace and SystemTap (USDT): places in the library where such a tool may stop and read values. A mark is an
 * instruction that does nothing, and a note in the object that says where it is (docs/profiling.md, "Marks"). Without the
 * header <sys/sdt.h>, or with ASHLAR_NO_MARKS, there are none. */
#ifndef ASHLAR_RUNTIME_MARKS_H
#define ASHLAR_RUNTIME_MARKS_H

#if !defined(ASHLAR_NO_MARKS) && defined(__linux__) && defined(__has_include)
#if __has_include(<sys/sdt.h>)
#include <sys/sdt.h>
#define ASHLAR_MARK1(name, a) DTRACE_PROBE1(ashlar, name, a)
#define ASHLAR_MARK2(name, a, b) DTRACE_PROBE2(ashlar, name, a, b)
#define ASHLAR_MARK3(name, a, b, c) DTRACE_PROBE3(ashlar, name, a, b, c)
#define ASHLAR_MARK4(name, a, b, c, d) DTRACE_PROBE4(ashlar, name, a, b, c, d)
#endif
#endif

#ifndef ASHLAR_MARK1
#define ASHLAR_MARK1(name, a) ((void)0)
#define ASHLAR_MARK2(name, a, b) ((void)0)
#define ASHLAR_MARK3(name, a, b, c) ((void)0)
#define ASHLAR_MARK4(name, a, b, c, d) ((void)0)
#endif

#endif
