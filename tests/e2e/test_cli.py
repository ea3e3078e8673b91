# SPDX-License-Identifier: GPL-2.0-or-later
"""The command line: help, man pages, completions, and mistakes."""
import os
import re

from harness import ASSAY, main, run, test


def commands(t):
    overview = t.assay("--help").out
    section = overview.split("Commands:\n")[1].split("\n\n")[0]
    names = [line.split()[0] for line in section.splitlines() if re.match(r"  \w", line)]
    t.true(names, f"no commands in: {overview}")
    return names


def options(t, command):
    """The long options in the help of a command."""
    text = t.assay("help", command).out
    return sorted(set(re.findall(r"^  (?:-\w, |    )--([\w-]+)", text, re.M)))


@test
def the_overview_lists_the_commands_in_their_order(t):
    order = ["record", "start", "status", "snapshot", "stop", "top", "report", "view", "annotate", "waits", "diff",
             "watch", "reconcile", "intervals", "calls", "tags", "sql", "export", "store", "agent", "doctor",
             "help"]
    names = commands(t)
    t.equal([name for name in order if name in names], names, "the list of commands")
    for name in ("doctor", "help"):
        t.true(name in names, f"{name} is not listed")


@test
def nothing_to_do_is_wrong_use_and_shows_the_overview(t):
    result = run(ASSAY, status=2)
    t.has(result.out, "Usage: assay COMMAND")


@test
def version_is_printed(t):
    t.true(re.fullmatch(r"assay \d+\.\d+\.\d+\n", t.assay("--version").out), "no version")


@test
def help_is_the_same_in_all_its_forms(t):
    for command in commands(t):
        text = t.assay("help", command).out
        t.has(text, f"Usage: assay {command}")
        t.equal(t.assay(command, "--help").out, text, f"{command} --help")
        t.equal(t.assay(command, "-h").out, text, f"{command} -h")


@test
def help_fits_eighty_columns(t):
    for command in commands(t):
        text = t.assay("help", command).out.split("\nExamples:")[0]
        for line in text.splitlines():
            # The usage is one line, which a user can copy.
            if not line.startswith("Usage:"):
                t.true(len(line) <= 80, f"{command}: a line of {len(line)} columns: {line}")


@test
def every_option_is_described(t):
    for command in commands(t):
        text = t.assay("help", command).out
        for line in text.split("\nExamples:")[0].splitlines():
            match = re.match(r"  (?:-\w, |    |-\w )--?[\w-]+(\S*)(.*)$", line)
            if match and not match.group(2).strip():
                after = text[text.index(line) + len(line) + 1:].split("\n")[0]
                t.true(after.startswith(" " * 20), f"{command}: no description: {line}")


@test
def the_page_of_a_command_contains_its_subcommands(t):
    t.equal(t.assay("help", "--man", "tags", "trace").out, t.assay("help", "--man", "tags").out)
    t.has(t.assay("help", "--man", "tags", "trase", status=2).err, "'trase' is too many")


@test
def man_pages_name_every_option(t):
    for command in commands(t):
        page = t.assay("help", "--man", command).out
        if command in ("record", "start"):
            for words in ("Size of all buffers together", "Records that do not fit"):
                t.has(page, words, "what an option is, and more about it")
        for part in (".TH ASSAY\\-", ".SH NAME", ".SH SYNOPSIS", ".SH DESCRIPTION", ".SH OPTIONS",
                     ".SH EXIT STATUS"):
            t.has(page, part if "TH" not in part else ".TH ASSAY", f"{command}'s page")
        for option in options(t, command):
            t.has(page, "\\-\\-" + option.replace("-", "\\-"), f"{command}'s page")
    for command in commands(t):
        t.has(t.assay("help", "--man").out, f"assay\\-{command}", "assay's page")


@test
def man_pages_are_well_formed(t):
    t.need("mandoc")
    for command in [None] + commands(t):
        page = t.assay("help", "--man", *([command] if command else [])).out
        result = run("mandoc", "-Tlint", "-Wwarning", input=page, status=None)
        # Pages have no date: the same sources give the same pages.
        wrong = [line for line in result.out.splitlines() if "missing date" not in line]
        t.equal(wrong, [], f"mandoc's word on the page of {command}")


@test
def completions_name_every_command_and_option(t):
    for shell in ("bash", "zsh", "fish"):
        script = t.assay("help", "--completion", shell).out
        for command in commands(t):
            t.has(script, command, f"{shell}'s completion")
            for option in options(t, command):
                word = f" -l {option} " if shell == "fish" and option != "help" else option
                t.has(script, word, f"{shell}'s completion")


@test
def completions_are_read_by_their_shells(t):
    for shell, words in (("bash", ["-n"]), ("zsh", ["-n"]), ("fish", ["--no-execute"])):
        t.need(shell)
        script = t.write("script", t.assay("help", "--completion", shell).out)
        t.equal(run(shell, *words, script).err, "", f"{shell}'s word on it")


def complete_in_bash(t, *words):
    """The completions that bash offers for the last word."""
    script = t.write("completion", t.assay("help", "--completion", "bash").out)
    quoted = " ".join(f"'{word}'" for word in words)
    return run("bash", "-c", f"source {script}; COMP_WORDS=({quoted}); "
               f"COMP_CWORD={len(words) - 1}; _assay; printf '%s\\n' \"${{COMPREPLY[@]}}\"",
               cwd=t.directory).out.split()


@test
def bash_offers_commands_options_and_values(t):
    t.equal(complete_in_bash(t, "assay", "doc"), ["doctor"])
    t.equal(complete_in_bash(t, "assay", "doctor", "--j"), ["--json"])
    t.equal(complete_in_bash(t, "assay", "help", "--completion", "z"), ["zsh"])
    t.equal(complete_in_bash(t, "assay", "help", "--completion", "=", "f"), ["fish"])
    t.equal(complete_in_bash(t, "assay", "help", "doc"), ["doctor"])
    t.equal(complete_in_bash(t, "assay", "help", "me"), ["methods"])


@test
def fish_offers_commands_options_and_values(t):
    t.need("fish")
    script = t.write("completion", t.assay("help", "--completion", "fish").out)
    # fish completes only commands that it finds in PATH.
    t.path("bin").mkdir()
    t.path("bin/assay").symlink_to(os.path.abspath(ASSAY))
    for line, wanted in (("assay doc", ["doctor"]), ("assay doctor --j", ["--json"]),
                         ("assay help --completion z", ["zsh"]), ("assay help doc", ["doctor"])):
        result = run("fish", "-c", f"source {script}; complete -C '{line}'", cwd=t.directory,
                     env={"HOME": str(t.directory),
                          "PATH": f"{t.path('bin')}:{os.environ['PATH']}"})
        t.equal([offer.split("\t")[0] for offer in result.out.splitlines()], wanted, line)


def mistake(t, *words):
    """The message for a wrong command line; status 2, and no standard output."""
    result = t.assay(*words, status=2)
    t.equal(result.out, "", "the output")
    t.true(result.err.startswith("assay: "), f"not assay's own sentence: {result.err}")
    t.equal(result.err.count("\n"), 1, "lines of the sentence")
    return result.err


@test
def an_unknown_command_is_answered_with_the_nearest(t):
    t.has(mistake(t, "docter"), "did you mean 'doctor'?")
    t.has(mistake(t, "xyzzyplugh"), "'assay help' lists them")
    t.has(mistake(t, "help", "docter"), "did you mean 'doctor'?")
    t.has(mistake(t, "help", "method"), "did you mean 'help methods'?")


@test
def commands_of_other_profilers_are_answered_with_those_that_do_their_work(t):
    for word in ("script", "trace"):
        said = mistake(t, word)
        t.true("did you mean" not in said, f"a similar word, not a similar command: {said}")
        for command in re.findall(r"'assay (\w+)", said) or ["none"]:
            t.true(command in commands(t), f"no command of assay: {command} in {said}")
    t.has(mistake(t, "trace"), "'assay tags trace' prints the calls")
    t.has(mistake(t, "help", "trace"), "'assay tags trace'")


@test
def an_unknown_option_is_answered_with_the_nearest(t):
    t.has(mistake(t, "doctor", "--jsn"), "there is no option --jsn; did you mean --json?")
    t.has(mistake(t, "doctor", "-Z"), "there is no option -Z; 'assay help doctor' lists them")
    t.has(mistake(t, "record", "-g=fp"), "the value of -g follows it directly, without '='")
    t.has(mistake(t, "sql", "select 1"), "the FILE comes before the query: assay sql FILE 'select 1'")
    for command in commands(t):
        t.has(mistake(t, command, "--xyzzyplugh"), "there is no option --xyzzyplugh")


@test
def options_are_not_to_be_shortened(t):
    t.has(mistake(t, "doctor", "--js"), "did you mean --json?")


@test
def wrong_values_are_named_with_what_is_expected(t):
    sentence = mistake(t, "help", "--completion", "tcsh")
    for part in ("--completion", "'tcsh'", "bash, zsh, fish"):
        t.has(sentence, part)
    t.has(mistake(t, "help", "--completion"), "--completion needs a value: --completion SHELL")
    t.has(mistake(t, "doctor", "--json=yes"), "--json takes no value")
    t.has(mistake(t, "doctor", "nothing"), "takes no arguments")


@test
def numbers_of_record_and_report_are_checked(t):
    if not {"record", "report"} <= set(commands(t)):
        t.skip("record and report are not built in")
    for words in (("record", "-F", "often"), ("record", "-F"), ("record", "-F", "-1"),
                  ("report", "--percent-limit", "few"), ("report", "--percentage", "colour")):
        sentence = mistake(t, *words)
        t.has(sentence, words[1])
        t.has(sentence, words[-1])


@test
def a_full_output_is_an_error(t):
    for words in ("help", "doctor --json", "--version"):
        result = run("sh", "-c", f'"$0" {words} >/dev/full', ASSAY, status=1)
        t.equal(result.err, "assay: the output could not be written: No space left on device\n")


@test
def closed_descriptors_are_not_taken_for_a_recording_s(t):
    """Files opened with these descriptor numbers would receive the messages, and a session would
    lose its lock."""
    data, env = t.path("closed.data"), t.runtime()
    run("sh", "-c", '"$1" record -o "$2" -- sh -c "exit 3" <&- >&- 2>&-; test $? = 3 && "$1" report "$2"',
        "sh", ASSAY, data, env=env)
    t.lacks(data.read_bytes().decode(errors="replace"), "read it with", "the recording")
    result = run("sh", "-c", '"$1" start -p $$ -o "$2" <&- >&- 2>&- && "$1" status && "$1" stop',
                 "sh", ASSAY, data, env=env)
    t.has(result.out, "Session default: running")
    t.has(result.out, "Session default: stopped")
    t.assay("report", data)
    result = run("sh", "-c", '"$0" sql "$1" <&-', ASSAY, data, status=1)
    t.has(result.err, "cannot read standard input: Bad file descriptor")
    result = run("sh", "-c", '"$0" --version >&-', ASSAY, status=1)
    t.equal(result.err, "assay: the output could not be written: Bad file descriptor\n")


main()
