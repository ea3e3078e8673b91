/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * view: what all views look through: a profile, the names for it, and what
 * was asked of both already.
 *
 * Every frame is asked for its function once, every path for the way into the
 * kernel once. A view is data: it prints nothing and changes nothing in the
 * profile. view_new / view_free; the profile and the symbolizer must outlive
 * it. Not safe for several threads. Uses: base, profile, symbol.
 */
#ifndef ASSAY_VIEW_VIEW_H
#define ASSAY_VIEW_VIEW_H

#include "base/buf.h"
#include "profile/profile.h"
#include "symbol/symbolizer.h"

/* profile_mode, with the interrupts that hit busy time told apart from the kernel. */
enum view_mode { VIEW_USER, VIEW_KERNEL, VIEW_IRQ, VIEW_IDLE, VIEW_GUEST, VIEW_UNKNOWN };

struct view {
	const struct profile *profile;
	struct symbolizer *symbols;
	const struct symbol **functions; /* per frame id, NULL: not asked yet */
	uint8_t *frame_entries;          /* per frame id: enum kernel_entry + 1, 0: not known yet */
	uint8_t *entries; /* per path node: enum kernel_entry + 1, 0: not known yet */
};

struct view *view_new(const struct profile *profile, struct symbolizer *symbols);
void view_free(struct view *v);

/* The function of a frame id. Never NULL; equal pointers are equal functions. */
const struct symbol *view_function(struct view *v, uint32_t frame);
/* "file.c:12", or "function:?" where no line is known, appended; `brief`: without folders. */
void view_line_text(struct view *v, uint32_t frame, bool brief, struct buf *out);

/* Where a frame's code is: of a return address, inside the call before it. */
struct frame view_place(const struct view *v, uint32_t frame);

/* How a path's kernel frames were entered; ENTRY_NONE for user paths and unknown ways. */
enum kernel_entry view_entry(struct view *v, uint32_t path);

enum view_mode view_mode(struct view *v, const struct profile_row *row);
const char *view_mode_name(enum view_mode mode); /* "user", "kernel", "irq", "idle", ... */

const struct process *view_process(const struct view *v, const struct profile_row *row);

/* "zstd" of "/usr/bin/zstd"; names in brackets stay whole. */
const char *view_image_short(const struct view *v, uint32_t image);

/* The innermost frame that is not the scheduler's own: what a switched-out path waits in. */
uint32_t view_wait_path(struct view *v, uint32_t path);

#endif
