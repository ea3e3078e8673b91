/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * stacks_asm: hand-written assembly with hand-written unwind tables. Each function calls the next;
 * asm_spin loops while pushes and pops move the stack pointer.
 *
 *	uint64_t asm_outer(uint64_t turns);
 */
	.text

/* The CFA in a register that is not the stack pointer, above a realigned stack. */
	.globl asm_outer
	.type asm_outer, @function
asm_outer:
	.cfi_startproc
	pushq %r12
	.cfi_adjust_cfa_offset 8
	.cfi_offset %r12, -16
	movq %rsp, %r12
	.cfi_def_cfa_register %r12
	subq $200, %rsp
	andq $-64, %rsp
	call asm_saved_in_register
	movq %r12, %rsp
	.cfi_def_cfa_register %rsp
	popq %r12
	.cfi_adjust_cfa_offset -8
	.cfi_restore %r12
	ret
	.cfi_endproc
	.size asm_outer, . - asm_outer

/* CFA by an expression: the word at rsp + 24 is the stack pointer at entry. */
	.globl asm_saved_in_register
	.type asm_saved_in_register, @function
asm_saved_in_register:
	.cfi_startproc
	leaq 8(%rsp), %rax
	.cfi_def_cfa %rax, 0
	.cfi_offset %rip, -8
	subq $40, %rsp
	movq %rax, 24(%rsp)
	/* DW_CFA_def_cfa_expression: breg7 +24; deref */
	.cfi_escape 0x0f, 0x03, 0x77, 0x18, 0x06
	call asm_spin
	addq $40, %rsp
	.cfi_def_cfa %rsp, 8
	ret
	.cfi_endproc
	.size asm_saved_in_register, . - asm_saved_in_register

	.globl asm_spin
	.type asm_spin, @function
asm_spin:
	.cfi_startproc
	movq %rdi, %rcx
	movq %rdi, %rax
1:
	pushq %rbx
	.cfi_adjust_cfa_offset 8
	.cfi_rel_offset %rbx, 0
	imulq $3, %rax, %rax
	pushq %rbp
	.cfi_adjust_cfa_offset 8
	.cfi_rel_offset %rbp, 0
	movq %rcx, %rbp
	movq %rax, %rbx
	imulq $5, %rbx, %rbx
	.cfi_remember_state
	testq $1, %rcx
	jz 2f
	imulq $3, %rbx, %rbx
	popq %rbp
	.cfi_adjust_cfa_offset -8
	.cfi_restore %rbp
	movq %rbx, %rax
	popq %rbx
	.cfi_adjust_cfa_offset -8
	.cfi_restore %rbx
	decq %rcx
	jnz 1b
	ret
2:
	.cfi_restore_state
	imulq $7, %rbx, %rax
	popq %rbp
	.cfi_adjust_cfa_offset -8
	.cfi_restore %rbp
	popq %rbx
	.cfi_adjust_cfa_offset -8
	.cfi_restore %rbx
	decq %rcx
	jnz 1b
	ret
	.cfi_endproc
	.size asm_spin, . - asm_spin

	.section .note.GNU-stack, "", @progbits
