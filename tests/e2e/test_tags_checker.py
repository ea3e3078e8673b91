# SPDX-License-Identifier: GPL-2.0-or-later
"""The checker of triggers (trigger_sites.py) finds each kind of missing trigger.

The functions are written by hand, in assembly and in C++, with triggers as the plugin would place
them. Some are correct but hard to follow; each of the others has one error. A checker that misses
such an error would prove nothing about real programs.
"""

from harness import main, test
from trigger_sites import TriggerSites

# How the assembly denotes a compiler's triggers: E entry, X exit; of function N.
NOP = """
#define E(n) .byte 0x0f, 0x1f, 0x84, 0x00; .long 0x5a000000 + n
#define X(n) E(n + 1)
"""
LOAD = """
#define E(n) testb $0, assay_tags_base + n(%rip)
#define X(n) E(n + 1)
"""
CALL = """
#define E(n) mov $(n), %edi; call assay_tags_event
#define X(n) E(n + 1)
.globl assay_tags_event
.type assay_tags_event, @function
assay_tags_event: ret
.size assay_tags_event, . - assay_tags_event
"""
RING = """
.macro trigger tag
	mov assay_tags_self@gottpoff(%rip), %rcx
	mov %fs:(%rcx), %rcx
	rdtsc
	mov $8, %esi
	xadd %rsi, (%rcx)
	cmp 8(%rcx), %rsi
	jae .Lslow\\@
	shl $32, %rdx
	or %rdx, %rax
	mov %rax, %rdx
	shr $40, %rdx
	cmp %rdx, 16(%rcx)
	jne .Lslow\\@
	shl $24, %rax
	or $\\tag, %rax
	cmp -8(%rsi), %rax
	jb .Lslow\\@
	mov %rax, (%rsi)
.Lback\\@:
	.subsection 1

.Lslow\\@:
	mov %rsi, %rdx
	lea .Ldata\\@(%rip), %rax
	jmp *assay_tags_slow@GOTPCREL(%rip)
.Ldata\\@:
	.long SLOW(\\tag), .Lback\\@ - .Ldata\\@
	.previous
.endm
#define E(n) trigger n
#define X(n) trigger n + 1
.globl assay_tags_slow
.type assay_tags_slow, @function
assay_tags_slow: ret
.size assay_tags_slow, . - assay_tags_slow
.section .tbss, "awT", @nobits
.globl assay_tags_self
assay_tags_self: .zero 8
.size assay_tags_self, 8
.type assay_tags_self, @object
.text
"""
KINDS = {"nop": NOP, "load": LOAD, "call": CALL, "ring": RING}

# The tag of each function is 2 * (its index + 1). SELF denotes it, PART(NAME) that of another
# function.
GOOD = {
    "main": "E(SELF); xor %eax, %eax; X(SELF); ret",
    "inlines": "E(SELF); E(TAG(leaf)); inc %eax; X(TAG(leaf)); X(SELF); ret",
    "leaf": "E(SELF); X(SELF); ret",
    "two_ends": "E(SELF); test %edi, %edi; je 1f; X(SELF); ret; 1: inc %eax; X(SELF); ret",
    "tail": "E(SELF); X(SELF); jmp leaf",
    "loops": "E(SELF); 1: E(TAG(leaf)); X(TAG(leaf)); dec %edi; jne 1b; X(SELF); ret",
    "gives_up": "E(SELF); call abort",
    "never_back": "E(SELF); test %edi, %edi; jne 1f; X(SELF); ret; 1: call gives_up",
    "table": "E(SELF); mov %edi, %edi; cmp $2, %rdi; ja 4f; jmp *7f(,%rdi,8);"
             "1: E(TAG(leaf)); X(TAG(leaf)); 2: X(SELF); ret; 4: X(SELF); ret;"
             ".section .rodata; .align 8; 7: .quad 1b, 2b, 4b; .text",
    "relative": "E(SELF); lea 7f(%rip), %rdx; movslq (%rdx,%rdi,4), %rax; add %rdx, %rax;"
                "jmp *%rax; 1: inc %edi; 2: X(SELF); ret;"
                ".section .rodata; .align 4; 7: .long 1b - 7b, 2b - 7b; .text",
    "cooled": "E(SELF); test %edi, %edi; jne cooled.cold; X(SELF); 1: ret",
    "cooled.cold": "X(TAG(cooled)); ret",
    "split": "E(SELF); test %edi, %edi; jne 1f; X(SELF); ret; 1: call split.part.0; ret",
    "split.part.0": "inc %eax; X(TAG(split)); ret",
    "split_jump": "E(SELF); jmp split_jump.part.0",
    "split_jump.part.0": "inc %eax; X(TAG(split_jump)); ret",
    "late": "push %rbp; mov %rsp, %rbp; E(SELF); call leaf; X(SELF); pop %rbp; ret",
}
BAD = {
    "no_exit": "E(SELF); ret",
    "no_exit_here": "E(SELF); test %edi, %edi; je 1f; X(SELF); ret; 1: ret",
    "no_entry": "call leaf; X(SELF); ret",
    "no_entry_here": "test %edi, %edi; je 1f; E(SELF); 1: X(SELF); ret",
    "too_late": "call leaf; E(SELF); X(SELF); ret",
    "too_early": "E(SELF); X(SELF); call leaf; ret",
    "other_exit": "E(SELF); X(TAG(leaf)); ret",
    "other_entry": "E(TAG(leaf)); X(TAG(leaf)); ret",
    "crossed": "E(SELF); E(TAG(leaf)); X(SELF); X(TAG(leaf)); ret",
    "inline_open": "E(SELF); E(TAG(leaf)); X(SELF); ret",
    "tail_open": "E(SELF); jmp leaf",
    "tail_pointer": "E(SELF); jmp *%rax",
    "loop_grows": "1: E(SELF); dec %edi; jne 1b; X(SELF); ret",
    "twice": "E(SELF); X(SELF); E(SELF); X(SELF); ret",
    "table_open": "E(SELF); mov %edi, %edi; cmp $1, %rdi; ja 1f; jmp *7f(,%rdi,8);"
                  "1: X(SELF); 2: ret; .section .rodata; .align 8; 7: .quad 1b, 2b; .text",
    "cold_open": "E(SELF); test %edi, %edi; jne cold_open.cold; X(SELF); ret",
    "cold_open.cold": "ret",
    "part_open": "E(SELF); call part_open.part.0; ret",
    "part_open.part.0": "test %edi, %edi; je 1f; X(TAG(part_open)); 1: ret",
    "unknown": "E(SELF); E(0x8000); X(0x8000); X(SELF); ret",
}


def assembled(t, name, kind, functions, slow_tags="t"):
    """A program of the functions, and its names file."""
    tags = {f: 2 * (i + 1) for i, f in enumerate(functions)}
    lines = [f"#define SLOW(t) {slow_tags}", KINDS[kind], ".text"]
    for function, body in functions.items():
        for other, tag in tags.items():
            body = body.replace(f"TAG({other})", str(tag))
        body = body.replace("SELF", str(tags[function])).replace(";", "\n")
        lines += [f".globl {function}", f".type {function}, @function", f"{function}:",
                  body, f".size {function}, . - {function}"]
    source = t.write(f"{name}.S", "\n".join(lines) + '\n.section .note.GNU-stack,"",@progbits\n')
    names = t.write(f"{name}.names", "".join(
        f"{f}/{tag}\n" for f, tag in tags.items() if "." not in f))
    program = t.path(name)
    t.run("gcc", "-no-pie", "-Wl,--defsym=assay_tags_base=0x10000000", "-o", program, source)
    return TriggerSites(program, [names], kind)


@test
def right_triggers_of_each_kind_are_all_right(t):
    for kind in KINDS:
        sites = assembled(t, f"good-{kind}", kind, GOOD)
        t.equal(sites.wrong, [], f"{kind}: wrong")
        t.equal(sites.unproven, [], f"{kind}: not followed")
        functions = {name for name in GOOD if "." not in name}
        t.equal(sites.entered & set(GOOD), functions, f"{kind}: functions with their entry")
        t.equal(sites.inlined, {"leaf"}, f"{kind}: inlined")


@test
def each_missing_trigger_is_found(t):
    for kind in KINDS:
        sites = assembled(t, f"bad-{kind}", kind, {**GOOD, **BAD})
        told = sites.wrong + sites.unproven
        bare = sites.bare & set(BAD)
        for name in BAD:
            if "." not in name:
                t.true(any(text.split("+")[0].split(".")[0] == name for text in told) or
                       name in bare, f"{kind}: {name} was taken for right")
        for name in GOOD:
            t.true(not any(text.split("+")[0] == name for text in told),
                   f"{kind}: {name} was taken for wrong: {told}")


@test
def a_slow_way_with_another_tag_is_found(t):
    sites = assembled(t, "slow", "ring", {"main": GOOD["main"]}, slow_tags="t + 2")
    t.true(sites.wrong, "the slow way's tags are others, and nothing was found")


CPP = """
#define TAG_(n) __asm__ volatile(".byte 0x0f, 0x1f, 0x84, 0x00; .long 0x5a000000 + %c0" :: "i"(n))
void thrower(int n);
void thrower(int n) { TAG_(2); if (n) { try { throw n; } catch (...) { TAG_(3); throw; } } TAG_(3); }
struct Tag { int n; __attribute__((always_inline)) ~Tag() { TAG_(5); } };
void cleans(int n);
void cleans(int n) { TAG_(4); { Tag tag; thrower(n); } }
void forgets(int n);
void forgets(int n) { struct Other { ~Other() { __asm__ volatile("nop"); } }; TAG_(6);
	{ Other other; thrower(n); } TAG_(7); }
void handles(int n);
void handles(int n) { TAG_(8); try { thrower(n); } catch (...) { __asm__ volatile("nop"); } TAG_(9); }
void throws_open(int n);
void throws_open(int n) { TAG_(10); if (n) throw n; TAG_(11); }
extern "C" int getpid() noexcept;
struct Other { __attribute__((always_inline)) ~Other() { TAG_(13); } };
void between(int n);
void between(int n) { TAG_(12); { Other o; thrower(n); TAG_(2); getpid(); TAG_(3); thrower(n); } }
struct More { __attribute__((always_inline)) ~More() { TAG_(15); } };
void between_open(int n);
void between_open(int n)
{ TAG_(14); { More m; thrower(n); TAG_(2); thrower(n); TAG_(3); thrower(n); } }
struct Deleted
{ virtual __attribute__((always_inline)) ~Deleted() { TAG_(16); thrower(0); TAG_(17); } };
int main()
{ cleans(0); forgets(0); handles(1); throws_open(0); between(0); between_open(0);
	delete new Deleted; }
"""


@test
def ways_out_by_exceptions_are_followed(t):
    t.need("g++")
    source = t.write("ways.cpp", CPP)
    names = t.write("names", "_Z7throweri/2\n_Z6cleansi/4\n_Z7forgetsi/6\n_Z7handlesi/8\n"
                    "_Z11throws_openi/10\n_Z7betweeni/12\n_Z12between_openi/14\n"
                    "_ZN7DeletedD4Ev/16\n")
    for flags in (["-O1", "-no-pie", "-fno-pie"], ["-O2", "-pie", "-fPIE"]):
        program = t.path("ways")
        t.run("g++", "-fno-inline", *flags, "-o", program, source)
        sites = TriggerSites(program, [names], "nop")
        told = {text.split("+")[0].split(".")[0] for text in sites.wrong}
        t.equal(told, {"_Z7forgetsi", "_Z11throws_openi", "_Z12between_openi"},
                f"{flags}: reported: {sites.wrong}")


main()
