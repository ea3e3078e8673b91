/* SPDX-License-Identifier: MIT */
/*
 * tags: event tags in the source of a profiled program or kernel.
 *
 *	ASSAY_TAG("queue full");	C, C++: marks a place (an inline tag)
 *	ASSAY_TAG(queue_full)		assembly (.S): likewise, see below
 *	assay_tags_start(), assay_tags_stop()	the capture switch of this process
 *
 * In C and C++ the compiler's plugin (-fplugin=assay_tags.so) puts a trigger in
 * the place of ASSAY_TAG, and the name with its tag into the names file, marked
 * `=`. Without the plugin nothing is left of it: a comment. A name is a string
 * literal of printable characters without '/', '%', '{', '|', '}' and '\'.
 *
 * In assembly no plugin runs: `assay tags names FILE --add queue_full --header
 * tags_names.h` gives the tag and writes `#define ASSAY_TAG_queue_full 502`, to be
 * included. What the macro then emits is chosen by one of
 *	ASSAY_TAGS_RING   (the default) an event into this thread's ring
 *	ASSAY_TAGS_NOP    a long NOP that capture devices and emulators see
 *	ASSAY_TAGS_LOAD   a byte read at assay_tags_base + tag
 * being defined. ASSAY_TAG keeps all registers, and the flags but for ASSAY_TAGS_LOAD.
 * The object has the tags' names in a section, as the plugin's have; not with ASSAY_TAGS_BARE
 * (kernels).
 * A function in assembly: ASSAY_TAG_ENTER(name) and ASSAY_TAG_EXIT(name).
 *
 * The switch functions are libassay-tags' (pkg-config assay-tags); any thread, signal
 * safe. Until assay_tags_start() with ASSAY_TAGS_START=off nothing is taken.
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
/* Below the red zone: what interrupts the flow of assembly may not know of it. */
#define ASSAY_TAG_EMIT_(tag)                                                                       \
	lea -128(%rsp), %rsp;                                                                      \
	push %rax;                                                                                 \
	mov $(tag), %eax;                                                                          \
	call *assay_tags_event_kept@GOTPCREL(%rip);                                                \
	pop %rax;                                                                                  \
	lea 128(%rsp), %rsp
#endif
/* clang-format on */

/* A line of the names file; TAG is to be the number, not its name. */
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

/* What the plugin looks for: the first words of the text are its mark. */
#define ASSAY_TAG(name) __asm__ __volatile__("# assay tag " name)

#ifdef __cplusplus
extern "C" {
#endif

void assay_tags_start(void);
void assay_tags_stop(void);

/* An event of this thread, now: for hooks of one's own, and for other compilers. */
void assay_tags_event(unsigned tag);

#ifdef __cplusplus
}
#endif
#endif

#endif
