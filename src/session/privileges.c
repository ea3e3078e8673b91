/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "session/privileges.h"

#include <linux/capability.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#define UNWIND_NICE (-10)

void privileges_hurry(void)
{
	setpriority(PRIO_PROCESS, 0, UNWIND_NICE);
}

void privileges_drop(bool looks_into_others)
{
	struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
	struct __user_cap_data_struct kept[2] = {{0}};

	if (looks_into_others && !syscall(SYS_capget, &header, kept)) {
		kept[0].permitted &= 1u << CAP_SYS_PTRACE | 1u << CAP_DAC_READ_SEARCH;
		kept[1].permitted &= 1u << (CAP_CHECKPOINT_RESTORE - 32); /* map_files */
		for (int i = 0; i < 2; i++) {
			kept[i].effective = kept[i].permitted;
			kept[i].inheritable = 0;
		}
	}
	syscall(SYS_capset, &header, kept);
}
