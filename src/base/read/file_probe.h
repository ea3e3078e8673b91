/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * file_probe: checks whether the file system of a file answers, before this process opens the file.
 *
 * A report opens files that other users own. Their file system may never answer (FUSE, a server
 * that is down), and an open() that waits for it cannot be interrupted. Therefore a file system
 * that the program of another user serves is not entered (served_mount.h). On other file systems,
 * another process (foreign.h) first opens each file and reads one byte, with a time limit.
 *
 * file_probe_begin() starts that process; it is called while this process has one thread. Without
 * it only the mount is checked. file_probe_end() ends it when no more files will be opened; else it
 * exits with this process. A network file system that stops answering after the probe of a
 * file still blocks the caller. Other functions: any thread. Uses: foreign, served_mount.
 */
#ifndef ASSAY_BASE_READ_FILE_PROBE_H
#define ASSAY_BASE_READ_FILE_PROBE_H

void file_probe_begin(void);
void file_probe_end(void);

/*
 * 0: the file system of the file answers, possibly with an error; -ETIMEDOUT: it does not, and the
 * file must not be opened.
 */
int file_probe_answers(const char *path);

#endif
