/* SPDX-License-Identifier: MIT */
/*
 * load_base: the memory that triggers of kind `load` read if there is no capture hardware: 64 KB of
 * address space. With hardware, link with the address of its window under this name.
 */
extern const char assay_tags_base[1 << 16] __attribute__((visibility("hidden")));

const char assay_tags_base[1 << 16] = {0};
