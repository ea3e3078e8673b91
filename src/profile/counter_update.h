/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * counter_update: the part of an event that is counted, after its process and path are known.
 *
 * profile_builder creates updates in time order, and profile_counter adds them up, perhaps on
 * another CPU; therefore an update contains ids and numbers, and no pointers. Ids are those of the
 * profile's process table and paths. Times are ns of the recording's clock. Uses: base.
 */
#ifndef ASSAY_PROFILE_COUNTER_UPDATE_H
#define ASSAY_PROFILE_COUNTER_UPDATE_H

#include <stdbool.h>
#include <stdint.h>

enum counter_update_kind {
	UPDATE_TIME, /* an event that is not counted, for its time */
	UPDATE_SAMPLE,
	UPDATE_SWITCH,
	UPDATE_PLACE,      /* the sample of a switch has more than the path */
	UPDATE_WAKE,       /* a thread was woken */
	UPDATE_DESCRIPTOR, /* a descriptor of a process has a name */
	UPDATE_FAULT,      /* a page fault ended, of a file with a name */
	UPDATE_CONTENTION, /* a thread begins or ends to wait for a lock of the kernel */
	UPDATE_FOUND,      /* a thread that existed when the recording began, by /proc */
	UPDATE_FORK,
	UPDATE_EXEC,
	UPDATE_EXIT,
	UPDATE_LOST,
	UPDATE_THROTTLE,
	UPDATE_CLOCK,   /* the main clock changed: the first attribute that has samples */
	UPDATE_MACHINE, /* a process that only whole-machine recorders report */
};

enum place_flag {
	PLACE_STATE_KNOWN = 1 << 0,
	PLACE_RUNNABLE = 1 << 1,
	PLACE_UNINTERRUPTIBLE = 1 << 2,
	PLACE_IN_SYSTEM_CALL = 1 << 3,
};

struct counter_update {
	uint64_t time_ns;
	uint64_t amount;          /* sample: its period; lost: records; throttle: 1 if stopped;
	                           * clock: the attribute's index; place and wake: the argument
	                           * of the system call; descriptor: its number;
	                           * contention: address of the lock */
	uint32_t thread, process; /* ID_NONE if the event has no thread */
	union {
		struct {
			uint32_t path, region, window;
		};
		struct {
			uint32_t old, old_process; /* fork, exec: previous owners of the number */
			uint32_t parent;           /* fork: the thread that created this one */
		};
		struct {
			int32_t other_pid; /* switch: the next or previous thread */
			uint32_t other;    /* its id, or ID_NONE */
		};
		struct {
			uint32_t place, instead; /* place: path, and the next thread of the CPU */
		};
		struct {
			uint32_t waker_path, woken; /* wake: woken ID_NONE: unknown */
		};
		uint32_t descriptor; /* index into profile.waits.descriptors */
	};
	int32_t pid;
	uint16_t cpu;
	uint8_t kind, event;     /* enum counter_update_kind; index into profile.events */
	uint8_t mode, stack_end; /* sample: as in profile_row */
	bool tick;               /* sample of the main clock */
	bool idle;               /* tick: in the idle task */
	bool off_cpu;            /* sample: the stack at which a thread was switched out */
	bool outside;            /* sample: before the part of the time that is counted */
	bool out, preempted;     /* switch; contention: out at the end, preempted: gave up */
	bool machine_wide;       /* switch: reported by the CPU, not by one thread */
	uint8_t flags;           /* place: enum place_flag, a set; wake: enum wait_woken;
	                          * contention: enum wait_lock_flag, a set */
	bool is_new;             /* wake: the thread runs for the first time */
};

#endif
