/* SPDX-License-Identifier: GPL-2.0-or-later */
/* tags names: checks names files, and assigns tags to additional names. */
#include "base/memory/buf.h"
#include "base/text/plural.h"
#include "base/file/replace_file.h"
#include "cmd/tags/tags.h"
#include "cmd/cli/print.h"
#include "format/ctf/names_file.h"

#include "assay/tags_wire.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

struct names_options {
	struct option_list add;
	const char *header;
};

#define AT(field) offsetof(struct names_options, field)

static const struct option options[] = {
        {OPTION_EACH, 0, "add", "NAME",
         "assign an inline tag to NAME, if it has none; may be repeated", .offset = AT(add)},
        {OPTION_STRING, 0, "header", "OUT",
         "write '#define ASSAY_TAG_name tag' for all names to OUT, for assembly",
         .details = "Names that are not C identifiers are skipped. For ASSAY_TAG(name), "
                    "ASSAY_TAG_ENTER(name) and ASSAY_TAG_EXIT(name) of <assay/tags.h>. OUT is not "
                    "written if it would not change, for make.",
         .offset = AT(header)},
        {.kind = OPTION_END},
};

static bool is_identifier(const char *name)
{
	if (!isalpha((unsigned char)*name) && *name != '_')
		return false;
	while (isalnum((unsigned char)*name) || *name == '_')
		name++;
	return !*name;
}

static bool holds_already(const char *path, const struct buf *text)
{
	struct buf old = {0};
	FILE *file = fopen(path, "re");
	bool same;
	int c;

	while (file && old.size <= text->size && (c = getc(file)) != EOF)
		buf_putc(&old, (char)c);
	same = file && old.size == text->size && !memcmp(buf_text(&old), text->data, text->size);
	if (file)
		fclose(file);
	buf_done(&old);
	return same;
}

static int write_header(const struct tag_names *names, const char *file, const char *path,
                        struct error *err)
{
	struct buf text = {0};
	int rc = 0;

	buf_addf(&text, "/* Tags of %s, by 'assay tags names'. */\n", file);
	for (size_t i = 0; i < tag_names_count(names); i++) {
		const struct tag_name *n = tag_names_at(names, i);

		if (is_identifier(n->name))
			buf_addf(&text, "#define ASSAY_TAG_%s %" PRIu32 "\n", n->name, n->tag);
	}
	if (!strcmp(path, "-"))
		print_data(&text);
	else if (!holds_already(path, &text))
		rc = replace_file(path, text.data, text.size, err);
	buf_done(&text);
	return rc;
}

static void count(const struct tag_names *names, const char *path)
{
	size_t kinds[TAG_KINDS] = {0}, all = tag_names_count(names);
	uint32_t last = all ? tag_names_at(names, all - 1)->tag : 0;
	struct buf tags = {0}, special = {0};

	for (size_t i = 0; i < all; i++)
		kinds[tag_names_at(names, i)->kind]++;
	if (all)
		buf_addf(&tags, "; tags %" PRIu32 " to %" PRIu32 " of %u",
		         tag_names_at(names, 0)->tag, last, ASSAY_TAG_LAST);
	if (kinds[TAG_IDLE] || kinds[TAG_INTERRUPT])
		buf_addf(&special, ", %zu idle, %zu interrupt", kinds[TAG_IDLE],
		         kinds[TAG_INTERRUPT]);
	if (tag_names_left_out_count(names))
		buf_addf(&special, ", %zu left out", tag_names_left_out_count(names));
	print_line("%s: %zu %s, %zu inline %s, %zu switch %s%s%s", path, kinds[TAG_FUNCTION],
	           plural(kinds[TAG_FUNCTION], "function", "functions"), kinds[TAG_INLINE],
	           plural(kinds[TAG_INLINE], "tag", "tags"), kinds[TAG_SWITCH],
	           plural(kinds[TAG_SWITCH], "function", "functions"), buf_text(&special),
	           buf_text(&tags));
	buf_done(&special);
	buf_done(&tags);
}

static int run(void *p, int argc, char **argv)
{
	const struct names_options *o = p;
	struct tag_names *names;
	struct error err = {0};
	int rc = 0;

	if (argc != 1)
		return command_fail(2, "tags names: needs one names file");
	if (o->add.count)
		rc = names_file_add(argv[0], o->add.items, o->add.count, &err);
	names = tag_names_new();
	if (!rc)
		rc = names_file_read(names, argv[0], &err);
	if (!rc && o->header)
		rc = write_header(names, argv[0], o->header, &err);
	if (!rc && !(o->header && !strcmp(o->header, "-")))
		count(names, argv[0]);
	tag_names_free(names);
	return rc ? command_fail(1, "tags names: %s", err.text) : 0;
}

const struct command tags_names = {
        .name = "tags names",
        .synopsis = "[OPTIONS] FILE",
        .summary = "check a names file, and assign tags to names for assembly",
        .description =
                "Checks FILE, which is a names file of the compiler plugin or a program that "
                "contains names, and counts its entries. Tags for assembly are assigned here, "
                "since no plugin runs for assembly. The command uses the same lock as "
                "compilers do; assigned tags do not change later.",
        .examples = "assay tags names prog.names --add queue_full --header tags_names.h\n"
                    "    ASSAY_TAG(queue_full) in a .S file\n",
        .options = options,
        .options_size = sizeof(struct names_options),
        .run = run,
};
