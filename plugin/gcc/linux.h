/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * linux: rules for units of the Linux kernel, so that its sources need no changes: functions that
 * get no triggers, functions that get them although the kernel forbids instrumentation, and the
 * marks of functions in the names file.
 */
#ifndef ASSAY_PLUGIN_LINUX_H
#define ASSAY_PLUGIN_LINUX_H

#include "options.h"

/* True if the unit is kernel code: by its code model, or the definition of __KERNEL__. */
bool linux_unit();
/*
 * True for functions without triggers: always_inline and notrace functions, functions of the
 * headers in include/, code that is not instrumented or runs before the kernel is mapped, and units
 * that are programs of their own (the vdso, the boot loader's part). With the trigger `nop`, which
 * has no effect, the entries of system calls, exceptions and interrupts have triggers.
 */
bool linux_excludes(tree function, const options &o);
/*
 * For the function that switches tasks, with the trigger `nop`: a statement that gives the capture
 * device the numbers of both tasks and the name of the next one, in four instructions; otherwise
 * NULL_TREE.
 */
tree linux_process(tree function, const options &o);
/* The mark of a function in the names file, or 0. */
char linux_mark(tree function);

#endif
