/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Reads and extends the names file. The compiler stores how far it has read, and under the lock it
 * continues from there. If the file was replaced, or the text before that place has changed (by an
 * editor), it reads the whole file again.
 */
#include "names.h"

#include "assay/tags_wire.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>

static const char from_mark[] = "# from ", left_out_mark[] = "# left out ";
static const size_t tail_bytes = 256;

static bool is_blank(char c)
{
	return c == ' ' || c == '\t' || c == '\r';
}

static std::string_view trim(std::string_view text)
{
	while (!text.empty() && is_blank(text.front()))
		text.remove_prefix(1);
	while (!text.empty() && is_blank(text.back()))
		text.remove_suffix(1);
	return text;
}

/* Inline tags have a separate name space: a function may have the same name. */
static std::string key_of(std::string_view name, bool mark)
{
	return std::string(1, mark ? '=' : 'f').append(name);
}

static std::string system_error(const std::string &path, const char *what)
{
	return path + ": " + what + ": " + strerror(errno);
}

/* The length in bytes of a printable character; 0: a control character or invalid UTF-8. */
static size_t shown_length(std::string_view text)
{
	auto at = [text](size_t i) { return i < text.size() ? (unsigned char)text[i] : 0u; };
	unsigned c = at(0), next = at(1);
	size_t n = c < 0x20 || c == 0x7f ? 0
	           : c < 0x80            ? 1
	           : c < 0xc2            ? 0
	           : c < 0xe0            ? 2
	           : c < 0xf0            ? 3
	           : c < 0xf5            ? 4
	                                 : 0;

	for (size_t i = 1; i < n; i++)
		if ((at(i) & 0xc0) != 0x80)
			return 0;
	/* C1 controls; overlong forms; surrogates; beyond the last code point */
	if ((c == 0xc2 && next < 0xa0) || (c == 0xe0 && next < 0xa0) ||
	    (c == 0xed && next > 0x9f) || (c == 0xf0 && next < 0x90) || (c == 0xf4 && next > 0x8f))
		return 0;
	return n;
}

/*
 * Escapes text for messages on a terminal, since a names file may contain any bytes. Same rules as
 * src/base/text/plain_text.h.
 */
static std::string plain(std::string_view text)
{
	static const char digits[] = "0123456789abcdef";
	std::string out;

	while (!text.empty()) {
		size_t n = shown_length(text);
		unsigned char c = (unsigned char)text.front();

		if (n)
			out += text.substr(0, n);
		else
			out += std::string("\\x") + digits[c >> 4] + digits[c & 15];
		text.remove_prefix(n ? n : 1);
	}
	return out;
}

static std::string real_directory(const std::string &path)
{
	size_t slash = path.rfind('/');
	std::string directory = slash == std::string::npos ? "." : path.substr(0, slash + 1);
	char *real = realpath(directory.c_str(), NULL);
	std::string all = real ? real : "";

	free(real);
	return all;
}

void names_file::open(const std::string &file, uint32_t highest, const std::string &reason)
{
	std::string name = file.substr(file.rfind('/') + 1);

	root = real_directory(file);
	path = root.empty() ? file : root + "/" + name;
	limit = highest;
	why = reason;
}

void names_file::set_root(const std::string &directory)
{
	root = real_directory(directory + "/");
	relatives.clear();
}

void names_file::forget()
{
	last = 0;
	offset = 0;
	lines = 0;
	from.clear();
	left_out.clear();
	tail.clear();
	by_name.clear();
	by_tag.clear();
	taken.clear();
}

std::string names_file::bad_line(std::string_view line, const char *reason) const
{
	return path + ":" + std::to_string(lines) + ": " + reason + ": \"" +
	       std::string(line.substr(0, 100)) +
	       "\" (a line is NAME/TAG, possibly with a mark: !, =, ~ or ^; or a comment behind #)";
}

/* Adds a line. A line may be added twice if the file ended without a newline and was read again. */
std::string names_file::add(std::string_view name, uint32_t tag, char kind)
{
	auto put = by_name.emplace(key_of(name, kind == '='), entry{tag, kind, lines});
	auto here = [this] { return path + ":" + std::to_string(lines) + ": "; };
	const entry &had = put.first->second;
	uint32_t end = kind == '=' ? tag : tag + 1;

	if (!put.second && had.tag == tag && had.kind == kind)
		return "";
	if (!put.second && had.tag == tag)
		return here() + std::string(name) + " has another mark than in line " +
		       std::to_string(had.line) + ": remove one of the lines";
	if (!put.second)
		return here() + std::string(name) + " has tag " + std::to_string(tag) + ", and " +
		       std::to_string(had.tag) + " in line " + std::to_string(had.line) +
		       ": remove one of the lines";
	for (uint32_t t = tag; t <= end; t++) {
		auto other = by_tag.emplace(t, &*put.first);
		if (!other.second)
			return here() + "tag " + std::to_string(t) + " of " + std::string(name) +
			       " is " + other.first->second->first.substr(1) + "'s in line " +
			       std::to_string(other.first->second->second.line) +
			       ": remove one of the lines";
	}
	last = std::max(last, end);
	taken[from] += end - tag + 1;
	return "";
}

/* False: not a decimal number, or not a valid tag. */
static bool number_of(std::string_view text, uint32_t *tag)
{
	uint32_t value = 0;

	for (char c : text) {
		if (c < '0' || c > '9')
			return false;
		value = value * 10 + (uint32_t)(c - '0');
		if (value > ASSAY_TAG_LAST)
			return false;
	}
	*tag = value;
	return !text.empty();
}

std::string names_file::parse_line(std::string_view raw)
{
	std::string_view line = trim(raw), front = line, name;
	uint32_t tag;
	char kind = 0;
	size_t slash;

	if (line.substr(0, sizeof(from_mark) - 1) == from_mark)
		from = line.substr(sizeof(from_mark) - 1);
	if (line.substr(0, sizeof(left_out_mark) - 1) == left_out_mark)
		left_out.emplace(line.substr(sizeof(left_out_mark) - 1));
	if (line.empty() || line[0] == '#')
		return "";
	if (line.find('\0') != std::string_view::npos)
		return bad_line(line, "it contains a byte of 0");
	if (strchr("!=~^", front.back())) {
		kind = front.back();
		front.remove_suffix(1);
	}
	slash = front.rfind('/');
	if (slash == std::string_view::npos)
		return bad_line(line, "there is no / before a tag");
	name = trim(front.substr(0, slash));
	if (name.empty())
		return bad_line(line, "there is no name");
	if (!number_of(trim(front.substr(slash + 1)), &tag))
		return bad_line(line,
		                "behind the last / is no tag (a decimal number up to 16773119)");
	if (kind != '=' && tag % 2)
		return bad_line(line, "a function's tag is even, its exit is the next one");
	return add(name, tag, kind);
}

std::string names_file::parse(const std::string &text)
{
	std::string_view all = text;
	std::string error;
	size_t at = 0, end;

	by_name.reserve(by_name.size() + text.size() / 32);
	by_tag.reserve(by_tag.size() + text.size() / 16);
	for (; error.empty() && at < all.size(); at = end + 1) {
		end = all.find('\n', at);
		lines++;
		if (end == std::string::npos) { /* an incomplete line: it is read again later */
			error = parse_line(all.substr(at));
			lines--;
			break;
		}
		error = parse_line(all.substr(at, end - at));
	}
	at = std::min(at, text.size());
	offset += (off_t)at;
	tail += all.substr(at - std::min(at, tail_bytes), std::min(at, tail_bytes));
	if (tail.size() > tail_bytes)
		tail.erase(0, tail.size() - tail_bytes);
	return error;
}

/* True if the part of the file that was read is unchanged. */
bool names_file::goes_on(int fd, off_t size) const
{
	std::string now(tail.size(), '\0');

	if (size < offset)
		return false;
	if (tail.empty())
		return offset == 0;
	return pread(fd, &now[0], now.size(), offset - (off_t)tail.size()) == (ssize_t)now.size() &&
	       now == tail;
}

std::string names_file::refresh(int fd)
{
	struct stat st;
	std::string text;
	char piece[65536];
	ssize_t n;

	if (fstat(fd, &st))
		return system_error(path, "cannot be read");
	if (!was_read || st.st_dev != device || st.st_ino != inode || !goes_on(fd, st.st_size))
		forget();
	was_read = true;
	device = st.st_dev;
	inode = st.st_ino;
	for (off_t at = offset; (n = pread(fd, piece, sizeof(piece), at)) != 0; at += n) {
		if (n < 0)
			return system_error(path, "cannot be read");
		text.append(piece, (size_t)n);
	}
	return parse(text);
}

/* Opens and locks the file of this name. An editor may have replaced the file before the lock. */
std::string names_file::lock(int *fd)
{
	struct stat here, there;

	for (;;) {
		*fd = ::open(path.c_str(), O_RDWR | O_APPEND | O_CREAT | O_CLOEXEC | O_NOCTTY,
		             0644);
		if (*fd < 0)
			return system_error(path, "cannot be extended");
		if (fstat(*fd, &here) || !S_ISREG(here.st_mode)) {
			close(*fd);
			return path + " is no file that can be extended";
		}
		while (flock(*fd, LOCK_EX)) {
			if (errno == EINTR)
				continue;
			close(*fd);
			return system_error(path, "cannot be locked");
		}
		if (!stat(path.c_str(), &there) && here.st_ino == there.st_ino &&
		    here.st_dev == there.st_dev)
			return "";
		close(*fd);
	}
}

bool names_file::missing(const std::vector<asked_name> &asked) const
{
	for (const asked_name &name : asked)
		if (!by_name.count(key_of(name.name, name.mark)))
			return true;
	return false;
}

std::string names_file::exhausted(const std::string &name) const
{
	std::vector<std::pair<unsigned long, std::string>> most;
	std::string text = path + ": " + name + " finds no tag: all up to " +
	                   std::to_string(limit) + " are taken" + why + ". Most are of ";
	size_t count = 0;

	for (const auto &file : taken)
		most.emplace_back(file.second,
		                  file.first.empty() ? "lines without a source file" : file.first);
	std::sort(most.rbegin(), most.rend());
	for (const auto &file : most) {
		if (count++ == 5)
			break;
		text += (count > 1 ? ", " : "") + file.second + " (" + std::to_string(file.first) +
		        ")";
	}
	return text + ". Choose fewer functions (-only, -not, -files, -not-files), or begin a "
	              "new names file";
}

/* Appends all lines or none: an incomplete line would be an error for every reader. */
std::string names_file::write_lines(int fd, std::string text)
{
	struct stat st;
	std::string error;
	char end = '\n';

	if (text.empty())
		return "";
	if (fstat(fd, &st))
		return system_error(path, "cannot be extended");
	if (st.st_size && pread(fd, &end, 1, st.st_size - 1) == 1 && end != '\n')
		text = "\n" + text;
	ssize_t n = write(fd, text.data(), text.size());
	if (n == (ssize_t)text.size())
		return refresh(fd);
	error = n < 0 ? system_error(path, "cannot be extended")
	              : path + " cannot be extended: no space is left";
	return ftruncate(fd, st.st_size) ? error + "; its last line is cut short" : error;
}

std::string names_file::append(int fd, const std::vector<asked_name> &asked)
{
	std::string text, header = from;
	std::unordered_map<std::string, bool> given;
	uint32_t next = std::max(last + 1, (uint32_t)ASSAY_TAG_FIRST);

	for (const asked_name &name : asked) {
		std::string key = key_of(name.name, name.mark);
		if (by_name.count(key) || !given.emplace(key, true).second)
			continue;
		next += name.mark ? 0 : next % 2;
		if (next + !name.mark > limit)
			return exhausted(name.name);
		if (name.file != header)
			text += from_mark + name.file + "\n";
		header = name.file;
		text += name.name + "/" + std::to_string(next);
		if (name.mark || name.kind)
			text += name.mark ? '=' : name.kind;
		text += '\n';
		next += name.mark ? 1 : 2;
	}
	return write_lines(fd, text);
}

std::string names_file::read_first()
{
	std::string error;
	int fd;

	if (was_read)
		return "";
	fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOCTTY);
	if (fd < 0)
		return errno == ENOENT ? "" : system_error(path, "cannot be read");
	while (flock(fd, LOCK_SH) && errno == EINTR) /* waits while another compiler writes */
		;
	error = refresh(fd);
	close(fd);
	return error;
}

std::string names_file::give_tags(const std::vector<asked_name> &asked)
{
	std::string error = read_first();
	int fd;

	if (!error.empty() || !missing(asked))
		return error;
	error = lock(&fd);
	if (!error.empty())
		return error;
	error = refresh(fd);
	if (error.empty())
		error = append(fd, asked);
	close(fd); /* this releases the lock */
	return error;
}

std::string names_file::allocate(const std::vector<asked_name> &asked)
{
	return plain(give_tags(asked));
}

std::string names_file::left_out_line(const std::string &name)
{
	return left_out_mark + name;
}

std::string names_file::add_left_out(const std::set<std::string> &names)
{
	std::string error = read_first(), text;
	int fd;

	if (!error.empty() ||
	    std::includes(left_out.begin(), left_out.end(), names.begin(), names.end()))
		return error;
	error = lock(&fd);
	if (!error.empty())
		return error;
	error = refresh(fd);
	for (const std::string &name : names)
		if (!left_out.count(name))
			text += left_out_line(name) + "\n";
	if (error.empty())
		error = write_lines(fd, text);
	close(fd); /* this releases the lock */
	return error;
}

std::string names_file::leave_out(const std::set<std::string> &names)
{
	return names.empty() ? "" : plain(add_left_out(names));
}

uint32_t names_file::find(const asked_name &name, std::string *line) const
{
	auto found = by_name.find(key_of(name.name, name.mark));

	if (found == by_name.end())
		return 0;
	*line = name.name + "/" + std::to_string(found->second.tag);
	if (found->second.kind)
		*line += found->second.kind;
	return found->second.tag;
}

/* Splits a path into its parts: empty parts and "." are dropped, ".." removes the part before it.
 * Links are not followed. */
static std::vector<std::string> parts_of(const std::string &file)
{
	std::vector<std::string> parts;

	for (size_t at = 0, end; at < file.size(); at = end + 1) {
		end = std::min(file.find('/', at), file.size());
		std::string part = file.substr(at, end - at);
		if (part == ".." && !parts.empty())
			parts.pop_back();
		else if (!part.empty() && part != "." && part != "..")
			parts.push_back(part);
	}
	return parts;
}

static std::string whole_path(const std::string &file)
{
	char *real = realpath(file.c_str(), NULL), *here;
	std::string all = real ? real : file;

	if (!real && file[0] != '/' &&
	    (here = getcwd(NULL, 0))) { /* the name may come from a #line directive */
		all = std::string(here) + "/" + file;
		free(here);
	}
	free(real);
	return all;
}

const std::string &names_file::relative(const std::string &file)
{
	auto known = relatives.find(file);

	if (known != relatives.end())
		return known->second;
	std::vector<std::string> to = parts_of(whole_path(file)), base = parts_of(root);
	std::string text;
	size_t same = 0;
	while (same < base.size() && same + 1 < to.size() && base[same] == to[same])
		same++;
	if (same)
		for (size_t i = same; i < base.size(); i++)
			text += "../";
	for (size_t i = same; i < to.size(); i++)
		text += (i > same || !same ? "/" : "") + to[i];
	for (char &c : text)
		if ((unsigned char)c < ' ' || c == 0x7f)
			c = '?';
	return relatives[file] = std::string(trim(text));
}
