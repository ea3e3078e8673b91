/* SPDX-License-Identifier: MIT */
/*
 * slow: the target of inline triggers that found no room (assay/tags_wire.h). The code around a
 * trigger does not expect a call: all registers except the trigger's own are preserved, also the
 * vector registers and the red zone.
 *
 * assay_tags_slow: %rax points to { tag, offset from there to the next instruction }, %rdx is the
 * slot. assay_tags_event_kept: called with the tag in %eax; preserves all registers and the flags.
 */
#include "assay/tags_wire.h"

	.text

#define RED_ZONE 128

	.globl	assay_tags_slow
	.type	assay_tags_slow, @function
	.p2align 4
assay_tags_slow:
	.cfi_startproc
	.cfi_def_cfa rsp, 0
	.cfi_undefined rip
	lea	-(RED_ZONE + 8)(%rsp), %rsp
	.cfi_adjust_cfa_offset RED_ZONE + 8
	push	%rcx
	.cfi_adjust_cfa_offset 8
	movslq	4(%rax), %rcx
	add	%rax, %rcx
	mov	%rcx, 8(%rsp)
	.cfi_offset rip, -(RED_ZONE + 8)
	push	%rbp
	.cfi_adjust_cfa_offset 8
	.cfi_rel_offset rbp, 0
	mov	%rsp, %rbp
	.cfi_def_cfa_register rbp
	push	%rsi
	push	%rdi
	push	%r8
	push	%r9
	push	%r10
	push	%r11
	push	%rdx
	mov	(%rax), %eax
	push	%rax
	and	$-16, %rsp
	cld
	mov	%eax, %edi
	mov	%rdx, %rsi
	call	tags_quick
	test	%al, %al
	jne	1f
	mov	-64(%rbp), %edi
	mov	-56(%rbp), %rsi
	call	tags_slow_vectors
1:	lea	-56(%rbp), %rsp
	pop	%rdx
	pop	%r11
	pop	%r10
	pop	%r9
	pop	%r8
	pop	%rdi
	pop	%rsi
	pop	%rbp
	.cfi_restore rbp
	.cfi_def_cfa rsp, RED_ZONE + 16
	pop	%rcx
	.cfi_adjust_cfa_offset -8
	pop	%rax
	.cfi_adjust_cfa_offset -8
	.cfi_register rip, rax
	lea	RED_ZONE(%rsp), %rsp
	.cfi_adjust_cfa_offset -RED_ZONE
	jmp	*%rax
	.cfi_endproc
	.size	assay_tags_slow, . - assay_tags_slow

/* Calls tags_slow(%edi, %rsi) with the vector registers preserved, as tags_vectors says. */
	.type	tags_slow_vectors, @function
	.p2align 4
tags_slow_vectors:
	.cfi_startproc
	push	%rbp
	.cfi_adjust_cfa_offset 8
	.cfi_rel_offset rbp, 0
	mov	%rsp, %rbp
	.cfi_def_cfa_register rbp
	sub	tags_vectors_bytes(%rip), %rsp
	and	$-64, %rsp
	mov	tags_vectors(%rip), %eax
	test	%eax, %eax
	je	2f
	xor	%edx, %edx
	/* xrstor requires zeros in the header's unused part. */
	mov	%rdx, 512(%rsp)
	mov	%rdx, 520(%rsp)
	mov	%rdx, 528(%rsp)
	mov	%rdx, 536(%rsp)
	mov	%rdx, 544(%rsp)
	mov	%rdx, 552(%rsp)
	mov	%rdx, 560(%rsp)
	mov	%rdx, 568(%rsp)
	xsave64	(%rsp)
	call	tags_slow
	mov	tags_vectors(%rip), %eax
	xor	%edx, %edx
	xrstor64 (%rsp)
	jmp	3f
2:	fxsave64 (%rsp)
	call	tags_slow
	fxrstor64 (%rsp)
3:	mov	%rbp, %rsp
	pop	%rbp
	.cfi_restore rbp
	.cfi_def_cfa rsp, 8
	ret
	.cfi_endproc
	.size	tags_slow_vectors, . - tags_slow_vectors

	.globl	assay_tags_event_kept
	.type	assay_tags_event_kept, @function
	.p2align 4
assay_tags_event_kept:
	.cfi_startproc
	pushfq
	.cfi_adjust_cfa_offset 8
	push	%rax
	.cfi_adjust_cfa_offset 8
	push	%rdx
	.cfi_adjust_cfa_offset 8
	push	%rcx
	.cfi_adjust_cfa_offset 8
	push	%rsi
	.cfi_adjust_cfa_offset 8
	push	%rdi
	.cfi_adjust_cfa_offset 8
	and	$((1 << ASSAY_TAGS_TAG_BITS) - 1), %eax
	mov	%eax, %esi
	mov	assay_tags_self@gottpoff(%rip), %rdi
	mov	%fs:(%rdi), %rdi
	lfence
	rdtsc
	shl	$32, %rdx
	or	%rdx, %rax
	mov	$8, %ecx
	xadd	%rcx, (%rdi)
	lea	-ASSAY_TAGS_BIAS(%rcx), %rdx
	sub	8(%rdi), %rdx
	cmp	$ASSAY_TAGS_ROOM, %rdx
	jae	5f
	mov	%rax, %rdx
	shr	$ASSAY_TAGS_CLOCK_BITS, %rdx
	cmp	%rdx, 16(%rdi)
	jne	5f
	shl	$ASSAY_TAGS_TAG_BITS, %rax
	or	%rsi, %rax
	cmp	-8(%rcx), %rax
	jb	5f
	mov	%rax, (%rcx)
4:	pop	%rdi
	pop	%rsi
	pop	%rcx
	pop	%rdx
	pop	%rax
	popfq
	ret
5:	push	%r8
	push	%r9
	push	%r10
	push	%r11
	push	%rbp
	push	%rsi
	push	%rcx
	mov	%rsp, %rbp
	and	$-16, %rsp
	cld
	mov	%esi, %edi
	mov	%rcx, %rsi
	call	tags_quick
	test	%al, %al
	jne	6f
	mov	8(%rbp), %edi
	mov	(%rbp), %rsi
	call	tags_slow_vectors
6:	mov	%rbp, %rsp
	pop	%rcx
	pop	%rsi
	pop	%rbp
	pop	%r11
	pop	%r10
	pop	%r9
	pop	%r8
	jmp	4b
	.cfi_endproc
	.size	assay_tags_event_kept, . - assay_tags_event_kept

	.hidden	tags_vectors
	.hidden	tags_vectors_bytes
	.hidden	tags_quick
	.hidden	tags_slow
	.section .note.GNU-stack, "", @progbits
