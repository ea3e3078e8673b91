/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * counter_update: what is left of an event once its process and its path are known.
 *
 * profile_builder makes notes in time order, profile_counter adds them up,
 * perhaps on another CPU: a note holds ids and numbers, and no pointer. Ids are
 * of the profile's process table and paths. Times are ns of the recording's
 * clock. Uses: base.
 */
#ifndef ASSAY_PROFILE_COUNTER_UPDATE_H
#define ASSAY_PROFILE_COUNTER_UPDATE_H

#include <stdbool.h>
#include <stdint.h>

enum counter_update_kind {
	UPDATE_TIME, /* something that is not counted happened */
	UPDATE_SAMPLE,
	UPDATE_SWITCH,
	UPDATE_FORK,
	UPDATE_EXEC,
	UPDATE_EXIT,
	UPDATE_LOST,
	UPDATE_THROTTLE,
	UPDATE_CLOCK,   /* another attribute is the main clock: the first one that has samples */
	UPDATE_MACHINE, /* a process that recorders of the whole machine alone report */
};

struct counter_update {
	uint64_t time_ns;
	uint64_t amount;          /* sample: its period; lost: records; throttle: 1 if stopped;
	                           * clock: the attribute's index */
	uint32_t thread, process; /* ID_NONE where the event is nobody's */
	union {
		struct {
			uint32_t path, region, window;
		};
		struct {
			uint32_t old, old_process; /* fork, exec: who had the number; ID_NONE */
		};
		int32_t other_pid; /* switch: who runs next or ran before */
	};
	int32_t pid;
	uint16_t cpu;
	uint8_t kind, event;     /* enum counter_update_kind; index into profile.events */
	uint8_t mode, stack_end; /* sample: as in profile_row */
	bool tick;               /* sample: of the main clock */
	bool idle;               /* tick: nobody ran */
	bool off_cpu;            /* sample: of where a thread was switched out */
	bool out, preempted;     /* switch */
	bool machine_wide;       /* switch: told of the CPU, not of one thread */
};

#endif
