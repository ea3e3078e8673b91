/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Classifies entries into the kernel by the names of its entry code on x86-64 and arm64, from
 * Linux 4.x on. The table contains exact names and prefixes; a suffix from the compiler
 * (".isra.0") is ignored.
 */
#include "symbol/symbolizer.h"

#include <string.h>

struct entry_name {
	const char *name; /* with * at the end: a prefix */
	enum kernel_entry entry;
};

/* The first match counts. */
static const struct entry_name entry_names[] = {
        /* system calls */
        {"entry_SYSCALL*", ENTRY_SYSCALL},
        {"entry_SYSENTER*", ENTRY_SYSCALL},
        {"entry_INT80*", ENTRY_SYSCALL},
        {"__kernel_entry_syscall*", ENTRY_SYSCALL},
        {"do_syscall_64", ENTRY_SYSCALL},
        {"do_int80_*", ENTRY_SYSCALL},
        {"int80_emulation*", ENTRY_SYSCALL},
        {"asm_int80_emulation", ENTRY_SYSCALL},
        {"do_fast_syscall_32", ENTRY_SYSCALL},
        {"__do_fast_syscall_32", ENTRY_SYSCALL},
        {"do_SYSENTER_32", ENTRY_SYSCALL},
        {"ret_from_sys_call", ENTRY_SYSCALL},
        {"syscall_return_via_sysret", ENTRY_SYSCALL},
        {"swapgs_restore_regs_and_return_to_usermode", ENTRY_SYSCALL},
        {"el0_svc*", ENTRY_SYSCALL},
        {"do_el0_svc*", ENTRY_SYSCALL},
        /* interrupts that look like faults by their names */
        {"asm_exc_nmi*", ENTRY_INTERRUPT},
        {"exc_nmi*", ENTRY_INTERRUPT},
        {"end_repeat_nmi", ENTRY_INTERRUPT},
        {"first_nmi", ENTRY_INTERRUPT},
        {"asm_exc_machine_check", ENTRY_INTERRUPT},
        {"asm_exc_xen_hypervisor_callback", ENTRY_INTERRUPT},
        {"exc_xen_hypervisor_callback", ENTRY_INTERRUPT},
        /* faults */
        {"asm_exc_*", ENTRY_FAULT},
        {"exc_*", ENTRY_FAULT},
        {"async_page_fault", ENTRY_FAULT},
        {"page_fault", ENTRY_FAULT},
        {"do_page_fault", ENTRY_FAULT},
        {"__do_page_fault", ENTRY_FAULT},
        {"do_user_addr_fault", ENTRY_FAULT},
        {"do_kern_addr_fault", ENTRY_FAULT},
        {"general_protection", ENTRY_FAULT},
        {"do_mem_abort", ENTRY_FAULT},
        {"do_translation_fault", ENTRY_FAULT},
        {"do_sp_pc_abort", ENTRY_FAULT},
        {"el0_da", ENTRY_FAULT},
        {"el0_ia", ENTRY_FAULT},
        {"el0_pc", ENTRY_FAULT},
        {"el0_sp", ENTRY_FAULT},
        {"el0_undef", ENTRY_FAULT},
        {"el0_dbg", ENTRY_FAULT},
        {"el0_fpsimd_*", ENTRY_FAULT},
        {"el0_sve_acc", ENTRY_FAULT},
        {"el1_abort", ENTRY_FAULT},
        {"el1_da", ENTRY_FAULT},
        /* interrupts */
        {"asm_sysvec_*", ENTRY_INTERRUPT},
        {"sysvec_*", ENTRY_INTERRUPT},
        {"__sysvec_*", ENTRY_INTERRUPT},
        {"asm_fred_*", ENTRY_NONE},
        {"fred_sysvec_*", ENTRY_INTERRUPT},
        {"fred_extint", ENTRY_INTERRUPT},
        {"asm_common_interrupt", ENTRY_INTERRUPT},
        {"asm_spurious_interrupt", ENTRY_INTERRUPT},
        {"common_interrupt*", ENTRY_INTERRUPT},
        {"__common_interrupt", ENTRY_INTERRUPT},
        {"spurious_interrupt", ENTRY_INTERRUPT},
        {"do_IRQ", ENTRY_INTERRUPT},
        {"ret_from_intr", ENTRY_INTERRUPT},
        {"apic_timer_interrupt", ENTRY_INTERRUPT},
        {"smp_apic_timer_interrupt", ENTRY_INTERRUPT},
        {"smp_call_function_single_interrupt", ENTRY_INTERRUPT},
        {"smp_call_function_interrupt", ENTRY_INTERRUPT},
        {"smp_reschedule_interrupt", ENTRY_INTERRUPT},
        {"call_function_interrupt", ENTRY_INTERRUPT},
        {"call_function_single_interrupt", ENTRY_INTERRUPT},
        {"reschedule_interrupt", ENTRY_INTERRUPT},
        {"irq_work_interrupt", ENTRY_INTERRUPT},
        {"hyperv_callback_vector", ENTRY_INTERRUPT},
        {"xen_hvm_callback_vector", ENTRY_INTERRUPT},
        {"nmi", ENTRY_INTERRUPT},
        {"do_nmi", ENTRY_INTERRUPT},
        {"irq_entries_start", ENTRY_INTERRUPT},
        {"el0_irq*", ENTRY_INTERRUPT},
        {"el1_irq*", ENTRY_INTERRUPT},
        {"el0_fiq*", ENTRY_INTERRUPT},
        {"el1_fiq*", ENTRY_INTERRUPT},
        {"el0_interrupt", ENTRY_INTERRUPT},
        {"el1_interrupt", ENTRY_INTERRUPT},
        {"__el0_irq_handler_common", ENTRY_INTERRUPT},
        {"gic_handle_irq", ENTRY_INTERRUPT},
        {"do_interrupt_handler", ENTRY_INTERRUPT},
        /* softirqs, at the end of an interrupt or in ksoftirqd */
        {"__do_softirq", ENTRY_SOFTIRQ},
        {"___do_softirq", ENTRY_SOFTIRQ},
        {"handle_softirqs", ENTRY_SOFTIRQ},
        {"do_softirq*", ENTRY_SOFTIRQ},
        {"__softirqentry_text_start", ENTRY_SOFTIRQ},
        {"run_ksoftirqd", ENTRY_SOFTIRQ},
        {"call_softirq", ENTRY_SOFTIRQ},
        /* the idle loop; first its functions that samples without call paths show */
        {"cpu_startup_entry", ENTRY_IDLE},
        {"cpu_idle_loop", ENTRY_IDLE},
        {"do_idle", ENTRY_IDLE},
        {"default_idle*", ENTRY_IDLE},
        {"default_enter_idle", ENTRY_IDLE},
        {"arch_cpu_idle", ENTRY_IDLE},
        {"cpuidle_*", ENTRY_IDLE},
        {"poll_idle", ENTRY_IDLE},
        {"intel_idle*", ENTRY_IDLE},
        {"acpi_idle_*", ENTRY_IDLE},
        {"acpi_safe_halt", ENTRY_IDLE},
        {"acpi_processor_ffh_cstate_enter", ENTRY_IDLE},
        {"mwait_idle*", ENTRY_IDLE},
        {"native_safe_halt", ENTRY_IDLE},
        {"pv_native_safe_halt", ENTRY_IDLE},
        {"xen_safe_halt", ENTRY_IDLE},
        {"pvm_safe_halt", ENTRY_IDLE},
        {"secondary_startup_64*", ENTRY_IDLE},
        {"start_secondary", ENTRY_IDLE},
        {"common_startup_64", ENTRY_IDLE},
        {"secondary_start_kernel", ENTRY_IDLE},
        {"__secondary_switched", ENTRY_IDLE},
        {"rest_init", ENTRY_IDLE},
        {"start_kernel", ENTRY_IDLE},
        /* kernel threads, and new threads on their way to user mode */
        {"kthread", ENTRY_THREAD},
        {"ret_from_fork*", ENTRY_THREAD},
        {"kernel_thread_helper", ENTRY_THREAD},
};

static bool name_fits(const char *function, const char *pattern)
{
	size_t length = strlen(pattern);

	if (length && pattern[length - 1] == '*')
		return !strncmp(function, pattern, length - 1);
	return !strncmp(function, pattern, length) &&
	       (!function[length] || function[length] == '.');
}

enum kernel_entry kernel_entry_of(const char *function)
{
	for (size_t i = 0; i < sizeof(entry_names) / sizeof(*entry_names); i++)
		if (name_fits(function, entry_names[i].name))
			return entry_names[i].entry;
	return ENTRY_NONE;
}
