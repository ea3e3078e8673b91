/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * record_beside: records the waits of the whole machine while this process does something else:
 * counts the calls of a command, for example.
 *
 * record_beside_begin() returns when the recorder samples; record_beside_end() stops it and waits
 * until its file is closed. The recorder is a child of this process; if this process dies, it
 * closes its file. Messages go to stderr. One thread. Uses: base, session.
 */
#ifndef ASSAY_CMD_SESSION_RECORD_BESIDE_H
#define ASSAY_CMD_SESSION_RECORD_BESIDE_H

#include <sys/types.h>

struct record_beside {
	const char *command_name, *output, *frequency;
	pid_t recorder; /* 0: it does not run */
};

/*
 * Returns 0, or the exit status after a message. An older `output` becomes output.old. `frequency`:
 * of the samples of running threads, as for -F; NULL: the default.
 */
int record_beside_begin(struct record_beside *b, const char *command_name, const char *output,
                        const char *frequency);
/* The same. Nothing happens if no recorder runs. */
int record_beside_end(struct record_beside *b);

#endif
