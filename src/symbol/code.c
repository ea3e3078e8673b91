/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Code and source lines: what annotate asks of an image beyond names.
 */
#include "symbol/symbolizer_internal.h"

#include "symbol/locate.h"

#include <errno.h>
#include <string.h>

/* Larger functions are cut: no compiler makes them. */
#define CODE_MAX_BYTES (16u << 20)

static void set_machine(struct symbol_code *code, enum elf_machine machine)
{
	switch (machine) {
	case ELF_MACHINE_X86_64:
		code->machine = CODE_X86_64;
		break;
	case ELF_MACHINE_X86_32:
		code->machine = CODE_X86_32;
		break;
	case ELF_MACHINE_ARM64:
		code->machine = CODE_ARM64;
		break;
	case ELF_MACHINE_OTHER:
		code->machine = CODE_OTHER;
		break;
	}
}

static void set_own_machine(struct symbol_code *code)
{
#if defined(__x86_64__)
	code->machine = CODE_X86_64;
#elif defined(__i386__)
	code->machine = CODE_X86_32;
#elif defined(__aarch64__)
	code->machine = CODE_ARM64;
#else
	code->machine = CODE_OTHER;
#endif
}

static int file_code(struct symbolizer *s, uint32_t image, uint8_t *bytes, struct symbol_code *code,
                     struct error *err)
{
	struct symbol_image *i = symbolizer_image(s, image);

	if (!i->file)
		return error_set(err, ENOENT, "%s: its code cannot be read: %s",
		                 image_path(s->images, image),
		                 i->trouble ? i->trouble : "it is not a file");
	code->size = elf_file_read(i->file, code->address, bytes, code->size);
	if (!code->size)
		return error_set(err, ENOENT, "%s: holds no code at address %#llx",
		                 elf_file_path(i->file), (unsigned long long)code->address);
	code->source = elf_file_path(i->file);
	set_machine(code, elf_file_machine(i->file));
	return 0;
}

/* As it stands in memory: kcore has what the kernel patched at run time too. */
static int kernel_code(struct symbolizer *s, uint32_t image, uint8_t *bytes,
                       struct symbol_code *code, struct error *err)
{
	struct kernel_names *k = symbolizer_kernel(s);
	bool module = s->images->images.items[image].kind == IMAGE_MODULE;
	struct error core = {0};
	struct elf_file *f;
	int64_t got = 0;

	if (k->running)
		got = kcore_read(code->address + k->delta, bytes, code->size, &core);
	if (got > 0) {
		code->size = (uint64_t)got;
		code->source = "/proc/kcore";
		set_own_machine(code);
		return 0;
	}
	f = module ? NULL : kernel_names_vmlinux(k, &s->options);
	if (f) {
		code->size = elf_file_read(f, code->address + k->vmlinux_delta, bytes, code->size);
		code->source = elf_file_path(f);
		set_machine(code, elf_file_machine(f));
		if (code->size)
			return 0;
	}
	return error_set(err, ENOENT,
	                 "the code of %s cannot be read: %s, and no vmlinux of the recorded kernel "
	                 "was found: install its debug package (linux-image-RELEASE-dbg) or give "
	                 "one with --vmlinux",
	                 image_path(s->images, image),
	                 core.code ? core.text : "it is not the running kernel's");
}

int symbolizer_code(struct symbolizer *s, uint32_t image, uint64_t address, uint64_t size,
                    struct symbol_code *code, struct error *err)
{
	enum image_kind kind = s->images->images.items[image].kind;
	struct symbol_image *i = symbolizer_image(s, image);
	uint8_t *bytes;
	int r;

	if (size > CODE_MAX_BYTES)
		size = CODE_MAX_BYTES;
	if (i->file && size > elf_file_size(i->file))
		size = elf_file_size(i->file);
	*code = (struct symbol_code){.address = address, .size = size, .machine = CODE_OTHER};
	bytes = xmalloc(size ? size : 1);
	if (kind == IMAGE_KERNEL || kind == IMAGE_MODULE)
		r = kernel_code(s, image, bytes, code, err);
	else
		r = file_code(s, image, bytes, code, err);
	if (r) {
		free(bytes);
		return r;
	}
	vec_push(&s->code, bytes);
	code->bytes = bytes;
	return 0;
}

static struct line_reader *open_lines(struct symbolizer *s, struct symbol_image *i)
{
	struct line_reader *lines = line_reader_new(i->file);

	if (lines)
		return lines;
	if (!i->debug)
		i->debug = locate_debug(i->file, s->options.root);
	return i->debug ? line_reader_new(i->debug) : NULL;
}

static bool kernel_line(struct symbolizer *s, struct symbol_image *i, struct frame frame,
                        const char **file, int *line)
{
	struct kernel_names *k = symbolizer_kernel(s);
	struct elf_file *f = kernel_names_vmlinux(k, &s->options);

	if (!i->lines_sought) {
		i->lines_sought = true;
		i->lines = f ? line_reader_new(f) : NULL;
	}
	return i->lines && line_reader_find(i->lines, frame.offset + k->vmlinux_delta, file, line);
}

bool symbolizer_line(struct symbolizer *s, struct frame frame, const char **file, int *line)
{
	struct symbol_image *i = symbolizer_image(s, frame.image);
	uint64_t address;

	if (s->images->images.items[frame.image].kind == IMAGE_KERNEL)
		return kernel_line(s, i, frame, file, line);
	if (!i->file || !elf_file_address_of(i->file, frame.offset, &address))
		return false;
	if (!i->lines_sought) {
		i->lines_sought = true;
		i->lines = open_lines(s, i);
	}
	return i->lines && line_reader_find(i->lines, address, file, line);
}
