/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "launch/privileges.h"

#include <linux/capability.h>
#include <stdint.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#define UNWIND_NICE (-10)

void privileges_hurry(void)
{
	setpriority(PRIO_PROCESS, 0, UNWIND_NICE);
}

#define CAPABILITY(name) (UINT64_C(1) << CAP_##name)

static uint64_t capabilities_for(unsigned kept)
{
	return (kept & PRIVILEGE_LOOK ? CAPABILITY(SYS_PTRACE) | CAPABILITY(DAC_READ_SEARCH) |
	                                        CAPABILITY(CHECKPOINT_RESTORE) /* map_files */
	                              : 0) |
	       (kept & PRIVILEGE_WRITE ? CAPABILITY(DAC_OVERRIDE) : 0) |
	       (kept & PRIVILEGE_NAMES ? CAPABILITY(SYSLOG) : 0) |
	       (kept & PRIVILEGE_SAMPLE ? CAPABILITY(PERFMON) : 0);
}

void privileges_drop(unsigned kept)
{
	struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
	struct __user_cap_data_struct now[2] = {{0}};
	uint64_t wanted = capabilities_for(kept);

	if (wanted && !syscall(SYS_capget, &header, now))
		for (int i = 0; i < 2; i++) {
			now[i].permitted &= (uint32_t)(wanted >> 32 * i);
			now[i].effective = now[i].permitted;
			now[i].inheritable = 0;
		}
	syscall(SYS_capset, &header, now);
}
