/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * names: reads and extends the names file in the compiler (src/format/ctf/names_file.h describes
 * the format). The file is read at the first name. A name that is in the file needs no lock. Other
 * names get tags, all names of a request at once, under an exclusive flock() on the file: first the
 * lines that other compilers appended are read, then complete lines are appended in one write.
 * Existing lines are never changed.
 *
 * "# from FILE" precedes the lines of the functions of FILE, so that users can see which files took
 * most of the tags. "# left out NAME" is a function that got no triggers because it is small.
 *
 * Errors are sentences that are safe for a terminal; "" means no error. One thread. Independent of
 * the compiler.
 */
#ifndef ASSAY_PLUGIN_NAMES_H
#define ASSAY_PLUGIN_NAMES_H

#include <stdint.h>
#include <sys/types.h>

#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

struct asked_name {
	std::string name; /* as in the file, without the mark */
	std::string file; /* source file, for the comment above the line */
	bool mark;        /* an inline tag */
	char kind = 0;    /* a function's mark if its line is new: '!', '~', '^'; 0: none */
};

class names_file
{
      public:
	/* Assigns tags from 2 to `limit`. The error for a lack of tags includes `why`. */
	void open(const std::string &path, uint32_t limit, const std::string &why);
	/* File names are relative to this directory, not to the directory of the names file. */
	void set_root(const std::string &root);

	/* Assigns tags to names without one. Creates the file if it does not exist. */
	std::string allocate(const std::vector<asked_name> &asked);

	/* Adds a comment for each function that has none yet. */
	std::string leave_out(const std::set<std::string> &names);
	static std::string left_out_line(const std::string &name);

	/* Returns the tag; 0: none. *line: the line in the file, "NAME/TAG" and the mark. */
	uint32_t find(const asked_name &name, std::string *line) const;

	/*
	 * FILE as in the comments of the file: relative to the root if both have
	 * a common directory, without blanks that a line cannot contain.
	 */
	const std::string &relative(const std::string &file);

      private:
	struct entry {
		uint32_t tag;
		char kind; /* 0, '!', '=', '~', '^' */
		size_t line;
	};
	using known_name = std::pair<const std::string, entry>; /* its address never changes */

	std::string give_tags(const std::vector<asked_name> &asked);
	std::string add_left_out(const std::set<std::string> &names);
	std::string read_first();
	std::string refresh(int fd);
	std::string parse(const std::string &text);
	std::string parse_line(std::string_view line);
	std::string add(std::string_view name, uint32_t tag, char kind);
	std::string bad_line(std::string_view line, const char *why) const;
	std::string lock(int *fd);
	std::string append(int fd, const std::vector<asked_name> &asked);
	std::string write_lines(int fd, std::string text);
	std::string exhausted(const std::string &name) const;
	bool missing(const std::vector<asked_name> &asked) const;
	bool goes_on(int fd, off_t size) const;
	void forget();

	std::string path, root, why;
	uint32_t limit = 0, last = 0;
	bool was_read = false;
	/*
	 * The position up to which the file was read (start of a line), and the text directly
	 * before it.
	 */
	dev_t device = 0;
	ino_t inode = 0;
	off_t offset = 0;
	std::string tail;
	size_t lines = 0;
	std::string from; /* the last comment's FILE */
	std::set<std::string> left_out;
	std::unordered_map<std::string, entry> by_name;
	std::unordered_map<uint32_t, const known_name *> by_tag; /* in by_name */
	std::unordered_map<std::string, unsigned long> taken;
	std::unordered_map<std::string, std::string> relatives;
};

#endif
