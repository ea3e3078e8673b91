/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * view: a profile, its symbolizer, and caches of lookups in both, for all views.
 *
 * The function of each frame and the kernel entry of each path are looked up once. A view prints
 * nothing and does not change the profile. view_new() / view_free(); the profile and the symbolizer
 * must outlive it. Nothing fails. Not safe for several threads. Uses: base, profile, symbol.
 */
#ifndef ASSAY_VIEW_VIEW_H
#define ASSAY_VIEW_VIEW_H

#include "base/memory/buf.h"
#include "profile/profile.h"
#include "symbol/symbolizer.h"
#include "view/confidence/sample_order.h"

/* As enum profile_mode, but interrupts during busy time are separate from the kernel. */
enum view_mode { VIEW_USER, VIEW_KERNEL, VIEW_IRQ, VIEW_IDLE, VIEW_GUEST, VIEW_UNKNOWN };

struct view {
	const struct profile *profile;
	struct symbolizer *symbols;
	const struct symbol **functions; /* per frame id, NULL: not looked up yet */
	uint8_t *frame_entries;          /* per frame id: enum kernel_entry + 1, 0: not determined
	                                  * yet */
	uint8_t *before;           /* per frame id: enum code_before in delay/kernel_exits.c, 0: not
	                              determined yet */
	struct sample_order order; /* order of the profile's samples */
	uint8_t *entries;          /* per path node: enum kernel_entry + 1, 0: not determined yet */
	/* per row of the profile in the kernel: 1: no interrupt, 2: one, 0: not determined yet */
	uint8_t *interrupts;
	struct view_joined *joined; /* joined.h; NULL: nothing was asked for yet */
	bool inlines;               /* inlined functions count apart; set by the owner */
	uint32_t *chains; /* per frame id: place of its first inlined function + 1; NULL, 0: not
	                   * looked up yet */
	VEC(const char *) inlined; /* chains, outermost first, each terminated by NULL */
};

struct view *view_new(const struct profile *profile, struct symbolizer *symbols);
void view_free(struct view *v);

/* The function of a frame id. Never NULL; equal pointers mean equal functions. */
const struct symbol *view_function(struct view *v, uint32_t frame);
/*
 * The functions that are inlined at a frame, outermost first, up to a NULL; none unless `inlines`
 * is set: an inlined function is then a part of the function of the frame. Equal pointers mean
 * equal names. Valid until the next call.
 */
const char *const *view_inlined(struct view *v, uint32_t frame);
/* How a report or an export has inlined functions, for its reader. */
const char *view_inlines_text(bool apart);
/* Appends "file.c:12", or "function:?" if the line is unknown; `brief`: without directories. */
void view_line_text(struct view *v, uint32_t frame, bool brief, struct buf *out);

/* The address of a frame's code; for a return address, an address inside the call. */
struct frame view_place(const struct view *v, uint32_t frame);
struct frame view_place_of(const struct profile *p, uint32_t frame);

/* The kind of kernel entry of a path; ENTRY_NONE for user paths and if it is unknown. */
enum kernel_entry view_entry(struct view *v, uint32_t path);

/* `row` is a row of the profile. */
enum view_mode view_mode(struct view *v, const struct profile_row *row);
const char *view_mode_name(enum view_mode mode); /* "user", "kernel", "irq", "idle", ... */

/* Whether the row is of an interrupt that hit a busy process. Switches of tasks are not: they are
 * rows of the switch event, or counted events in the scheduler. */
bool view_is_interrupt(struct view *v, const struct profile_row *row);

/* The id of the process that the row is counted for; ID_NONE: none, it is an interrupt. */
uint32_t view_counted_process(struct view *v, const struct profile_row *row);
/* The name of a process id of view_counted_process(); VIEW_INTERRUPTS for ID_NONE. */
const char *view_process_name(const struct view *v, uint32_t process);
#define VIEW_INTERRUPTS "[interrupts]"
/* The function of a sample without an address, in every medium. */
#define VIEW_NO_ADDRESS "[no address]"

/* The process that ran when the row was sampled. */
const struct process *view_process(const struct view *v, const struct profile_row *row);

/* "zstd" of "/usr/bin/zstd"; names in brackets stay whole. */
const char *view_image_short(const struct view *v, uint32_t image);

/* The path up to the innermost frame outside the scheduler: the place where a switched-out thread
 * waits. */
uint32_t view_wait_path(struct view *v, uint32_t path);
/* The path for which a row counts in every medium: of switches, that of the place that waits. */
uint32_t view_row_path(struct view *v, const struct profile_row *row);

#endif
