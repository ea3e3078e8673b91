/* SPDX-License-Identifier: GPL-2.0-or-later */
/* bpf_loop SECONDS: loads a BPF program named assay_loop, and runs it for that time. */
#include <linux/bpf.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define STEPS 2000
#define REPEAT 10000

static struct bpf_insn code[STEPS + 2];

static int load(void)
{
	union bpf_attr attr;

	memset(&attr, 0, sizeof(attr));
	code[0] = (struct bpf_insn){.code = BPF_ALU64 | BPF_MOV | BPF_K, .imm = 1};
	for (int i = 1; i <= STEPS; i++)
		code[i] = (struct bpf_insn){.code = BPF_ALU64 | BPF_XOR | BPF_K, .imm = i};
	code[STEPS + 1] = (struct bpf_insn){.code = BPF_JMP | BPF_EXIT};
	attr.prog_type = BPF_PROG_TYPE_SOCKET_FILTER;
	attr.insns = (unsigned long)code;
	attr.insn_cnt = STEPS + 2;
	attr.license = (unsigned long)"GPL";
	strcpy(attr.prog_name, "assay_loop");
	return (int)syscall(SYS_bpf, BPF_PROG_LOAD, &attr, sizeof(attr));
}

int main(int argc, char **argv)
{
	int program = load();
	time_t end = time(NULL) + (argc > 1 ? atoi(argv[1]) : 1);
	char packet[64] = {0}, out[64];

	if (program < 0)
		return 1;
	while (time(NULL) < end) {
		union bpf_attr attr;

		memset(&attr, 0, sizeof(attr));
		attr.test.prog_fd = (unsigned)program;
		attr.test.data_in = (unsigned long)packet;
		attr.test.data_size_in = sizeof(packet);
		attr.test.data_out = (unsigned long)out;
		attr.test.data_size_out = sizeof(out);
		attr.test.repeat = REPEAT;
		if (syscall(SYS_bpf, BPF_PROG_TEST_RUN, &attr, sizeof(attr)) < 0)
			return 2;
	}
	return 0;
}
