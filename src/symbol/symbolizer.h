/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * symbolizer: names for frames, asked only for what a view shows.
 *
 * Each image is opened once, by build-id (debug directories, caches) or by
 * path (as is, under /proc/PID/root, in the directories given), and checked
 * against the recorded build-id: a file with another one is refused, and the
 * reason is kept. Each frame is looked up once and remembered.
 *
 * Names: demangled C++ and Rust. A frame of a file whose symbols are gone
 * gets the enclosing dynamic symbols, "[between recv and recvfrom]", marked as a
 * range; before the first one "[before recv]", after the last "[after recv]". All
 * addresses of an image about which nothing is known share one symbol, named
 * "[no symbol]" ("[unknown]" where not even the image is known), named false:
 * one row in a table; the addresses are still there to sort by. An address
 * outside of a sized symbol is never given to the one before it, except that
 * labels of assembly and the kernel's symbols, which have no size, reach to
 * the next. Not safe for several threads. Uses: base, image.
 */
#ifndef ASSAY_SYMBOL_SYMBOLIZER_H
#define ASSAY_SYMBOL_SYMBOLIZER_H

#include "base/error.h"
#include "image/image.h"

struct symbol {
	const char *name; /* demangled, owned by the symbolizer */
	uint32_t image;
	uint64_t start, size; /* in the image's own addresses (ELF vaddr; kernel: address) */
	bool named;           /* false: nothing is known, name is "[no symbol]" */
	bool range; /* name is "[between a and b]": somewhere between two dynamic symbols */
	bool sized; /* the address lies inside a symbol that has a size */
};

struct symbol_options {
	bool raw_names;   /* do not demangle */
	bool no_inlines;  /* symbolizer_inlines() finds none */
	bool this_kernel; /* what was recorded is of the running kernel: its vdso is ours */
	bool cached;      /* keep tables in the cache directory, and use them */
	/*
	 * Only these frames will be asked for, all of one file: its other symbols need not be kept.
	 * Kept by the caller until the first of them was found. few_count 0: any frames.
	 */
	const uint64_t *few_offsets;
	size_t few_count;
	const char *kallsyms;       /* another kallsyms file, NULL: /proc/kallsyms */
	const char *vmlinux;        /* an ELF kernel, NULL: look in the usual places */
	const char *root;           /* prefix for files (sysroot), NULL: none */
	struct build_id kernel_id;  /* recorded kernel's, size 0: unknown */
	const char *kernel_release; /* recorded kernel's uname -r, NULL: unknown */
	const char *debuginfod;     /* servers for debug files, by blanks; NULL: none is asked */
};

struct symbolizer;

struct symbolizer *symbolizer_new(struct image_table *images, const struct symbol_options *options);
void symbolizer_free(struct symbolizer *s);

/*
 * The symbol that encloses a frame. Never NULL; the same pointer for every
 * frame of the same function, so that pointers compare as functions do.
 */
const struct symbol *symbolizer_find(struct symbolizer *s, struct frame frame);

/*
 * The name by which other files call the function that begins at a frame, as the linker
 * knows it, without version: of several the one of today's, with the fewest underscores in
 * front. NULL: its file offers none. Owned by the symbolizer.
 */
const char *symbolizer_export(struct symbolizer *s, struct frame frame);

/* The frame's address in its image's own terms (ELF vaddr; kernel and unknown: as is). */
uint64_t symbolizer_address(struct symbolizer *s, struct frame frame);

/* The frame at such an address of an image; false where the file has nothing there. */
bool symbolizer_frame(struct symbolizer *s, uint32_t image, uint64_t address, struct frame *frame);

/* Source line from DWARF. *file is owned by the symbolizer. False: not known. */
bool symbolizer_line(struct symbolizer *s, struct frame frame, const char **file, int *line);

/* A function that the compiler put into its caller. Strings are owned by the symbolizer. */
struct symbol_inline {
	const char *name;      /* demangled; the same pointer for the same name */
	const char *call_file; /* where it was called, in the next one out; NULL: not known */
	int call_line;         /* 0: not known */
};

/*
 * The functions inlined at a frame's address, innermost first; symbolizer_find()
 * gives the function around them all. The number of them, at most `max`.
 */
size_t symbolizer_inlines(struct symbolizer *s, struct frame frame, struct symbol_inline *out,
                          size_t max);

/* Of what was asked of this image, some is not known: DWARF that is not there, or is damaged. */
bool symbolizer_misses_inlines(const struct symbolizer *s, uint32_t image);

/* A function's instructions, for annotate. Bytes are owned by the symbolizer. */
struct symbol_code {
	const uint8_t *bytes;
	uint64_t address, size; /* in the image's own addresses */
	const char *source;     /* where they were read: a path or "/proc/kcore" */
	bool unlinked;          /* a .ko: targets of calls are not filled in */
	enum { CODE_X86_64, CODE_X86_32, CODE_ARM64, CODE_OTHER } machine;
};
int symbolizer_code(struct symbolizer *s, uint32_t image, uint64_t address, uint64_t size,
                    struct symbol_code *code, struct error *err);

/* Why an image has no symbols or was refused, a sentence; NULL: nothing to say. */
const char *symbolizer_trouble(struct symbolizer *s, uint32_t image);

/*
 * Begins to fetch the debug files that these images lack, in the background;
 * adds the names of those images to `names`. What was fetched is used from the
 * next symbolizer on. Nothing is done without servers in the options.
 */
struct buf;
int symbolizer_fetch(struct symbolizer *s, const uint32_t *images, size_t count, struct buf *names,
                     struct error *err);
bool symbolizer_fetches(const struct symbolizer *s);

/* Which part of the kernel was entered, by the function of a frame. */
enum kernel_entry {
	ENTRY_NONE, /* not an entry: look at the caller */
	ENTRY_SYSCALL,
	ENTRY_FAULT,
	ENTRY_INTERRUPT,
	ENTRY_SOFTIRQ,
	ENTRY_THREAD, /* a kernel thread's start */
	ENTRY_IDLE,   /* the idle loop */
};
enum kernel_entry kernel_entry_of(const char *function);

#endif
