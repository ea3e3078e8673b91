/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * limit: how much is read of each kind of input, since files, answers and names come from users who
 * are not trusted.
 *
 * An input over a limit is an error that names the file and the limit, or the part is left out and
 * counted in the report. docs/SECURITY.md has the same list; tests/e2e/test_limits.py compares the
 * two: one comment and one definition for each limit, "what is limited | what happens". Limits are
 * above all files that are known to be in use; the comment at the reader says which.
 * Uses: nothing.
 */
#ifndef ASSAY_BASE_LIMIT_H
#define ASSAY_BASE_LIMIT_H

#include <stddef.h>
#include <stdint.h>

#define LIMIT_MB(n) ((size_t)(n) << 20)
#define LIMIT_SECONDS(n) (n)
#define LIMIT_SECONDS_MS(n) ((uint64_t)(n)*1000)
#define LIMIT_SECONDS_NS(n) ((uint64_t)(n)*1000000000)

/* ---- recordings ---------------------------------------------------------- */

/* bytes of a recording from a pipe | error */
#define LIMIT_PIPE_BYTES LIMIT_MB(1024)
/* bytes of a recording that gzip packed, unpacked | error */
#define LIMIT_RECORDING_UNPACKED_BYTES LIMIT_MB(1024)
/* files of a recording that is a directory | error */
#define LIMIT_RECORDING_FILES 65536
/* tracepoints of a recording | left out */
#define LIMIT_TRACEPOINTS 65536

/* ---- profiles of other tools --------------------------------------------- */

/* bytes of a profile, packed and unpacked | error */
#define LIMIT_PROFILE_BYTES LIMIT_MB(512)
/* unpacked bytes of a profile for each packed byte, above 64 MB | error */
#define LIMIT_PROFILE_RATIO 256
#define LIMIT_PROFILE_RATIO_FROM LIMIT_MB(64)
/* call paths of a profile, and rows | error */
#define LIMIT_PROFILE_PATHS ((size_t)1 << 22)
/* functions of a profile | error */
#define LIMIT_PROFILE_FUNCTIONS ((size_t)1 << 19)
/* frames of all stacks of a profile | error */
#define LIMIT_PROFILE_FRAMES ((size_t)1 << 25)
/* bytes of a line of folded stacks | error */
#define LIMIT_PROFILE_LINE_BYTES LIMIT_MB(4)
/* trace events of a profile | error */
#define LIMIT_TRACE_EVENTS ((size_t)1 << 24)
/* values in each other in JSON | error */
#define LIMIT_JSON_DEPTH 512

/* ---- event tags ---------------------------------------------------------- */

/* bytes of the metadata of a trace | error */
#define LIMIT_METADATA_BYTES LIMIT_MB(256)
/* bytes of a file of names of tags, or of a program with names | error */
#define LIMIT_NAMES_FILE_BYTES LIMIT_MB(512)
/* bytes of a line of a dump of a capture device | error */
#define LIMIT_DUMP_LINE_BYTES 65536

/* ---- rules --------------------------------------------------------------- */

/* bytes of a file of rules | error */
#define LIMIT_RULES_BYTES LIMIT_MB(4)

/* bytes of the text of a statement of assay sql | error */
#define LIMIT_QUERY_BYTES LIMIT_MB(64)

/* ---- stores -------------------------------------------------------------- */

/* bytes of a value or row of a store | error */
#define LIMIT_STORE_VALUE_BYTES LIMIT_MB(1)
/* bytes of the names that a report reads from a store | error */
#define LIMIT_STORE_NAMES_BYTES LIMIT_MB(256)

/* ---- program files ------------------------------------------------------- */

/*
 * A sparse file may declare sections of any size. The largest known files have 40 MB of sections
 * (a Go table) and 300 MB of symbols (a browser).
 */
/* bytes of the sections of an ELF file without symbols and debug information | left out */
#define LIMIT_ELF_BYTES LIMIT_MB(64)
/* bytes of the symbols of an ELF file with their names | left out */
#define LIMIT_ELF_SYMBOL_BYTES LIMIT_MB(512)
/* symbols that are kept of an ELF file: those near samples | left out */
#define LIMIT_ELF_SYMBOLS ((size_t)2 << 20)
/* bytes of the names of sections | left out */
#define LIMIT_ELF_SECTION_NAMES_BYTES LIMIT_MB(8)
/* sections of an ELF file | left out */
#define LIMIT_ELF_SECTIONS 131072
/* bytes of the unwind information of an ELF file | left out */
#define LIMIT_CFI_BYTES LIMIT_MB(48)
/* bytes of packed symbols (MiniDebugInfo), unpacked | left out */
#define LIMIT_MINI_DEBUG_BYTES LIMIT_MB(256)
/* unpacked bytes of packed symbols for each packed byte, above 1 MB | left out */
#define LIMIT_MINI_DEBUG_RATIO 32
/* memory of the decoder of packed symbols: xz -9 needs 65 MB | left out */
#define LIMIT_MINI_DEBUG_MEMORY_BYTES LIMIT_MB(80)
/* bytes of a file whose checksum is compared with a debug link | not used */
#define LIMIT_CHECKSUM_BYTES LIMIT_MB(1024)
/* bytes of the code of a function that annotate shows | cut */
#define LIMIT_CODE_BYTES LIMIT_MB(4)
/* bytes of a file of generated code (jitdump, perf map) | error */
#define LIMIT_JIT_FILE_BYTES LIMIT_MB(512)
/* bytes of kallsyms | error */
#define LIMIT_KALLSYMS_BYTES LIMIT_MB(256)

/* pieces of code that the kernel generated (BPF programs), with names | without names */
#define LIMIT_KERNEL_CODE 16384

/* ---- names of functions -------------------------------------------------- */

/* bytes of a name that is demangled | shown as it is */
#define LIMIT_MANGLED_BYTES 16384
/* bytes of a demangled name | shown mangled */
#define LIMIT_DEMANGLED_BYTES 65536

/* ---- debug information, for each file ------------------------------------ */

/* unpacked bytes of sections for each byte of the file, above 16 MB | left out, counted */
#define LIMIT_DEBUG_RATIO 64
#define LIMIT_DEBUG_RATIO_FROM LIMIT_MB(16)
/* entries, ranges and rows of line tables that are read | left out, counted */
#define LIMIT_DEBUG_STEPS ((uint64_t)1 << 30)
/* CPU time | left out, counted */
#define LIMIT_DEBUG_CPU_NS LIMIT_SECONDS_NS(20)
/* ranges of units | left out, counted */
#define LIMIT_DEBUG_SPANS ((size_t)4 << 20)
/* units | left out, counted */
#define LIMIT_DEBUG_UNITS ((size_t)1 << 18)
/* abbreviations of a unit | left out, counted */
#define LIMIT_DEBUG_ABBREVIATIONS 65536
/* abbreviations of all units together | left out, counted */
#define LIMIT_DEBUG_ALL_ABBREVIATIONS ((uint64_t)1 << 26)
/* bytes of .debug_aranges | left out, counted */
#define LIMIT_DEBUG_ARANGES_BYTES LIMIT_MB(16)
/* tables of lines and inlined functions of all files in a report | left out, counted */
#define LIMIT_DEBUG_TABLES_BYTES LIMIT_MB(512)
/* memory of libdw | left out, counted */
#define LIMIT_DEBUG_MEMORY_BYTES LIMIT_MB(256)
/* rows of the line table of a unit | left out, counted */
#define LIMIT_LINE_ROWS ((size_t)4 << 20)
/* files of the line table of a unit, and directories | left out, counted */
#define LIMIT_LINE_FILES ((size_t)1 << 18)
/* rows of all line tables of a file | left out, counted */
#define LIMIT_DEBUG_ROWS ((size_t)8 << 20)

/* ---- servers and their clients ------------------------------------------- */

/* bytes of the head of an answer by HTTP | error */
#define LIMIT_HTTP_HEAD_BYTES 65536
/* bytes of an answer by HTTP, unpacked | error */
#define LIMIT_HTTP_ANSWER_BYTES LIMIT_MB(1)
/* bytes of the report of a server's error in place of a long answer | error */
#define LIMIT_HTTP_ERROR_BYTES 65536
/* time to connect to a server | error */
#define LIMIT_HTTP_CONNECT_MS LIMIT_SECONDS_MS(5)
/* time in which a server sends and receives no byte | error */
#define LIMIT_HTTP_SILENT_MS LIMIT_SECONDS_MS(30)
/* time of a request by HTTP | error */
#define LIMIT_HTTP_TOTAL_MS LIMIT_SECONDS_MS(120)
/* bytes of a file of certificates for a process without rights | error */
#define LIMIT_CERTIFICATES_BYTES LIMIT_MB(4)
/* pause that a server asks for | cut */
#define LIMIT_HTTP_PAUSE_MS LIMIT_SECONDS_MS(86400)
/* bytes of an answer of a store's server, which is decoded while it arrives | error */
#define LIMIT_STORE_ANSWER_BYTES LIMIT_MB(1024)
/* bytes of such an answer that wait for the end of their row | error */
#define LIMIT_STORE_HELD_BYTES LIMIT_MB(64)
/* memory of all rows that a report fetches from a store's server | error */
#define LIMIT_STORE_FETCHED_BYTES LIMIT_MB(300)
/* time to the first byte of an answer of a store's server | error */
#define LIMIT_STORE_FIRST_MS LIMIT_SECONDS_MS(30)
/* time without a byte while a store's server works on a long question | error */
#define LIMIT_STORE_SILENT_MS LIMIT_SECONDS_MS(120)
/* time of a request to a store's server | error */
#define LIMIT_STORE_REQUEST_MS LIMIT_SECONDS_MS(600)
/* bytes of the answer with the central configuration of all machines | not used, reported */
#define LIMIT_CENTRAL_ANSWER_BYTES LIMIT_MB(1)
/* bytes of the central configuration of a machine | not used, reported */
#define LIMIT_CENTRAL_BYTES 16384
/* bytes of a pattern, an option or a value of a central configuration | not used, reported */
#define LIMIT_CENTRAL_WORD_BYTES 256
/* time of the process that fetches a central configuration | not used, reported */
#define LIMIT_CENTRAL_MS LIMIT_SECONDS_MS(10)
/* CPU time of that process | not used, reported */
#define LIMIT_CENTRAL_CPU_S LIMIT_SECONDS(2)
/* bytes of a debug file from a server | left out */
#define LIMIT_DEBUGINFOD_FILE_BYTES LIMIT_MB(1024)
/* bytes of the debug files from servers that are kept | deleted, the longest unused first */
#define LIMIT_DEBUGINFOD_CACHE_BYTES LIMIT_MB(4096)
/* bytes that debug files from servers leave free: a tenth of the disk, at most | not fetched */
#define LIMIT_DEBUGINFOD_FREE_BYTES LIMIT_MB(2048)
/* time in which a server of debug files sends no byte | left out */
#define LIMIT_DEBUGINFOD_SILENT_S LIMIT_SECONDS(30)
/* time of a debug file from a server | left out */
#define LIMIT_DEBUGINFOD_FILE_S LIMIT_SECONDS(600)
/* time of all debug files from servers together | left out */
#define LIMIT_DEBUGINFOD_ALL_S LIMIT_SECONDS(1800)
/* bytes of the head of a request to assay view | refused */
#define LIMIT_WEB_HEAD_BYTES 16384
/* bytes of the body of a request to assay view | refused */
#define LIMIT_WEB_BODY_BYTES 65536
/* bytes of such a request in the other process | refused */
#define LIMIT_WEB_ASK_BYTES 131072
/* time in which a client of assay view sends and receives no byte | closed */
#define LIMIT_WEB_SILENT_S LIMIT_SECONDS(30)

#endif
