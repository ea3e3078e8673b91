/* SPDX-License-Identifier: MIT */
/*
 * tags_process: declarations shared by the parts of libassay-tags for Linux programs. The other
 * declarations are in assay/tags.h and in the port section of tags/device.h.
 */
#ifndef ASSAY_RUNTIME_LINUX_TAGS_PROCESS_H
#define ASSAY_RUNTIME_LINUX_TAGS_PROCESS_H

/* Detects how to save the processor's vector registers. Called once, by the constructor. */
void tags_vectors_begin(void) __attribute__((visibility("hidden")));

#endif
