/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * embed: adds two things to a unit's assembly: the lines of its tags in a section, which the
 * process writes to its recording, and a reference that makes the linker include the helper for
 * this.
 */
#include "plugin.h"

static void put_line(FILE *to, const std::string &line)
{
	fputs("\t.ascii \"", to);
	for (unsigned char c : line) {
		if (c == '"' || c == '\\' || c < ' ' || c >= 0x7f)
			fprintf(to, "\\%03o", c);
		else
			fputc(c, to);
	}
	fputs("\\n\"\n", to);
}

static void put_hidden(FILE *to, const char *symbol)
{
	fprintf(to, "\t.hidden %s\n\t.globl %s\n", symbol, symbol);
}

void embed_names(FILE *to)
{
	const options &o = plugin.options;
	bool device = o.trigger == TRIGGER_RING ||
	              (o.trigger == TRIGGER_CALL && o.hook == "assay_tags_event");

	if ((plugin.used.empty() && plugin.left_out.empty()) || !to)
		return;
	if (o.trigger == TRIGGER_LOAD)
		put_hidden(to, "assay_tags_base");
	if (!o.embed)
		return;
	if (device)
		put_hidden(to, "assay_tags_image");
	fputs("\t.pushsection assay_tags_names,\"a\",@progbits\n", to);
	for (const std::string &line : plugin.used)
		put_line(to, line);
	for (const std::string &name : plugin.left_out)
		put_line(to, names_file::left_out_line(name));
	fputs("\t.popsection\n", to);
}
