/* SPDX-License-Identifier: MIT */
/*
 * thread: the hooks' data for the running thread, and the table that they write.
 *
 *	calls_thread   one page. A fork clears it in the child: zeros there mean that
 *	               the thread has to start again.
 *	calls_home     follows calls_thread in memory and is kept over a fork: the
 *	               stacks of open calls, and the hash from (parent, function) to node.
 *	calls_stack    one stack of the program (the thread's own, a signal stack or a
 *	               coroutine's), with one frame for each open call. sp decreases from
 *	               bottom to top, except within one physical frame (stack.c).
 *	               frames[0] is a mark: its node is the path in which the stack
 *	               was entered.
 *
 * Only the thread itself and its signal handlers use them. When a handler's hooks return to a hook
 * that they interrupted, all data has its earlier values, except sums, which may have grown
 * (slow.c). Uses: calls/port.h.
 */
#ifndef ASSAY_RUNTIME_CALLS_THREAD_H
#define ASSAY_RUNTIME_CALLS_THREAD_H

#include "calls/port.h"

#define CALLS_LIKELY(x) __builtin_expect(!!(x), 1)
#define CALLS_UNLIKELY(x) __builtin_expect(!!(x), 0)

enum thread_counting {
	CALLS_UNBORN = 0, /* no event yet, or wiped by a fork */
	CALLS_READY = 1,  /* ready; the next hook counts and does not read the clock */
	CALLS_SAMPLE = 2, /* as CALLS_TIMED; the next hook also measures itself */
	CALLS_BUSY = 3,   /* in a hook */
	CALLS_OFF = 4,    /* no table: events are counted as lost */
	CALLS_JUMPED = 5, /* calls may have ended without their exit hooks: the next event checks */
	CALLS_TIMED = 6,  /* ready; the next hook reads the clock */
};

/*
 * The net of a frame: UNTIMED if its call is not timed, else it starts at TIMED. Sums of durations
 * that are added leave an untimed frame's below half of TIMED. UNTIMED is 0, which an instruction
 * stores without a register.
 */
#define CALLS_UNTIMED 0
#define CALLS_NET_TIMED (INT64_MAX / 2)

struct calls_frame {
	struct assay_calls_node *node;
	uintptr_t sp;   /* at the entry event; marks: 0, except a thread's first mark */
	int64_t net;    /* ticks of this call so far, without the cost of the hooks (calls_net()) */
	uintptr_t ra;   /* code address of the entry event; marks: CALLS_MARK */
	uintptr_t site; /* return address; marks: address of the top frame below, or 0 */
};

/* The value of `ra` in a mark. No return address has this value. */
#define CALLS_MARK ((uintptr_t)1)
/*
 * In a frame of (other), `site` is the function that opened it, and `ra` counts its open recursive
 * calls.
 */

#define CALLS_STACKS 1024

struct calls_stack {
	uintptr_t low, high; /* bounds of addresses; 0: free */
	struct calls_frame *frames, *top;
	uint64_t used; /* value of home.turn at the last switch to this stack */
	bool signal;   /* a signal stack: after a jump off it, no call on it continues */
	/*
	 * The stack lies in a frame of the stack with index `outer`: `holder` is the open call
	 * whose frame contains it, and `holder_sp` is that call's sp. NULL: the stack lies in no
	 * frame.
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
	uint32_t node_next, node_end; /* next free unit and end of the current chunk of nodes */
	uint32_t wait_next, wait_end;
	uint32_t times_next, times_end, times_items;
	uint64_t chunk_bytes; /* of the latest chunk of nodes */
	bool is_reserve; /* that chunk lies in the part of the table that is reserved for (other) */
	uint32_t chunks; /* unit of the latest chunk header; unused[0]: the one before */
	uint32_t stack;  /* the current one */
	uint32_t stack_count;
	uint32_t held; /* number of stacks that have a holder */
	bool jumped;   /* a handler may have jumped out of a hook that it interrupted */
	/*
	 * Set when handlers interrupted too many hooks: the top frame and the event's sp at that
	 * time.
	 */
	struct calls_frame *flood;
	uintptr_t flood_sp;
	uint64_t turn;
	struct calls_thread *next_free;
	struct calls_stack stacks[CALLS_STACKS];
};

struct calls_thread {
	uint32_t state; /* enum thread_counting */
	struct assay_calls_thread *record;
	volatile uint64_t *watch; /* changes when the thread is switched out or in */
	uint64_t seen;
	/*
	 * Changes when the thread's CPU time was sampled. While samples are taken, it also changes
	 * when the thread is switched out or in.
	 */
	volatile uint64_t *sampled;
	uint64_t sampled_seen;
	uintptr_t low;        /* of the current stack */
	int32_t until_window; /* calls in state READY before the next one that begins a window */
	uint32_t random;      /* its state */
	int64_t inner, outer; /* calibrated cost of a call, ticks */
	uint32_t rest;        /* the state between events: CALLS_READY or CALLS_TIMED */
	/* A mask. All bits set: times between events are charged to nodes. 0: samples are charged
	 * instead. */
	uint64_t charge;
	/* Only of threads whose CPU time is sampled (window.c): */
	bool samples;
	uint32_t window_events;     /* of the window */
	uint32_t window;            /* events that remain in the window */
	struct calls_frame *chosen; /* the call that began the window, while it can be timed */
	uint64_t window_from;       /* ticks: begin of the window, or the latest change of credit */
	int64_t credit;             /* ticks */
	uint32_t discarded;         /* samples since the clock is charged */
	uint64_t inner_cost, outer_cost; /* subtracted from the nodes at each call */
	/* used by the port only */
	uint64_t port[48];
};

#define CALLS_THREAD_BYTES 4096

static inline struct calls_home *calls_home(struct calls_thread *t)
{
	return (struct calls_home *)((char *)t + CALLS_THREAD_BYTES);
}

/* True between two events, except if calls may have ended without their exit hooks. */
static inline bool calls_rests(const struct calls_thread *t)
{
	return t->state == CALLS_READY || t->state == CALLS_TIMED || t->state == CALLS_SAMPLE;
}

/* A sample was taken, or the thread was switched while samples are taken. */
static inline bool calls_sampled(const struct calls_thread *t)
{
	return *t->sampled != t->sampled_seen;
}

/* A word changed: the thread was switched, or a sample was taken. */
static inline bool calls_disturbed(const struct calls_thread *t)
{
	return *t->watch != t->seen || calls_sampled(t);
}

static inline bool calls_is_timed(const struct calls_frame *f)
{
	return f->net > CALLS_NET_TIMED / 2;
}

/* The net of a timed call so far. */
static inline int64_t calls_net(const struct calls_frame *f)
{
	return f->net - CALLS_NET_TIMED;
}

/* The net with which a call starts. */
static inline int64_t calls_net_begin(const struct calls_thread *t)
{
	return t->rest == CALLS_TIMED ? CALLS_NET_TIMED : CALLS_UNTIMED;
}

static inline struct calls_stack *calls_stack(struct calls_thread *t)
{
	return &calls_home(t)->stacks[calls_home(t)->stack];
}

/* The process's table. `base` does not change over a fork. */
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

/* The index in child[] under which a node caches this function. */
static inline unsigned calls_way(uint64_t function)
{
	return (uint64_t)((uint32_t)function * 0x9e3779b1u) * 3 >> 32;
}

/*
 * Adds in one instruction, so that a signal handler's hooks run before or after the addition and
 * never in the middle of it. Readers in other processes see only complete values.
 */
static inline void calls_add(uint64_t *sum, uint64_t value)
{
#if defined(__x86_64__)
	__asm__ volatile("addq %1, %0" : "+m"(*sum) : "er"(value) : "cc");
#else
	__atomic_fetch_add(sum, value, __ATOMIC_RELAXED);
#endif
}

/* The same. Returns the value before the addition. */
static inline uint64_t calls_add_fetch_old(uint64_t *sum, uint64_t value)
{
#if defined(__x86_64__)
	__asm__ volatile("xaddq %0, %1" : "+r"(value), "+m"(*sum) : : "cc");
	return value;
#else
	return __atomic_fetch_add(sum, value, __ATOMIC_RELAXED);
#endif
}

/*
 * Compiler barrier: the compiler moves no memory access across it. It orders the hook against
 * signal handlers of the same thread, so no CPU barrier is necessary.
 */
static inline void calls_barrier(void)
{
	__asm__ volatile("" : : : "memory");
}

/* table.c */
/*
 * Reserves a chunk for the record at unit `thread` (0: for the process). Returns the chunk's unit,
 * or 0 if the table is full.
 */
uint32_t calls_chunk(uint32_t kind, uint32_t thread, uint64_t bytes);
/* Bytes of the table that chunks of all kinds except images may use. */
uint64_t calls_room(void);
void calls_flag(uint32_t flag);

/* tree.c */
bool calls_tree_begin(struct calls_thread *t); /* creates the hash and the root; false: no room */
/* Creates the wait record of the root. Nodes for which there is no room use it. False: no room. */
bool calls_tree_begin_waits(struct calls_thread *t);
struct assay_calls_node *calls_tree_find(struct calls_thread *t, struct assay_calls_node *parent,
                                         uint64_t function);
/*
 * Finds or creates the child node, or returns the nearest (other) if there is no room. Signals are
 * held. Never NULL.
 */
struct assay_calls_node *calls_tree_child(struct calls_thread *t, struct assay_calls_node *parent,
                                          uint64_t function);
/*
 * The wait record of a node. If there is no room, the record of the nearest node above that has
 * one. Never NULL.
 */
struct assay_calls_wait *calls_tree_wait(struct calls_thread *t, struct assay_calls_node *node);
void calls_tree_restart(struct calls_thread *t); /* resets min and max of all nodes of the thread */

/* stack.c */
bool calls_stacks_begin(struct calls_thread *t, uintptr_t sp);
/*
 * Makes the stack that contains sp the current one. False: the stack is not known. Signals are
 * held.
 */
bool calls_stack_select(struct calls_thread *t, uintptr_t sp, bool may_be_new);
/* True if a stack of this thread contains the memory. */
bool calls_stack_encloses(struct calls_thread *t, uintptr_t low, uintptr_t high);
/* Makes memory in the frame of an open call a separate stack. Signals are held. */
void calls_stack_hold(struct calls_thread *t, uintptr_t low, uintptr_t high);
/* Discards all stacks except the current one. */
void calls_stack_alone(struct calls_thread *t);
/*
 * Makes the stack that contains the top frame the current one, after signal handlers may have run
 * on other stacks.
 */
void calls_stack_right(struct calls_thread *t);
/*
 * Called at the handler's event at `sp` after a hook was interrupted. False: there is no room for a
 * mark, or handlers interrupt each other's hooks faster than they return.
 */
bool calls_stack_may_mark(struct calls_thread *t, uintptr_t sp);
/*
 * Pushes a mark above the frame of the interrupted hook. Signals are held. True: a handler has
 * jumped since the interruption.
 */
bool calls_stack_mark(struct calls_thread *t);
/* Closes the frames above `to` without exit events. */
void calls_stack_drop(struct calls_thread *t, struct calls_frame *to);
/*
 * True if the function of `call`, which was entered at the top frame's sp, was inlined into the top
 * frame's function.
 */
bool calls_inlined(const struct calls_frame *top, const struct calls_frame *call);
/*
 * Updates min and max of the node when the call of frame `f` ends. True: its duration was added to
 * those of the node, which takes longer than the rest of the hook.
 */
bool calls_frame_end(struct calls_thread *t, struct calls_frame *f);
/* The next frame below; NULL: `f` is the bottom of the stack. */
struct calls_frame *calls_frame_below(struct calls_thread *t, struct calls_frame *f);
static inline bool calls_is_mark(const struct calls_frame *f)
{
	return f->ra == CALLS_MARK;
}
/*
 * The frame that called `call`. The frames above it have ended. `jumped`: calls may have ended
 * without exit events, so that an ended frame may have a higher sp than a later call.
 */
struct calls_frame *calls_stack_above(struct calls_thread *t, const struct calls_frame *call,
                                      uint64_t function, bool jumped);
/*
 * The frame of the call that an exit event ends. `ending` has the event's sp, ra and site. NULL:
 * the call is not open.
 */
struct calls_frame *calls_stack_ended(struct calls_thread *t, uint64_t function,
                                      const struct calls_frame *ending, bool jumped);

/* window.c */
/* A thread starts: it may count without the clock, if the port can sample its CPU time. */
void calls_sampling_begin(struct calls_thread *t);
/*
 * Charges the new samples to the function of the top frame, or to the cost of counting (`own`).
 * Returns the ticks that the samples took, if the interval that contains them is charged by the
 * clock.
 */
uint64_t calls_sampling_settle(struct calls_thread *t, bool own);
/* Reads the clock at the next events. The call of the top frame begins at this moment. */
void calls_window_begin(struct calls_thread *t);
/* To be called after each event that read the clock. */
void calls_window_step(struct calls_thread *t, uint64_t now);
/* Ends a window: the open calls are not timed. */
void calls_window_end(struct calls_thread *t);

/* times.c */
/* Adds the duration of a call that ends, if the call is chosen. False: it is not. */
bool calls_times_add(struct calls_thread *t, struct calls_frame *f);
/* Frame `f` is no longer timed: counts its call, if it is one whose duration was to be added. */
void calls_times_miss(struct calls_thread *t, struct calls_frame *f);

/* slow.c */
/* Handles an event in a thread whose state is not READY. */
void calls_unready_enter(uint64_t function, uintptr_t site, uintptr_t sp, uintptr_t ra);
void calls_unready_exit(uint64_t function, uintptr_t site, uintptr_t sp, uintptr_t ra);
/*
 * An entry whose sp does not show that it is a call of the top frame; top[1] is filled in as below.
 */
void calls_edge_enter(uint64_t function, struct calls_frame *top, uint64_t now);
/* An event that the fast path cannot handle; top[1] has the new call's sp, ra and site. */
void calls_slow_enter(uint64_t function, struct calls_frame *top, uint64_t now);
void calls_slow_exit(uint64_t function, struct calls_frame *top, uint64_t now);
/*
 * An entry whose preceding time is already charged, of a function that is not in the top node's
 * cache.
 */
void calls_miss_enter(uint64_t function, struct calls_frame *top, uint64_t now);
/*
 * Charges the time since the last event, without waits, to the function of the top frame. *now is
 * updated.
 */
void calls_settle(struct calls_thread *t, uint64_t *now);

/* thread_start.c */
/* Sets the running thread's state to ready, or to off. Signals are held. */
struct calls_thread *calls_thread_start(uintptr_t sp);

/* cost.c: measures the hooks in the running thread's tree, and clears the tree afterwards. */
void calls_calibrate(struct calls_thread *t);

#endif
