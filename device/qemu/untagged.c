/* SPDX-License-Identifier: GPL-2.0-or-later */
/* untagged: what a vCPU did last, and what follows from it at the next function's first byte. */
#include "untagged.h"

#include "capture.h"
#include "clock.h"
#include "qemu_plugin.h"
#include "symbols.h"
#include "transfer.h"

#include <stdbool.h>

/*
 * How the next block is reached. A function's first block that is reached by nothing (STATE_NONE)
 * runs again, after a fault or an interrupt, and is no call.
 */
enum untagged_state { STATE_NONE, STATE_CALL, STATE_RETURN, STATE_JUMP };

struct untagged_vcpu {
	enum untagged_state state;
	uint32_t from, target; /* STATE_JUMP: symbols; target 0: any */
	uint32_t sampled;      /* tag of the last sample; 0: none */
	uint64_t left;         /* instructions until the next sample */
};

static struct {
	enum untagged_mode mode;
	uint64_t period;
	struct untagged_vcpu vcpus[CAPTURE_VCPUS_MAX];
} untagged;

/* The data of a callback: 10 bits of instructions that follow in the block, 3 of kind, 2 symbols.
 */
enum { BACK_BITS = 10, KIND_BITS = 3, SYMBOL_BITS = 24 };

static void *pack(size_t back, unsigned kind, uint32_t symbol, uint32_t target)
{
	uint64_t word = (((uint64_t)target << SYMBOL_BITS | symbol) << KIND_BITS | kind)
	                        << BACK_BITS |
	                back;

	return (void *)(uintptr_t)word;
}

static uint64_t back_of(const void *data)
{
	return (uint64_t)(uintptr_t)data & ((1u << BACK_BITS) - 1);
}

static unsigned kind_of(const void *data)
{
	return (unsigned)((uint64_t)(uintptr_t)data >> BACK_BITS & ((1u << KIND_BITS) - 1));
}

static uint32_t symbol_of(const void *data)
{
	return (uint32_t)((uint64_t)(uintptr_t)data >> (BACK_BITS + KIND_BITS) &
	                  ((1u << SYMBOL_BITS) - 1));
}

static uint32_t target_of(const void *data)
{
	return (uint32_t)((uint64_t)(uintptr_t)data >> (BACK_BITS + KIND_BITS + SYMBOL_BITS));
}

static void exit_of(unsigned vcpu, uint32_t symbol, uint64_t now)
{
	if (symbol)
		capture_event(vcpu, symbols_tag(symbol) + 1, now);
}

static void on_transfer(unsigned vcpu, void *data)
{
	struct untagged_vcpu *v = &untagged.vcpus[vcpu % CAPTURE_VCPUS_MAX];

	v->state = STATE_NONE;
	switch ((enum transfer_kind)kind_of(data)) {
	case TRANSFER_CALL:
		v->state = STATE_CALL;
		break;
	case TRANSFER_JUMP:
	case TRANSFER_INDIRECT_JUMP:
		v->from = symbol_of(data);
		v->target = target_of(data);
		if (!v->from || v->from != v->target)
			v->state = STATE_JUMP;
		break;
	case TRANSFER_RETURN:
		v->state = STATE_RETURN;
		exit_of(vcpu, symbol_of(data), clock_now(0)); /* after it */
		break;
	case TRANSFER_RETURN_FROM_INTERRUPT:
		exit_of(vcpu, symbol_of(data), clock_now(0));
		break;
	case TRANSFER_NONE:
		break;
	}
}

/* The first block of a function begins. */
static void on_function(unsigned vcpu, void *data)
{
	struct untagged_vcpu *v = &untagged.vcpus[vcpu % CAPTURE_VCPUS_MAX];
	uint32_t symbol = symbol_of(data);
	enum untagged_state state = v->state;
	uint64_t now;

	v->state = STATE_NONE;
	if (symbols_is_entry(symbol)) {
		if (state == STATE_JUMP)
			state = STATE_CALL; /* an earlier instruction was the jump */
	} else if (state == STATE_NONE ||
	           (state == STATE_JUMP && v->target && v->target != symbol)) {
		return;
	}
	if (state == STATE_JUMP && v->from && symbols_tag(v->from) == symbols_tag(symbol))
		return; /* to its part that the compiler split off */
	now = clock_now(back_of(data));
	if (state == STATE_JUMP)
		exit_of(vcpu, v->from, now);
	capture_event(vcpu, symbols_tag(symbol), now);
}

static void on_block(unsigned vcpu, void *data)
{
	struct untagged_vcpu *v = &untagged.vcpus[vcpu % CAPTURE_VCPUS_MAX];
	uint64_t count = back_of(data), now;
	uint32_t tag;

	if (v->left > count) {
		v->left -= count;
		return;
	}
	now = clock_now(count - v->left);
	v->left = untagged.period - (count - v->left) % untagged.period;
	tag = symbol_of(data) ? symbols_tag(symbol_of(data)) : 0;
	if (tag == v->sampled)
		return;
	if (v->sampled)
		capture_event(vcpu, v->sampled + 1, now);
	v->sampled = tag;
	if (tag)
		capture_event(vcpu, tag, now);
}

void untagged_open(enum untagged_mode mode, uint64_t period)
{
	untagged.mode = mode;
	untagged.period = period;
	for (unsigned i = 0; i < CAPTURE_VCPUS_MAX; i++)
		untagged.vcpus[i].left = period;
}

/* A jump within a function needs no call of the device, except a jump to its first byte. */
static bool is_local(const struct transfer *t, uint32_t symbol, uint64_t next, uint32_t *target)
{
	bool starts;

	*target = 0;
	if (t->kind != TRANSFER_JUMP)
		return false;
	*target = symbols_find(next + (uint64_t)t->distance, &starts);
	return !*target || !starts;
}

static void add_transfer(struct qemu_plugin_insn *insn)
{
	const uint8_t *bytes = qemu_plugin_insn_data(insn);
	size_t size = qemu_plugin_insn_size(insn);
	uint64_t address = qemu_plugin_insn_vaddr(insn);
	struct transfer t = transfer_x86_64(bytes, size);
	uint32_t symbol, target;
	bool starts;

	if (t.kind == TRANSFER_NONE)
		return;
	symbol = symbols_find(address, &starts);
	if (is_local(&t, symbol, address + size, &target))
		return;
	qemu_plugin_register_vcpu_insn_exec_cb(insn, on_transfer, QEMU_PLUGIN_CB_NO_REGS,
	                                       pack(0, t.kind, symbol, target));
}

void untagged_translate(struct qemu_plugin_tb *tb)
{
	size_t count = qemu_plugin_tb_n_insns(tb);
	struct qemu_plugin_insn *first;
	uint32_t symbol;
	bool starts;

	if (untagged.mode == UNTAGGED_OFF || !count)
		return;
	/*
	 * The callbacks of a block come before the clock counts it, those of its first
	 * instruction after that.
	 */
	first = qemu_plugin_tb_get_insn(tb, 0);
	symbol = symbols_find(qemu_plugin_insn_vaddr(first), &starts);
	if (starts || untagged.mode == UNTAGGED_SAMPLE)
		qemu_plugin_register_vcpu_insn_exec_cb(
		        first, untagged.mode == UNTAGGED_SAMPLE ? on_block : on_function,
		        QEMU_PLUGIN_CB_NO_REGS, pack(count, 0, symbol, 0));
	if (untagged.mode == UNTAGGED_SAMPLE)
		return;
	/* An instruction that jumps is the last instruction of its block. */
	add_transfer(qemu_plugin_tb_get_insn(tb, count - 1));
}
