/* SPDX-License-Identifier: MIT */
/*
 * tags_process: what the parts of libassay-tags for Linux programs tell each other.
 * The rest of its surface is assay/tags.h, and tags/device.h's port.
 */
#ifndef ASSAY_RUNTIME_LINUX_TAGS_PROCESS_H
#define ASSAY_RUNTIME_LINUX_TAGS_PROCESS_H

/* Finds out how the processor's vector registers are saved; once, by the constructor. */
void tags_vectors_begin(void) __attribute__((visibility("hidden")));

#endif
