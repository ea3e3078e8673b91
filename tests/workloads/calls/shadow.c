/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * shadow: counts of call paths by another method than the runtime's, in the same run.
 *
 * A library that is preloaded before the runtime. Its hooks keep one stack of open calls: an
 * entry puts its function on the stack, an exit takes the top function off, which has to be
 * its own. Stack pointers, return addresses and call sites are not looked at. That is exact
 * where each entry has its exit, at whatever place of the code a compiler put the two. Then
 * the hooks jump to the runtime's, which see the registers and the stack as if they had been
 * called by the program.
 *
 * A program that jumps over frames has `int shadow_depth`, the number of open calls: it saves
 * the number before setjmp() and puts it back after the jump.
 *
 * At the end, the file $SHADOW gets the tree of the process's paths. Its first line, "bad COUNT",
 * counts the exits that were not of the top function. Each further line, "CALLS DEPTH FUNCTION", is
 * a path: the function, called by the function of the nearest line above it with a lower depth.
 * FUNCTION is a hexadecimal address less the program's load address, "@NAME" for a function that a
 * library exports, and "-" for a library's other functions (the runtime's own).
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>

#define HIDDEN __attribute__((visibility("hidden"), used))
#define DEPTH_MOST (1 << 20)

struct node {
	void *function;
	struct node *parent, *child, *next;
	long calls;
};

static struct node root, *stack[DEPTH_MOST];
static int own_depth, *depth;
static void *next_enter, *next_exit;
static struct link_map *program;
static long bad;

/* Each hook saves its two arguments, calls `what`, and jumps to the address that `what` returns. */
#define HOOK(name, what)                                                                           \
	__asm__(".globl " #name "\n.type " #name ", @function\n" #name ":\n"                       \
	        "push %rdi\npush %rsi\nsub $8, %rsp\ncall " #what "\n"                             \
	        "mov %rax, %r11\nadd $8, %rsp\npop %rsi\npop %rdi\njmp *%r11\n"                    \
	        ".size " #name ", . - " #name)
HOOK(__cyg_profile_func_enter, shadow_enter);
HOOK(__cyg_profile_func_exit, shadow_exit);

static void begin(void)
{
	depth = dlsym(RTLD_DEFAULT, "shadow_depth");
	if (!depth)
		depth = &own_depth;
	next_exit = dlsym(RTLD_NEXT, "__cyg_profile_func_exit");
	next_enter = dlsym(RTLD_NEXT, "__cyg_profile_func_enter");
}

static struct node *child_of(struct node *parent, void *function)
{
	struct node **at = &parent->child, *child;

	for (; (child = *at); at = &child->next)
		if (child->function == function) {
			*at = child->next;
			break;
		}
	if (!child) {
		child = calloc(1, sizeof(*child));
		if (!child)
			abort();
		child->function = function;
		child->parent = parent;
	}
	child->next = parent->child;
	parent->child = child;
	return child;
}

HIDDEN void *shadow_enter(void *function)
{
	struct node *node;

	if (!depth)
		begin();
	if (*depth == DEPTH_MOST)
		abort();
	node = child_of(*depth ? stack[*depth - 1] : &root, function);
	node->calls++;
	stack[(*depth)++] = node;
	return next_enter;
}

HIDDEN void *shadow_exit(void *function)
{
	if (!depth)
		begin();
	if (*depth && stack[*depth - 1]->function == function)
		--*depth;
	else
		bad++;
	return next_exit;
}

static void put(FILE *f, const struct node *node, unsigned at)
{
	struct link_map *file = NULL;
	Dl_info info = {0};

	fprintf(f, "%ld %u ", node->calls, at);
	if (!dladdr1(node->function, &info, (void **)&file, RTLD_DL_LINKMAP))
		fputs("-\n", f);
	else if (file == program)
		fprintf(f, "%lx\n", (unsigned long)node->function - (unsigned long)file->l_addr);
	else if (info.dli_sname && info.dli_saddr == node->function)
		fprintf(f, "@%s\n", info.dli_sname);
	else
		fputs("-\n", f);
}

__attribute__((destructor)) static void tell(void)
{
	const char *path = getenv("SHADOW");
	FILE *f = path && root.child ? fopen(path, "w") : NULL;
	const struct node *node = root.child;
	unsigned at = 1;

	if (!f)
		return;
	program = dlopen(NULL, RTLD_LAZY);
	fprintf(f, "bad %ld\n", bad);
	while (node != &root) {
		put(f, node, at);
		if (node->child) {
			node = node->child;
			at++;
			continue;
		}
		while (node != &root && !node->next) {
			node = node->parent;
			at--;
		}
		if (node != &root)
			node = node->next;
	}
	fclose(f);
}
