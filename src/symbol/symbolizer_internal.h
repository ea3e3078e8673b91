/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * symbolizer_internal: shared by the files of the symbolizer: its images with the data that was
 * read from them, and the frames that were looked up. Life cycle and threads are those of
 * symbolizer.h. Uses: base, image.
 */
#ifndef ASSAY_SYMBOL_SYMBOLIZER_INTERNAL_H
#define ASSAY_SYMBOL_SYMBOLIZER_INTERNAL_H

#include "image/kernel_anchors.h"
#include "symbol/debug/debug_index.h"
#include "symbol/kernel_names.h"
#include "symbol/symbolizer.h"

struct symbol_image {
	struct elf_file *file, *debug; /* NULL: none */
	/* A kernel module's .ko, opened at the first request for its code. */
	struct elf_file *module;
	struct symbol_table own;
	struct symbol_table exports; /* read at the first request */
	bool exports_sought;
	struct symbol_table variables; /* likewise, with the names of found ones */
	struct symbol **variable_names;
	bool variables_sought;
	/* The image's own table or the kernel's; NULL: no names. */
	const struct symbol_table *table;
	uint64_t delta; /* address in table = address + delta */
	/*
	 * One symbol per entry, at [2 * i + 1], and per gap before entry i, at [2 * i]. NULL: not
	 * looked up yet.
	 */
	struct symbol **symbols;
	size_t jit_symbols; /* generated code: the size of `symbols`, by entry */
	struct symbol *unnamed;
	struct symbol **kept;      /* by the numbers of image/stored_names.h; NULL: not looked up */
	struct debug_index *index; /* lines and inlined functions; NULL: none */
	bool index_sought;
	struct error refused;           /* a debug file that was not read; code 0: none */
	bool gnat, gnat_sought;         /* made by GNAT: names may be Ada names */
	VEC(const char *) inline_names; /* by the ids of the index; NULL: not looked up yet */
	char *trouble;
};

/* Maximum number of files whose DWARF is open. */
#define SYMBOLIZER_AWAKE 12

struct found_frame {
	struct frame frame;
	const struct symbol *symbol;
};

struct symbolizer {
	struct image_table *images;
	struct symbol_options options;
	struct kernel_names kernel;
	bool kernel_loaded;
	struct cache_dir *cache;                     /* NULL: none */
	struct intern names;                         /* of inlined functions and members */
	struct debug_index *awake[SYMBOLIZER_AWAKE]; /* indexes that hold files open */
	size_t awake_next;
	uint64_t debug_bytes;              /* of the tables of all indexes */
	VEC(struct symbol_image *) loaded; /* by image id; NULL: not loaded yet */
	VEC(struct symbol *) all;
	VEC(struct found_frame) found;
	struct id_table found_index;
	VEC(uint8_t *) code;
	char *debuginfod;              /* servers; NULL: none */
	char *kernel_release;          /* of the options */
	struct kernel_anchors anchors; /* likewise */
};

/* The sentence is copied; NULL or "": none. */
void symbol_image_trouble(struct symbol_image *i, const char *text);
/* Loads the names of an image of the kernel or a module. */
void kernel_image_load(struct symbolizer *s, struct symbol_image *i, const struct image *image);
struct symbol_image *symbolizer_image(struct symbolizer *s, uint32_t image);
/* The name to display, which the caller frees; NULL: the name itself. bare: without parameters. */
char *symbolizer_plain(struct symbolizer *s, struct symbol_image *i, const char *name, bool bare);
struct kernel_names *symbolizer_kernel(struct symbolizer *s);
/* The symbolizer's copy of a text. */
const char *symbolizer_text(struct symbolizer *s, const char *text);
/* The index that covers a frame, and the frame's address in it; NULL: none. */
struct debug_index *symbolizer_index(struct symbolizer *s, struct frame frame, uint64_t *address);
/*
 * Called after a query. If too many indexes hold files open, the one that was opened first closes
 * its file.
 */
void symbolizer_limit_awake(struct symbolizer *s, struct debug_index *index);
/* A symbol without place and size, which the symbolizer owns; takes ownership of the name. */
struct symbol *symbolizer_symbol_new(struct symbolizer *s, uint32_t image, char *name);

#endif
