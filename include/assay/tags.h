/* SPDX-License-Identifier: MIT */
/*
 * tags: event tags in the source of a profiled program or kernel.
 *
 *	ASSAY_TAG("queue full");	C, C++: marks a place (an inline tag)
 *	ASSAY_TAG(queue_full)		assembly (.S): the same, see below
 *	assay_tags_start(), assay_tags_stop()	the capture switch of this process
 *
 * In C and C++ the compiler plugin (-fplugin=assay_tags.so) replaces ASSAY_TAG by a trigger, and
 * writes the name and its tag to the names file, marked `=`. Without the plugin ASSAY_TAG is only a
 * comment in the assembly output. A name is a string literal of printable characters without '/',
 * '%', '{', '|', '}' and '\'.
 *
 * The plugin does not process assembly: `assay tags names FILE --add queue_full --header
 * tags_names.h` assigns the tag and writes `#define ASSAY_TAG_queue_full 502` to a header that the
 * source includes. One of these definitions selects the code that the macro emits:
 *	ASSAY_TAGS_RING   (the default) an event into this thread's ring
 *	ASSAY_TAGS_NOP    a long NOP that capture devices and emulators see
 *	ASSAY_TAGS_LOAD   a byte read at assay_tags_base + tag
 * ASSAY_TAG preserves all registers, and the flags except with ASSAY_TAGS_LOAD. The object contains
 * the tags' names in a section, as objects of the plugin do, except with ASSAY_TAGS_BARE (kernels).
 * A function in assembly uses ASSAY_TAG_ENTER(name) and ASSAY_TAG_EXIT(name).
 *
 * The switch functions are in libassay-tags (pkg-config assay-tags); any thread, signal safe. With
 * ASSAY_TAGS_START=off no event is recorded before assay_tags_start().
 */
#ifndef ASSAY_TAGS_H
#define ASSAY_TAGS_H

/* The long NOP: 0F 1F 84 00, then 32 bits: the tag below, this magic in the highest byte. */
#define ASSAY_TAGS_NOP_MAGIC 0x5A

#ifdef __ASSEMBLER__

/* clang-format off */
#if defined(ASSAY_TAGS_NOP)
#define ASSAY_TAG_EMIT_(tag) .byte 0x0f, 0x1f, 0x84, 0x00; .long (ASSAY_TAGS_NOP_MAGIC << 24) | (tag)
#elif defined(ASSAY_TAGS_LOAD)
#define ASSAY_TAG_EMIT_(tag) testb $0, assay_tags_base + (tag)(%rip)
#else
/* Moves below the red zone, which the surrounding assembly may use. */
#define ASSAY_TAG_EMIT_(tag)                                                                       \
	lea -128(%rsp), %rsp;                                                                      \
	push %rax;                                                                                 \
	mov $(tag), %eax;                                                                          \
	call *assay_tags_event_kept@GOTPCREL(%rip);                                                \
	pop %rax;                                                                                  \
	lea 128(%rsp), %rsp
#endif
/* clang-format on */

/* A line of the names file. `tag` is expanded to its number first. */
#if defined(ASSAY_TAGS_BARE)
#define ASSAY_TAG_NAME_(name, tag, mark)
#else
#define ASSAY_TAG_LINE_(name, tag, mark)                                                           \
	.pushsection assay_tags_names, "a", @progbits;                                             \
	.ascii #name, "/", #tag, mark, "\n";                                                       \
	.popsection;
#define ASSAY_TAG_NAME_(name, tag, mark) ASSAY_TAG_LINE_(name, tag, mark)
#endif

#define ASSAY_TAG(name)                                                                            \
	ASSAY_TAG_NAME_(name, ASSAY_TAG_##name, "=")                                               \
	ASSAY_TAG_EMIT_(ASSAY_TAG_##name)
#define ASSAY_TAG_ENTER(name)                                                                      \
	ASSAY_TAG_NAME_(name, ASSAY_TAG_##name, "")                                                \
	ASSAY_TAG_EMIT_(ASSAY_TAG_##name)
#define ASSAY_TAG_EXIT(name) ASSAY_TAG_EMIT_(ASSAY_TAG_##name + 1)

#else

/* The plugin finds tags by the first words of this text. */
#define ASSAY_TAG(name) __asm__ __volatile__("# assay tag " name)

#ifdef __cplusplus
extern "C" {
#endif

void assay_tags_start(void);
void assay_tags_stop(void);

/* Records an event of this thread: for custom hooks and other compilers. */
void assay_tags_event(unsigned tag);

#ifdef __cplusplus
}
#endif
#endif

#endif
