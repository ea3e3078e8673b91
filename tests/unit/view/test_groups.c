/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Rules of groups: qualifiers, order, callers, and the rules of assay. */
#include "../lib/check.h"
#include "format/rules_file.h"
#include "view/groups/group_rules.h"

#include <string.h>

static void add(void *of, const char *group, const char *pattern)
{
	group_rules_rule(of, group, pattern);
}

static struct group_rules *rules_of(const char *text)
{
	struct group_rules *r = group_rules_new();
	struct error err = {0};

	CHECK_EQ(rules_file_parse(text, strlen(text), "rules", add, r, &err), 0);
	return r;
}

static const char *of(struct group_rules *r, const char *function, const char *image,
                      bool is_kernel)
{
	return group_rules_name(r, group_rules_function(r, function, image, is_kernel), is_kernel);
}

static void qualifiers_name_files_and_the_kernel(void)
{
	struct group_rules *r = rules_of("net: kernel! tcp_* ip_send libc.so*! libm.so*! send\n"
	                                 "any: tcp_* *\n"
	                                 "net: recv\n");

	CHECK_STR(of(r, "tcp_ack", "[kernel]", true), "net");
	CHECK_STR(of(r, "tcp_ack", "prog", false), "any");
	CHECK_STR(of(r, "ip_send", "[kernel]", true), "net");
	CHECK_STR(of(r, "ip_send_x", "[kernel]", true), "any");
	CHECK_STR(of(r, "send", "libc.so.6", false), "net");
	CHECK_STR(of(r, "send", "libm.so.6", false), "net");
	CHECK_STR(of(r, "send", "libx.so.6", false), "any");
	CHECK_STR(of(r, "recv", "prog", false), "any"); /* the pattern before it matches */
	group_rules_free(r);
}

static void the_first_pattern_that_matches_decides(void)
{
	struct group_rules *r = rules_of("a: kernel! ab?d\n"
	                                 "b: kernel! abcd\n"
	                                 "c: kernel! abc*\n"
	                                 "d: kernel! ab*\n"
	                                 "e: kernel! abx\n"
	                                 "f: kernel! *\n");

	CHECK_STR(of(r, "abcd", "[kernel]", true), "a");
	CHECK_STR(of(r, "abce", "[kernel]", true), "c");
	CHECK_STR(of(r, "abx", "[kernel]", true), "d");
	CHECK_STR(of(r, "x", "[kernel]", true), "f");
	CHECK_STR(of(r, "", "[kernel]", true), "f");
	CHECK_STR(of(r, "abcd", "prog", false), "[other]");
	group_rules_free(r);
}

static void functions_may_count_for_their_callers(void)
{
	struct group_rules *r = rules_of("caller: memcpy\nx: y\n");

	CHECK_EQ(group_rules_function(r, "memcpy", "prog", false), GROUP_CALLER);
	CHECK_EQ(group_rules_function(r, "other", "prog", false), GROUP_NONE);
	CHECK_STR(of(r, "memcpy", "[kernel]", true), "[other of the kernel]");
	group_rules_free(r);
}

static void the_rules_of_assay_are_valid(void)
{
	struct group_rules *r = group_rules_new();
	struct error err = {0};

	CHECK_EQ(rules_file_parse(group_rules_default, group_rules_default_size, "default", add, r,
	                          &err),
	         0);
	CHECK_STR(of(r, "tcp_sendmsg", "[kernel]", true), "kernel/network");
	CHECK_STR(of(r, "clear_page_erms", "[kernel]", true), "kernel/page faults and memory");
	CHECK_STR(of(r, "ext4_file_open", "[ext4]", true), "kernel/file systems");
	CHECK_STR(of(r, "__memmove_avx512_unaligned_erms", "libc.so.6", false),
	          "libc/memory and strings");
	CHECK_STR(of(r, "_int_malloc", "libc.so.6", false), "libc/allocation");
	CHECK_STR(of(r, "fread", "libc.so.6", false), "libc/standard input and output");
	CHECK_STR(of(r, "__GI___getdents64", "libc.so.6", false), "libc/system calls");
	CHECK_STR(of(r, "regexec", "libc.so.6", false), "libc/locale and patterns");
	CHECK_STR(of(r, "__tz_convert", "libc.so.6", false), "libc/time");
	CHECK_STR(of(r, "__vdso_clock_gettime", "[vdso]", false), "libc/time");
	CHECK_STR(of(r, "getopt_long", "libc.so.6", false), "libc/other");
	CHECK_STR(of(r, "LHashMap;::get", "perf-12.map", false), "generated code");
	CHECK_STR(of(r, "ext4fs_dirhash", "[kernel]", true), "kernel/file systems");
	CHECK_STR(of(r, "inflate", "libz.so.1.2.13", false), "compression");
	CHECK_STR(of(r, "main", "prog", false), "[other]");
	CHECK_EQ(group_rules_function(r, "memcpy", "[kernel]", true), GROUP_CALLER);
	group_rules_free(r);
}

static void the_kernel_is_known_by_its_file(void)
{
	CHECK(group_image_is_kernel("[kernel.kallsyms]"));
	CHECK(group_image_is_kernel("ext4.ko"));
	CHECK(group_image_is_kernel("ext4.ko.xz"));
	CHECK(!group_image_is_kernel("prog"));
	CHECK(!group_image_is_kernel("[vdso]"));
}

int main(void)
{
	RUN(qualifiers_name_files_and_the_kernel);
	RUN(the_first_pattern_that_matches_decides);
	RUN(functions_may_count_for_their_callers);
	RUN(the_rules_of_assay_are_valid);
	RUN(the_kernel_is_known_by_its_file);
	return check_end();
}
