/* SPDX-License-Identifier: MIT */
/*
 * tags_wire: event tags, as the runtime device keeps them in shared memory and
 * as a recording (CTF 1.8) holds them. docs/FORMAT.md tells it field by field.
 *
 * An event is one 64-bit word: the tag in bits 0..23, the low 40 bits of the
 * clock in bits 24..63. An even tag is a function's entry, the next odd one its
 * exit; inline tags stand alone. A word of 0 is no event: a slot that was
 * reserved and is not (or will never be) written.
 *
 * Events lie in packets of ASSAY_TAGS_PACKET bytes, each one thread's, its times
 * rising and within one turn of the 40-bit clock; the packet's header tells the
 * whole time. A packet is a CTF packet as it is, but for its stream_id, which
 * whoever copies it into a trace gives.
 *
 * The file of a process (PID-BIRTH-N.tags): this header; rings, one a running
 * thread; a state word per packet; text, the names of tags as in a names file;
 * packets. One writer a ring: its thread. Readers map the file and read at any
 * moment. Everything is of the machine's own byte order (little-endian).
 *
 * For C, C++ and, but for the structures, assembly.
 */
#ifndef ASSAY_TAGS_WIRE_H
#define ASSAY_TAGS_WIRE_H

#define ASSAY_TAGS_MAGIC "ASAYTAGS"
#define ASSAY_TAGS_VERSION 1

#define ASSAY_TAGS_TAG_BITS 24
#define ASSAY_TAGS_TAG_MASK 0xffffffull
#define ASSAY_TAGS_CLOCK_BITS 40
#define ASSAY_TAGS_CLOCK_MASK 0xffffffffffull /* of the clock, before it is shifted */

#define ASSAY_TAG_FIRST 2u       /* the first that is given out, unless a names file says else */
#define ASSAY_TAG_LAST 0xffefffu /* the last one */
/* Events of assay's own, from here on; no names file gives them. */
#define ASSAY_TAG_RESERVED 0xfff000u
#define ASSAY_TAG_SWITCH_BLOCKED 0xfffff0u   /* the thread was switched out: it waits */
#define ASSAY_TAG_SWITCH_PREEMPTED 0xfffff2u /* switched out, and could have gone on */
#define ASSAY_TAG_SWITCH_IN 0xfffff4u        /* it goes on */
/* From the word before it to this one the device itself was at work: a packet was begun. */
#define ASSAY_TAG_OWN 0xfffff6u
/* No event, and none lost: a slot whose trigger had to take another one. Readers skip it. */
#define ASSAY_TAG_VOID 0xfffffeu

#define ASSAY_TAGS_PACKET 16384u /* bytes */
#define ASSAY_TAGS_SLACK 256u    /* bytes at a packet's end that stay free */
#define ASSAY_TAGS_PAGE 4096u
#define ASSAY_TAGS_RINGS 16384u     /* threads at a time */
#define ASSAY_TAGS_TEXT (64u << 20) /* bytes reserved for names; the file is sparse */

/* Bytes of slots in a packet. */
#define ASSAY_TAGS_ROOM 16000
/* So that of zeros no slot is in the room, however often it was asked for: see the sequence. */
#define ASSAY_TAGS_BIAS 0x40000000

#define ASSAY_CTF_MAGIC 0xC1FC1FC1u

/* packet.flags */
#define ASSAY_TAGS_GAP                                                                             \
	1u                   /* what was open before it is not known: events are missing, or       \
	                        capture was off */
#define ASSAY_TAGS_FORKED 2u /* the first of a fork's child: functions are open */

#ifndef __ASSEMBLER__

#include "assay/wire.h"

#include <stdint.h>

#ifdef __cplusplus
#define ASSAY_TAGS_ASSERT static_assert
#else
#define ASSAY_TAGS_ASSERT _Static_assert
#endif

/*
 * A packet begins with this: 128 bytes, CTF's packet header (8 bytes) and packet
 * context (the rest). Then words, to content_bits; in memory, while the packet is
 * open, content_bits is 0 and words are valid until the last that is not 0.
 */
struct assay_tags_packet {
	uint32_t magic, stream_id; /* in memory stream_id is 0 */
	uint64_t begin, end;       /* ticks, whole: of the first event or earlier; of the last */
	uint64_t content_bits, packet_bits; /* CTF counts bits, from the packet's begin */
	uint64_t discarded;                 /* events of this ring that found no room, up to here */
	uint64_t sequence;                  /* of the ring's packets, from 0 */
	int32_t pid, tid;
	uint32_t flags, unused;
	char thread[16]; /* its name when the packet was begun, 0-padded */
	char process[16];
	uint64_t reserved[2];
	uint64_t zero; /* right before the first word: less than any */
};

enum assay_tags_mode {
	ASSAY_TAGS_STOP = 1,   /* full is the end */
	ASSAY_TAGS_WRAP = 2,   /* flight recorder: the oldest packet is taken */
	ASSAY_TAGS_STREAM = 3, /* packets are drained, and come back */
};

/* A packet's state word. */
enum assay_tags_state {
	ASSAY_TAGS_FREE = 0,
	ASSAY_TAGS_OPEN = 1,   /* a thread writes into it */
	ASSAY_TAGS_CLOSED = 2, /* whole; STREAM: whoever drains it sets it to FREE */
	/* Drained, with a slot that is still empty: its trigger may yet write. Free after seconds.
	 */
	ASSAY_TAGS_RETIRED = 3,
};

/* header.flags */
#define ASSAY_TAGS_FULL 1u /* STOP: events were discarded, for there was no room */
#define ASSAY_TAGS_NO_RINGS                                                                        \
	2u                       /* more threads at a time than rings: their events were discarded \
	                          */
#define ASSAY_TAGS_NAMES_FULL 4u /* names did not fit */
#define ASSAY_TAGS_EXITED 8u     /* the process said that it ends; what was killed did not */

/* Capture was off in [off, on): ticks. on 0: it still is. */
struct assay_tags_off {
	uint64_t off, on;
};

#define ASSAY_TAGS_OFFS 120u

struct assay_tags_header { /* one page, 4096 bytes */
	char magic[8];
	uint32_t version, header_bytes;
	uint32_t mode;    /* enum assay_tags_mode */
	uint32_t capture; /* 1: events are taken; others may write it */
	uint32_t flags, packet_bytes;
	uint64_t rings_offset, states_offset, text_offset, packets_offset; /* in the file */
	uint64_t packet_count;                                             /* room for so many */
	uint64_t next;       /* packets handed out so far: a sequence, modulo packet_count */
	uint64_t ring_count; /* rings ever taken into use */
	uint64_t text_bytes; /* names written so far */
	uint64_t discarded;  /* events without a ring */
	int32_t pid, parent;
	uint32_t uid, unused;
	uint64_t birth;    /* start time in /proc/PID/stat, clock ticks since boot */
	uint64_t start_ns; /* CLOCK_REALTIME at `first` */
	struct assay_calls_moment first, latest; /* the clock's rate lies between them */
	uint64_t end_ticks;                      /* 0: not ended */
	char name[64];
	char command[512];
	/*
	 * A busy thread writes on until its packet is full, so that what it wrote while capture
	 * was off is told by its time. The i-th time is at i modulo ASSAY_TAGS_OFFS.
	 */
	uint64_t off_count; /* times ever */
	struct assay_tags_off offs[ASSAY_TAGS_OFFS];
};

struct assay_tags_ring {      /* 128 bytes */
	int32_t tid;          /* 0: free; its stream goes on with the next thread */
	uint32_t packet;      /* index of its open packet + 1; 0: none */
	uint64_t sequence;    /* packets begun */
	uint64_t discarded;   /* events that found no room */
	uint64_t overwritten; /* WRAP: packets of this ring that were taken by others or itself */
	uint64_t unused[12];
};

/*
 * What the triggers touch; private memory, wiped in a fork's child. The inline
 * sequence for x86-64, tag T, `self` = struct assay_tags_self * in the
 * thread-local variable assay_tags_self (initial-exec):
 *
 *	mov  assay_tags_self@gottpoff(%rip), S
 *	mov  %fs:(S), S
 *	rdtsc
 *	shl  $32, %rdx
 *	or   %rdx, %rax
 *	mov  $8, R			reserves the slot before it knows anything: one
 *	xadd R, (S)			instruction, so that a signal's own events get others
 *	lea  -ASSAY_TAGS_BIAS(R), %rdx
 *	sub  8(S), %rdx			not in the open packet's room (it is full; or off, or
 *	cmp  $ASSAY_TAGS_ROOM, %rdx	no thread yet, which is zeros; or a signal has changed
 *	jae  slow			the packet since): slow
 *	mov  %rax, %rdx
 *	shr  $40, %rdx
 *	cmp  %rdx, 16(S)		the clock has gone round: slow, which begins a packet
 *	jne  slow
 *	shl  $24, %rax
 *	or   $T, %rax
 *	cmp  -8(R), %rax		a signal's events came between rdtsc and xadd: slow,
 *	jb   slow			which gives the slot the time of the one before
 *	mov  %rax, (R)
 *    back:
 *
 * slow, out of line (no stack is touched: the red zone may be in use; PLT stubs
 * would touch it):
 *
 *	mov  R, %rdx			the slot
 *	lea  1f(%rip), %rax
 *	jmp  *assay_tags_slow@GOTPCREL(%rip)
 *    1: .long T, back - 1b		assay_tags_slow goes on at 1b + its second long
 *
 * %rax, %rdx, R, S and the flags are the sequence's; assay_tags_slow keeps all else.
 */
struct assay_tags_self {
	uint64_t at;   /* address of the next slot */
	uint64_t base; /* of the packet's first slot, less ASSAY_TAGS_BIAS; 0: none is open */
	uint64_t turn; /* bits 40..63 of the clock, for which the packet is good */
};

ASSAY_TAGS_ASSERT(sizeof(struct assay_tags_packet) == 128, "a packet's header is 128 bytes");
ASSAY_TAGS_ASSERT(ASSAY_TAGS_ROOM ==
                          ASSAY_TAGS_PACKET - ASSAY_TAGS_SLACK - sizeof(struct assay_tags_packet),
                  "the room is what is left");
ASSAY_TAGS_ASSERT(sizeof(struct assay_tags_ring) == 128, "a ring is 128 bytes");
ASSAY_TAGS_ASSERT(sizeof(struct assay_tags_header) <= ASSAY_TAGS_PAGE, "the header is a page");

#endif /* __ASSEMBLER__ */

#endif
