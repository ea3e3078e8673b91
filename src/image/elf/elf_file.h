/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * elf_file: reads one ELF file, which may be damaged or hostile.
 *
 * Only regular files of this machine's byte order are opened. Each size and offset is checked
 * against the file before use, so that a damaged file causes an error or fewer symbols, and never a
 * crash. Memory is bounded by a small multiple of the file's size and by the limits of
 * elf_internal.h. Addresses are the file's virtual addresses.
 *
 * elf_file_open() or elf_file_open_memory(), then elf_file_close(), NULL-safe. Errors name the
 * file. Not thread-safe. Uses: base.
 */
#ifndef ASSAY_IMAGE_ELF_ELF_FILE_H
#define ASSAY_IMAGE_ELF_ELF_FILE_H

#include "base/build_id.h"
#include "base/error.h"
#include "base/read/file_namer.h"
#include "image/elf/symbol_table.h"

#include <sys/types.h>

struct elf_file;

enum elf_machine { ELF_MACHINE_X86_64, ELF_MACHINE_X86_32, ELF_MACHINE_ARM64, ELF_MACHINE_OTHER };

int elf_file_open(struct elf_file **f, const char *path, struct error *err);
/* The same for a path that `namer` chose, who must be able to read the file. */
int elf_file_open_named(struct elf_file **f, const char *path, const struct file_namer *namer,
                        struct error *err);
/* The bytes must outlive the elf_file. `name` is used in messages. */
int elf_file_open_memory(struct elf_file **f, const void *bytes, size_t size, const char *name,
                         struct error *err);
void elf_file_close(struct elf_file *f);

/*
 * Closes the descriptor and frees libelf's memory until the file is used again, because a machine
 * may run more files than a process may have open. If the file was replaced since, later reads
 * return nothing.
 */
void elf_file_rest(struct elf_file *f);

const char *elf_file_path(const struct elf_file *f);
/* The path of the open file with its links resolved, to be freed; NULL: no file is open. */
char *elf_file_real_path(const struct elf_file *f);
/*
 * The path at the time of the recording, if the file is now at another path. Debug files are
 * searched relative to this path.
 */
const char *elf_file_place(const struct elf_file *f);
void elf_file_set_place(struct elf_file *f, const char *path);
/*
 * Who chose the paths in the file: its owner, and who chose the file's own path. From memory: not
 * known. elf_file_named_too(): who chose them, too.
 */
const struct file_namer *elf_file_namer(const struct elf_file *f);
void elf_file_named_too(struct elf_file *f, struct file_namer namer);
const struct build_id *
elf_file_build_id(const struct elf_file *f); /* size 0: the file has no build-id */
enum elf_machine elf_file_machine(const struct elf_file *f);
uint64_t elf_file_size(const struct elf_file *f); /* bytes */
bool elf_file_has_symtab(const struct elf_file *f);
/* True if a section was not read because the file exceeds the size limit. */
bool elf_file_is_cut(const struct elf_file *f);
/* The number of symbols that the last elf_file_symbols() left out because of the limits. */
uint64_t elf_file_symbols_left_out(const struct elf_file *f);
bool elf_file_is_relocatable(const struct elf_file *f); /* a .ko or .o */
/* False if the file was opened from memory. */
bool elf_file_identity(const struct elf_file *f, dev_t *device, ino_t *inode);
/* When the content or inode last changed (ctime, which programs cannot set); 0 from memory. */
uint64_t elf_file_changed_ns(const struct elf_file *f);

/* Converts an offset to an address by the program headers, executable segments first. False: the
 * offset is in no segment. */
bool elf_file_address_of(const struct elf_file *f, uint64_t offset, uint64_t *address);
bool elf_file_offset_of(const struct elf_file *f, uint64_t address, uint64_t *offset);

/* True if the address is in a writable segment: .data, .bss. */
bool elf_file_is_data(const struct elf_file *f, uint64_t address);

/* Reads bytes at an address and returns their number, which is smaller at the end of a segment. */
size_t elf_file_read(struct elf_file *f, uint64_t address, void *into, size_t size);

/* Reads bytes at an offset of the file, independent of segments. */
size_t elf_file_read_at(struct elf_file *f, uint64_t offset, void *into, size_t size);

/*
 * Adds the functions of .symtab (or of MiniDebugInfo and the Go table) and .dynsym, and PLT entries
 * as "name@plt".
 */
void elf_file_symbols(struct elf_file *f, struct symbol_table *t);

/*
 * Adds the functions that .dynsym exports. Functions of the default version are added as global;
 * functions of other versions, which only old programs use, as local.
 */
void elf_file_exports(struct elf_file *f, struct symbol_table *t);

/* Adds the variables of .symtab and .dynsym: objects with a size that are not of one thread. */
void elf_file_variables(struct elf_file *f, struct symbol_table *t);

/*
 * Finds one symbol by name in .symtab or .dynsym; in a relocatable file *address is its offset in
 * the file. Used for _text of a vmlinux and functions of a .ko.
 */
bool elf_file_symbol(struct elf_file *f, const char *name, uint64_t *address, uint64_t *size);

/* Returns the contents of .gnu_debuglink; the name is owned by f. */
bool elf_file_debuglink(struct elf_file *f, const char **name, uint32_t *crc);

/*
 * libelf's handle, for libdw; owned by f, valid until elf_file_rest(). NULL: the file was replaced
 * or deleted.
 */
struct Elf;
struct Elf *elf_file_handle(struct elf_file *f);

#endif
