/* SPDX-License-Identifier: MIT */
/*
 * stub_x86_64: the way in and out of a library's function (stub.h). All that may be
 * an argument or a result is kept: the general registers, and of the vector
 * registers 16 bytes, or all of them for functions that may take wide ones
 * while the processor says that they are in use (or cannot say).
 */
#include "libraries/stub.h"

/* Each macro: saves or restores vectors FROM..TO at the stack pointer. */
.macro each op, kind, step, last, store
	.set n, 0
	.rept \last + 1
	one \op, \kind, %n, \step, \store
	.set n, n + 1
	.endr
.endm
.altmacro
.macro one op, kind, number, step, store
	.if \store
	\op	%\kind\number, \step*\number(%rsp)
	.else
	\op	\step*\number(%rsp), %\kind\number
	.endif
.endm

/* How wide they are to be saved, from the call's flags in r11's library_call: 0, 1, 2 in r10d. */
.macro width
	xor	%r10d, %r10d
	testl	$LIBRARY_WIDE, CALL_FLAGS(%r11)
	jz	9f
	mov	stub_vectors(%rip), %r10d
	cmp	$2, %r10d
	jne	9f
	mov	$1, %ecx
	xgetbv
	mov	$2, %r10d
	test	$0x40, %al
	jnz	9f
	mov	$1, %r10d
	test	$4, %al
	jnz	9f
	xor	%r10d, %r10d
9:
.endm

/* Calls a function with the vectors 0..LAST saved, their width in r12d. */
.macro keeping last, function
	cmp	$1, %r12d
	je	1f
	ja	2f
	each	movups, xmm, 16, \last, 1
	call	\function
	each	movups, xmm, 16, \last, 0
	jmp	3f
1:	each	vmovups, ymm, 32, \last, 1
	call	\function
	each	vmovups, ymm, 32, \last, 0
	jmp	3f
2:	each	vmovups, zmm, 64, \last, 1
	call	\function
	each	vmovups, zmm, 64, \last, 0
3:
.endm

	.text
	.p2align 6
	.hidden	assay_libraries_enter
	.globl	assay_libraries_enter
	.type	assay_libraries_enter, @function
/* r11: the library_call; the stack as the function is to find it. */
assay_libraries_enter:
	.cfi_startproc
	push	%rbp
	.cfi_adjust_cfa_offset 8
	.cfi_rel_offset %rbp, 0
	mov	%rsp, %rbp
	.cfi_def_cfa_register %rbp
	push	%rax
	push	%rdi
	push	%rsi
	push	%rdx
	push	%rcx
	push	%r8
	push	%r9
	push	%r10
	push	%r11
	push	%r12
	.cfi_offset %r12, -96
	width
	mov	%r10d, %r12d
	mov	%r11, %rdi
	lea	8(%rbp), %rsi
	mov	%rbx, %rdx
	sub	$512, %rsp
	and	$-64, %rsp
	keeping	7, libraries_enter
	test	%rax, %rax
	jz	4f
	mov	%rax, %rbx
	lea	assay_libraries_return(%rip), %rax
	mov	%rax, 8(%rbp)
	lea	8(%rbp), %rax
	mov	%rax, OPEN_SLOT(%rbx)
4:	lea	-80(%rbp), %rsp
	pop	%r12
	.cfi_restore %r12
	pop	%r11
	pop	%r10
	pop	%r9
	pop	%r8
	pop	%rcx
	pop	%rdx
	pop	%rsi
	pop	%rdi
	pop	%rax
	pop	%rbp
	.cfi_restore %rbp
	.cfi_def_cfa %rsp, 8
	jmp	*CALL_TARGET(%r11)
	.cfi_endproc
	.size	assay_libraries_enter, . - assay_libraries_enter

/*
 * rbx: the library_open. An unwinder gets here as if to a caller: rip, rbx and rsp
 * are in the library_open, at [rbx + 8], [rbx + 16] and [rbx + 24]. As the frame's
 * address it gets 8 bytes more than the caller's stack pointer: it must differ from
 * the frames on both sides, by which unwinders tell them apart.
 */
	.p2align 6
	.hidden	assay_libraries_return
	.globl	assay_libraries_return
	.type	assay_libraries_return, @function
	.cfi_startproc
	.cfi_escape 0x0f, 5, 0x73, OPEN_SP, 0x06, 0x23, 8
	.cfi_escape 0x10, 16, 2, 0x73, OPEN_RA
	.cfi_escape 0x10, 3, 2, 0x73, OPEN_KEPT
	.cfi_escape 0x10, 7, 2, 0x73, OPEN_SP
	nop	/* unwinders look one byte before a return address */
assay_libraries_return:
	push	%rax
	push	%rdx
	push	%rcx
	push	%rsi
	push	%rdi
	push	%r8
	push	%r9
	push	%r10
	push	%r12
	.cfi_offset %r12, -80
	push	%rbp
	.cfi_offset %rbp, -88
	mov	%rsp, %rbp
	mov	OPEN_CALL(%rbx), %r11
	width
	mov	%r10d, %r12d
	mov	%rbx, %rdi
	sub	$128, %rsp
	and	$-64, %rsp
	keeping	1, libraries_leave
	mov	%rbp, %rsp
	pop	%rbp
	.cfi_restore %rbp
	pop	%r12
	.cfi_restore %r12
	pop	%r10
	pop	%r9
	pop	%r8
	pop	%rdi
	pop	%rsi
	pop	%rcx
	pop	%rdx
	pop	%rax
	/* A signal's calls may take the library_open as soon as it is free: all is read before. */
	mov	OPEN_RA(%rbx), %r11
	push	OPEN_KEPT(%rbx)
	movq	$0, OPEN_SLOT(%rbx)
	pop	%rbx
	.cfi_def_cfa %rsp, 8
	.cfi_register %rip, %r11
	.cfi_same_value %rbx
	.cfi_escape 0x16, 7, 2, 0x77, 0
	jmp	*%r11 /* no ret: the processor's own return stack has this call behind it */
	.cfi_endproc
	.size	assay_libraries_return, . - assay_libraries_return
	.section .note.GNU-stack, "", @progbits
