/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cmd/session/record_options.h"

#include "base/text/plural.h"
#include "cmd/cli/amount.h"
#include "output/text/table.h"
#include "source/perf/perf_ring_size.h"
#include "source/proc/rights.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#define FLUSH_LEAST_NS UINT64_C(10000000)
#define POD_DIRECTORY "/etc/podinfo"
#define FREQUENCY_HZ 997
/*
 * At higher rates samples may take all the time of a CPU: a sample costs up to 40 us, and the
 * kernel does not slow down a software clock. So there is a budget unless one is given.
 */
#define UNLIMITED_HZ 10000
#define BUDGET_OF_FAST_CLOCKS 0.5
#define STACK_BYTES 32768
#define STACK_BYTES_MAX 65504 /* limit of a record */
#define STACK_BYTES_NOT_SAID UINT64_MAX

#define AT(field) offsetof(struct record_options, field)

const struct option record_what_table[] = {
        {OPTION_FLAG, 'a', "all-cpus", NULL,
         "the whole machine (the default without COMMAND and -p)",
         .details = "With 'assay record' and COMMAND: while COMMAND runs.", .offset = AT(all)},
        {OPTION_LIST, 'p', "pid", "PID", "these processes, with their new children",
         .details = "With 'assay record' and COMMAND: while COMMAND runs; COMMAND itself is not "
                    "sampled.",
         .offset = AT(pids)},
        {OPTION_LIST, 'e', "event", "EVENT",
         "the event to sample: cycles, cpu-clock, page-faults, ...",
         .details = "Names and modifiers (:u, :k, :p) are those of perf. Default: cycles if the "
                    "machine has a PMU, else cpu-clock. Each occurrence of an event that is not a "
                    "clock is sampled, unless -c or -F is given. The samples of a tracepoint "
                    "(sched:sched_waking) have its fields: 'assay sql' shows them in "
                    "events.fields.",
         .offset = AT(events)},
        {OPTION_STRING, 'F', "freq", "HZ",
         "samples per second on each CPU, or max (default 997; top: 97)",
         .details = "A rate above kernel.perf_event_max_sample_rate is lowered to it, with a "
                    "note: the kernel takes no more samples.",
         .offset = AT(frequency)},
        {OPTION_COUNT, 'c', "count", "COUNT",
         "one sample per COUNT events (clocks: ns) instead of -F", .offset = AT(period)},
        {.kind = OPTION_END},
};

const struct option record_stack_table[] = {
        {OPTION_STRING, 'g', "call-graph", "[HOW]",
         "record call chains of user code too: auto (default HOW), fp or dwarf",
         .choices = "auto,fp,dwarf", .looks_ahead = true,
         .details =
                 "fp: the kernel follows frame pointers; cheap, but chains end at code that was "
                 "compiled without them, as most is. dwarf: assay follows the unwind tables of "
                 "programs while recording, from a copy of the registers and the "
                 "stack with each sample; the file contains plain call chains. auto: like dwarf, "
                 "with frame pointers for code without a table. Chains of the kernel are always "
                 "recorded, if you may sample the kernel.",
         .offset = AT(call_graph)},
        {OPTION_COUNT, 0, "stack-size", "BYTES",
         "bytes of the stack that are copied with a sample, for -g (default 32768)",
         .details = "A multiple of 8, at most 65504; with the switches and wake-ups of --waits at "
                    "most 8192. Deeper frames are taken from earlier samples of "
                    "the thread, or read from its memory.",
         .offset = AT(stack_size)},
        {.kind = OPTION_END},
};

const struct option record_memory_table[] = {
        {OPTION_NUMBER, 0, "memory", "MB",
         "size of all buffers together (default 4 MB per CPU, at most 256)",
         .details =
                 "16 MB per CPU and an eighth more if stacks are copied (-g). Records that do not "
                 "fit are dropped, counted per CPU, and reported in the "
                 "report.",
         .offset = AT(memory_mb)},
        {OPTION_NUMBER, 0, "budget", "PERCENT",
         "limit of the measurement's share of a CPU's time; lowers the rate",
         .details = "The cost of a sample is measured on this machine, at the start and while "
                    "recording. The rate is lowered before the measurement exceeds the limit, and "
                    "raised again, up to the requested rate, when possible. The report shows the "
                    "rates, and weights samples by them. Default: none; 50 above 10000 samples "
                    "per second, since samples could take all the time of the machine.",
         .offset = AT(budget)},
        {.kind = OPTION_END},
};

const struct option record_label_table[] = {
        {OPTION_STRING, 0, "pod-labels", "DIR",
         "where pods mount their downward API volume (default " POD_DIRECTORY ")",
         .details = "The file \"labels\" in this directory, in the root of the containers of each "
                    "pod, gives their processes the labels k8s.pod.label.NAME. Pods without such "
                    "a volume have none. \"\": they are not read.",
         .offset = AT(pod_labels)},
        {OPTION_STRING, 0, "label-file", "FILE",
         "labels of all processes, as k8s.cluster.name: lines NAME=\"VALUE\"",
         .details = "The form is that of files of Kubernetes' downward API. FILE is read when "
                    "sampling begins.",
         .offset = AT(label_file)},
        {OPTION_FLAG, 0, "no-labels", NULL,
         "record no labels except those that follow from the control group",
         .offset = AT(no_labels)},
        {.kind = OPTION_END},
};

const struct option record_waits_table[] = {
        {OPTION_FLAG, 0, "waits", NULL,
         "record for whom threads wait: each switch and each wake-up, with stacks",
         .details = "For 'assay waits', which also reads a store. Implies -g, and the whole "
                    "machine: the threads that wake "
                    "others may belong to any process. With COMMAND or -p, 'assay waits' shows "
                    "these processes. Block I/O and contended locks of the kernel are recorded "
                    "too. Needs root or CAP_PERFMON; otherwise it records what --off-cpu does.",
         .offset = AT(waits)},
        {.kind = OPTION_END},
};

const struct option record_option_table[] = {
        {.kind = OPTION_GROUP, .help = "What is sampled"},
        {.kind = OPTION_INCLUDE, .include = record_what_table},
        {.kind = OPTION_GROUP, .help = "Contents of a sample"},
        {.kind = OPTION_INCLUDE, .include = record_stack_table},
        {OPTION_FLAG, 'd', "data", NULL,
         "record data addresses and their mappings (report --sort region)",
         .offset = AT(data_addresses)},
        {OPTION_FLAG, 0, "off-cpu", NULL,
         "record the stack and the duration of each switch away from a CPU",
         .details = "Explains why a program is slow while no CPU is busy. The report then has "
                    "columns on-CPU, runnable and blocked. Takes a sample at every context "
                    "switch; add -g for stacks of user code.",
         .offset = AT(off_cpu)},
        {.kind = OPTION_INCLUDE, .include = record_waits_table},
        {OPTION_FLAG, 0, "syscalls", NULL, "record each system call, for 'assay waits --syscalls'",
         .details = "Number, errors and durations of the calls. Before sampling begins a message "
                    "says by how much each call takes longer: programs with many short calls "
                    "become much slower. Needs root, or CAP_PERFMON and readable tracefs.",
         .offset = AT(system_calls)},
        {OPTION_FLAG, 0, "all-cgroups", NULL,
         "record the control group of each sample: its container or service",
         .details = "The path of the group, \"/system.slice/cron.service\". It distinguishes "
                    "containers and services with equal process names. A store (start "
                    "--store) always has it.",
         .offset = AT(all_cgroups)},
        {OPTION_FLAG, 0, "labels", NULL,
         "record labels of processes: container, pod, OpenTelemetry's attributes",
         .details = "Labels come from the control group (which is recorded too), from what an "
                    "OpenTelemetry SDK publishes in the memory of its process (OTEL_CTX), and from "
                    "files of pods and containers. A store (start --store) and a back end (--to) "
                    "always get them. 'assay report --sort label:NAME' and --label show them.",
         .offset = AT(labels)},
        {.kind = OPTION_INCLUDE, .include = record_label_table},
        {OPTION_FLAG, 0, "no-witness", NULL,
         "no second, slow clock, which detects programs in step with the first",
         .offset = AT(no_witness)},
        {.kind = OPTION_GROUP, .help = "Limits"},
        {OPTION_STRING, 0, "duration", "TIME", "end sampling after this time: 500ms, 10s, 5min, 2h",
         .details = "Without it, sampling ends with COMMAND, with the processes of -p, or by a "
                    "signal or 'assay stop', whichever comes first. A COMMAND that still runs "
                    "continues without being sampled.",
         .offset = AT(duration)},
        {.kind = OPTION_INCLUDE, .include = record_memory_table},
        {OPTION_STRING, 0, "flush", "TIME", "write the file so often: 10ms at least",
         .details =
                 "If assay is killed, the file has all records up to the last flush. Without this "
                 "option a flush comes after as much time as sampling has lasted, from 250ms to "
                 "8s. A flush costs about 0.1 ms of CPU time: 1 % of a CPU at 10ms, 0.1 % at "
                 "100ms. The report says how much it was. A long interval keeps up to 4 MB in "
                 "memory besides the buffers (--memory), which are read when they are half "
                 "full, so that it loses no records.",
         .offset = AT(flush)},
        {.kind = OPTION_END},
};

void record_options_default(struct record_options *o)
{
	o->stack_size = STACK_BYTES_NOT_SAID;
	o->memory_mb = o->budget = NAN; /* not given */
}

/* Parses -F: a number, or "max" for the limit of the kernel. */
static int parse_frequency(const char *text, uint64_t *hz)
{
	int64_t most;
	char *end;

	if (!strcmp(text, "max")) {
		if (rights_sysctl("kernel.perf_event_max_sample_rate", &most) || most <= 0)
			return -EINVAL;
		*hz = (uint64_t)most;
		return 0;
	}
	errno = 0;
	*hz = strtoull(text, &end, 10);
	if (errno || end == text || *text == '-')
		return -EINVAL;
	if (*end == 'k') {
		*hz *= 1000;
		end++;
	}
	return *end || !*hz ? -EINVAL : 0;
}

static int parse_pids(const struct option_list *list, const char *command, proc_ids *pids)
{
	for (size_t i = 0; i < list->count; i++) {
		char *end;
		long pid = strtol(list->items[i], &end, 10);

		if (*end || end == list->items[i] || pid <= 0 || pid > INT32_MAX)
			return command_fail(2,
			                    "%s: -p needs process ids, not '%s' ('pgrep -d, NAME' "
			                    "prints the ids of a name)",
			                    command, list->items[i]);
		if (kill((pid_t)pid, 0) && errno == ESRCH)
			return command_fail(1, "%s: there is no process %ld", command, pid);
		vec_push(pids, (int32_t)pid);
	}
	return 0;
}

/* Also refuses perf's form HOW,BYTES, which would be the first word of the command. */
static int check_call_graph(const struct record_options *o, const char *command, const char *first)
{
	const char *comma = first ? strchr(first, ',') : NULL;
	bool said = o->stack_size != STACK_BYTES_NOT_SAID;

	if (o->call_graph && !*o->call_graph && comma &&
	    (!strncmp(first, "dwarf,", 6) || !strncmp(first, "auto,", 5)))
		return command_fail(2,
		                    "%s: '%s': the size is a separate option: "
		                    "--call-graph %.*s --stack-size %s",
		                    command, first, (int)(comma - first), first, comma + 1);
	if (said && (!o->stack_size || o->stack_size > STACK_BYTES_MAX || o->stack_size % 8))
		return command_fail(2,
		                    "%s: --stack-size must be a multiple of 8 bytes from 8 to "
		                    "%d, not %" PRIu64,
		                    command, STACK_BYTES_MAX, o->stack_size);
	if (said && (o->call_graph ? !strcmp(o->call_graph, "fp") : !o->waits))
		return command_fail(2,
		                    "%s: --stack-size needs -g, and not fp: "
		                    "otherwise no stack is copied",
		                    command);
	return 0;
}

/* Limit of --memory: buffers cannot be swapped out. */
static double memory_mb_most(void)
{
	return floor((double)perf_ring_size_machine() / 2 / 1e6);
}

/* Checks the options that need no information about the machine. */
static int check(const struct record_options *o, const char *command, const char *first)
{
	if (o->frequency && o->period)
		return command_fail(2, "%s: -F and -c exclude each other", command);
	if (!isnan(o->memory_mb) && !(o->memory_mb > 0 && o->memory_mb <= memory_mb_most()))
		return command_fail(2,
		                    "%s: --memory must be above 0 and at most %.0f MB (half of "
		                    "this machine's memory)",
		                    command, memory_mb_most());
	if (!isnan(o->budget) && !(o->budget > 0 && o->budget <= 100))
		return command_fail(
		        2,
		        "%s: --budget must be a share of a CPU's time in percent, above "
		        "0 and at most 100",
		        command);
	if (check_call_graph(o, command, first))
		return 2;
	if (o->pids.count && o->all)
		return command_fail(2,
		                    "%s: -p samples some processes, -a samples the whole machine: "
		                    "choose one",
		                    command);
	return 0;
}

int record_options_use(const struct record_options *o, const char *command, const char *first,
                       struct session_options *so, proc_ids *pids)
{
	const char *call_graph = o->waits && !o->call_graph ? "" : o->call_graph;
	bool stacks = call_graph != NULL;
	int status = check(o, command, first);

	if (status)
		return status;
	so->events = o->events.items;
	so->event_count = o->events.count;
	so->frequency_hz = FREQUENCY_HZ;
	so->period = o->period;
	so->frequency_asked = o->frequency != NULL;
	so->machine_wide = o->all || (!first && !o->pids.count);
	so->pids = pids;
	if (o->duration && !amount_ns(o->duration, &so->duration_ns))
		return command_fail(2, "%s: --duration needs a time, such as 10s or 5min, not '%s'",
		                    command, o->duration);
	if (o->flush && (!amount_ns(o->flush, &so->flush_ns) || so->flush_ns < FLUSH_LEAST_NS))
		return command_fail(2, "%s: --flush needs a time of at least 10ms, not '%s'",
		                    command, o->flush);
	so->user_callchain = stacks;
	so->unwind = stacks && strcmp(call_graph, "fp") != 0;
	so->method =
	        stacks && !strcmp(call_graph, "dwarf") ? STACK_METHOD_DWARF : STACK_METHOD_AUTO;
	so->stack_bytes =
	        o->stack_size == STACK_BYTES_NOT_SAID ? STACK_BYTES : (uint32_t)o->stack_size;
	so->data_addresses = o->data_addresses;
	so->off_cpu = o->off_cpu;
	so->waits = o->waits;
	so->system_calls = o->system_calls;
	so->witness = !o->no_witness;
	so->labels = !o->no_labels && (o->labels || o->pod_labels || o->label_file);
	so->pod_labels = !o->pod_labels ? POD_DIRECTORY : *o->pod_labels ? o->pod_labels : NULL;
	so->label_file = o->label_file;
	so->all_cgroups = o->all_cgroups || so->labels;
	so->memory_bytes = isnan(o->memory_mb) ? 0 : (uint64_t)(o->memory_mb * 1e6);
	if (o->frequency && parse_frequency(o->frequency, &so->frequency_hz))
		return command_fail(2,
		                    "%s: -F needs a number of samples per second or max, not '%s'",
		                    command, o->frequency);
	if (!isnan(o->budget))
		so->budget = o->budget / 100;
	else
		so->budget = so->frequency_hz > UNLIMITED_HZ ? BUDGET_OF_FAST_CLOCKS : 0;
	return parse_pids(&o->pids, command, pids);
}

static void tell_whom(const struct session_options *so, struct buf *out)
{
	if (so->machine_wide) {
		buf_puts(out, "the whole machine");
		return;
	}
	if (!so->pids->count)
		buf_puts(out, "your own processes");
	else
		buf_puts(out, plural(so->pids->count, "process", "processes"));
	for (size_t i = 0; i < so->pids->count; i++)
		buf_addf(out, "%s %" PRId32, i ? "," : "", so->pids->items[i]);
}

void record_options_tell(const struct session_options *so, struct buf *out)
{
	tell_whom(so, out);
	if (so->event_count)
		buf_puts(out, ", events");
	for (size_t i = 0; i < so->event_count; i++)
		buf_addf(out, "%s %s", i ? "," : "", so->events[i]);
	if (so->period)
		buf_addf(out, ", each %" PRIu64 " a sample", so->period);
	else if (so->frequency_asked || !so->event_count)
		buf_addf(out, " at %" PRIu64 " Hz", so->frequency_hz);
	if (so->duration_ns) {
		buf_puts(out, ", for ");
		text_time(out, (int64_t)so->duration_ns);
	}
}
