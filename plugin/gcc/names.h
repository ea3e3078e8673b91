/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * names: the names file, as the compiler reads and extends it (src/format/names_file.h
 * tells how it looks). It is read at the first name that is asked for. A name that it has
 * costs nothing more; others are given tags, all that are asked for at a time, under an
 * exclusive flock() on the file: what other compilers appended is read first, then whole
 * lines are appended in one write. Nothing that stands in the file is ever changed.
 *
 * "# from FILE" stands above what the functions of FILE got, so that it can be told which
 * files took most of the tags.
 *
 * Errors are sentences that a terminal can show; "" is none. One thread. Knows nothing of the
 * compiler.
 */
#ifndef ASSAY_PLUGIN_NAMES_H
#define ASSAY_PLUGIN_NAMES_H

#include <stdint.h>
#include <sys/types.h>

#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

struct asked_name {
	std::string name; /* as in the file, without its mark */
	std::string file; /* where it comes from, for the comment above it */
	bool mark;        /* an inline tag */
};

class names_file
{
      public:
	/* Tags from 2 to `limit`; `why` is said where they run out. */
	void open(const std::string &path, uint32_t limit, const std::string &why);

	/* Gives tags to those that have none. The file is made if it is not there. */
	std::string allocate(const std::vector<asked_name> &asked);

	/* 0: it has none. *line: as in the file, "NAME/TAG" and the mark. */
	uint32_t find(const asked_name &name, std::string *line) const;

	/* FILE as names have it: relative to the names file's directory where they have one
	   in common, without blanks that a line could not hold. */
	const std::string &relative(const std::string &file);

      private:
	struct entry {
		uint32_t tag;
		char kind; /* 0, '!', '=' */
		size_t line;
	};
	using known_name = std::pair<const std::string, entry>; /* stays where it is */

	std::string give_tags(const std::vector<asked_name> &asked);
	std::string refresh(int fd);
	std::string parse(const std::string &text);
	std::string parse_line(std::string_view line);
	std::string add(std::string_view name, uint32_t tag, char kind);
	std::string bad_line(std::string_view line, const char *why) const;
	std::string lock(int *fd);
	std::string append(int fd, const std::vector<asked_name> &asked);
	std::string exhausted(const std::string &name) const;
	bool missing(const std::vector<asked_name> &asked) const;
	bool goes_on(int fd, off_t size) const;
	void forget();

	std::string path, directory, why;
	uint32_t limit = 0, last = 0;
	bool was_read = false;
	/* How far the file was read, to a line's begin, and what stood right before there. */
	dev_t device = 0;
	ino_t inode = 0;
	off_t offset = 0;
	std::string tail;
	size_t lines = 0;
	std::string from; /* the last comment's FILE */
	std::unordered_map<std::string, entry> by_name;
	std::unordered_map<uint32_t, const known_name *> by_tag; /* in by_name */
	std::unordered_map<std::string, unsigned long> taken;
	std::unordered_map<std::string, std::string> relatives;
};

#endif
