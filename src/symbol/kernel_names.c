/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "symbol/kernel_names.h"

#include "image/locate.h"
#include "symbol/kernel_check.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/*
 * True if the running kernel is the recorded one. trouble: why it is not, or why it is uncertain.
 */
static bool is_recorded(const struct kernel_identity *running, const struct build_id *id,
                        const char *release, struct error *trouble)
{
	char now[2 * BUILD_ID_MAX + 1], then[2 * BUILD_ID_MAX + 1];

	if (id->size && running->build_id.size) {
		if (locate_same_build_id(id, &running->build_id))
			return true;
		build_id_text(&running->build_id, now);
		build_id_text(id, then);
		error_set(trouble, ESTALE,
		          "the running kernel is not the recorded one (its build-id is %.12s, "
		          "recorded %.12s): kernel names need the recorded kernel's vmlinux",
		          now, then);
		return false;
	}
	if (!release) {
		error_set(trouble, ESTALE,
		          "the recording does not identify its kernel: specify the names "
		          "with --vmlinux or --kallsyms");
		return false;
	}
	if (strcmp(release, running->release) != 0) {
		error_set(
		        trouble, ESTALE,
		        "the running kernel is %s, the recorded one was %s: kernel names need the "
		        "recorded kernel's vmlinux",
		        running->release, release);
		return false;
	}
	error_set(trouble, 0,
	          "kernel names are those of the running kernel, which has the recorded release; "
	          "the build-ids could not be compared");
	return true;
}

/*
 * Sets `trouble` if the names may not be used, or if it is unknown whether they are those of the
 * recorded kernel.
 */
static bool accept(struct kernel_names *k, const struct symbol_options *options,
                   struct kernel_candidate *c, bool proven)
{
	int r = kernel_check_distance(k, c, &k->trouble);

	if (!r && !proven)
		r = kernel_check(k, options, c, &k->trouble);
	if (r < 0)
		return false;
	k->checked = proven || r;
	k->delta = c->map.delta;
	return true;
}

static void not_checked(struct kernel_names *k, const char *name)
{
	error_set(
	        &k->trouble, 0,
	        "%s: it was not checked whether these are the symbols of the recorded kernel: the "
	        "recording has nothing to compare them with",
	        name);
}

/* path NULL: kallsyms of the running kernel. */
static void use_kallsyms(struct kernel_names *k, const struct symbol_options *options,
                         const char *path, struct cache_dir *cache)
{
	struct kernel_candidate c = {.map = {.name = path ? path : "/proc/kallsyms"}};
	bool by_release = k->trouble.text[0];

	if (path ? kallsyms_read(&k->kallsyms, path, &k->trouble)
	         : kallsyms_running(&k->kallsyms, cache, NULL, &k->trouble))
		return;
	c.map.table = &k->kallsyms.table;
	c.text = k->kallsyms.text;
	c.stext = k->kallsyms.stext;
	memcpy(c.ends, k->kallsyms.ends, sizeof(c.ends));
	if (!accept(k, options, &c, !path && !by_release) ||
	    (kernel_check_modules(options, &c, &k->modules) < 0 && path)) {
		if (k->modules.code)
			k->trouble = k->modules;
		kallsyms_done(&k->kallsyms);
		return;
	}
	k->running &= !k->delta;
	k->table = &k->kallsyms.table;
	if (path && !k->checked)
		not_checked(k, path);
	else if (k->checked)
		k->trouble = (struct error){0};
}

static bool has_its_id(struct kernel_names *k, struct elf_file *f, struct error *err)
{
	char of_file[2 * BUILD_ID_MAX + 1], recorded[2 * BUILD_ID_MAX + 1];
	const struct build_id *id = elf_file_build_id(f);

	if (!k->id.size || !id->size || locate_same_build_id(&k->id, id))
		return true;
	build_id_text(id, of_file);
	build_id_text(&k->id, recorded);
	error_set(err, ESTALE,
	          "%s: is not the vmlinux of the recorded kernel: its build-id is %.12s, recorded "
	          "%.12s: specify the vmlinux of the same build",
	          elf_file_path(f), of_file, recorded);
	return false;
}

static uint64_t label(struct elf_file *f, const char *name)
{
	uint64_t address = 0, size;

	return elf_file_symbol(f, name, &address, &size) ? address : 0;
}

static void read_vmlinux(struct kernel_names *k, struct elf_file *f)
{
	if (k->symbols.entries.count)
		return;
	elf_file_symbols(f, &k->symbols);
	symbol_table_finish(&k->symbols);
}

static bool vmlinux_fits(struct kernel_names *k, const struct symbol_options *options,
                         struct elf_file *f, struct error *err)
{
	bool proven = k->id.size && elf_file_build_id(f)->size;
	struct kernel_candidate c = {.map = {&k->symbols, 0, elf_file_path(f)},
	                             .text = label(f, "_text"),
	                             .stext = label(f, "_stext")};
	int r = 0;

	if (!has_its_id(k, f, err))
		return false;
	if (!c.text && !c.stext)
		return !error_set(err, ESTALE,
		                  "%s: is not the vmlinux of the recorded kernel: it has neither "
		                  "_text nor _stext: specify a vmlinux with its symbols",
		                  elf_file_path(f));
	for (size_t i = 0; i < KERNEL_ENDS; i++)
		c.ends[i] = label(f, kernel_end_names[i]);
	r = kernel_check_distance(k, &c, err);
	if (!r && !proven) {
		read_vmlinux(k, f);
		r = kernel_check(k, options, &c, err);
	}
	if (r < 0)
		return false;
	k->vmlinux_checked = proven || r;
	k->vmlinux_delta = c.map.delta;
	return true;
}

static bool try_vmlinux(struct kernel_names *k, const struct symbol_options *options,
                        struct elf_file *f, struct error *err)
{
	if (!f)
		return false;
	if (!vmlinux_fits(k, options, f, err)) {
		symbol_table_done(&k->symbols);
		symbol_table_init(&k->symbols);
		elf_file_close(f);
		return false;
	}
	k->vmlinux = f;
	return true;
}

static void seek_by_release(struct kernel_names *k, const struct symbol_options *options,
                            const char *release)
{
	static const struct {
		const char *before, *after;
	} places[] = {
	        {"/boot/vmlinux-", ""},
	        {"/usr/lib/debug/boot/vmlinux-", ""},
	        {"/usr/lib/debug/lib/modules/", "/vmlinux"},
	        {"/lib/modules/", "/build/vmlinux"},
	};
	struct elf_file *f;
	char *path;
	int r;

	/* A release with a slash would refer to a file outside of these directories. */
	if (strchr(release, '/'))
		return;
	for (size_t i = 0; i < sizeof(places) / sizeof(*places); i++) {
		path = xasprintf("%s%s%s%s", options->root ? options->root : "", places[i].before,
		                 release, places[i].after);
		r = elf_file_open(&f, path, NULL);
		free(path);
		if (!r && try_vmlinux(k, options, f, NULL))
			return;
	}
}

struct elf_file *kernel_names_vmlinux(struct kernel_names *k, const struct symbol_options *options)
{
	struct kernel_identity running;
	const char *release = options->kernel_release;
	struct elf_file *f;

	if (k->vmlinux_sought)
		return k->vmlinux;
	k->vmlinux_sought = true;
	if (options->vmlinux) {
		if (!elf_file_open(&f, options->vmlinux, &k->trouble))
			try_vmlinux(k, options, f, &k->trouble);
		return k->vmlinux;
	}
	if (try_vmlinux(k, options, locate_by_build_id(&k->id, options->root, ".debug"), NULL))
		return k->vmlinux;
	kernel_running(&running);
	if (release || k->running)
		seek_by_release(k, options, release ? release : running.release);
	return k->vmlinux;
}

static void use_vmlinux(struct kernel_names *k, const struct symbol_options *options)
{
	if (!kernel_names_vmlinux(k, options))
		return;
	read_vmlinux(k, k->vmlinux);
	if (!k->symbols.entries.count) {
		if (options->vmlinux)
			error_set(&k->trouble, ENOEXEC, "%s: has no symbols", options->vmlinux);
		return;
	}
	k->table = &k->symbols;
	k->delta = k->vmlinux_delta;
	k->checked = k->vmlinux_checked;
	k->trouble = (struct error){0};
	if (!k->checked)
		not_checked(k, elf_file_path(k->vmlinux));
}

void kernel_names_load(struct kernel_names *k, const struct symbol_options *options,
                       const struct image *image, struct cache_dir *cache)
{
	struct kernel_identity running;

	*k = (struct kernel_names){0};
	if (image) {
		k->image = *image;
		k->base = image->base;
	}
	k->id = options->kernel_id;
	if (!k->id.size && image)
		k->id = image->build_id;
	kernel_running(&running);
	if (options->vmlinux) {
		use_vmlinux(k, options);
		k->refused = !k->table;
		return;
	}
	if (options->kallsyms) {
		use_kallsyms(k, options, options->kallsyms, NULL);
		k->running = false;
		k->refused = !k->table;
		return;
	}
	k->running = is_recorded(&running, &k->id, options->kernel_release, &k->trouble);
	if (k->running)
		use_kallsyms(k, options, NULL, cache);
	if (!k->table)
		use_vmlinux(k, options);
}

bool kernel_names_complete(struct kernel_names *k, struct kallsyms *whole)
{
	if (k->table != &k->kallsyms.table || !k->kallsyms.partial)
		return false;
	k->kallsyms.partial = false;
	return !kallsyms_read(whole, NULL, NULL);
}

void kernel_names_done(struct kernel_names *k)
{
	kallsyms_done(&k->kallsyms);
	symbol_table_done(&k->symbols);
	elf_file_close(k->vmlinux);
	*k = (struct kernel_names){0};
}
