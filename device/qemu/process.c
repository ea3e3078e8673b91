/* SPDX-License-Identifier: GPL-2.0-or-later */
/* process: reads the guest's memory where the guest itself reads it at that moment. */
#include "process.h"
#include "capture.h"
#include "qemu_plugin.h"

#include "assay/tags_wire.h"

static void put_bytes(unsigned vcpu, const uint8_t *bytes, size_t count, uint64_t time_ns)
{
	for (size_t i = 0; i < count; i++)
		capture_event(vcpu, ASSAY_TAG_PROCESS | bytes[i], time_ns);
}

void process_read(unsigned vcpu, uint64_t address, enum process_part part, uint64_t time_ns)
{
	uint8_t bytes[ASSAY_TAGS_PROCESS_NAME] = {0};
	size_t size = part == PROCESS_NAME ? sizeof(bytes) - 1 : 4, length = 0;

	if (!cpu_memory_rw_debug || !qemu_get_cpu ||
	    cpu_memory_rw_debug(qemu_get_cpu((int)vcpu), address, bytes, size, false))
		return;
	if (part != PROCESS_NAME) {
		put_bytes(vcpu, bytes, size, time_ns);
		return;
	}
	while (bytes[length])
		length++;
	put_bytes(vcpu, bytes, length + 1, time_ns);
}
