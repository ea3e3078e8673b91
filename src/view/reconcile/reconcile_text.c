/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "view/reconcile/reconcile.h"

#include <stddef.h>

const char *reconcile_verdict_word(enum reconcile_verdict verdict)
{
	static const char *const words[] = {"agree", "differ", "cannot tell"};

	return words[verdict];
}

static const struct {
	const char *word, *key, *text;
} texts[RECONCILE_REASONS] = {
        [REASON_NONE] = {"", NULL, NULL},
        [REASON_FEW_SAMPLES] = {"few samples", "few_samples",
                                "the interval is wider than a quarter of the time, or a method has "
                                "no data of the function. More runs (--run) or longer ones "
                                "make it narrower."},
        [REASON_SHORT_CALLS] = {"short calls", "short_calls",
                                "the cost of counting a call is not known more exactly than the "
                                "time of a call, so the counted time is uncertain."},
        [REASON_CHANCE] = {"chance", "chance",
                           "the difference is beyond its own interval, but one of so many "
                           "functions may differ by this by chance. More runs (--run) decide."},
        [REASON_SCATTER] = {"runs differ", "runs_differ",
                            "the runs of one method differ as much as the methods do."},
        [REASON_WAITING] = {"waiting", "waiting",
                            "the kernel denied switch records to the counting runtime, so "
                            "counted times include waiting (assay doctor says how to allow "
                            "it)."},
        [REASON_WORK] = {"other work", "other_work",
                         "the counted runs called the function different numbers of times, or the "
                         "process had not ended: the runs did not do the same work."},
        [REASON_NO_CHAINS] = {"no call paths", "no_call_paths",
                              "the samples have no call paths, so the time of code without hooks "
                              "(libraries, the kernel) is not known for its callers; 'assay "
                              "record -g' records call paths."},
        [REASON_CUT_STACKS] = {"cut stacks", "cut_stacks",
                               "the call paths of samples are cut before a function with hooks, "
                               "so their time is in (outside)."},
        [REASON_INLINED] = {"inlined", "inlined",
                            "no sample is in the function: the compiler inlined it in the sampled "
                            "program, so its time is in its callers. Hooks prevent this, and "
                            "debug information (-g) shows it."},
        [REASON_INLINES] = {"contains inlined", "contains_inlined",
                            "samples in the function are also of functions that the compiler "
                            "inlined into it, or that it calls by a jump (tail call)."},
        [REASON_IN_CALLERS] = {"in callers", "in_callers",
                               "the compiler inlined the function into some of its callers, or it "
                               "ends with a jump to another function (tail call): a part of its "
                               "time is in its callers, which have more time in samples."},
        [REASON_START] = {"start and exit", "start_and_exit",
                          "samples are from the first to the last instruction of the process; "
                          "counting begins after the loading of libraries, and it does not see "
                          "the exit."},
        [REASON_SAMPLING] = {"cost of sampling", "cost_of_sampling",
                             "the time that the kernel needs to take a sample, up to 20 us, is in "
                             "the sampled times. A lower rate (-F) makes it smaller."},
        [REASON_IDLE_HOOKS] = {"idle hooks", "idle_hooks",
                               "the sampled program has hooks too. They do nothing, but to call "
                               "them takes time, up to 5 ns a call."},
        [REASON_CHANGED_CODE] = {"changed code", "changed_code",
                                 "hooks change the code of the counted program: calls, saved "
                                 "registers, less inlining; up to 5 ns a call."},
        [REASON_SWITCHES] = {"switches", "switches",
                             "the function was switched out. The scheduler turns interrupts off "
                             "at a switch, so no sample falls there; counted times contain a part "
                             "of it, up to 30 us a switch."},
        [REASON_COST] = {"cost of counting", "cost_of_counting",
                         "the difference is not larger than the cost of counting the calls. A "
                         "processor hides a part of this cost, and how much depends on the code "
                         "around the call."},
        [REASON_DELAY] = {"interrupts off", "interrupts_off",
                          "samples are late: the time belongs to code before it, which ran with "
                          "interrupts off."},
        [REASON_IN_STEP] = {"in step", "in_step",
                            "the program is synchronized with the sampling clock: a second clock "
                            "measured another share. Another rate (-F) breaks the "
                            "synchronization."},
        [REASON_WHOLE] = {"whole process", "whole_process",
                          "all functions of the process differ in the same ratio: the machine was "
                          "slower during the runs of one method, or counting slows all code."},
        [REASON_UNKNOWN] = {"unknown", "unknown",
                            "no known cause explains the difference: one of the two methods is "
                            "wrong here."},
};

const char *reconcile_reason_word(enum reconcile_reason reason)
{
	return texts[reason].word;
}

const char *reconcile_reason_key(enum reconcile_reason reason)
{
	return texts[reason].key;
}

const char *reconcile_reason_text(const struct reconcile *r, enum reconcile_reason reason)
{
	if (reason == REASON_INLINED && !r->runs->native)
		return "no sample is in the function: its code is inlined into its callers, and "
		       "the "
		       "program has no debug information (-g) to show it.";
	return texts[reason].text;
}
