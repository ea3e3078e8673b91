/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * qemu_run: runs QEMU with the capture device, which writes the event tags of the guest to a trace.
 *
 *	qemu_device_find()	the file of the device
 *	qemu_trace_begin()	the path of the trace: a new directory, or a temporary one
 *	qemu_run()		runs QEMU in the foreground (command_run.h), until it has exited
 *	qemu_trace_end()	removes a temporary trace
 *
 * The device itself creates the trace. A QEMU that is killed leaves a readable one. 0 or -errno.
 * One thread. Uses: base.
 */
#ifndef ASSAY_LAUNCH_QEMU_QEMU_RUN_H
#define ASSAY_LAUNCH_QEMU_QEMU_RUN_H

#include "launch/command_run.h"
#include "launch/qemu/qemu_command.h"

/*
 * In a build, beside this program; else in the installation directory. `given`: the file of an
 * option, or NULL. The caller frees the path.
 */
int qemu_device_find(const char *given, char **path, struct error *err);

struct qemu_trace {
	char *path;      /* of the trace; it does not exist before QEMU runs */
	char *temporary; /* its directory; NULL: the trace is kept */
};

/* `output`: NULL: temporary. */
int qemu_trace_begin(struct qemu_trace *t, const char *output, struct error *err);
void qemu_trace_end(struct qemu_trace *t);

struct qemu_run_options {
	char **words;                /* of the command */
	struct qemu_command command; /* of them */
	const char *device, *trace;
	/* Values of the device's options; NULL: its defaults. */
	const char *names, *memory, *stop, *start, *end, *clock, *mode, *sample, *symbols;
};

struct qemu_run_result {
	struct command_run_result run;
	bool trace;  /* the device was loaded and has made the trace */
	bool events; /* the trace has packets */
};

int qemu_run(const struct qemu_run_options *o, struct qemu_run_result *result, struct error *err);

#endif
