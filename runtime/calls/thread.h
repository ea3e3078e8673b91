/* SPDX-License-Identifier: MIT */
/*
 * thread: what the hooks keep of the running thread, and the table they write.
 *
 *	calls_thread   one page, wiped in a forked child: zeros there mean that
 *	               the thread is to begin anew.
 *	calls_home     behind it, kept over a fork: the stacks of open calls and
 *	               the hash from (parent, function) to node.
 *	calls_stack    one stack of the program (the thread's own, a signal's, a
 *	               coroutine's), with a frame for each open call. sp falls from
 *	               bottom to top, except within one physical frame (stack.c).
 *	               frames[0] is a mark: its node is the path in which the stack
 *	               was entered.
 *
 * Only the thread itself uses them, its signal handlers included: a hook that is
 * interrupted by hooks finds all as it was, but for sums that grew (slow.c tells
 * how). Uses: calls/port.h.
 */
#ifndef ASSAY_RUNTIME_CALLS_THREAD_H
#define ASSAY_RUNTIME_CALLS_THREAD_H

#include "calls/port.h"

#define CALLS_LIKELY(x) __builtin_expect(!!(x), 1)
#define CALLS_UNLIKELY(x) __builtin_expect(!!(x), 0)

enum calls_state {
	CALLS_UNBORN = 0, /* no event yet, or wiped by a fork */
	CALLS_READY = 1,
	CALLS_SAMPLE = 2, /* ready; the next hook measures itself */
	CALLS_BUSY = 3,   /* in a hook */
	CALLS_OFF = 4,    /* no table: events are counted as lost */
	CALLS_JUMPED = 5, /* calls may have ended without their exits: look closely */
};

struct calls_frame {
	struct assay_calls_node *node;
	uintptr_t sp;   /* when the function's entry was told; marks: 0, but a thread's first */
	int64_t net;    /* ticks of this call so far, own cost taken off */
	uintptr_t ra;   /* where in the code the entry was told; marks: CALLS_MARK */
	uintptr_t site; /* the function's return address; marks: the top frame below, or 0 */
};

/* No return address: tells a mark from a call. */
#define CALLS_MARK ((uintptr_t)1)
/* A frame of (other): `site` is the function that opened it, `ra` how often it is open within. */

#define CALLS_STACKS 1024

struct calls_stack {
	uintptr_t low, high; /* bounds of addresses; 0: free */
	struct calls_frame *frames, *top;
	uint64_t used; /* when it was last switched to, by home.turn */
	bool signal;   /* a signal's: left by a jump, nothing on it goes on */
	/*
	 * A stack that lies inside a frame of another one, `outer`: the open call that has it in
	 * its frame, and the sp of that call. NULL: it lies in no frame.
	 */
	uint32_t outer;
	struct calls_frame *holder;
	uintptr_t holder_sp;
};

struct calls_hash {
	uint64_t mask, count;
	uint32_t slots[]; /* node ids, 0: free */
};

struct calls_home {
	struct calls_frame *top; /* of the current stack */
	struct calls_hash *hash;
	uint32_t node_next, node_end; /* units of the chunk that nodes are taken from */
	uint32_t wait_next, wait_end;
	uint64_t chunk_bytes; /* of the latest chunk of nodes */
	bool is_reserve;      /* that chunk is of the table's last part, which is for (other) */
	uint32_t chunks;      /* unit of this thread's latest chunk header, a list by unused[0] */
	uint32_t stack;       /* the current one */
	uint32_t stack_count;
	uint32_t held; /* stacks that have a holder */
	bool jumped;   /* a handler may have left by a jump since a hook was interrupted */
	/* Where too many hooks were interrupted: the top, and the sp of the event that found it. */
	struct calls_frame *flood;
	uintptr_t flood_sp;
	uint64_t turn;
	struct calls_thread *next_free;
	struct calls_stack stacks[CALLS_STACKS];
};

struct calls_thread {
	uint32_t state; /* enum calls_state */
	struct assay_calls_thread *record;
	volatile uint64_t *watch; /* changes when the thread is switched out or in */
	uint64_t seen;
	uintptr_t low;        /* of the current stack */
	int64_t inner, outer; /* ticks that a call costs, as calibrated */
	/* the port's own */
	uint64_t port[48];
};

#define CALLS_THREAD_BYTES 4096

static inline struct calls_home *calls_home(struct calls_thread *t)
{
	return (struct calls_home *)((char *)t + CALLS_THREAD_BYTES);
}

static inline struct calls_stack *calls_stack(struct calls_thread *t)
{
	return &calls_home(t)->stacks[calls_home(t)->stack];
}

/* The process's table: `base` stays the same over a fork. */
struct calls_table {
	char *base;
	struct assay_calls_header *header; /* at base */
	uint32_t depth_limit;
};

extern struct calls_table calls_table __attribute__((visibility("hidden")));
extern struct calls_thread calls_unborn __attribute__((visibility("hidden")));
extern struct calls_thread calls_off __attribute__((visibility("hidden")));

static inline struct assay_calls_node *calls_node(uint32_t id)
{
	return (struct assay_calls_node *)(calls_table.base + (uint64_t)id * ASSAY_CALLS_UNIT);
}

static inline uint32_t calls_id(const void *unit)
{
	return (uint32_t)((uint64_t)((const char *)unit - calls_table.base) / ASSAY_CALLS_UNIT);
}

/* Which of a node's cached children a function may be. */
static inline unsigned calls_way(uint64_t function)
{
	return (uint64_t)((uint32_t)function * 0x9e3779b1u) * 3 >> 32;
}

/*
 * Adds as one instruction, so that a signal handler's hooks come before or after
 * it and never within. Readers of other processes see whole values.
 */
static inline void calls_add(uint64_t *sum, uint64_t value)
{
#if defined(__x86_64__)
	__asm__ volatile("addq %1, %0" : "+m"(*sum) : "er"(value) : "cc");
#else
	__atomic_fetch_add(sum, value, __ATOMIC_RELAXED);
#endif
}

/* The same, and gives what was there before. */
static inline uint64_t calls_add_fetch_old(uint64_t *sum, uint64_t value)
{
#if defined(__x86_64__)
	__asm__ volatile("xaddq %0, %1" : "+r"(value), "+m"(*sum) : : "cc");
	return value;
#else
	return __atomic_fetch_add(sum, value, __ATOMIC_RELAXED);
#endif
}

/* Keeps the compiler from moving memory accesses over this place. */
static inline void calls_barrier(void)
{
	__asm__ volatile("" : : : "memory");
}

/* table.c */
/* Reserves a chunk for a thread's record (0: the process's); its unit, 0: no room. */
uint32_t calls_chunk(uint32_t kind, uint32_t thread, uint64_t bytes);
/* Bytes of the table that may be used for all but images. */
uint64_t calls_room(void);
void calls_flag(uint32_t flag);

/* tree.c */
bool calls_tree_begin(struct calls_thread *t); /* hash and root; false: no room */
/* The root's waiting gets its place, as the last resort of others; false: no room. */
bool calls_tree_begin_waits(struct calls_thread *t);
struct assay_calls_node *calls_tree_find(struct calls_thread *t, struct assay_calls_node *parent,
                                         uint64_t function);
/* Finds or makes it, or gives the nearest (other). Signals are held. Never NULL. */
struct assay_calls_node *calls_tree_child(struct calls_thread *t, struct assay_calls_node *parent,
                                          uint64_t function);
/* The waiting of a node; where there is no room, of the nearest node above. Never NULL. */
struct assay_calls_wait *calls_tree_wait(struct calls_thread *t, struct assay_calls_node *node);
void calls_tree_restart(struct calls_thread *t); /* min and max of all its nodes */

/* stack.c */
bool calls_stacks_begin(struct calls_thread *t, uintptr_t sp);
/* Makes the stack that sp lies in the current one; false: it is not known. Signals are held. */
bool calls_stack_select(struct calls_thread *t, uintptr_t sp, bool may_be_new);
/* The memory lies inside a stack of this thread. */
bool calls_stack_encloses(struct calls_thread *t, uintptr_t low, uintptr_t high);
/* Memory inside the frame of an open call becomes a stack of its own. Signals are held. */
void calls_stack_hold(struct calls_thread *t, uintptr_t low, uintptr_t high);
/* Of the stacks, the current one alone goes on. */
void calls_stack_alone(struct calls_thread *t);
/* The current stack is the one that the top frame is in, whatever handlers ran on meanwhile. */
void calls_stack_right(struct calls_thread *t);
/*
 * A hook was interrupted, and this is the handler's event at `sp`. False: there is no room for a
 * mark, or handlers interrupt each other's hooks faster than they return.
 */
bool calls_stack_may_mark(struct calls_thread *t, uintptr_t sp);
/* A mark above the interrupted hook's frame; signals are held. True: a handler jumped since. */
bool calls_stack_mark(struct calls_thread *t);
/* Closes the frames over `to` without their exits. */
void calls_stack_drop(struct calls_thread *t, struct calls_frame *to);
/* `call`, entered at the top frame's sp, is of a function that was compiled into it. */
bool calls_inlined(const struct calls_frame *top, const struct calls_frame *call);
/* A call has ended. */
void calls_frame_end(struct calls_thread *t, struct calls_frame *f);
/* The next open call below; NULL: that was the stack's bottom. */
struct calls_frame *calls_frame_below(struct calls_thread *t, struct calls_frame *f);
static inline bool calls_is_mark(const struct calls_frame *f)
{
	return f->ra == CALLS_MARK;
}
/*
 * The frame that `call` belongs above; the frames over it are dead. `jumped`: calls may have
 * ended without their exits, so that a dead frame may lie higher than what was called since.
 */
struct calls_frame *calls_stack_above(struct calls_thread *t, const struct calls_frame *call,
                                      uint64_t function, bool jumped);
/* The frame that an exit ends, whose sp, ra and site are in `ending`; NULL: none. */
struct calls_frame *calls_stack_ended(struct calls_thread *t, uint64_t function,
                                      const struct calls_frame *ending, bool jumped);

/* slow.c */
/* The state is not READY. */
void calls_unready_enter(uint64_t function, uintptr_t site, uintptr_t sp, uintptr_t ra);
void calls_unready_exit(uint64_t function, uintptr_t site, uintptr_t sp, uintptr_t ra);
/* An entry that is not plainly below its caller; top[1] as in the next. */
void calls_edge_enter(uint64_t function, struct calls_frame *top, uint64_t now);
/* An event that the fast ways could not take; top[1] has the new call's sp, ra and site. */
void calls_slow_enter(uint64_t function, struct calls_frame *top, uint64_t now);
void calls_slow_exit(uint64_t function, struct calls_frame *top, uint64_t now);
/* An entry whose time is charged, of a function that the node on top has not in its cache. */
void calls_miss_enter(uint64_t function, struct calls_frame *top, uint64_t now);
/* Charges the time since the last event to the function on top, waiting taken out; *now moves on.
 */
void calls_settle(struct calls_thread *t, uint64_t *now);

/* birth.c */
/* Makes the running thread ready, or off. Signals are held. */
struct calls_thread *calls_birth(uintptr_t sp);

/* cost.c: measures the hooks with the running thread's tree, which is empty afterwards. */
void calls_calibrate(struct calls_thread *t);

#endif
