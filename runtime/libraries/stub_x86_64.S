/* SPDX-License-Identifier: MIT */
/*
 * stub_x86_64: the code around a library call (stub.h). It preserves all possible arguments and
 * results: the general registers, and 16 bytes of each vector register. For functions that may take
 * wide vectors it preserves the whole vector registers, unless the processor reports that the upper
 * parts are not in use.
 */
#include "libraries/stub.h"

/* The macro `each` saves or restores the vector registers 0..LAST at the stack pointer. */
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

/* Sets r10d to the width to save, from the flags of the library_call in r11: 0, 1 or 2. */
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

/* Calls a function with the vector registers 0..LAST saved. r12d is the width. */
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
/* r11: the library_call. The stack is as at the function's entry. */
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
 * rbx: the library_open. An unwinder treats this place as a caller: rip, rbx and rsp are in the
 * library_open, at [rbx + 8], [rbx + 16] and [rbx + 24]. The frame address is 8 bytes above the
 * caller's stack pointer, since unwinders require that it differs from the frames on both sides.
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
	nop	/* unwinders look up the byte before a return address */
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
	/*
	 * All fields are read before the library_open is freed: a signal handler may reuse it at
	 * once.
	 */
	mov	OPEN_RA(%rbx), %r11
	push	OPEN_KEPT(%rbx)
	movq	$0, OPEN_SLOT(%rbx)
	pop	%rbx
	.cfi_def_cfa %rsp, 8
	.cfi_register %rip, %r11
	.cfi_same_value %rbx
	.cfi_escape 0x16, 7, 2, 0x77, 0
	jmp	*%r11 /* no ret: the processor's return stack no longer has this call */
	.cfi_endproc
	.size	assay_libraries_return, . - assay_libraries_return
	.section .note.GNU-stack, "", @progbits
