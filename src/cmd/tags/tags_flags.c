/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * tags flags: prints the flags to build a program with triggers.
 *
 * The flags may come before the objects, as in $(...) in a command. Symbols of archives are
 * therefore named (-u): a linker searches an archive once, before any object needs a symbol.
 */
#include "base/memory/buf.h"
#include "base/memory/xalloc.h"
#include "cmd/tags/tags.h"
#include "cmd/cli/print.h"
#include "launch/tags/tags_runtime.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct flags_options {
	const char *names, *trigger;
	bool compile, link;
};

#define AT(field) offsetof(struct flags_options, field)

static const struct option options[] = {
        {OPTION_STRING, 0, "names", "FILE",
         "the names file (default assay.names), the same for all files of a program",
         .details = "A relative path is made absolute, so that compilers in other "
                    "directories extend the same file.",
         .offset = AT(names)},
        {OPTION_STRING, 0, "trigger", "KIND", "the trigger at entries and exits (default ring)",
         .choices = "ring,nop,load,call",
         .details = "ring: an event into this thread's memory, for 'assay tags'. nop: an "
                    "instruction without effect that capture devices and emulators recognise. "
                    "load: a byte read at assay_tags_base + tag, for capture hardware. call: a "
                    "call of assay_tags_event(), or of your own function "
                    "(-fplugin-arg-assay_tags-hook=NAME).",
         .offset = AT(trigger)},
        {OPTION_FLAG, 0, "cflags", NULL, "only the flags for compiling", .offset = AT(compile)},
        {OPTION_FLAG, 0, "libs", NULL, "only the flags for linking", .offset = AT(link)},
        {.kind = OPTION_END},
};

static void defaults(void *p)
{
	struct flags_options *o = p;

	o->names = "assay.names";
	o->trigger = "ring";
}

static void add_word(struct buf *out, const char *flag, const char *value)
{
	buf_addf(out, "%s%s%s", out->size ? " " : "", flag, value);
}

static void add_compile(struct buf *out, const struct flags_options *o,
                        const struct tags_runtime *r, const char *names)
{
	add_word(out, "-fplugin=", r->plugin);
	add_word(out, "-fplugin-arg-assay_tags-names=", names);
	add_word(out, "-fplugin-arg-assay_tags-trigger=", o->trigger);
	if (strcmp(r->include, "/usr/include") != 0)
		add_word(out, "-I", r->include);
}

static void add_link(struct buf *out, const struct flags_options *o, const struct tags_runtime *r)
{
	bool device = !strcmp(o->trigger, "ring") || !strcmp(o->trigger, "call");

	/* A trigger that is only an instruction needs no library, and the program must not look
	 * like a program that records. */
	if (!strcmp(o->trigger, "nop"))
		return;
	if (strcmp(r->libraries, "/usr/lib") != 0)
		add_word(out, "-L", r->libraries);
	/* The dynamic linker searches the system's directories without -rpath. */
	if (device && strncmp(r->libraries, "/usr/lib", 8) != 0)
		add_word(out, "-Wl,-rpath,", r->libraries);
	if (device) {
		add_word(out, "-Wl,-u,assay_tags_image", "");
		add_word(out, "-Wl,-u,assay_tags_slow", "");
		add_word(out, "-Wl,-u,assay_tags_event", "");
	} else {
		add_word(out, "-Wl,-u,assay_tags_base", "");
	}
	add_word(out, "-lassay-tags-image", "");
	if (device)
		add_word(out, "-lassay-tags", "");
}

static int run(void *p, int argc, char **argv)
{
	const struct flags_options *o = p;
	struct tags_runtime runtime;
	struct error err = {0};
	struct buf out = {0};
	char *here, *names;

	if (argc)
		return command_fail(2, "tags flags: takes no arguments, but got '%s'", argv[0]);
	if (tags_runtime_find(&runtime, &err))
		return command_fail(1, "tags flags: %s", err.text);
	here = *o->names == '/' ? NULL : realpath(".", NULL);
	names = here ? xasprintf("%s/%s", here, o->names) : xstrdup(o->names);
	if (o->compile || !o->link)
		add_compile(&out, o, &runtime, names);
	if (o->link || !o->compile)
		add_link(&out, o, &runtime);
	buf_putc(&out, '\n');
	print_data(&out);
	if (strcspn(buf_text(&out), "\t\n'\"") + 1 < out.size || strstr(names, " ") ||
	    strstr(runtime.plugin, " "))
		print_message(
		        "a path in the flags has spaces or quotes, and does not work in a shell's "
		        "$(...): choose another --names, or write the flags out");
	buf_done(&out);
	free(names);
	free(here);
	tags_runtime_done(&runtime);
	return 0;
}

const struct command tags_flags = {
        .name = "tags flags",
        .synopsis = "[OPTIONS]",
        .summary = "print the flags to compile and link with triggers",
        .description = "Prints the flags for GCC, to compile and to link a program, or its "
                       "libraries, with a trigger at the entry and the exit of each function. GCC "
                       "must have the version that assay was built with, since the plugin is "
                       "loaded into it. "
                       "The flags may be anywhere in the command. Triggers of kind nop "
                       "need no flags for linking. load uses 64 KB of address space of a "
                       "library of assay, as a substitute for capture hardware; with hardware, "
                       "use its address instead of --libs "
                       "(-Wl,--defsym=assay_tags_base=0x...).",
        .examples = "gcc $(assay tags flags --names prog.names) -o prog prog.c\n"
                    "    in one step\n"
                    "make CC=gcc CFLAGS=\"-O2 $(assay tags flags --cflags)\" "
                    "LDLIBS=\"$(assay tags flags --libs)\"\n"
                    "    a makefile's program\n",
        .options = options,
        .options_size = sizeof(struct flags_options),
        .defaults = defaults,
        .run = run,
};
