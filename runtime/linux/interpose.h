/* SPDX-License-Identifier: MIT */
/* interpose: what functions need that stand before a library's of the same name. */
#ifndef ASSAY_RUNTIME_LINUX_INTERPOSE_H
#define ASSAY_RUNTIME_LINUX_INTERPOSE_H

#include <dlfcn.h>

#define EXPORT __attribute__((visibility("default")))

/* The function of that name behind ours. */
#define REAL(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

#endif
