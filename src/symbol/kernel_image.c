/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * kernel_image: the images of the kernel and its modules take their names from kernel_names.
 */
#include "symbol/symbolizer_internal.h"

#include "image/locate.h"

/* The image of the kernel has its address. Names of modules are loaded with it. */
struct kernel_names *symbolizer_kernel(struct symbolizer *s)
{
	const struct image *kernel = NULL;

	if (s->kernel_loaded)
		return &s->kernel;
	for (size_t i = 0; i < s->images->images.count; i++)
		if (s->images->images.items[i].kind == IMAGE_KERNEL &&
		    (!kernel || (!kernel->base && s->images->images.items[i].base)))
			kernel = &s->images->images.items[i];
	kernel_names_load(&s->kernel, &s->options, kernel, s->cache);
	s->kernel_loaded = true;
	return &s->kernel;
}

/* Several recordings may be of several kernels, and the names are those of one. */
static bool is_other_kernel(const struct kernel_names *k, const struct image *image)
{
	return image->build_id.size && k->id.size &&
	       !locate_same_build_id(&image->build_id, &k->id);
}

void kernel_image_load(struct symbolizer *s, struct symbol_image *i, const struct image *image)
{
	struct kernel_names *k = symbolizer_kernel(s);
	bool module = image->kind == IMAGE_MODULE;

	symbol_image_trouble(i, k->trouble.text);
	if (module && k->table && k->modules.code) {
		symbol_image_trouble(i, k->modules.text);
		return;
	}
	if (module && k->table && (k->delta || k->table == &k->symbols)) {
		symbol_image_trouble(
		        i, "modules have other addresses since the recording: their functions "
		           "can only be named before the next boot");
		return;
	}
	if (!module && is_other_kernel(k, image)) {
		symbol_image_trouble(
		        i, "the recordings are of several kernels, and kernel names of one of "
		           "them are known: make a report of each");
		return;
	}
	i->table = k->table;
	i->delta = k->delta;
	/* The same kernel at another address, of another boot. */
	if (!module && image->base && k->base)
		i->delta += k->base - image->base;
}

int symbolizer_check_kernel(struct symbolizer *s, bool *checked, struct error *err)
{
	const struct kernel_names *k;

	*checked = true;
	if (!s->options.kallsyms && !s->options.vmlinux)
		return 0;
	k = symbolizer_kernel(s);
	*checked = k->checked;
	if (k->refused)
		*err = k->trouble;
	return k->refused ? -k->trouble.code : 0;
}
