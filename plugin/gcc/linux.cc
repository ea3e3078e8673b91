/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * linux: units of the Linux kernel. The kernel's own sections and attributes say most of what is
 * needed: notrace is no_instrument_function, or patchable_function_entry(0, 0), and `inline`
 * includes it.
 */
#include "plugin.h"
#include "linux.h"

#include "assay/tags.h"
#include "assay/tags_wire.h"

#include <fnmatch.h>

/* Code that runs at other addresses than those it is linked for, or must not be instrumented. */
static const char *const bare_sections[] = {".noinstr.text", ".head.text", ".entry.text"};

/* Programs of their own within the kernel's build. */
static const char *const own_programs[] = {"*/vdso/*", "*/purgatory/*", "*/boot/compressed/*",
                                           "*/realmode/*", "*/efi/libstub/*"};

/* Code that sets up the kernel's mapping. */
static const char *const early_files[] = {"*/arch/x86/mm/mem_encrypt_identity.c",
                                          "*/arch/*/kernel/pi/*"};

/* Accessors that the compiler inlines, although not all of them are declared so. */
static const char *const headers[] = {"*/include/*.h"};

static const char *const interrupts[] = {"common_interrupt", "spurious_interrupt", "sysvec_*",
                                         "exc_nmi"};
static const char *const other_entries[] = {"do_syscall_64", "exc_*"};

template <size_t n> static bool matches(const char *const (&patterns)[n], const std::string &text)
{
	for (const char *pattern : patterns)
		if (!fnmatch(pattern, text.c_str(), 0))
			return true;
	return false;
}

static std::string name_of(tree function)
{
	return DECL_NAME(function) ? IDENTIFIER_POINTER(DECL_NAME(function)) : "";
}

static std::string section_of(tree function)
{
	const char *section = DECL_SECTION_NAME(function);

	return section ? section : "";
}

static bool defines_kernel()
{
	for (unsigned i = 0; i < save_decoded_options_count; i++) {
		const cl_decoded_option &option = save_decoded_options[i];
		if (option.opt_index == OPT_D && option.arg && !strcmp(option.arg, "__KERNEL__"))
			return true;
	}
	return false;
}

bool linux_unit()
{
	static const bool kernel = trigger_kernel() || defines_kernel();

	return kernel;
}

static bool is_entry(tree function)
{
	std::string name = name_of(function);

	return section_of(function) == ".noinstr.text" && TREE_PUBLIC(function) &&
	       (matches(interrupts, name) || matches(other_entries, name));
}

/* patchable_function_entry(0, 0): notrace on machines whose tracer patches functions. */
static bool is_never_patched(tree function)
{
	tree found = lookup_attribute("patchable_function_entry", DECL_ATTRIBUTES(function));

	return found && TREE_VALUE(found) && integer_zerop(TREE_VALUE(TREE_VALUE(found)));
}

static std::string whole_path(const char *file)
{
	return std::string("/") + (file ? file : "");
}

bool linux_excludes(tree function, const options &o)
{
	if (!linux_unit())
		return false;
	if (!trigger_kernel() && matches(own_programs, whole_path(main_input_filename)))
		return true;
	if (is_entry(function) && o.trigger == TRIGGER_NOP)
		return false;
	return lookup_attribute("no_instrument_function", DECL_ATTRIBUTES(function)) ||
	       lookup_attribute("always_inline", DECL_ATTRIBUTES(function)) ||
	       is_never_patched(function) || matches(bare_sections, section_of(function)) ||
	       matches(early_files, whole_path(DECL_SOURCE_FILE(function))) ||
	       matches(headers, whole_path(DECL_SOURCE_FILE(function)));
}

char linux_mark(tree function)
{
	std::string name = name_of(function), section = section_of(function);

	if (!linux_unit())
		return 0;
	if (name == "__switch_to" || name == "context_switch")
		return '!';
	if (section == ".cpuidle.text")
		return '~';
	if (section == ".irqentry.text" || (is_entry(function) && matches(interrupts, name)))
		return '^';
	return 0;
}

static tree field_of(tree pointer, const char *name)
{
	tree type = TREE_TYPE(pointer), target = POINTER_TYPE_P(type) ? TREE_TYPE(type) : NULL_TREE;

	if (!target || TREE_CODE(target) != RECORD_TYPE)
		return NULL_TREE;
	for (tree field = TYPE_FIELDS(target); field; field = DECL_CHAIN(field))
		if (TREE_CODE(field) == FIELD_DECL && DECL_NAME(field) &&
		    id_equal(DECL_NAME(field), name))
			return build3(COMPONENT_REF, TREE_TYPE(field),
			              build_simple_mem_ref(pointer), field, NULL_TREE);
	return NULL_TREE;
}

static tree memory_input(tree place, tree others)
{
	return tree_cons(build_tree_list(NULL_TREE, build_string(1, "m")), place, others);
}

tree linux_process(tree function, const options &o)
{
	tree previous = DECL_ARGUMENTS(function),
	     next = previous ? DECL_CHAIN(previous) : NULL_TREE;
	tree from, to, name, inputs, t;
	char text[200];

	if (linux_mark(function) != '!' || o.trigger != TRIGGER_NOP || !next)
		return NULL_TREE;
	from = field_of(previous, "pid");
	to = field_of(next, "pid");
	name = field_of(next, "comm");
	if (!from || !to || !name)
		return NULL_TREE;
	/* Aligned, so that the four are in one page: QEMU translates a page at a time. */
	int length = snprintf(text, sizeof(text),
	                      ".p2align 5\n\t.byte 0x0f,0x1f,0x84,0x00\n\t.long 0x%08x\n"
	                      "\tcmpl $0, %%0\n\tcmpl $0, %%1\n\tcmpb $0, %%2",
	                      (unsigned)ASSAY_TAGS_NOP_MAGIC << 24 | ASSAY_TAG_PROCESS);
	inputs = memory_input(from, memory_input(to, memory_input(name, NULL_TREE)));
	t = build5(ASM_EXPR, void_type_node, build_string(length, text), NULL_TREE, inputs,
	           build_tree_list(NULL_TREE, build_string(2, "cc")), NULL_TREE);
	ASM_VOLATILE_P(t) = 1;
	TREE_SIDE_EFFECTS(t) = 1;
	return t;
}
