/* SPDX-License-Identifier: GPL-2.0-or-later */
/* tags capture: starts and stops recording in running programs, and captures guests of QEMU. */
#include "base/memory/xalloc.h"
#include "cmd/cli/print.h"
#include "cmd/tags/tags.h"
#include "launch/qemu/qemu_control.h"

#include <stdlib.h>
#include <string.h>

struct tags_capture_options {
	bool qemu;
	struct tags_qemu_options of;
};

#define AT(field) offsetof(struct tags_capture_options, of.field)

static const struct option capture_table[] = {
        {OPTION_FLAG, 'q', "quiet",
         .help = "do not name the processes; with --qemu, print no report and no closing line",
         .offset = AT(quiet)},
        {.kind = OPTION_GROUP, .help = "Guests of QEMU"},
        {OPTION_FLAG, 0, "qemu", NULL,
         "run COMMAND, which is QEMU, and record the event tags of its guest",
         .offset = offsetof(struct tags_capture_options, qemu)},
        {OPTION_STRING, 'o', "output", "DIR",
         "keep the trace in this new directory (default: remove it after the report)",
         .offset = AT(output)},
        {OPTION_STRING, 0, "names", "FILE", "the names file of the guest's build",
         .details = "The file that the compiler's plugin wrote, see 'assay tags flags'. Without "
                    "it the report shows the numbers of tags.",
         .offset = AT(names)},
        {OPTION_FLAG, 0, "calls", .help = "a guest without tags: record each call of its functions",
         .offset = AT(calls)},
        {OPTION_STRING, 0, "sample", "N",
         "a guest without tags: record its function every N instructions",
         .details = "Net is then the time of the samples, and a call is a run of samples in one "
                    "function.",
         .offset = AT(sample)},
        {OPTION_STRING, 0, "symbols", "FILE", "its functions: an ELF file, or a text as kallsyms",
         .details = "For Linux: /proc/kallsyms of the guest, read by root, with nokaslr on the "
                    "kernel's command line.",
         .offset = AT(symbols)},
        {OPTION_STRING, 0, "memory", "MB",
         "limit of the recorded bytes of all CPUs, or wrap: of each",
         .details = "MB, or bytes with k, M or G. Default: no limit for --mode stream, 32 MB for "
                    "stop and wrap.",
         .offset = AT(memory)},
        {OPTION_STRING, 0, "mode", "MODE",
         "stream: write all (default); stop: until full; wrap: the latest",
         .choices = "stream,stop,wrap",
         .details = "stream, stop: a killed QEMU loses no event. wrap: the events are written "
                    "when QEMU exits.",
         .offset = AT(mode)},
        {OPTION_STRING, 0, "start", "WHEN",
         "on, off, or tag:NAME: when recording starts (default on)",
         .details = "off: 'assay tags capture on DIR' starts it. tag:NAME: the first entry or the "
                    "inline tag with this name in the names file starts it.",
         .offset = AT(start)},
        {OPTION_STRING, 0, "end", "tag:NAME",
         "when recording ends: before the first such event after its start",
         .details = "With --start and the same name: before the second one. The guest runs on.",
         .offset = AT(end)},
        {OPTION_STRING, 0, "clock", "CLOCK", "instructions (default) or host: the clock of events",
         .choices = "instructions,host",
         .details = "instructions: the guest's own time if QEMU has -icount, else one ns for each "
                    "instruction. host: the time of this machine.",
         .offset = AT(clock)},
        {OPTION_STRING, 0, "device", "FILE", "the capture device, if it is not installed",
         .offset = AT(device)},
        {.kind = OPTION_GROUP, .help = "The report on a guest"},
        {.kind = OPTION_INCLUDE, .include = report_option_table, .offset = AT(report)},
        {.kind = OPTION_INCLUDE, .include = report_tags_option_table, .offset = AT(tags)},
        {.kind = OPTION_END},
};

static void defaults(void *p)
{
	struct tags_capture_options *o = p;

	report_options_defaults(&o->of.report);
}

static void capture_tell(const struct tag_rings_file *file, const char *now)
{
	print_line("%d %s: %s", file->file.pid, file->name, now);
}

/* Switches the processes in argv, or all. */
static int switch_processes(const struct tags_capture_options *o, bool on, int argc, char **argv)
{
	tag_rings_list list = {0};
	struct error err = {0};
	size_t count = 0;
	int status = tags_find_files(&list, "tags capture", argc, argv);

	for (size_t i = 0; i < list.count && !status; i++) {
		if (!list.items[i].file.running)
			continue;
		if (tag_rings_capture(&list.items[i], on, &err))
			status = command_fail(1, "tags capture: %s", err.text);
		else if (!o->of.quiet)
			capture_tell(&list.items[i], on ? "on" : "off");
		count += !status;
	}
	if (!status && !count)
		status =
		        command_fail(1, "tags capture: no process of yours records event tags now");
	tag_rings_list_done(&list);
	return status;
}

/* Switches the capture devices of traces. */
static int switch_devices(const struct tags_capture_options *o, bool on, int argc, char **argv)
{
	struct error err = {0};

	for (int i = 0; i < argc; i++) {
		if (qemu_control_switch(argv[i], on, &err))
			return command_fail(1, "tags capture: %s", err.text);
		if (!o->of.quiet)
			print_line("%s: %s", argv[i], on ? "on" : "off");
	}
	return 0;
}

static bool is_directory_word(const char *word)
{
	return word[strspn(word, "0123456789")] != '\0';
}

/* The words that are traces come last, in their order. Returns the number of the others. */
static int divide(int argc, char **argv, char **sorted)
{
	int processes = 0, traces = 0;

	for (int i = 0; i < argc; i++)
		processes += !is_directory_word(argv[i]);
	traces = processes;
	for (int i = 0, next = 0; i < argc; i++)
		sorted[is_directory_word(argv[i]) ? traces++ : next++] = argv[i];
	return processes;
}

static int capture_run(void *data, int argc, char **argv)
{
	const struct tags_capture_options *o = data;
	bool on = argc && !strcmp(argv[0], "on");
	char **words;
	int status = 0, processes;

	if (o->qemu)
		return tags_qemu(&o->of, argv);
	if (!argc || (!on && strcmp(argv[0], "off") != 0))
		return command_fail(2, "tags capture: needs 'on' or 'off', and optional process "
		                       "ids or traces; or --qemu and a command");
	words = xcalloc((size_t)argc, sizeof(*words));
	processes = divide(argc - 1, argv + 1, words);
	if (processes || argc == 1)
		status = switch_processes(o, on, processes, words);
	if (!status)
		status = switch_devices(o, on, argc - 1 - processes, words + processes);
	free(words);
	return status;
}

const struct command tags_capture = {
        .name = "tags capture",
        .synopsis = "[OPTIONS] on|off [PID|DIR...] | --qemu COMMAND...",
        .summary = "start or stop recording in running processes, or record a guest of QEMU",
        .description =
                "All processes that were built for it, or the given ones, start or stop to "
                "record event tags. The processes are listed. DIR is the trace of a guest that "
                "runs under --qemu.\n\n"
                "With --qemu, COMMAND is qemu-system-x86_64 or qemu-x86_64 with its options. Its "
                "guest (a kernel, firmware, a program) was built with the plugin "
                "assay_tags.so and the trigger nop. QEMU runs in the foreground with the capture "
                "device, which takes no time of the guest. assay adds the option -plugin and no "
                "other. When QEMU has exited, or was killed, the report is printed. The exit "
                "status is that of COMMAND. Time is exact with QEMU's options -icount "
                "shift=0,sleep=off -rtc clock=vm.",
        .examples =
                "assay tags capture on 1234 ; sleep 1 ; assay tags capture off 1234 ; assay "
                "tags get 1234\n    one second of process 1234\n"
                "assay tags capture --qemu --names kernel.names -o trace -- qemu-system-x86_64 "
                "-accel tcg -icount shift=0,sleep=off -rtc clock=vm -nographic -kernel bzImage\n"
                "    all calls of a kernel that was built with tags\n"
                "assay tags capture off trace\n    stop recording while the guest runs\n",
        .options = capture_table,
        .options_size = sizeof(struct tags_capture_options),
        .defaults = defaults,
        .run = capture_run,
        .stop_early = true,
};
