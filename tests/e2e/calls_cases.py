# SPDX-License-Identifier: GPL-2.0-or-later
"""The cases of tests/workloads/calls: programs that count their own calls."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Case:
    program: str
    name: str  # the first argument of the program
    title: str
    status: int = 0  # of the program's end; negative: the signal that ends it
    paths: bool = True  # the program knows its call paths
    strangers: bool = False  # it has children in which nothing can be counted

    @property
    def key(self):
        return f"{self.program} {self.name}"


CASES = (
    Case("plain", "plain", "a b c d"),
    Case("plain", "recurse", "ten deep"),
    Case("plain", "mutual", "functions that call each other"),
    Case("plain", "tree", "recursion that branches"),
    Case("plain", "pointers", "qsort and pointers"),
    Case("plain", "shapes", "alloca and variadic functions and tail calls"),
    Case("plain", "inlining", "functions that the compiler inlines"),
    Case("wide", "callers", "300 callers"),
    Case("wide", "paths", "111110 paths"),
    Case("wide", "levels", "500 levels"),
    Case("thread", "crowd", "16 threads at the same time"),
    Case("thread", "going", "400 threads that start and end"),
    Case("thread", "family", "threads that start threads"),
    Case("thread", "small", "the smallest stacks"),
    Case("thread", "keys", "destructors of thread specific data"),
    Case("thread", "detached", "detached threads"),
    Case("exceptions", "across", "over 1 and 5 and 50 frames"),
    Case("exceptions", "same", "caught where thrown"),
    Case("exceptions", "rethrow", "thrown again"),
    Case("exceptions", "destructors", "that throw and catch while unwinding"),
    Case("exceptions", "construction", "thrown by constructors"),
    Case("exceptions", "levels", "caught in the middle of a recursion"),
    Case("exceptions", "threads", "in four threads"),
    Case("jump", "across", "longjmp over frames"),
    Case("jump", "level", "longjmp to levels of a recursion"),
    Case("jump", "handler", "siglongjmp from a handler"),
    Case("jump", "altstack", "siglongjmp from the signal stack"),
    Case("jump", "ticks", "siglongjmp from a handler of a timer"),
    Case("jump", "inner", "longjmp within a handler"),
    Case("jump", "threads", "in four threads"),
    Case("jump", "itself", "longjmp within one frame"),
    Case("signals", "ticks", "10 kHz"),
    Case("signals", "altstack", "10 kHz on a signal stack"),
    Case("signals", "nested", "handlers that interrupt each other"),
    Case("signals", "storm", "threads that signal each other"),
    Case("signals", "sync", "known paths"),
    Case("signals", "forking", "a handler that forks"),
    Case("signals", "going_on", "a child of a handler continues the interrupted code"),
    Case("processes", "tree", "three levels of forks"),
    Case("processes", "through", "children that return through inherited calls"),
    Case("processes", "raw", "clone as a system call"),
    Case("processes", "vforked", "vfork and exec"),
    Case("processes", "chain", "exec of itself"),
    Case("processes", "busy", "forks beside calling threads"),
    Case("processes", "threads", "threads that fork"),
    Case("processes", "behind", "a thread of the child before the one that forked"),
    Case("processes", "run", "through a shell"),
    Case("processes", "orphan", "a child that outlives its parent"),
    Case("coroutine", "robin", "40 stacks in turn"),
    Case("coroutine", "hundred", "100 stacks", paths=False),
    Case("coroutine", "generator", "ends inside"),
    Case("coroutine", "nested", "coroutines in a coroutine"),
    Case("coroutine", "deserted", "stacks that are never continued"),
    Case("coroutine", "threads", "in three threads"),
    Case("coroutine", "migrate", "continued in another thread", paths=False),
    Case("coroutine", "local", "stacks in arrays of frames"),
    Case("ends", "exit", "from 20 deep", status=3),
    Case("ends", "at_once", "_exit", status=3),
    Case("ends", "quick", "quick_exit", status=3),
    Case("ends", "abort", "SIGABRT", status=-6),
    Case("ends", "crash", "SIGSEGV", status=-11),
    Case("ends", "killed", "SIGKILL", status=-9),
    Case("ends", "thread", "pthread_exit"),
    Case("ends", "cancel", "pthread_cancel"),
    Case("ends", "doomed", "cancelled before the first call"),
    Case("ends", "main_ends", "the first thread before others"),
    Case("ends", "others", "exit while threads sleep", status=3),
    Case("startup", "statics", "before and after main"),
    Case("startup", "locals", "static objects of functions"),
    Case("startup", "threads", "thread local objects"),
    Case("hostile", "close", "all descriptors closed"),
    Case("hostile", "reused", "descriptors reused"),
    Case("hostile", "move", "another directory"),
    Case("hostile", "user", "another user", strangers=True),
    Case("hostile", "nofile", "no descriptors left", strangers=True),
    Case("hostile", "masked", "signals blocked"),
    Case("hostile", "cleared", "no environment"),
    Case("hostile", "errno", "errno is unchanged"),
    Case("hostile", "vectors", "registers are unchanged"),
)


def define(case, function, test):
    """Defines one test, which the harness knows by the name of its function."""
    function.__name__ = f"{case.program}_{case.name}_{case.title}".replace(" ", "_")
    test(function)
