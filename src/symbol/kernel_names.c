/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "symbol/kernel_names.h"

#include "image/locate.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* KASLR moves the kernel by a multiple of this. */
#define KASLR_STEP 0x200000u

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

/* Finds the distance by which the same kernel moved after a reboot. */
static bool find_delta(struct kernel_names *k, const struct kallsyms *now)
{
	uint64_t text = now->text ? now->text : now->stext;

	k->delta = 0;
	if (!k->base || !text || k->base == now->text || k->base == now->stext)
		return true;
	k->running = false;
	/* It is unknown which of the two was recorded, so they must be equal. */
	if (now->text && now->stext && now->text != now->stext)
		return false;
	k->delta = text - k->base;
	return k->delta % KASLR_STEP == 0;
}

/* path NULL: kallsyms of the running kernel. */
static void use_kallsyms(struct kernel_names *k, const char *path, struct cache_dir *cache)
{
	if (path ? kallsyms_read(&k->kallsyms, path, &k->trouble)
	         : kallsyms_running(&k->kallsyms, cache, NULL, &k->trouble))
		return;
	if (!find_delta(k, &k->kallsyms)) {
		error_set(&k->trouble, ESTALE,
		          "the kernel is at another address than in the recording");
		kallsyms_done(&k->kallsyms);
		return;
	}
	k->table = &k->kallsyms.table;
}

static bool vmlinux_fits(struct kernel_names *k, struct elf_file *f)
{
	uint64_t text, size;

	if (k->id.size && !locate_same_build_id(&k->id, elf_file_build_id(f)))
		return false;
	if (!elf_file_symbol(f, "_text", &text, &size) &&
	    !elf_file_symbol(f, "_stext", &text, &size))
		return false;
	k->vmlinux_delta = k->base ? text - k->base : 0;
	return true;
}

static bool try_vmlinux(struct kernel_names *k, struct elf_file *f)
{
	if (!f)
		return false;
	if (!vmlinux_fits(k, f)) {
		elf_file_close(f);
		return false;
	}
	k->vmlinux = f;
	return true;
}

static void seek_by_release(struct kernel_names *k, const char *root, const char *release)
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
		path = xasprintf("%s%s%s%s", root ? root : "", places[i].before, release,
		                 places[i].after);
		r = elf_file_open(&f, path, NULL);
		free(path);
		if (!r && try_vmlinux(k, f))
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
		if (!elf_file_open(&f, options->vmlinux, &k->trouble) && !try_vmlinux(k, f))
			error_set(&k->trouble, ESTALE,
			          "%s: is not the vmlinux of the recorded kernel",
			          options->vmlinux);
		return k->vmlinux;
	}
	if (try_vmlinux(k, locate_by_build_id(&k->id, options->root, ".debug")))
		return k->vmlinux;
	kernel_running(&running);
	if (release || k->running)
		seek_by_release(k, options->root, release ? release : running.release);
	return k->vmlinux;
}

static void use_vmlinux(struct kernel_names *k, const struct symbol_options *options)
{
	if (!kernel_names_vmlinux(k, options))
		return;
	elf_file_symbols(k->vmlinux, &k->symbols);
	symbol_table_finish(&k->symbols);
	if (!k->symbols.entries.count)
		return;
	k->table = &k->symbols;
	k->delta = k->vmlinux_delta;
	k->trouble = (struct error){0};
}

void kernel_names_load(struct kernel_names *k, const struct symbol_options *options,
                       const struct image *image, struct cache_dir *cache)
{
	struct kernel_identity running;

	*k = (struct kernel_names){.base = image ? image->base : 0};
	k->id = options->kernel_id;
	if (!k->id.size && image)
		k->id = image->build_id;
	kernel_running(&running);
	if (options->vmlinux) {
		use_vmlinux(k, options);
		if (k->table || k->trouble.code)
			return;
	}
	if (options->kallsyms) {
		use_kallsyms(k, options->kallsyms, NULL);
		k->running = false;
		return;
	}
	k->running = is_recorded(&running, &k->id, options->kernel_release, &k->trouble);
	if (k->running)
		use_kallsyms(k, NULL, cache);
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
