/* SPDX-License-Identifier: MIT */
/* interpose: helpers for functions that replace a library function of the same name. */
#ifndef ASSAY_RUNTIME_LINUX_INTERPOSE_H
#define ASSAY_RUNTIME_LINUX_INTERPOSE_H

#include <dlfcn.h>

#define EXPORT __attribute__((visibility("default")))

/* The next definition of that name after this library. */
#define REAL(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

#endif
