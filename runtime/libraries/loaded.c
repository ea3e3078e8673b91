/* SPDX-License-Identifier: MIT */
/* loaded: an ELF image as the dynamic linker has it in memory. */
#include "libraries/loaded.h"

#include <dlfcn.h>
#include <string.h>

#define PAGE ((uintptr_t)4096)

#ifdef DLFO_STRUCT_HAS_EH_DBASE /* glibc 2.35 */
extern __typeof__(_dl_find_object) _dl_find_object __attribute__((weak));
#endif

/* Some dynamic linkers store addresses in the dynamic section, others leave offsets. */
static uintptr_t place(const struct loaded *image, uintptr_t value)
{
	return value >= image->start && value < image->end ? value : value + image->base;
}

static void read_segments(struct loaded *image, const ElfW(Dyn) * *dynamic)
{
	image->start = UINTPTR_MAX;
	image->end = 0;
	image->relro_start = image->relro_end = 0;
	*dynamic = NULL;
	for (unsigned i = 0; i < image->segment_count; i++) {
		const ElfW(Phdr) *p = &image->segments[i];
		uintptr_t start = image->base + p->p_vaddr, end = start + p->p_memsz;

		if (p->p_type == PT_LOAD) {
			image->start = start < image->start ? start & -PAGE : image->start;
			image->end = end > image->end ? end : image->end;
		} else if (p->p_type == PT_DYNAMIC) {
			*dynamic = (const ElfW(Dyn) *)start;
		} else if (p->p_type == PT_GNU_RELRO) {
			/*
			 * Dynamic linkers protect whole pages, and the last page only if it is
			 * full.
			 */
			image->relro_start = start & -PAGE;
			image->relro_end = end & -PAGE;
		}
	}
}

static bool read_dynamic(struct loaded *image, const ElfW(Dyn) * d)
{
	bool other_kind = false;

	for (; d->d_tag != DT_NULL; d++) {
		uintptr_t value = d->d_un.d_ptr;

		switch (d->d_tag) {
		case DT_JMPREL:
			image->jump_slots = (const void *)place(image, value);
			break;
		case DT_PLTRELSZ:
			image->jump_slot_count = value / sizeof(ElfW(Rela));
			break;
		case DT_PLTREL:
			other_kind = value != DT_RELA;
			break;
		case DT_RELA:
			image->relocations = (const void *)place(image, value);
			break;
		case DT_RELASZ:
			image->relocation_count = value / sizeof(ElfW(Rela));
			break;
		case DT_SYMTAB:
			image->symbols = (const void *)place(image, value);
			break;
		case DT_STRTAB:
			image->strings = (const void *)place(image, value);
			break;
		case DT_STRSZ:
			image->strings_bytes = value;
			break;
		case DT_GNU_HASH:
			image->gnu_hash = (const void *)place(image, value);
			break;
		}
	}
	if (!image->jump_slots || other_kind)
		image->jump_slot_count = 0;
	if (!image->relocations)
		image->relocation_count = 0;
	return image->symbols && image->strings && image->strings_bytes;
}

/* Fills the other fields from base, path and segments. */
static bool fill(struct loaded *image)
{
	const ElfW(Dyn) * dynamic;

	read_segments(image, &dynamic);
	return dynamic && image->start < image->end && read_dynamic(image, dynamic);
}

struct search {
	uintptr_t address; /* 0: all images */
	struct loaded *found;
	void (*each)(const struct loaded *image, void *context);
	void *context;
};

static int visit(struct dl_phdr_info *info, size_t bytes, void *context)
{
	struct search *s = context;
	struct loaded image = {.base = info->dlpi_addr,
	                       .path = info->dlpi_name ? info->dlpi_name : "",
	                       .segments = info->dlpi_phdr,
	                       .segment_count = info->dlpi_phnum};

	(void)bytes;
	if (!fill(&image))
		return 0;
	if (s->each) {
		s->each(&image, s->context);
		return 0;
	}
	if (!loaded_holds(&image, s->address))
		return 0;
	*s->found = image;
	return 1;
}

void loaded_each(void (*each)(const struct loaded *image, void *context), void *context)
{
	struct search s = {.each = each, .context = context};

	dl_iterate_phdr(visit, &s);
}

bool loaded_find(uintptr_t address, struct loaded *image)
{
	struct search s = {.address = address, .found = image};

#ifdef DLFO_STRUCT_HAS_EH_DBASE /* glibc 2.35 */
	struct dl_find_object found;

	if (_dl_find_object) {
		const ElfW(Ehdr) * header;

		if (_dl_find_object((void *)address, &found))
			return false;
		header = found.dlfo_map_start;
		/* Every linker puts the headers into the first page. */
		if (!memcmp(header->e_ident, ELFMAG, SELFMAG) &&
		    header->e_phoff + header->e_phnum * sizeof(ElfW(Phdr)) <= PAGE) {
			*image = (struct loaded){
			        .base = found.dlfo_link_map->l_addr,
			        .path = found.dlfo_link_map->l_name,
			        .segments = (const void *)((const char *)header + header->e_phoff),
			        .segment_count = header->e_phnum};
			return fill(image);
		}
	}
#endif
	return dl_iterate_phdr(visit, &s) == 1;
}

const char *loaded_name(const struct loaded *image, const ElfW(Rela) * relocation)
{
	const ElfW(Sym) *symbol = &image->symbols[ELF64_R_SYM(relocation->r_info)];

	return symbol->st_name < image->strings_bytes ? image->strings + symbol->st_name : "";
}

static uint32_t gnu_hash_of(const char *name)
{
	uint32_t h = 5381;

	for (; *name; name++)
		h = h * 33 + (unsigned char)*name;
	return h;
}

bool loaded_function(const struct loaded *image, const char *name, uintptr_t *address, int *type)
{
	const uint32_t *table = image->gnu_hash, *buckets, *chain;
	uint32_t hash = gnu_hash_of(name), i;
	bool found = false;

	if (!table || !table[0])
		return false;
	/* buckets, first symbol, words of the filter, its shift; filter, buckets, chain */
	buckets = table + 4 + table[2] * (sizeof(ElfW(Addr)) / sizeof(uint32_t));
	chain = buckets + table[0];
	i = buckets[hash % table[0]];
	if (i < table[1])
		return false;
	for (;; i++) {
		const ElfW(Sym) *symbol = &image->symbols[i];
		uint32_t got = chain[i - table[1]];

		if ((got | 1) == (hash | 1) && symbol->st_shndx != SHN_UNDEF &&
		    symbol->st_name < image->strings_bytes &&
		    !strcmp(image->strings + symbol->st_name, name)) {
			*address = image->base + symbol->st_value;
			*type = ELF64_ST_TYPE(symbol->st_info);
			found = true;
			if (*type == STT_GNU_IFUNC)
				return true;
		}
		if (got & 1)
			return found;
	}
}

static bool names_hook(const struct loaded *image, const ElfW(Rela) * relocations, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (ELF64_R_SYM(relocations[i].r_info) &&
		    !strcmp(loaded_name(image, &relocations[i]), "__cyg_profile_func_enter"))
			return true;
	return false;
}

bool loaded_is_instrumented(const struct loaded *image)
{
	return names_hook(image, image->jump_slots, image->jump_slot_count) ||
	       names_hook(image, image->relocations, image->relocation_count);
}
