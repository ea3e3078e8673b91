/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * symbolizer: names of frames. A name is looked up when a view shows it.
 *
 * Each image is opened once, by build-id (debug directories, caches) or by path (as it is, under
 * /proc/PID/root, in the given directories), and checked against the recorded build-id. A file
 * with another build-id is refused, and the reason is kept. Each frame is looked up once.
 *
 * Names are demangled. A frame of a stripped file gets the enclosing dynamic symbols,
 * "[between recv and recvfrom]", marked as a range; before the first symbol "[before recv]", after
 * the last "[after recv]". All addresses of an image without symbols share one symbol, "[no
 * symbol]", with `named` false: they are one row in a table, and can still be sorted by address. An
 * address outside of a symbol with a size never belongs to the
 * symbol before it. Labels of assembly and symbols of the kernel have no size: they extend to the
 * next symbol. One thread. Uses: base, image.
 */
#ifndef ASSAY_SYMBOL_SYMBOLIZER_H
#define ASSAY_SYMBOL_SYMBOLIZER_H

#include "base/error.h"
#include "base/read/file_namer.h"
#include "image/image.h"

/* The name, in every medium, of all code of an image whose symbol is not known. */
#define SYMBOL_UNNAMED "[no symbol]"

struct symbol {
	const char *name; /* demangled, owned by the symbolizer */
	uint32_t image;
	uint64_t start, size; /* in the image's own addresses (ELF vaddr; kernel: address) */
	bool named;           /* false: unknown; the name is "[no symbol]" */
	bool range;           /* the name is "[between a and b]", which are two dynamic symbols */
	bool sized;           /* the address lies inside a symbol that has a size */
};

static inline const char *symbol_text(const struct symbol *symbol)
{
	return symbol->named ? symbol->name : SYMBOL_UNNAMED;
}

struct kernel_anchors;

struct symbol_options {
	bool raw_names;   /* do not demangle */
	bool no_inlines;  /* symbolizer_inlines() finds none */
	bool this_kernel; /* the recording is of the running kernel: the vdso is the same */
	bool cached;      /* keep tables in the cache directory, and use them */
	/*
	 * Only these frames of one file will be looked up, so its other symbols need not be kept.
	 * The array must live until the first frame was looked up. few_count 0: any frames.
	 */
	const uint64_t *few_offsets;
	size_t few_count;
	const char *kallsyms;       /* another kallsyms file, NULL: /proc/kallsyms */
	const char *vmlinux;        /* an ELF kernel, NULL: look in the usual places */
	const char *root;           /* prefix for files (sysroot), NULL: none */
	struct build_id kernel_id;  /* build-id of the recorded kernel; size 0: unknown */
	const char *kernel_release; /* the recorded kernel's uname -r; NULL: unknown */
	/* Functions of the recorded kernel, which are copied; NULL: none. */
	const struct kernel_anchors *kernel_anchors;
	const char *debuginfod;  /* debuginfod servers, separated by spaces; NULL: none */
	struct file_namer namer; /* the user whose recording names the files; zeros: root */
};

struct symbolizer;

struct symbolizer *symbolizer_new(struct image_table *images, const struct symbol_options *options);
void symbolizer_free(struct symbolizer *s);

/*
 * Compares a map or file of the kernel that the options name with the recorded kernel. -errno: it
 * cannot be read, or belongs to another kernel. *checked: the recording has something to compare it
 * with. Without such an option 0.
 */
int symbolizer_check_kernel(struct symbolizer *s, bool *checked, struct error *err);

/*
 * The symbol that encloses a frame. Never NULL. All frames of a function have the same pointer, so
 * equal pointers mean equal functions.
 */
const struct symbol *symbolizer_find(struct symbolizer *s, struct frame frame);

/*
 * The name under which the file exports the function that begins at a frame, without version. Of
 * several names the current default is returned, with the fewest leading underscores. NULL: the
 * file does not export it. Owned by the symbolizer.
 */
const char *symbolizer_export(struct symbolizer *s, struct frame frame);

/*
 * Locks, conditions and semaphores of libraries are not larger. Their futex is somewhere in them:
 * that of a condition is at byte 40.
 */
#define SYMBOL_OBJECT_BYTES 64

/*
 * The variable at an address of a process in which `code`, a place in a file's code, was mapped at
 * `code_address`, with its member as DWARF names it (`pool.workers[3].lock`); *offset: bytes from
 * the start of what is named. NULL: the file has no variable there.
 * Owned by the symbolizer.
 */
const char *symbolizer_variable(struct symbolizer *s, struct frame code, uint64_t code_address,
                                uint64_t address, uint64_t *offset);
/* Likewise: the address in the file if it is in the file's data, also of a file without symbols. */
bool symbolizer_data(struct symbolizer *s, struct frame code, uint64_t code_address,
                     uint64_t address, uint64_t *place);

/* The frame's address in its image (ELF vaddr; kernel and unknown images: unchanged). */
uint64_t symbolizer_address(struct symbolizer *s, struct frame frame);

/* The reverse: the frame of an address. False: the file has no code at the address. */
bool symbolizer_frame(struct symbolizer *s, uint32_t image, uint64_t address, struct frame *frame);

/* Source line from DWARF. *file is owned by the symbolizer. False: not known. */
bool symbolizer_line(struct symbolizer *s, struct frame frame, const char **file, int *line);

/* The user who chose the paths of the source files of an image. */
struct file_namer symbolizer_namer(struct symbolizer *s, uint32_t image);
/*
 * A sentence: a file with debug information of the image was not read, since the user who chose its
 * path may not read it; NULL: none.
 */
const char *symbolizer_refusal(const struct symbolizer *s, uint32_t image);

/* An inlined function. Strings are owned by the symbolizer. */
struct symbol_inline {
	const char *name;      /* demangled; the same pointer for the same name */
	const char *call_file; /* source file of its call site, in the function around it; NULL: not
	                          known */
	int call_line;         /* 0: not known */
};

/*
 * The functions inlined at a frame's address, innermost first; symbolizer_find() returns the
 * function around them. Returns their number, at most `max`.
 */
size_t symbolizer_inlines(struct symbolizer *s, struct frame frame, struct symbol_inline *out,
                          size_t max);

/* True if some queries for this image could not be answered: its DWARF is missing or damaged. */
bool symbolizer_misses_inlines(const struct symbolizer *s, uint32_t image);

/* A function's instructions, for annotate. Bytes are owned by the symbolizer. */
struct symbol_code {
	const uint8_t *bytes;
	uint64_t address, size; /* in the image's own addresses */
	const char *source;     /* where the bytes were read: a path or "/proc/kcore" */
	bool unlinked;          /* a .ko: its calls have no targets yet */
	enum { CODE_X86_64, CODE_X86_32, CODE_ARM64, CODE_OTHER } machine;
};
int symbolizer_code(struct symbolizer *s, uint32_t image, uint64_t address, uint64_t size,
                    struct symbol_code *code, struct error *err);

/*
 * Copies bytes of a file's code; returns the machine, as in struct symbol_code. -1: the file cannot
 * be read, or does not have so many bytes there.
 */
int symbolizer_bytes(struct symbolizer *s, uint32_t image, uint64_t address, void *into,
                     size_t size);

/*
 * Follows a pointer of the kernel: *to is the address, in the image's own addresses, that the word
 * at `address` has in the kernel's vmlinux file. The running kernel may have changed the word.
 * -ENOENT: there is no vmlinux, or it has no such word. -ENOTSUP: not the kernel's image.
 */
int symbolizer_pointer(struct symbolizer *s, uint32_t image, uint64_t address, uint64_t *to);

/* A sentence: why an image has no symbols or was refused; NULL: no problem. */
const char *symbolizer_trouble(struct symbolizer *s, uint32_t image);

/*
 * Starts to fetch missing debug files of these images in the background, and adds the names of the
 * images to `names`. The next symbolizer uses the files. Does nothing without servers in the
 * options.
 */
struct buf;
int symbolizer_fetch(struct symbolizer *s, const uint32_t *images, size_t count, struct buf *names,
                     struct error *err);
bool symbolizer_fetches(const struct symbolizer *s);

/* The kind of entry into the kernel, by the function of a frame. */
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

static inline bool kernel_entry_is_interrupt(enum kernel_entry entry)
{
	return entry == ENTRY_INTERRUPT || entry == ENTRY_SOFTIRQ;
}

#endif
