/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Any bytes as a names file, for the compiler's plugin: it accepts the files that assay's reader
 * accepts, and refuses others at the same line; errors can be printed; and a valid file is still
 * valid after names were appended, which then have their tags. The file is in memory.
 */
#include "../plugin/names_alike.h"

#include "assay/tags_wire.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

static void must(bool good, const std::string &what)
{
	if (good)
		return;
	fprintf(stderr, "fuzz_plugin_names: %s\n", what.c_str());
	abort();
}

static std::string content(int fd)
{
	struct stat st;
	std::string text;

	must(!fstat(fd, &st), "fstat");
	text.resize((size_t)st.st_size);
	must(pread(fd, &text[0], text.size(), 0) == st.st_size, "pread");
	return text;
}

/* Reads the file with both readers, and compares the results. */
static std::string read_by_both(names_file &plugin, const std::string &path,
                                const std::string &text, const std::vector<asked_name> &asked)
{
	struct tag_names *names = tag_names_new();
	struct error err = {};
	std::string said, difference;

	plugin.open(path, ASSAY_TAG_LAST, "");
	said = plugin.allocate(asked);
	names_file_parse(names, text.data(), text.size(), path.c_str(), &err);
	difference = names_difference(plugin, said, names, err.text);
	must(difference.empty(), difference + ": \"" + said + "\" and \"" + err.text + "\"");
	tag_names_free(names);
	return said;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
	static const std::vector<asked_name> asked = {{"f", "a.c", false}, {"mark", "b.c", true}};
	static int fd = memfd_create("names", MFD_CLOEXEC);
	std::string path = "/proc/" + std::to_string(getpid()) + "/fd/" + std::to_string(fd),
	            text((const char *)bytes, size), said, line;
	names_file plugin, again;

	must(fd >= 0 && !ftruncate(fd, 0) && pwrite(fd, bytes, size, 0) == (ssize_t)size, "memory");
	said = read_by_both(plugin, path, text, {});
	for (size_t i = 0; i < said.size(); i++)
		must((said[i] & 0xe0) != 0 && said[i] != 0x7f &&
		             (said[i] != '\xc2' || (unsigned char)said[i + 1] >= 0xa0),
		     "the error contains control characters: " + said);
	if (!said.empty())
		return 0;
	said = plugin.allocate(asked);
	must(said.empty() || said.find("finds no tag") != std::string::npos, said);
	for (const asked_name &name : asked) {
		line.clear(); /* a file may assign tag 0 */
		plugin.find(name, &line);
		must(!said.empty() || !line.empty(), name.name + " has no tag");
	}
	must(content(fd).compare(0, size, text) == 0, "the old contents of the file changed");
	said = read_by_both(again, path, content(fd), {});
	must(said.empty(), said);
	return 0;
}
