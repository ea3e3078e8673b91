/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * qemu_plugin: the functions of QEMU's plugin API, version 1, that the device calls. Debian
 * packages no header for them. QEMU's executable defines them. The icount and memory functions are
 * not part of the API: qemu-system exports them, and qemu-user does not (they are NULL there).
 */
#ifndef ASSAY_DEVICE_QEMU_PLUGIN_H
#define ASSAY_DEVICE_QEMU_PLUGIN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define QEMU_PLUGIN_EXPORT __attribute__((visibility("default")))

typedef uint64_t qemu_plugin_id_t;

struct qemu_info {
	const char *target_name;
	struct {
		int min, cur;
	} version;
	bool system_emulation;
	struct {
		int smp_vcpus, max_vcpus;
	} system;
};

struct qemu_plugin_tb;
struct qemu_plugin_insn;

enum qemu_plugin_cb_flags { QEMU_PLUGIN_CB_NO_REGS };
/* QEMU 7.2 reports no reads to a callback of QEMU_PLUGIN_MEM_R (1) alone. */
/* With 1, which is to select reads, QEMU 7.2 reports none. */
enum qemu_plugin_mem_rw { QEMU_PLUGIN_MEM_RW = 3 };
enum qemu_plugin_op { QEMU_PLUGIN_INLINE_ADD_U64 };

typedef void (*qemu_plugin_tb_cb)(qemu_plugin_id_t id, struct qemu_plugin_tb *tb);
typedef void (*qemu_plugin_vcpu_cb)(unsigned vcpu, void *data);
typedef void (*qemu_plugin_mem_cb)(unsigned vcpu, uint32_t info, uint64_t address, void *data);
typedef void (*qemu_plugin_end_cb)(qemu_plugin_id_t id, void *data);

void qemu_plugin_register_vcpu_tb_trans_cb(qemu_plugin_id_t id, qemu_plugin_tb_cb cb);
void qemu_plugin_register_vcpu_tb_exec_inline(struct qemu_plugin_tb *tb, enum qemu_plugin_op op,
                                              void *at, uint64_t value);
void qemu_plugin_register_vcpu_insn_exec_cb(struct qemu_plugin_insn *insn, qemu_plugin_vcpu_cb cb,
                                            enum qemu_plugin_cb_flags flags, void *data);
void qemu_plugin_register_vcpu_mem_cb(struct qemu_plugin_insn *insn, qemu_plugin_mem_cb cb,
                                      enum qemu_plugin_cb_flags flags, enum qemu_plugin_mem_rw rw,
                                      void *data);
void qemu_plugin_register_atexit_cb(qemu_plugin_id_t id, qemu_plugin_end_cb cb, void *data);
uint64_t qemu_plugin_insn_vaddr(const struct qemu_plugin_insn *insn);
size_t qemu_plugin_tb_n_insns(const struct qemu_plugin_tb *tb);
struct qemu_plugin_insn *qemu_plugin_tb_get_insn(const struct qemu_plugin_tb *tb, size_t index);
const void *qemu_plugin_insn_data(const struct qemu_plugin_insn *insn);
size_t qemu_plugin_insn_size(const struct qemu_plugin_insn *insn);

/* What QEMU looks up in the device. */
extern QEMU_PLUGIN_EXPORT int qemu_plugin_version;
QEMU_PLUGIN_EXPORT int qemu_plugin_install(qemu_plugin_id_t id, const struct qemu_info *info,
                                           int argc, char **argv);

/* 0: time is not counted in instructions. */
extern int use_icount __attribute__((weak));
/* Guest time in ns. From a thread that is no vCPU: as of the last finished slice. */
int64_t icount_get(void) __attribute__((weak));
int64_t icount_get_raw(void) __attribute__((weak));
int64_t icount_to_ns(int64_t instructions) __attribute__((weak));
/* Guest memory by virtual address, as a debugger reads it; 0 or -1. */
struct CPUState;
struct CPUState *qemu_get_cpu(int vcpu) __attribute__((weak));
int cpu_memory_rw_debug(struct CPUState *cpu, uint64_t address, void *bytes, uint64_t size,
                        bool write) __attribute__((weak));

#endif
