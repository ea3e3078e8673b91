/* SPDX-License-Identifier: MIT */
/*
 * tags_wire: the format of event tags, in shared memory and in a recording (CTF 1.8).
 * docs/FORMAT.md describes each field.
 *
 * An event is one 64-bit word: the tag in bits 0..23, the low 40 bits of the clock in bits 24..63.
 * An even tag is a function's entry, the next odd tag its exit; inline tags have no pair. A word of
 * 0 is not an event but a slot that was reserved and is not written (it may never be).
 *
 * Events are in packets of ASSAY_TAGS_PACKET bytes. All events of a packet are of one thread, in
 * order of time, and within one turn of the 40-bit clock; the packet's header has the full time. A
 * packet is a valid CTF packet, except that the program that copies it into a trace sets its
 * stream_id.
 *
 * The file of a process (PID-BIRTH-N.tags) contains: this header; rings, one for each running
 * thread; a state word for each packet; text, the names of tags in the format of a names file;
 * packets. Only its thread writes to a ring. Readers map the file and read at any time. All values
 * have the machine's byte order (little-endian).
 *
 * For C, C++ and assembly; assembly does not see the structures.
 */
#ifndef ASSAY_TAGS_WIRE_H
#define ASSAY_TAGS_WIRE_H

#define ASSAY_TAGS_MAGIC "ASAYTAGS"
#define ASSAY_TAGS_VERSION 1

#define ASSAY_TAGS_TAG_BITS 24
#define ASSAY_TAGS_TAG_MASK 0xffffffull
#define ASSAY_TAGS_CLOCK_BITS 40
#define ASSAY_TAGS_CLOCK_MASK 0xffffffffffull /* mask of the clock before it is shifted */

#define ASSAY_TAG_FIRST 2u       /* the first assigned tag, unless a names file says otherwise */
#define ASSAY_TAG_LAST 0xffefffu /* the last one */
/* From here on: events of assay itself. No names file assigns these tags. */
#define ASSAY_TAG_RESERVED 0xfff000u
#define ASSAY_TAG_SWITCH_BLOCKED 0xfffff0u   /* the thread was switched out and waits */
#define ASSAY_TAG_SWITCH_PREEMPTED 0xfffff2u /* switched out while runnable */
#define ASSAY_TAG_SWITCH_IN 0xfffff4u        /* switched in */
/* From the previous word to this one the device itself was running: it started a packet. */
#define ASSAY_TAG_OWN 0xfffff6u
/*
 * Devices, after the entry of a `!` function: one byte, in the lowest bits, of what follows. It is
 * the number of the process that is switched out (4 bytes, little-endian), that of the process
 * which continues (4 bytes), and the name of that process, ended by a 0. In a guest's code this tag
 * is a trigger; the next three instructions read the two numbers and the name (see
 * plugin/gcc/linux.cc).
 */
#define ASSAY_TAG_PROCESS 0xfff100u
#define ASSAY_TAG_PROCESS_LAST 0xfff1ffu
#define ASSAY_TAGS_PROCESS_NAME 16u /* maximum number of bytes, with the 0 */
/* A slot whose trigger had to use another slot. No event is lost. Readers skip it. */
#define ASSAY_TAG_VOID 0xfffffeu

#define ASSAY_TAGS_FILES_MOST 16 /* files in the default directory */
#define ASSAY_TAGS_PACKET 16384u /* bytes */
#define ASSAY_TAGS_SLACK 256u    /* unused bytes at the end of a packet */
#define ASSAY_TAGS_PAGE 4096u
#define ASSAY_TAGS_RINGS 16384u     /* maximum number of concurrent threads */
#define ASSAY_TAGS_TEXT (64u << 20) /* bytes reserved for names; the file is sparse */

/* Bytes of slots in a packet. */
#define ASSAY_TAGS_ROOM 16000
/*
 * With all zeros in assay_tags_self, no reserved slot passes the room check (see the sequence
 * below), however often triggers run.
 */
#define ASSAY_TAGS_BIAS 0x40000000

#define ASSAY_CTF_MAGIC 0xC1FC1FC1u

/* packet.flags */
#define ASSAY_TAGS_GAP 1u    /* the calls open before are unknown (lost events, or capture off) */
#define ASSAY_TAGS_FORKED 2u /* first packet of a fork's child: functions are open */

#ifndef __ASSEMBLER__

#include "assay/wire.h"

#include <stdint.h>

#ifdef __cplusplus
#define ASSAY_TAGS_ASSERT static_assert
#else
#define ASSAY_TAGS_ASSERT _Static_assert
#endif

/*
 * The start of a packet: 128 bytes, CTF's packet header (8 bytes) and packet context (the rest).
 * Words follow up to content_bits. In memory, while the packet is open, content_bits is 0, and
 * words are valid up to the last one that is not 0.
 */
struct assay_tags_packet {
	uint32_t magic, stream_id; /* in memory stream_id is 0 */
	uint64_t begin, end; /* ticks, full width: begin: first event or earlier; end: last event */
	uint64_t content_bits, packet_bits; /* CTF counts bits from the start of the packet */
	uint64_t discarded;                 /* events of this ring discarded so far */
	uint64_t sequence;                  /* number of the packet in its ring, from 0 */
	int32_t pid, tid;
	uint32_t flags, unused;
	char thread[16]; /* the thread's name when the packet was started, 0-padded */
	char process[16];
	uint64_t reserved[2];
	uint64_t zero; /* directly before the first word: lower than any event */
};

enum assay_tags_mode {
	ASSAY_TAGS_STOP = 1,   /* recording ends when it is full */
	ASSAY_TAGS_WRAP = 2,   /* flight recorder: the oldest packet is reused */
	ASSAY_TAGS_STREAM = 3, /* packets are drained and reused */
};

/* A packet's state word. */
enum assay_tags_state {
	ASSAY_TAGS_FREE = 0,
	ASSAY_TAGS_OPEN = 1,   /* a thread writes into it */
	ASSAY_TAGS_CLOSED = 2, /* complete; STREAM: the drainer sets it to FREE */
	/* Drained, with an empty slot that its trigger may still write. FREE after some seconds. */
	ASSAY_TAGS_RETIRED = 3,
};

/* header.flags */
#define ASSAY_TAGS_FULL 1u       /* STOP: events were discarded for lack of room */
#define ASSAY_TAGS_NO_RINGS 2u   /* more threads than rings: events were discarded */
#define ASSAY_TAGS_NAMES_FULL 4u /* names did not fit */
#define ASSAY_TAGS_EXITED 8u     /* the process ended normally; not set after a kill */
/* STREAM: a thread that finds no free packet waits while `drained` is recent. */
#define ASSAY_TAGS_WAIT 16u

/* Capture was off in [off, on), ticks. on 0: it is still off. */
struct assay_tags_off {
	uint64_t off, on;
};

#define ASSAY_TAGS_OFFS 120u

struct assay_tags_header { /* one page, 4096 bytes */
	char magic[8];
	uint32_t version, header_bytes;
	uint32_t mode;    /* enum assay_tags_mode */
	uint32_t capture; /* 1: events are recorded; other processes may write it */
	uint32_t flags, packet_bytes;
	uint64_t rings_offset, states_offset, text_offset, packets_offset; /* in the file */
	uint64_t packet_count;                                             /* capacity in packets */
	uint64_t next; /* packets taken so far; the index of the next is this modulo packet_count */
	uint64_t ring_count; /* rings used so far */
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
	 * A thread with an open packet writes until the packet is full, even while capture is off;
	 * readers recognize these events by their time. Entry i is at index i modulo
	 * ASSAY_TAGS_OFFS.
	 */
	uint64_t off_count; /* number of entries so far */
	struct assay_tags_off offs[ASSAY_TAGS_OFFS];
	/*
	 * STREAM: ticks of the drainer's latest visit, which the drainer writes; initially the
	 * start of the process. 0: the drainer has left.
	 */
	uint64_t drained;
};

struct assay_tags_ring {      /* 128 bytes */
	int32_t tid;          /* 0: free; the next thread continues its stream */
	uint32_t packet;      /* index of its open packet + 1; 0: none */
	uint64_t sequence;    /* packets started */
	uint64_t discarded;   /* events discarded for lack of room */
	uint64_t overwritten; /* WRAP: packets of this ring that any ring reused */
	uint64_t waits;       /* pauses until a packet was free (ASSAY_TAGS_WAIT) */
	uint64_t waited;      /* ticks of all pauses */
	uint64_t unused[10];
};

/*
 * Data of the triggers, in private memory that is zeroed in a fork's child. The inline
 * sequence for x86-64, tag T, `self` = struct assay_tags_self * in the
 * thread-local variable assay_tags_self (initial-exec):
 *
 *	mov  assay_tags_self@gottpoff(%rip), S
 *	mov  %fs:(S), S
 *	lfence				the clock is read after the work before it
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
	uint64_t base; /* first slot's address - ASSAY_TAGS_BIAS; 0: no open packet */
	uint64_t turn; /* bits 40..63 of the clock for the packet's events */
};

ASSAY_TAGS_ASSERT(sizeof(struct assay_tags_packet) == 128, "a packet's header is 128 bytes");
ASSAY_TAGS_ASSERT(ASSAY_TAGS_ROOM ==
                          ASSAY_TAGS_PACKET - ASSAY_TAGS_SLACK - sizeof(struct assay_tags_packet),
                  "the room is what is left");
ASSAY_TAGS_ASSERT(sizeof(struct assay_tags_ring) == 128, "a ring is 128 bytes");
ASSAY_TAGS_ASSERT(sizeof(struct assay_tags_header) <= ASSAY_TAGS_PAGE, "the header is a page");

#endif /* __ASSEMBLER__ */

#endif
