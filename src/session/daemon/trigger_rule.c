/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "session/daemon/trigger_rule.h"

#include "base/memory/buf.h"
#include "base/memory/xalloc.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define COMM_LETTERS 15 /* the kernel truncates names to this length */
#define RULE_LETTERS 256

struct quantity {
	const char *name;
	enum trigger_rule_kind kind;
	bool share; /* a percentage */
	const char *example;
};

static const struct quantity quantities[] = {
        {"load", TRIGGER_LOAD, false, "load>4"},
        {"runq", TRIGGER_RUNQ, false, "runq>8"},
        {"cpu", TRIGGER_CPU, true, "cpu>90%"},
        {"mem", TRIGGER_MEM, true, "mem<10%"},
        {"cpu.some", TRIGGER_PRESSURE, true, "cpu.some>20%"},
        {"mem.some", TRIGGER_PRESSURE, true, "mem.some>5%"},
        {"mem.full", TRIGGER_PRESSURE, true, "mem.full>1%"},
        {"io.some", TRIGGER_PRESSURE, true, "io.some>30%"},
        {"io.full", TRIGGER_PRESSURE, true, "io.full>10%"},
        {"process", TRIGGER_PROCESS, false, "process=NAME"},
        {"exit", TRIGGER_EXIT, false, "exit=NAME"},
};

#define QUANTITIES (sizeof(quantities) / sizeof(*quantities))

struct scan {
	const char *text, *p;
};

static void skip_blanks(struct scan *s)
{
	s->p += strspn(s->p, " \t");
}

static int wrong(const struct scan *s, struct error *err, const char *what)
{
	struct buf known = {0};
	int status;

	for (size_t i = 0; i < QUANTITIES; i++)
		buf_addf(&known, "%s%s", i ? " " : "", quantities[i].example);
	status = error_set(err, EINVAL, "'%.*s', at letter %zu: %s; rules are such as: %s",
	                   RULE_LETTERS, s->text, (size_t)(s->p - s->text) + 1, what,
	                   buf_text(&known));
	buf_done(&known);
	return status;
}

static const struct quantity *find_quantity(struct scan *s)
{
	size_t letters = strspn(s->p, "abcdefghijklmnopqrstuvwxyz.");

	for (size_t i = 0; i < QUANTITIES; i++) {
		if (strlen(quantities[i].name) != letters ||
		    strncmp(s->p, quantities[i].name, letters) != 0)
			continue;
		s->p += letters;
		return &quantities[i];
	}
	return NULL;
}

/* Parses a number: digits, with an optional fraction. */
static int take_number(struct scan *s, double *number, struct error *err)
{
	size_t whole = strspn(s->p, "0123456789"), fraction = 0;
	double scale = 1;

	if (s->p[whole] == '.')
		fraction = strspn(s->p + whole + 1, "0123456789");
	if (!whole)
		return wrong(s, err, "a number is missing here");
	if (whole > 9 || fraction > 9)
		return wrong(s, err, "that number is too long");
	*number = 0;
	for (size_t i = 0; i < whole; i++)
		*number = *number * 10 + (s->p[i] - '0');
	for (size_t i = 0; i < fraction; i++)
		*number += (s->p[whole + 1 + i] - '0') * (scale /= 10);
	s->p += whole + (fraction ? fraction + 1 : 0);
	return 0;
}

static int take_limit(struct scan *s, const struct quantity *q, struct trigger_rule *rule,
                      struct error *err)
{
	const char *number;
	int status;

	if (*s->p != '<' && *s->p != '>')
		return wrong(s, err, "< or > is missing here");
	rule->above = *s->p++ == '>';
	skip_blanks(s);
	number = s->p;
	status = take_number(s, &rule->limit, err);
	if (status)
		return status;
	if (q->share && rule->limit > 100) {
		s->p = number;
		return wrong(s, err, "a share is 100% at most");
	}
	skip_blanks(s);
	if (q->share && *s->p == '%')
		s->p++;
	skip_blanks(s);
	return *s->p ? wrong(s, err, "the rule should end here") : 0;
}

static int take_name(struct scan *s, struct trigger_rule *rule, struct error *err)
{
	size_t letters;

	if (*s->p != '=')
		return wrong(s, err, "= is missing here");
	s->p++;
	skip_blanks(s);
	letters = strlen(s->p);
	while (letters && strchr(" \t", s->p[letters - 1]))
		letters--;
	if (!letters)
		return wrong(s, err, "a name is missing here");
	/* The kernel truncates names; patterns are compared with the truncated name. */
	if (letters > COMM_LETTERS && strcspn(s->p, "*?[\\") >= letters)
		letters = COMM_LETTERS;
	rule->name = xstrndup(s->p, letters);
	return 0;
}

int trigger_rule_parse(const char *text, struct trigger_rule *rule, struct error *err)
{
	struct scan s = {text, text};
	const struct quantity *q;

	rule->text = xstrdup(text);
	skip_blanks(&s);
	if (strlen(text) > RULE_LETTERS)
		return wrong(&s, err, "that rule is too long");
	if (!*s.p)
		return wrong(&s, err, "the rule is empty");
	q = find_quantity(&s);
	if (!q)
		return wrong(&s, err, "unknown name");
	rule->kind = q->kind;
	if (q->kind == TRIGGER_PRESSURE)
		rule->pressure = q->name;
	skip_blanks(&s);
	if (q->kind == TRIGGER_PROCESS || q->kind == TRIGGER_EXIT)
		return take_name(&s, rule, err);
	return take_limit(&s, q, rule, err);
}

void trigger_rule_done(struct trigger_rule *rule)
{
	free(rule->text);
	free(rule->name);
}
