/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Reads the machine code of functions, for annotate.
 */
#include "symbol/symbolizer_internal.h"

#include "base/limit.h"
#include "symbol/jit.h"
#include "symbol/module_file.h"

#include <endian.h>
#include <errno.h>
#include <string.h>

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
		return error_set(err, ENOENT, "%s: has no code at address %#llx",
		                 elf_file_path(i->file), (unsigned long long)code->address);
	code->source = elf_file_path(i->file);
	set_machine(code, elf_file_machine(i->file));
	return 0;
}

static bool kcore_code(struct kernel_names *k, uint8_t *bytes, struct symbol_code *code,
                       struct error *err)
{
	int64_t got;

	if (!k->running) {
		error_set(err, ESTALE, "the running kernel is not known to be the recorded one");
		return false;
	}
	got = kcore_read(code->address + k->delta, bytes, code->size, err);
	if (got <= 0)
		return false;
	code->size = (uint64_t)got;
	code->source = "/proc/kcore";
	set_own_machine(code);
	return true;
}

static bool vmlinux_code(struct symbolizer *s, uint8_t *bytes, struct symbol_code *code)
{
	struct kernel_names *k = symbolizer_kernel(s);
	struct elf_file *f = kernel_names_vmlinux(k, &s->options);
	uint64_t size;

	if (!f)
		return false;
	size = elf_file_read(f, code->address + k->vmlinux_delta, bytes, code->size);
	if (!size)
		return false;
	code->size = size;
	code->source = elf_file_path(f);
	set_machine(code, elf_file_machine(f));
	return true;
}

static const char *recorded_release(struct symbolizer *s, struct kernel_identity *running)
{
	kernel_running(running);
	return s->options.kernel_release ? s->options.kernel_release : running->release;
}

/* Reads code from the .ko by the function's name. Its calls are not linked: their targets are 0. */
static int module_code(struct symbolizer *s, uint32_t image, uint8_t *bytes,
                       struct symbol_code *code, struct error *err)
{
	struct symbol_image *i = symbolizer_image(s, image);
	uint64_t address = code->address + i->delta, offset, size;
	size_t entry = i->table ? symbol_table_find(i->table, address) : SYMBOL_NONE;
	struct kernel_identity running;
	int r;

	if (entry == SYMBOL_NONE)
		return error_set(err, ENOENT, "the function at %#llx has no name",
		                 (unsigned long long)address);
	if (!i->module) {
		r = module_file_open(&i->module, &s->images->images.items[image],
		                     image_path(s->images, image), recorded_release(s, &running),
		                     s->options.root, err);
		if (r)
			return r;
	}
	if (!elf_file_symbol(i->module, symbol_table_name(i->table, entry), &offset, &size))
		return error_set(err, ENOENT, "%s: has no function %s", elf_file_path(i->module),
		                 symbol_table_name(i->table, entry));
	offset += address - i->table->entries.items[entry].start;
	/* In kallsyms a function extends to the start of the next function. */
	if (size && size < code->size)
		code->size = size;
	code->size = elf_file_read_at(i->module, offset, bytes, code->size);
	if (!code->size)
		return error_set(err, EIO, "%s: cannot be read", elf_file_path(i->module));
	code->source = elf_file_path(i->module);
	code->unlinked = true;
	set_machine(code, elf_file_machine(i->module));
	return 0;
}

/* Reads code from memory, which includes the kernel's patches of its own code, else from files. */
static int kernel_code(struct symbolizer *s, uint32_t image, uint8_t *bytes,
                       struct symbol_code *code, struct error *err)
{
	bool module = s->images->images.items[image].kind == IMAGE_MODULE;
	struct error core = {0}, file = {0};
	struct kernel_identity running;
	const char *name = image_path(s->images, image);

	if (kcore_code(symbolizer_kernel(s), bytes, code, &core))
		return 0;
	if (module) {
		if (!module_code(s, image, bytes, code, &file))
			return 0;
		return error_set(err, ENOENT, "the code of %s cannot be read: %s; %s", name,
		                 core.text, file.text);
	}
	if (vmlinux_code(s, bytes, code))
		return 0;
	return error_set(err, ENOENT,
	                 "the code of %s cannot be read: %s; no vmlinux of the recorded kernel "
	                 "was found: install its debug package (Debian: linux-image-%s-dbg), or "
	                 "name a vmlinux with --vmlinux",
	                 name, core.text, recorded_release(s, &running));
}

int symbolizer_code(struct symbolizer *s, uint32_t image, uint64_t address, uint64_t size,
                    struct symbol_code *code, struct error *err)
{
	enum image_kind kind = s->images->images.items[image].kind;
	struct symbol_image *i = symbolizer_image(s, image);
	uint8_t *bytes;
	int r;

	if (size > LIMIT_CODE_BYTES)
		size = LIMIT_CODE_BYTES;
	if (i->file && size > elf_file_size(i->file))
		size = elf_file_size(i->file);
	*code = (struct symbol_code){.address = address, .size = size, .machine = CODE_OTHER};
	if (kind == IMAGE_JIT)
		set_own_machine(code); /* if the file does not say it */
	bytes = xmalloc(size ? size : 1);
	if (kind == IMAGE_KERNEL || kind == IMAGE_MODULE)
		r = kernel_code(s, image, bytes, code, err);
	else if (kind == IMAGE_JIT)
		r = jit_bytes(&s->images->images.items[image], bytes, code, err);
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

int symbolizer_bytes(struct symbolizer *s, uint32_t image, uint64_t address, void *into,
                     size_t size)
{
	struct symbol_image *i = symbolizer_image(s, image);
	struct symbol_code code = {.machine = CODE_OTHER};

	if (!i->file || elf_file_read(i->file, address, into, size) != size)
		return -1;
	set_machine(&code, elf_file_machine(i->file));
	return (int)code.machine;
}

int symbolizer_pointer(struct symbolizer *s, uint32_t image, uint64_t address, uint64_t *to)
{
	struct kernel_names *k;
	struct elf_file *f;
	uint64_t word;

	if (s->images->images.items[image].kind != IMAGE_KERNEL)
		return -ENOTSUP;
	k = symbolizer_kernel(s);
	f = kernel_names_vmlinux(k, &s->options);
	if (!f || elf_file_read(f, address + k->vmlinux_delta, &word, sizeof(word)) != sizeof(word))
		return -ENOENT;
	*to = le64toh(word) - k->vmlinux_delta;
	return 0;
}
