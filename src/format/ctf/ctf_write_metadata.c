/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Writes the metadata of a trace as text. Facts for which CTF has no notation are comments ("assay
 * X"), which other readers skip: docs/FORMAT.md. Uses: base, tags.
 */
#include "format/ctf/ctf_writer.h"

#include "format/ctf/ctf_tsdl.h"

#include "base/memory/buf.h"
#include "base/text/utf8.h"
#include "base/file/write_all.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FLUSH (1u << 20)

struct metadata_out {
	int fd, rc;
	struct buf text;
};

static void flush(struct metadata_out *o)
{
	if (!o->rc && o->text.size)
		o->rc = write_all(o->fd, o->text.data, o->text.size);
	buf_clear(&o->text);
}

/* A string of TSDL: any bytes except 0; bytes that are not text are written in octal. */
static void put_string(struct buf *b, const char *text)
{
	const unsigned char *p = (const unsigned char *)text;

	buf_putc(b, '"');
	while (*p) {
		int length = utf8_length(p);

		if (*p == '"' || *p == '\\')
			buf_addf(b, "\\%c", *p++);
		else if (!length || *p < ' ' || *p == 0x7f)
			buf_addf(b, "\\%03o", *p++);
		else {
			buf_add(b, p, (size_t)length);
			p += length;
		}
	}
	buf_putc(b, '"');
}

static void put_trace(struct buf *b)
{
	buf_puts(b,
	         "/* CTF 1.8 */\n\n"
	         "/*\n"
	         " * Event tags, recorded by assay. NAME: a function was entered, NAME:exit: it "
	         "was\n"
	         " * left; the kinds of others stand in comments: ! the function that switches\n"
	         " * processes, = a place, ? a tag without a name, s an event of assay's own.\n"
	         " */\n"
	         "typealias integer { size = 64; align = 8; signed = false; } := u64;\n"
	         "typealias integer { size = 32; align = 8; signed = false; } := u32;\n"
	         "typealias integer { size = 32; align = 8; signed = true; } := s32;\n"
	         "typealias integer { size = 8; align = 8; signed = false; encoding = UTF8; } := "
	         "text;\n\n"
	         "trace {\n"
	         "\tmajor = 1;\n"
	         "\tminor = 8;\n"
	         "\tbyte_order = le;\n"
	         "\tpacket.header := struct {\n"
	         "\t\tu32 magic;\n"
	         "\t\tu32 stream_id;\n"
	         "\t};\n"
	         "};\n\n");
}

static void put_env(struct buf *b, const struct ctf_writer_facts *f)
{
	buf_puts(b,
	         "env {\n\ttracer_name = \"assay\";\n\tassay_version = \"" ASSAY_VERSION "\";\n");
	if (f->host) {
		buf_puts(b, "\thostname = ");
		put_string(b, f->host);
		buf_puts(b, ";\n");
	}
	if (f->command) {
		buf_puts(b, "\tcommand = ");
		put_string(b, f->command);
		buf_puts(b, ";\n");
	}
	buf_addf(b, "\tswitches = %d;\n", f->switches);
	if (f->trigger.most_ps)
		buf_addf(b, "\ttrigger_least_ps = %llu;\n\ttrigger_most_ps = %llu;\n",
		         (unsigned long long)f->trigger.least_ps,
		         (unsigned long long)f->trigger.most_ps);
	if (f->switches_lost)
		buf_addf(b, "\tswitches_lost = %llu;\n", (unsigned long long)f->switches_lost);
	buf_puts(b, "};\n\n");
}

/* The fraction of the offset is rounded up to ticks, so that a reader gets the exact value. */
static void put_clock(struct buf *b, const struct tag_clock *c)
{
	int64_t seconds = c->offset_ns / 1000000000, ns = c->offset_ns % 1000000000;

	if (ns < 0) {
		ns += 1000000000;
		seconds--;
	}
	buf_addf(b, "clock {\n\tname = ticks;\n\tfreq = %llu;\n", (unsigned long long)c->hz);
	if (c->offset_ns != INT64_MIN)
		buf_addf(b, "\toffset_s = %lld;\n\toffset = %llu;\n", (long long)seconds,
		         (unsigned long long)(((unsigned __int128)ns * c->hz + 999999999) /
		                              1000000000));
	buf_puts(b, "};\n\n"
	            "typealias integer { size = 40; align = 8; signed = false; "
	            "map = clock.ticks.value; } := time40;\n"
	            "typealias integer { size = 64; align = 8; signed = false; "
	            "map = clock.ticks.value; } := time64;\n\n");
}

/* struct assay_tags_packet; `process` includes the reserved words after it, which are 0. */
static void put_stream(struct buf *b, uint32_t id, bool device)
{
	buf_addf(b, "stream %s{\n\tid = %u;\n", device ? "/*assay device*/ " : "", id);
	buf_puts(b, "\tpacket.context := struct {\n"
	            "\t\ttime64 timestamp_begin;\n"
	            "\t\ttime64 timestamp_end;\n"
	            "\t\tu64 content_size;\n"
	            "\t\tu64 packet_size;\n"
	            "\t\tu64 events_discarded;\n"
	            "\t\tu64 packet_seq_num;\n"
	            "\t\ts32 pid;\n");
	/* Readers that skip comments recognise a device by cpu_id instead of tid. */
	buf_puts(b, device ? "\t\ts32 cpu_id;\n" : "\t\ts32 tid;\n");
	buf_puts(b, "\t\tu64 flags;\n"
	            "\t\ttext thread[16];\n"
	            "\t\ttext process[40];\n"
	            "\t};\n"
	            "\tevent.header := struct {\n"
	            "\t\tinteger { size = 24; align = 8; signed = false; } id;\n"
	            "\t\ttime40 timestamp;\n"
	            "\t};\n"
	            "};\n\n");
}

static unsigned level_of(char note)
{
	switch (tag_kind_of_mark(note)) {
	case TAG_SWITCH:
		return CTF_LEVEL_SWITCH;
	case TAG_INLINE:
		return CTF_LEVEL_INLINE;
	case TAG_IDLE:
		return CTF_LEVEL_IDLE;
	case TAG_INTERRUPT:
		return CTF_LEVEL_INTERRUPT;
	default:
		return CTF_LEVEL_OTHER;
	}
}

/*
 * `note` 0: none. With `tail` the event is an exit, and the note is at its entry; a copy of a trace
 * may not have the entry.
 */
static void put_event(struct metadata_out *o, uint32_t stream, uint32_t tag, char note,
                      const char *name, const char *tail)
{
	struct buf *b = &o->text;

	buf_puts(b, "event ");
	if (note && !*tail)
		buf_addf(b, "/*assay %c*/ ", note);
	buf_addf(b, "{ id = %u; stream_id = %u; name = ", tag, stream);
	put_string(b, name);
	if (*tail) { /* within the string */
		b->size--;
		buf_addf(b, "%s\"", tail);
	}
	if (note)
		buf_addf(b, "; loglevel = %u", level_of(note));
	buf_puts(b, "; };\n");
	if (b->size >= FLUSH)
		flush(o);
}

/* True if the trace has an event of the name, entry or exit. */
static bool came(const struct ctf_seen *seen, const struct tag_name *n)
{
	return ctf_seen(seen, n->tag) || (n->kind != TAG_INLINE && ctf_seen(seen, n->tag + 1));
}

/* True if the text can be the end of a line of a names file in a comment. */
static bool plain_text(const char *text)
{
	for (const unsigned char *p = (const unsigned char *)text; *p; p++)
		if (*p < ' ' || (p[0] == '*' && p[1] == '/') || (p[0] == ' ' && !p[1]))
			return false;
	return true;
}

/* True if the name can be a line of a names file in a comment, and is read back unchanged. */
static bool plain(const struct tag_name *n)
{
	return n->tag <= ASSAY_TAG_LAST && *n->name != '#' && *n->name != ' ' &&
	       plain_text(n->name);
}

static void put_left_out(struct metadata_out *o, const struct tag_names *names)
{
	for (size_t i = 0; i < tag_names_left_out_count(names); i++)
		if (plain_text(tag_names_left_out(names, i)))
			buf_addf(&o->text, "# left out %s\n", tag_names_left_out(names, i));
}

static void put_names(struct metadata_out *o, uint32_t stream, const struct ctf_seen *seen,
                      const struct tag_names *names)
{
	for (size_t i = 0; i < tag_names_count(names); i++) {
		const struct tag_name *n = tag_names_at(names, i);
		char note = tag_kind_mark(n->kind);

		if (!came(seen, n) && plain(n))
			continue;
		put_event(o, stream, n->tag, note, n->name, "");
		if (n->kind != TAG_INLINE)
			put_event(o, stream, n->tag + 1, note, n->name, ":exit");
	}
}

/* babeltrace2 takes minutes for 10^5 event classes without events, so such names are comments. */
static void put_other_names(struct metadata_out *o, uint32_t stream, const struct ctf_seen *seen,
                            const struct tag_names *names)
{
	buf_addf(&o->text, "/*assay names %u\n", stream);
	for (size_t i = 0; i < tag_names_count(names); i++) {
		const struct tag_name *n = tag_names_at(names, i);

		if (came(seen, n) || !plain(n))
			continue;
		buf_addf(&o->text, "%s/%u", n->name, n->tag);
		if (tag_kind_mark(n->kind))
			buf_putc(&o->text, tag_kind_mark(n->kind));
		buf_putc(&o->text, '\n');
		if (o->text.size >= FLUSH)
			flush(o);
	}
	put_left_out(o, names);
	buf_puts(&o->text, "*/\n");
}

static const char *own_name(uint32_t tag)
{
	switch (tag) {
	case ASSAY_TAG_SWITCH_BLOCKED:
		return "sched_switched_out_blocked";
	case ASSAY_TAG_SWITCH_PREEMPTED:
		return "sched_switched_out_preempted";
	case ASSAY_TAG_SWITCH_IN:
		return "sched_switched_in";
	case ASSAY_TAG_OWN:
		return "assay_at_work";
	default:
		return NULL;
	}
}

/* A tag with events and without a name. */
static void put_unnamed(struct metadata_out *o, uint32_t stream, uint32_t tag)
{
	bool own = tag >= ASSAY_TAG_RESERVED;
	char name[32];

	snprintf(name, sizeof(name), "%s_%u", own ? "assay" : "tag", tag);
	put_event(o, stream, tag, own ? 's' : '?', own_name(tag) ? own_name(tag) : name, "");
}

static void put_seen(struct metadata_out *o, uint32_t stream, const struct ctf_seen *seen,
                     const struct tag_names *names)
{
	bool exit;

	for (uint32_t page = 0; page < sizeof(seen->pages) / sizeof(*seen->pages); page++)
		for (uint32_t tag = page * CTF_SEEN_PAGE;
		     seen->pages[page] && tag < (page + 1) * CTF_SEEN_PAGE; tag++)
			if (ctf_seen(seen, tag) && !tag_names_find(names, tag, &exit))
				put_unnamed(o, stream, tag);
}

int ctf_metadata_write(int fd, const ctf_written_classes *classes,
                       const ctf_written_names_list *names, const struct ctf_writer_facts *facts,
                       bool compressed)
{
	struct metadata_out o = {.fd = fd};

	put_trace(&o.text);
	if (compressed)
		buf_puts(&o.text,
		         "/* The streams are compressed. 'assay export --to ctf -o COPY TRACE' "
		         "writes them as CTF. */\n\n");
	put_env(&o.text, facts);
	put_clock(&o.text, &facts->clock);
	if (!classes->count) /* nothing was recorded: an empty trace is valid */
		put_stream(&o.text, 0, false);
	for (uint32_t i = 0; i < classes->count; i++)
		put_stream(&o.text, i, classes->items[i].device);
	for (uint32_t i = 0; i < classes->count; i++) {
		const struct tag_names *of = names->items[classes->items[i].names].names;

		put_names(&o, i, classes->items[i].seen, of);
		put_seen(&o, i, classes->items[i].seen, of);
		put_other_names(&o, i, classes->items[i].seen, of);
	}
	flush(&o);
	buf_done(&o.text);
	return o.rc;
}
