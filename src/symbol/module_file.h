/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * module_file: the .ko file of a kernel module, for its code if there is no /proc/kcore. Uses:
 * base, image.
 */
#ifndef ASSAY_SYMBOL_MODULE_FILE_H
#define ASSAY_SYMBOL_MODULE_FILE_H

#include "image/elf/elf_file.h"
#include "image/image.h"

/*
 * Finds the module `name`, "[ext4]", in modules.dep of /lib/modules/RELEASE (under `root`, NULL:
 * none), and checks its file against the recorded build-id, or against that of the loaded module.
 */
int module_file_open(struct elf_file **f, const struct image *image, const char *name,
                     const char *release, const char *root, struct error *err);

#endif
