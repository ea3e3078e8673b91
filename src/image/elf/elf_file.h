/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * elf_file: one ELF file, opened with distrust.
 *
 * Only regular files of this machine's byte order are opened; every size and
 * offset is checked against the file before use, so that a damaged or hostile
 * file gives an error or fewer symbols, never a crash, and memory stays within
 * a small multiple of the file's size and within the bounds of elf_internal.h,
 * whichever is less. Addresses are the file's own (vaddr).
 *
 * elf_file_open() or elf_file_open_memory(), then elf_file_close(), NULL-safe.
 * Errors name the file. Not safe for several threads. Uses: base.
 */
#ifndef ASSAY_IMAGE_ELF_ELF_FILE_H
#define ASSAY_IMAGE_ELF_ELF_FILE_H

#include "base/build_id.h"
#include "base/error.h"
#include "image/elf/symbol_table.h"

#include <sys/types.h>

struct elf_file;

enum elf_machine { ELF_MACHINE_X86_64, ELF_MACHINE_X86_32, ELF_MACHINE_ARM64, ELF_MACHINE_OTHER };

int elf_file_open(struct elf_file **f, const char *path, struct error *err);
/* The bytes must outlive it. `name` is for messages. */
int elf_file_open_memory(struct elf_file **f, const void *bytes, size_t size, const char *name,
                         struct error *err);
void elf_file_close(struct elf_file *f);

/*
 * Gives the descriptor and libelf's memory back until more is asked of the
 * file: a machine runs more files than a process may have open. Reading one
 * that was replaced meanwhile gives nothing.
 */
void elf_file_rest(struct elf_file *f);

const char *elf_file_path(const struct elf_file *f);
/* The path of the open file with its links resolved, to be freed; NULL: no file is open. */
char *elf_file_real_path(const struct elf_file *f);
/* Where it stood when it was recorded, if that is elsewhere: debug files were made for there. */
const char *elf_file_place(const struct elf_file *f);
void elf_file_set_place(struct elf_file *f, const char *path);
const struct build_id *elf_file_build_id(const struct elf_file *f); /* size 0: has none */
enum elf_machine elf_file_machine(const struct elf_file *f);
uint64_t elf_file_size(const struct elf_file *f); /* bytes */
bool elf_file_has_symtab(const struct elf_file *f);
/* A section was not read because it is larger than what is read of a file at most. */
bool elf_file_is_cut(const struct elf_file *f);
bool elf_file_is_relocatable(const struct elf_file *f); /* a .ko or .o */
/* False where it was opened from memory. */
bool elf_file_identity(const struct elf_file *f, dev_t *device, ino_t *inode);
/* When its content or its inode last changed (ctime, which no program can set); 0 from memory. */
uint64_t elf_file_changed_ns(const struct elf_file *f);

/* Through the program headers, executable segments first. False: in no segment. */
bool elf_file_address_of(const struct elf_file *f, uint64_t offset, uint64_t *address);
bool elf_file_offset_of(const struct elf_file *f, uint64_t address, uint64_t *offset);

/* Reads bytes at an address; the number read, which is less at the end of a segment. */
size_t elf_file_read(struct elf_file *f, uint64_t address, void *into, size_t size);

/* The same at an offset of the file, segments or not. */
size_t elf_file_read_at(struct elf_file *f, uint64_t offset, void *into, size_t size);

/*
 * Adds the functions of .symtab (or MiniDebugInfo and Go's own table) and .dynsym,
 * and the PLT's as "name@plt".
 */
void elf_file_symbols(struct elf_file *f, struct symbol_table *t);

/*
 * Adds the functions that .dynsym offers to other files: those that programs are linked
 * with today as global, names kept for old programs (another version's) as local.
 */
void elf_file_exports(struct elf_file *f, struct symbol_table *t);

/*
 * One symbol by name, from .symtab or .dynsym; in a relocatable file *address
 * is its offset in the file. For _text of a vmlinux, functions of a .ko.
 */
bool elf_file_symbol(struct elf_file *f, const char *name, uint64_t *address, uint64_t *size);

/* What .gnu_debuglink says; the name is owned by f. */
bool elf_file_debuglink(struct elf_file *f, const char **name, uint32_t *crc);

/* libelf's handle, for libdw; owned by f, good until it rests. NULL: the file is gone. */
struct Elf;
struct Elf *elf_file_handle(struct elf_file *f);

#endif
