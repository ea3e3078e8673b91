/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * file_probe: whether the file system of a file answers, before this process opens the file.
 *
 * A report opens files that other users own. Their file system may never answer (FUSE, a server
 * that is down), and an open() that waits for it cannot be ended. Another process (foreign.h)
 * therefore opens each file first and reads one byte, with a time limit.
 *
 * file_probe_begin() starts that process; it is called while this process has one thread. Without
 * it no file is probed. A file that stops to answer after its probe still blocks the caller.
 * file_probe(): any thread. Uses: nothing of ours.
 */
#ifndef ASSAY_BASE_FILE_FILE_PROBE_H
#define ASSAY_BASE_FILE_FILE_PROBE_H

void file_probe_begin(void);

/* 0: it answers, if only with an error; -ETIMEDOUT: it did not, and must not be opened. */
int file_probe(const char *path);

#endif
