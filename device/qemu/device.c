/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * device: the capture device as a plugin of QEMU (TCG, plugin API version 1).
 *
 *	qemu-system-x86_64 -plugin assay_device.so,out=DIR[,OPTION=VALUE]... ...
 *
 * When QEMU translates code, the device looks for triggers. Only a trigger gets a call of the
 * device, so other code runs as before; the guest executes the same instructions with and without
 * the device. docs/FORMAT.md describes the trace, help() the options.
 */
#include "capture.h"
#include "clock.h"
#include "control.h"
#include "process.h"
#include "qemu_plugin.h"
#include "symbols.h"
#include "trigger.h"
#include "untagged.h"

#include "assay/tags_wire.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define BACK_SHIFT 32

int qemu_plugin_version = 1;

static struct {
	struct capture_options capture;
	const char *start, *end, *symbols;
	uint64_t period; /* of samples; 0: none */
	bool memory_given, stop_given, quiet;
} options;

static void help(void)
{
	fprintf(stderr, "assay_device: options:\n"
	                "  out=DIR                  the new directory of the trace (required)\n"
	                "  names=FILE               the names file of the guest's tags\n"
	                "  mode=calls               guests without tags: all calls of functions\n"
	                "  sample=N                 guests without tags: the function that runs,\n"
	                "                           every N instructions\n"
	                "  symbols=FILE             their functions: ELF, or lines as in kallsyms\n"
	                "  mem=stream|SIZE[k|M|G]   limit of the recorded bytes (default: stream)\n"
	                "  stop=full|wrap           with mem=SIZE: stop, or reuse the oldest part\n"
	                "  start=on|off|tag:NAME    when recording starts (default: on)\n"
	                "  end=tag:NAME             when recording ends: before this entry\n"
	                "  clock=instructions|host  the clock of events (default: instructions)\n"
	                "  quiet=on|off             print no line when QEMU exits (default: off)\n"
	                "While QEMU runs, the lines 'start' and 'stop' written to DIR/.control\n"
	                "start and stop recording.\n");
}

static int wrong(const char *option, const char *why)
{
	fprintf(stderr, "assay_device: %s: %s\n", option, why);
	help();
	return -1;
}

static int parse_memory(const char *option, const char *value)
{
	char *end;
	unsigned long long n;
	unsigned shift = 0;

	if (!strcmp(value, "stream"))
		return 0;
	errno = 0;
	n = strtoull(value, &end, 10);
	if (*end) {
		shift = *end == 'k' || *end == 'K' ? 10 : *end == 'M' ? 20 : *end == 'G' ? 30 : 0;
		end += shift != 0;
	}
	if (end == value || *end || errno || *value == '-' || n > (1ull << 40) >> shift)
		return wrong(option, "not 'stream' or a size such as 64k, 16M or 1G");
	options.capture.memory = n << shift;
	options.memory_given = true;
	return options.capture.memory < 4096 ? wrong(option, "at least 4k are needed") : 0;
}

static int parse_period(const char *option, const char *value)
{
	char *end;

	errno = 0;
	options.period = strtoull(value, &end, 10);
	if (*end || errno || *value == '-' || !options.period)
		return wrong(option, "not a number of instructions");
	options.capture.samples = true;
	return 0;
}

static int parse(const char *option)
{
	const char *equal = strchr(option, '='), *value = equal ? equal + 1 : "";
	size_t length = equal ? (size_t)(equal - option) : strlen(option);
	struct capture_options *c = &options.capture;

#define IS(name) (length == sizeof(name) - 1 && !memcmp(option, name, length))
	if (!*value)
		return wrong(option, "a value is missing");
	if (IS("out"))
		c->out = value;
	else if (IS("names"))
		c->names = value;
	else if (IS("mem"))
		return parse_memory(option, value);
	else if (IS("sample"))
		return parse_period(option, value);
	else if (IS("symbols"))
		options.symbols = value;
	else if (IS("mode") && !strcmp(value, "calls"))
		c->calls = true;
	else if (IS("start") &&
	         (!strcmp(value, "on") || !strcmp(value, "off") || !strncmp(value, "tag:", 4)))
		options.start = value;
	else if (IS("end") && !strncmp(value, "tag:", 4))
		options.end = value;
	else if (IS("stop") && (!strcmp(value, "full") || !strcmp(value, "wrap"))) {
		c->mode = *value == 'w' ? CAPTURE_WRAP : CAPTURE_FULL;
		options.stop_given = true;
	} else if (IS("clock") && (!strcmp(value, "instructions") || !strcmp(value, "host")))
		c->host_clock = *value == 'h';
	else if (IS("quiet") && (!strcmp(value, "on") || !strcmp(value, "off")))
		options.quiet = value[1] == 'n';
	else
		return wrong(option, "unknown option or value");
	return 0;
#undef IS
}

/* Options of guests without tags. */
static int complete_untagged(void)
{
	const struct capture_options *c = &options.capture;

	if (c->calls && c->samples)
		return wrong("sample=", "not with mode=calls");
	if (!c->calls && !c->samples)
		return options.symbols ? wrong("symbols=", "give mode=calls or sample=N, too") : 0;
	if (!options.symbols)
		return wrong("symbols=", "the functions of the guest are missing");
	if (c->names)
		return wrong("names=", "not for guests without tags");
	if (symbols_open(options.symbols))
		return -1;
	untagged_open(c->calls ? UNTAGGED_CALLS : UNTAGGED_SAMPLE, options.period);
	return 0;
}

/* The tag of the value tag:NAME of an option. */
static int find_tag(const char *value, uint32_t *tag)
{
	const char *name = value + strlen("tag:");

	*tag = options.capture.names ? capture_names_find(options.capture.names, name)
	       : options.symbols     ? symbols_tag_of(name)
	                             : 0;
	return *tag ? 0
	            : wrong(value, "names=FILE or symbols=FILE has no such name "
	                           "(names=FILE names functions without tags as left out)");
}

/* Options that depend on each other. */
static int complete(const struct qemu_info *info)
{
	struct capture_options *c = &options.capture;
	const char *start = options.start ? options.start : "on";

	c->system = info->system_emulation;
	c->started = !strcmp(start, "on");
	if (!c->out)
		return wrong("out=", "the directory of the trace is missing");
	if (options.stop_given && !options.memory_given)
		return wrong("stop=", "a stream has no end; give mem=SIZE");
	if (options.memory_given && !options.stop_given)
		c->mode = CAPTURE_FULL;
	if (c->names && access(c->names, R_OK)) {
		fprintf(stderr, "assay_device: names=%s: cannot be read: %s\n", c->names,
		        strerror(errno));
		return -1;
	}
	if (complete_untagged())
		return -1;
	if (!strncmp(start, "tag:", 4) && find_tag(start, &c->start_tag))
		return -1;
	if (options.end && find_tag(options.end, &c->end_tag))
		return -1;
	if (strcmp(info->target_name, "x86_64")) {
		fprintf(stderr, "assay_device: guests of %s are not supported; use x86_64\n",
		        info->target_name);
		return -1;
	}
	if (clock_open(c->host_clock)) {
		fprintf(stderr, "assay_device: cannot create a thread\n");
		return -1;
	}
	if (c->system && info->system.smp_vcpus > 1 && !c->host_clock && !clock_is_icount()) {
		fprintf(stderr, "assay_device: vCPUs that run at the same time have no common "
		                "count of instructions; give clock=host, or run QEMU with "
		                "-icount shift=0\n");
		return -1;
	}
	return 0;
}

static void on_trigger(unsigned vcpu, void *data)
{
	uint64_t word = (uint64_t)(uintptr_t)data;

	capture_event(vcpu, word & ASSAY_TAGS_TAG_MASK, clock_now(word >> BACK_SHIFT));
}

static void on_process(unsigned vcpu, uint32_t info, uint64_t address, void *data)
{
	uint64_t word = (uint64_t)(uintptr_t)data;

	process_read(vcpu, address, (enum process_part)(word & ASSAY_TAGS_TAG_MASK),
	             clock_now(word >> BACK_SHIFT));
}

static void on_halt(unsigned vcpu, void *data)
{
	clock_halted();
}

/* The instructions after the trigger read the numbers of two processes and a name. */
static void watch_process(struct qemu_plugin_tb *tb, size_t from, size_t count)
{
	for (size_t part = 0; part < PROCESS_PARTS && from + part < count; part++)
		qemu_plugin_register_vcpu_mem_cb(
		        qemu_plugin_tb_get_insn(tb, from + part), on_process,
		        QEMU_PLUGIN_CB_NO_REGS, QEMU_PLUGIN_MEM_RW,
		        (void *)(uintptr_t)((uint64_t)(count - from - part) << BACK_SHIFT | part));
}

static void on_translation(qemu_plugin_id_t id, struct qemu_plugin_tb *tb)
{
	size_t count = qemu_plugin_tb_n_insns(tb);
	uint32_t tag;

	if (!options.capture.host_clock)
		qemu_plugin_register_vcpu_tb_exec_inline(tb, QEMU_PLUGIN_INLINE_ADD_U64,
		                                         clock_counter(), count);
	untagged_translate(tb);
	for (size_t i = 0; i < count; i++) {
		struct qemu_plugin_insn *insn = qemu_plugin_tb_get_insn(tb, i);
		const uint8_t *bytes = qemu_plugin_insn_data(insn);
		size_t size = qemu_plugin_insn_size(insn);

		if (!options.symbols && trigger_x86_64(bytes, size, &tag))
			qemu_plugin_register_vcpu_insn_exec_cb(
			        insn, on_trigger, QEMU_PLUGIN_CB_NO_REGS,
			        (void *)(uintptr_t)((uint64_t)(count - i) << BACK_SHIFT | tag));
		else if (process_x86_64(bytes, size))
			watch_process(tb, i + 1, count);
		else if (clock_is_icount() && halts_x86_64(bytes, size))
			qemu_plugin_register_vcpu_insn_exec_cb(insn, on_halt,
			                                       QEMU_PLUGIN_CB_NO_REGS, NULL);
	}
}

static void on_exit_of_qemu(qemu_plugin_id_t id, void *data)
{
	struct capture_sums sums;

	control_close();
	capture_close(&sums);
	if (options.quiet)
		return;
	fprintf(stderr, "assay_device: %llu events in %s", (unsigned long long)sums.events,
	        options.capture.out);
	if (sums.discarded)
		fprintf(stderr, "; %llu events were discarded because %s",
		        (unsigned long long)sums.discarded,
		        !sums.full                               ? "older packets were reused"
		        : options.capture.mode == CAPTURE_STREAM ? "a file could not be written"
		                                                 : "the memory was full");
	fprintf(stderr, "\n");
}

int qemu_plugin_install(qemu_plugin_id_t id, const struct qemu_info *info, int argc, char **argv)
{
	for (int i = 0; i < argc; i++)
		if (parse(argv[i]))
			return -1;
	if (complete(info) || capture_open(&options.capture) || control_open(options.capture.out))
		return -1;
	qemu_plugin_register_vcpu_tb_trans_cb(id, on_translation);
	qemu_plugin_register_atexit_cb(id, on_exit_of_qemu, NULL);
	return 0;
}
