/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Reads and extends names files. A file that is read as a whole has a limit. The lock is flock() on
 * the file itself, because the file is only appended to and never replaced. Uses: base, image,
 * tags.
 */
#include "format/ctf/names_file.h"

#include "base/limit.h"
#include "base/memory/buf.h"
#include "base/memory/intern.h"
#include "base/read/input_file.h"
#include "base/file/write_all.h"
#include "base/memory/xalloc.h"
#include "image/elf/elf_file.h"

#include "assay/tags_wire.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <gelf.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#define SECTION "assay_tags_names"
#define NO_NAMES "it is not a names file"
#define LEFT_OUT "# left out "

struct names_file_line {
	const char *text, *end;
	const char *path;
	size_t number;
};

static bool blank(char c)
{
	return c == ' ' || c == '\t' || c == '\r';
}

static void trim(struct names_file_line *l)
{
	while (l->text < l->end && blank(*l->text))
		l->text++;
	while (l->text < l->end && blank(l->end[-1]))
		l->end--;
}

static int bad_line(const struct names_file_line *l, const char *why, struct error *err)
{
	size_t length = (size_t)(l->end - l->text);

	return error_set(err, EINVAL,
	                 "%s:%zu: %s: \"%.*s\" (a line is NAME/TAG, possibly with a mark: !, "
	                 "=, ~ or ^; or a comment after #)",
	                 l->path, l->number, why, (int)(length < 100 ? length : 100), l->text);
}

/* Returns the kind for the mark after the tag, and removes the mark. */
static enum tag_kind take_kind(struct names_file_line *l)
{
	enum tag_kind kind = tag_kind_of_mark(l->text < l->end ? l->end[-1] : '\0');

	if (kind == TAG_FUNCTION)
		return TAG_FUNCTION;
	l->end--;
	while (l->text < l->end && blank(l->end[-1]))
		l->end--;
	return kind;
}

/* False: not a decimal number, or not a valid tag. */
static bool number_of(const char *text, const char *end, uint32_t *tag)
{
	uint32_t value = 0;

	if (text == end)
		return false;
	for (; text < end; text++) {
		if (*text < '0' || *text > '9')
			return false;
		value = value * 10 + (uint32_t)(*text - '0');
		if (value > ASSAY_TAG_LAST)
			return false;
	}
	*tag = value;
	return true;
}

static void parse_comment(struct tag_names *into, const struct names_file_line *l)
{
	const size_t mark = sizeof(LEFT_OUT) - 1;
	size_t length = (size_t)(l->end - l->text);
	char *name;

	if (length <= mark || memcmp(l->text, LEFT_OUT, mark) || memchr(l->text, '\0', length))
		return;
	name = xstrndup(l->text + mark, length - mark);
	tag_names_leave_out(into, name);
	free(name);
}

static int parse_line(struct tag_names *into, struct names_file_line l, struct error *err)
{
	struct names_file_line whole;
	struct error why = {0};
	const char *slash, *name_end, *number;
	enum tag_kind kind;
	uint32_t tag;
	int rc;

	trim(&l);
	if (l.text < l.end && *l.text == '#')
		parse_comment(into, &l);
	if (l.text == l.end || *l.text == '#')
		return 0;
	whole = l;
	if (memchr(l.text, '\0', (size_t)(l.end - l.text)))
		return bad_line(&whole, "it contains a byte of 0", err);
	kind = take_kind(&l);
	slash = memrchr(l.text, '/', (size_t)(l.end - l.text));
	if (!slash)
		return bad_line(&whole, "there is no / before a tag", err);
	for (name_end = slash; name_end > l.text && blank(name_end[-1]);)
		name_end--;
	if (name_end == l.text)
		return bad_line(&whole, "there is no name", err);
	for (number = slash + 1; number < l.end && blank(*number);)
		number++;
	if (!number_of(number, l.end, &tag))
		return bad_line(
		        &whole,
		        "the text after the last / is not a tag (a decimal number up to 16773119)",
		        err);
	rc = tag_names_add(into, tag, kind, l.text, (size_t)(name_end - l.text), &why);
	return rc ? error_set(err, -rc, "%s:%zu: %.800s", l.path, l.number, why.text) : 0;
}

int names_file_parse(struct tag_names *into, const char *text, size_t length, const char *path,
                     struct error *err)
{
	const char *end = text + length;
	size_t number = 0;
	int rc = 0;

	for (const char *at = text; !rc && at < end;) {
		const char *stop = memchr(at, '\n', (size_t)(end - at));

		stop = stop ? stop : end;
		rc = parse_line(into, (struct names_file_line){at, stop, path, ++number}, err);
		at = stop < end ? stop + 1 : end;
	}
	return rc;
}

/* In a linked file, parts of the section may be separated by zeros. */
static int parse_section(struct tag_names *into, Elf_Data *data, const char *path,
                         struct error *err)
{
	char *where = xasprintf("%s (section " SECTION ")", path);
	char *text = xmalloc(data->d_size + 1);
	int rc;

	for (size_t i = 0; i < data->d_size; i++) {
		char c = ((const char *)data->d_buf)[i];

		text[i] = c ? c : '\n';
	}
	rc = names_file_parse(into, text, data->d_size, where, err);
	free(text);
	free(where);
	return rc;
}

static int read_sections(struct tag_names *into, Elf *elf, const char *path, struct error *err)
{
	Elf_Scn *section = NULL;
	size_t strings = 0, found = 0;
	int rc = 0;

	if (!elf || elf_getshdrstrndx(elf, &strings))
		return error_set(err, EINVAL, "%s: cannot read its sections", path);
	while (!rc && (section = elf_nextscn(elf, section))) {
		GElf_Shdr header;
		const char *name;
		Elf_Data *data;

		if (!gelf_getshdr(section, &header) || header.sh_type == SHT_NOBITS)
			continue;
		name = elf_strptr(elf, strings, header.sh_name);
		if (!name || strcmp(name, SECTION))
			continue;
		found++;
		data = header.sh_flags & SHF_COMPRESSED ? NULL : elf_rawdata(section, NULL);
		if (!data || (data->d_size && !data->d_buf))
			return error_set(err, EINVAL, "%s: cannot read section " SECTION "", path);
		rc = parse_section(into, data, path, err);
	}
	if (!rc && !found)
		rc = error_set(err, EINVAL,
		               "%s has no section " SECTION
		               ": it was not compiled with the plugin; give the names file",
		               path);
	return rc;
}

static int read_elf(struct tag_names *into, const char *path, const char *bytes, size_t size,
                    struct error *err)
{
	struct elf_file *f;
	int rc = elf_file_open_memory(&f, bytes, size, path, err);

	if (rc)
		return rc;
	rc = read_sections(into, (Elf *)elf_file_handle(f), path, err);
	elf_file_close(f);
	return rc;
}

int names_file_read(struct tag_names *into, const char *path, struct error *err)
{
	int fd = input_file_open(path, err), rc;
	struct buf all = {0};

	if (fd < 0)
		return fd;
	path = input_file_name(path);
	rc = input_file_read(fd, path, LIMIT_NAMES_FILE_BYTES, NO_NAMES, &all, err);
	input_file_close(fd);
	if (!rc && all.size >= SELFMAG && !memcmp(all.data, ELFMAG, SELFMAG))
		rc = read_elf(into, path, all.data, all.size, err);
	else if (!rc)
		rc = names_file_parse(into, buf_text(&all), all.size, path, err);
	buf_done(&all);
	return rc;
}

/* Checks that a name can be written to a line and read back unchanged. */
static int check_name(const char *name, struct error *err)
{
	size_t length = strlen(name);
	bool good = length && length < 1000 && name[0] != '#' && !blank(name[0]) &&
	            !blank(name[length - 1]);

	for (size_t i = 0; i < length && good; i++)
		good = (unsigned char)name[i] >= ' ' && name[i] != 0x7f &&
		       !strchr("/%{|}\\", name[i]);
	return good ? 0
	            : error_set(err, EINVAL,
	                        "\"%.200s\" cannot be an inline tag's name: printable characters "
	                        "without / %% { | } \\, no # at the beginning, no blanks around",
	                        name);
}

/* Returns a tag greater than all existing tags, and collects the existing inline names. */
static uint32_t survey(const struct tag_names *have, struct intern *known)
{
	uint32_t next = ASSAY_TAG_FIRST;

	for (size_t i = 0; i < tag_names_count(have); i++) {
		const struct tag_name *name = tag_names_at(have, i);
		uint32_t last = name->tag + (name->kind != TAG_INLINE);

		next = last >= next ? last + 1 : next;
		if (name->kind == TAG_INLINE)
			intern_add(known, name->name);
	}
	return next;
}

static int lines_for(struct buf *lines, const struct tag_names *have, const char *path,
                     const char *const *names, size_t count, struct error *err)
{
	struct intern known;
	uint32_t next;
	int rc = 0;

	intern_init(&known);
	next = survey(have, &known);
	for (size_t i = 0; i < count && !rc; i++) {
		rc = check_name(names[i], err);
		if (rc || intern_find(&known, names[i]) != ID_NONE)
			continue;
		if (next > ASSAY_TAG_LAST)
			rc = error_set(err, ENOSPC,
			               "%s: all tags up to %u are used; %s gets none: begin a new "
			               "names file for part of the program",
			               path, ASSAY_TAG_LAST, names[i]);
		intern_add(&known, names[i]);
		buf_addf(lines, "%s/%u=\n", names[i], next++);
	}
	intern_done(&known);
	return rc;
}

/* Writes all bytes or none: an incomplete line would cause errors for each reader. */
static int append(int fd, const char *path, size_t size, const struct buf *lines, struct error *err)
{
	int rc = lseek(fd, 0, SEEK_END) < 0 ? -errno : write_all(fd, lines->data, lines->size);

	if (!rc)
		return 0;
	if (ftruncate(fd, (off_t)size))
		return error_set(err, -rc, "cannot extend %s: %s; its last line is incomplete",
		                 path, strerror(-rc));
	return error_set(err, -rc, "cannot extend %s: %s", path, strerror(-rc));
}

static int add_locked(int fd, const char *path, const char *const *names, size_t count,
                      struct error *err)
{
	struct buf all = {0}, lines = {0};
	struct tag_names *have = tag_names_new();
	int rc = input_file_read(fd, path, LIMIT_NAMES_FILE_BYTES, NO_NAMES, &all, err);

	if (!rc)
		rc = names_file_parse(have, buf_text(&all), all.size, path, err);
	if (!rc && all.size && all.data[all.size - 1] != '\n')
		buf_putc(&lines, '\n');
	if (!rc)
		rc = lines_for(&lines, have, path, names, count, err);
	if (!rc && lines.size > 1)
		rc = append(fd, path, all.size, &lines, err);
	tag_names_free(have);
	buf_done(&all);
	buf_done(&lines);
	return rc;
}

int names_file_add(const char *path, const char *const *names, size_t count, struct error *err)
{
	struct stat st;
	int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOCTTY, 0644);
	int rc;

	if (fd < 0)
		return error_set(err, errno, "cannot extend %s: %s", path, strerror(errno));
	if (fstat(fd, &st) || !S_ISREG(st.st_mode)) {
		rc = error_set(err, EINVAL, "%s is not a file that can be extended", path);
		goto out;
	}
	while ((rc = flock(fd, LOCK_EX)) && errno == EINTR)
		;
	if (rc)
		rc = error_set(err, errno, "cannot lock %s: %s", path, strerror(errno));
	else
		rc = add_locked(fd, path, names, count, err);
out:
	close(fd); /* releases the lock too */
	return rc;
}
