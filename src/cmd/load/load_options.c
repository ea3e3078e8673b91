/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The options of commands that read recordings. */
#include "cmd/load/load_store.h"
#include "view/request.h"

#include "base/file/file_in_use.h"
#include "base/text/shell_word.h"

#define AT(field) offsetof(struct load_options, field)

static const struct option recording_table[] = {
        {OPTION_EACH, 'i', "input", "FILE",
         "a recording, also without -i; several are added up (default perf.data); "
         "- is standard input",
         .is_no_value = load_is_calls, .offset = AT(inputs)},
        {OPTION_STRING, 0, "time", "FROM,TO",
         "only samples of this time: seconds of the clock, +SECONDS, or PERCENT%",
         .details = "FROM and TO are seconds as perf script prints them, +SECONDS after the first "
                    "sample, or a percentage of the recording (10%,20%). Either may be left out. "
                    "The account of time is complete only without this option.",
         .needs = HAS_TIMES, .offset = AT(time)},
        {.kind = OPTION_END},
};

const struct option load_option_table[] = {
        {.kind = OPTION_INCLUDE, .include = recording_table},
        {.kind = OPTION_INCLUDE, .include = load_store_table},
        {.kind = OPTION_END},
};

const struct option load_to_form_table[] = {
        {.kind = OPTION_INCLUDE, .include = recording_table},
        {.kind = OPTION_INCLUDE, .include = load_until_table},
        {.kind = OPTION_END},
};

const struct option symbol_option_table[] = {
        {OPTION_STRING, 0, "kallsyms", "FILE",
         "the recorded kernel's symbols (default /proc/kallsyms)",
         .details = "A copy of /proc/kallsyms that root made, or a System.map. A map of another "
                    "kernel, or of another build, is refused.",
         .needs = HAS_CODE, .offset = AT(kallsyms)},
        {OPTION_STRING, 'k', "vmlinux", "FILE", "the recorded kernel as an ELF file",
         .needs = HAS_CODE, .offset = AT(vmlinux)},
        {OPTION_STRING, 0, "symfs", "DIRECTORY", "look for the recorded files under DIRECTORY",
         .needs = HAS_CODE, .offset = AT(root)},
        {OPTION_FLAG, 0, "no-demangle", NULL, "names as the linker knows them",
         .needs = HAS_RAW_NAMES, .offset = AT(raw_names)},
        {OPTION_STRING, 0, "debuginfod", "[URL]",
         "fetch missing debug files from servers, in the background",
         .details = "From URL, or the servers in $DEBUGINFOD_URLS. The debug files of the images "
                    "with the most samples are requested by build-id. The report does not wait for "
                    "them: it lists what is being fetched, and a later report uses it. Without "
                    "this option no server is contacted.",
         .needs = HAS_CODE, .offset = AT(debuginfod)},
        {OPTION_FLAG, 0, "no-inline", NULL,
         "inlined functions are a part of the function that contains them (of samples the default)",
         .offset = AT(no_inlines)},
        {.kind = OPTION_END},
};

const struct option inline_option_table[] = {
        {OPTION_FLAG, 0, "inline", NULL,
         "count inlined functions apart (the default of profiles of other tools)",
         .details = "In tables, trees, the page and exports alike. By default a function of a "
                    "recording of samples is one of the file's symbols, and contains the time of "
                    "the functions that were inlined into it, as in a store and in SQL. A profile "
                    "of another tool has the functions that its producer wrote.",
         .offset = AT(inlines)},
        {.kind = OPTION_END},
};

const char *load_same(const struct load_options *o, const char *output)
{
	const char *path;

	if (o->store && file_in_use_same(o->store, output))
		return o->store;
	for (size_t n = 0; (path = o->store ? load_named(o, n) : load_file(o, n)); n++)
		if (file_in_use_same(path, output))
			return path;
	return NULL;
}

void load_words(const struct load_options *o, struct buf *out)
{
	const struct {
		const char *name, *value;
	} options[] = {{"time", o->time},   {"store", o->store},       {"from", o->from},
	               {"until", o->to},    {"host", o->host},         {"service", o->service},
	               {"build", o->build}, {"kallsyms", o->kallsyms}, {"vmlinux", o->vmlinux},
	               {"symfs", o->root}};
	const char *file;

	for (size_t i = 0; i < sizeof(options) / sizeof(*options); i++) {
		if (!options[i].value)
			continue;
		buf_addf(out, " --%s=", options[i].name);
		shell_word_add(out, options[i].value);
	}
	buf_puts(out, o->raw_names ? " --no-demangle" : "");
	buf_puts(out, o->inlines ? " --inline" : "");
	buf_puts(out, o->no_inlines ? " --no-inline" : "");
	for (size_t i = 0; !o->store && (file = load_file(o, i)); i++) {
		buf_putc(out, ' ');
		shell_word_add(out, file);
	}
}
