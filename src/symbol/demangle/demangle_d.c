/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Demangles D names by the grammar of D's ABI ("Name Mangling"). libiberty's parser is not used: a
 * name can refer back to its own parts and be ambiguous, and that parser has no bound for
 * either. Here each step is counted, and a name that needs too many steps stays as it is. Return
 * types and attributes of functions are parsed and not printed.
 */
#include "symbol/demangle/demangle_internal.h"

#include <stdint.h>
#include <string.h>

#define STEPS_MAX 20000
#define DEPTH_MAX 200
#define COPIED_A_STEP 64 /* moved bytes of text that count as one step */

struct d_name_reader {
	const char *start, *at, *end;
	struct buf *out;
	unsigned steps, depth;
	bool bare; /* parameters of the outermost name are not printed */
};

static bool read_type(struct d_name_reader *r);
static bool read_qualified(struct d_name_reader *r, bool top);
static bool read_value(struct d_name_reader *r, char type);
static bool read_symbol(struct d_name_reader *r);

static char peek(const struct d_name_reader *r)
{
	return r->at < r->end ? *r->at : '\0';
}

static bool skip(struct d_name_reader *r, char c)
{
	if (peek(r) != c || !c)
		return false;
	r->at++;
	return true;
}

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

/* Every rule begins with enter(). If it returns true, leave() must follow. */
static bool enter(struct d_name_reader *r)
{
	if (++r->steps > STEPS_MAX || r->depth >= DEPTH_MAX || r->out->size > DEMANGLED_MAX_BYTES)
		return false;
	r->depth++;
	return true;
}

static bool leave(struct d_name_reader *r, bool good)
{
	r->depth--;
	return good;
}

/* Truncates the printed text; it stays terminated. */
static void cut(struct d_name_reader *r, size_t size)
{
	if (r->out->size > size) {
		r->out->size = size;
		r->out->data[size] = '\0';
	}
}

static bool read_number(struct d_name_reader *r, size_t *number)
{
	const char *start = r->at;

	for (*number = 0; is_digit(peek(r)); r->at++) {
		if (*number > (SIZE_MAX - 9) / 10)
			return false;
		*number = *number * 10 + (size_t)(*r->at - '0');
	}
	return r->at > start;
}

/*
 * Reads a back reference: "Q" and a number in base 26 (the last digit is in lower case), a distance
 * in bytes.
 */
static const char *read_back(struct d_name_reader *r)
{
	const char *q = r->at;
	size_t back = 0;

	if (!skip(r, 'Q'))
		return NULL;
	for (; peek(r) >= 'A' && peek(r) <= 'Z' && back < (size_t)(r->end - r->start); r->at++)
		back = back * 26 + (size_t)(*r->at - 'A');
	if (peek(r) < 'a' || peek(r) > 'z')
		return NULL;
	back = back * 26 + (size_t)(*r->at++ - 'a');
	return back && back <= (size_t)(q - r->start) ? q - back : NULL;
}

/* Parses the text at an earlier position by `rule`, and continues after the reference. */
static bool read_there(struct d_name_reader *r, const char *there, const char *q,
                       bool (*rule)(struct d_name_reader *))
{
	const char *at = r->at, *end = r->end;
	bool good;

	if (!there)
		return false;
	r->at = there;
	r->end = q; /* the text ends before the reference, which prevents an endless loop */
	good = rule(r);
	r->at = at;
	r->end = end;
	return good;
}

/* --- templates ------------------------------------------------------------ */

static bool read_external(struct d_name_reader *r)
{
	size_t size;

	if (!read_number(r, &size) || size > (size_t)(r->end - r->at))
		return false;
	buf_add(r->out, r->at, size);
	r->at += size;
	return true;
}

static bool read_template_value(struct d_name_reader *r)
{
	char type = peek(r);
	size_t before = r->out->size;

	if (!read_type(r))
		return false;
	cut(r, before);
	return read_value(r, type);
}

static bool read_template_argument(struct d_name_reader *r)
{
	skip(r, 'H');
	if (skip(r, 'T'))
		return read_type(r);
	if (skip(r, 'V'))
		return read_template_value(r);
	if (skip(r, 'X'))
		return read_external(r);
	return skip(r, 'S') && read_symbol(r);
}

static bool read_identifier(struct d_name_reader *r);

/* Parses items up to "Z", and prints them in parentheses; `open` is the opening text. */
static bool read_items(struct d_name_reader *r, const char *open,
                       bool (*read_item)(struct d_name_reader *r))
{
	buf_puts(r->out, open);
	for (bool first = true; !skip(r, 'Z'); first = false) {
		if (!first)
			buf_puts(r->out, ", ");
		if (!enter(r) || !leave(r, read_item(r)))
			return false;
	}
	buf_putc(r->out, ')');
	return true;
}

/* After "__T" or "__U": name!(arguments) */
static bool read_template(struct d_name_reader *r)
{
	return read_identifier(r) && read_items(r, "!(", read_template_argument);
}

static bool skip_template_mark(struct d_name_reader *r)
{
	if (r->end - r->at < 3 || (memcmp(r->at, "__T", 3) != 0 && memcmp(r->at, "__U", 3) != 0))
		return false;
	r->at += 3;
	return true;
}

/* --- names ---------------------------------------------------------------- */

static void add_name(struct d_name_reader *r, const char *name, size_t size)
{
	static const char *const special[][2] = {
	        {"__ctor", "this"}, {"__dtor", "~this"}, {"__postblit", "this(this)"}};

	for (size_t i = 0; i < sizeof(special) / sizeof(*special); i++) {
		if (size == strlen(special[i][0]) && !memcmp(name, special[i][0], size)) {
			buf_puts(r->out, special[i][1]);
			return;
		}
	}
	buf_add(r->out, name, size);
}

/* Parses a number and that many characters, which may be a template. */
static bool read_counted(struct d_name_reader *r)
{
	const char *end = r->end;
	size_t size;
	bool good;

	if (!read_number(r, &size) || !size || size > (size_t)(r->end - r->at))
		return false;
	r->end = r->at + size;
	if (skip_template_mark(r)) {
		good = read_template(r) && r->at == r->end;
	} else {
		add_name(r, r->at, size);
		r->at = r->end;
		good = true;
	}
	r->end = end;
	return good;
}

static bool read_identifier(struct d_name_reader *r)
{
	const char *q = r->at, *there;
	bool good;

	if (!enter(r))
		return false;
	if (peek(r) == 'Q') {
		there = read_back(r);
		good = there && is_digit(*there) && read_there(r, there, q, read_counted);
	} else if (skip_template_mark(r)) {
		good = read_template(r);
	} else {
		good = read_counted(r);
	}
	return leave(r, good);
}

/* --- functions ------------------------------------------------------------ */

static bool is_convention(char c)
{
	return c == 'F' || c == 'U' || c == 'W' || c == 'R' || c == 'Y';
}

static void skip_attributes(struct d_name_reader *r)
{
	while (r->end - r->at >= 2 && r->at[0] == 'N' && r->at[1] >= 'a' && r->at[1] <= 'm' &&
	       r->at[1] != 'g' && r->at[1] != 'h' && r->at[1] != 'k')
		r->at += 2;
}

static void skip_modifiers(struct d_name_reader *r)
{
	while (peek(r) == 'O' || peek(r) == 'x' || peek(r) == 'y' ||
	       (r->end - r->at >= 2 && r->at[0] == 'N' && r->at[1] == 'g'))
		r->at += peek(r) == 'N' ? 2 : 1;
}

static bool read_parameter(struct d_name_reader *r)
{
	static const char letters[] = "IJKL";
	static const char *const words[] = {"in ", "out ", "ref ", "lazy "};
	const char *known;

	while (skip(r, 'M') || (r->end - r->at >= 2 && r->at[0] == 'N' && r->at[1] == 'k'))
		r->at += peek(r) == 'N' ? 2 : 0;
	while ((known = peek(r) ? strchr(letters, peek(r)) : NULL)) {
		buf_puts(r->out, words[known - letters]);
		r->at++;
	}
	return read_type(r);
}

/* Parses from the calling convention to the end of the parameters: "(int, char)". */
static bool read_parameters(struct d_name_reader *r)
{
	if (!is_convention(peek(r)))
		return false;
	r->at++;
	skip_attributes(r);
	buf_putc(r->out, '(');
	for (bool first = true;; first = false) {
		char c = peek(r);

		if (c == 'X' || c == 'Y' || c == 'Z') {
			r->at++;
			buf_puts(r->out, c == 'Z' ? ")" : c == 'X' ? "...)" : ", ...)");
			return true;
		}
		if (!first)
			buf_puts(r->out, ", ");
		if (!enter(r) || !leave(r, read_parameter(r)))
			return false;
	}
}

/* Parses the parameters after a function's name, if there are any. */
static void try_parameters(struct d_name_reader *r, bool top)
{
	const char *before = r->at;
	size_t size = r->out->size;

	if (skip(r, 'M'))
		skip_modifiers(r);
	/* A type must follow. Otherwise the letters belong to the outer name. */
	if (!read_parameters(r) || r->at == r->end) {
		r->at = before;
		cut(r, size);
	} else if (top && r->bare) {
		cut(r, size);
	}
}

static bool begins_name(const struct d_name_reader *r)
{
	return is_digit(peek(r)) || peek(r) == '_' || (peek(r) == 'Q' && r->end - r->at > 1);
}

/* True if a back reference is to a name, not to a type. */
static bool is_name_reference(struct d_name_reader *r)
{
	const char *before = r->at, *there = read_back(r);

	r->at = before;
	return there && is_digit(*there);
}

static bool read_qualified(struct d_name_reader *r, bool top)
{
	bool first = true;

	if (!enter(r))
		return false;
	while (begins_name(r) && (peek(r) != 'Q' || is_name_reference(r))) {
		if (skip(r, '0'))
			continue; /* without a name */
		if (!first)
			buf_putc(r->out, '.');
		if (!read_identifier(r))
			return leave(r, false);
		first = false;
		if (peek(r) == 'M' || is_convention(peek(r)))
			try_parameters(r, top);
	}
	return leave(r, !first);
}

/* --- types ---------------------------------------------------------------- */

static const char *basic_type(char c)
{
	static const struct {
		char letter;
		const char *name;
	} types[] = {{'v', "void"},    {'g', "byte"},    {'h', "ubyte"},       {'s', "short"},
	             {'t', "ushort"},  {'i', "int"},     {'k', "uint"},        {'l', "long"},
	             {'m', "ulong"},   {'f', "float"},   {'d', "double"},      {'e', "real"},
	             {'o', "ifloat"},  {'p', "idouble"}, {'j', "ireal"},       {'q', "cfloat"},
	             {'r', "cdouble"}, {'c', "creal"},   {'b', "bool"},        {'a', "char"},
	             {'u', "wchar"},   {'w', "dchar"},   {'n', "typeof(null)"}};

	for (size_t i = 0; i < sizeof(types) / sizeof(*types); i++)
		if (types[i].letter == c)
			return types[i].name;
	return NULL;
}

static bool read_wrapped(struct d_name_reader *r, const char *before, const char *after)
{
	bool good;

	buf_puts(r->out, before);
	good = read_type(r);
	buf_puts(r->out, after);
	return good;
}

/* int function(char): the return type comes last, and is printed first. */
static bool read_function(struct d_name_reader *r, const char *word)
{
	size_t start = r->out->size, middle;
	struct buf parameters = {0};
	bool good;

	skip_modifiers(r);
	buf_puts(r->out, word);
	if (!read_parameters(r))
		return false;
	middle = r->out->size;
	buf_add(&parameters, r->out->data + start, middle - start);
	cut(r, start);
	r->steps += (unsigned)(parameters.size / COPIED_A_STEP);
	good = read_type(r);
	buf_add(r->out, parameters.data, parameters.size);
	buf_done(&parameters);
	return good;
}

static bool read_static_array(struct d_name_reader *r)
{
	const char *digits = r->at;
	size_t number, length;

	if (!read_number(r, &number))
		return false;
	length = (size_t)(r->at - digits);
	if (!read_type(r))
		return false;
	buf_putc(r->out, '[');
	buf_add(r->out, digits, length);
	buf_putc(r->out, ']');
	return true;
}

/* value[key]; the key comes first. */
static bool read_map(struct d_name_reader *r)
{
	size_t start = r->out->size;
	struct buf key = {0};
	bool good = read_type(r);

	if (good)
		buf_add(&key, r->out->data + start, r->out->size - start);
	r->steps += (unsigned)(key.size / COPIED_A_STEP);
	cut(r, start);
	good = good && read_type(r);
	buf_putc(r->out, '[');
	buf_add(r->out, buf_text(&key), key.size);
	buf_putc(r->out, ']');
	buf_done(&key);
	return good;
}

static bool read_tuple(struct d_name_reader *r)
{
	return read_items(r, "tuple(", read_parameter);
}

static bool read_two_letters(struct d_name_reader *r, char first)
{
	char c = peek(r);

	if (c)
		r->at++;
	if (first == 'z' && (c == 'i' || c == 'k')) {
		buf_puts(r->out, c == 'i' ? "cent" : "ucent");
		return true;
	}
	if (first == 'N' && c == 'n') {
		buf_puts(r->out, "noreturn");
		return true;
	}
	if (first == 'N' && (c == 'g' || c == 'h'))
		return read_wrapped(r, c == 'g' ? "inout(" : "__vector(", ")");
	return false;
}

static bool read_pointer(struct d_name_reader *r)
{
	if (is_convention(peek(r)))
		return read_function(r, " function");
	return read_wrapped(r, "", "*");
}

/* Parses the rest of a type after its first letter `c`. */
static bool read_type_of(struct d_name_reader *r, char c)
{
	const char *basic = basic_type(c);

	if (basic) {
		buf_puts(r->out, basic);
		return true;
	}
	switch (c) {
	case 'O':
		return read_wrapped(r, "shared(", ")");
	case 'x':
		return read_wrapped(r, "const(", ")");
	case 'y':
		return read_wrapped(r, "immutable(", ")");
	case 'A':
		return read_wrapped(r, "", "[]");
	case 'G':
		return read_static_array(r);
	case 'H':
		return read_map(r);
	case 'P':
		return read_pointer(r);
	case 'D':
		return read_function(r, " delegate");
	case 'C':
	case 'S':
	case 'E':
	case 'T':
	case 'I':
		return read_qualified(r, false);
	case 'B':
		return read_tuple(r);
	default:
		return (c == 'z' || c == 'N') && read_two_letters(r, c);
	}
}

static bool read_type(struct d_name_reader *r)
{
	const char *q = r->at, *there;
	bool good;

	if (!enter(r))
		return false;
	if (peek(r) == 'Q') {
		there = read_back(r);
		good = read_there(r, there, q, read_type);
	} else if (is_convention(peek(r))) {
		good = read_function(r, "");
	} else {
		good = r->at < r->end && (r->at++, read_type_of(r, *q));
	}
	return leave(r, good);
}

/* --- values of template arguments ------------------------------------------ */

static bool read_integer(struct d_name_reader *r, char type)
{
	const char *digits = r->at;
	size_t number;

	if (!read_number(r, &number))
		return false;
	if (type == 'b')
		buf_puts(r->out, number ? "true" : "false");
	else if ((type == 'a' || type == 'u' || type == 'w') && number >= ' ' && number < 127)
		buf_addf(r->out, "'%c'", (char)number);
	else
		buf_add(r->out, digits, (size_t)(r->at - digits));
	return true;
}

static int hex_digit(char c)
{
	return is_digit(c) ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

static bool read_text(struct d_name_reader *r)
{
	size_t size;

	if (!read_number(r, &size) || !skip(r, '_') || size > (size_t)(r->end - r->at) / 2)
		return false;
	buf_putc(r->out, '"');
	for (; size; size--, r->at += 2) {
		int high = hex_digit(r->at[0]), low = hex_digit(r->at[1]);

		if (high < 0 || low < 0)
			return false;
		buf_putc(r->out, high >= 2 ? (char)(high << 4 | low) : '.');
	}
	buf_putc(r->out, '"');
	return true;
}

static bool read_real(struct d_name_reader *r)
{
	const char *start = r->at;

	while (is_digit(peek(r)) || (peek(r) >= 'A' && peek(r) <= 'F') || peek(r) == 'N' ||
	       peek(r) == 'I' || peek(r) == 'P')
		r->at++;
	buf_add(r->out, start, (size_t)(r->at - start));
	return r->at > start;
}

static bool read_list(struct d_name_reader *r, const char *open, const char *close)
{
	size_t count;

	if (!read_number(r, &count))
		return false;
	buf_puts(r->out, open);
	for (size_t i = 0; i < count; i++) {
		if (i)
			buf_puts(r->out, ", ");
		if (!read_value(r, '\0'))
			return false;
	}
	buf_puts(r->out, close);
	return true;
}

static bool read_value_of(struct d_name_reader *r, char type)
{
	if (is_digit(peek(r)))
		return read_integer(r, type);
	if (skip(r, 'i'))
		return read_integer(r, type);
	if (skip(r, 'N')) {
		buf_putc(r->out, '-');
		return read_integer(r, type);
	}
	if (skip(r, 'n')) {
		buf_puts(r->out, "null");
		return true;
	}
	if (skip(r, 'e'))
		return read_real(r);
	if (skip(r, 'c'))
		return read_real(r) && skip(r, 'c') && (buf_putc(r->out, '+'), read_real(r));
	if (skip(r, 'a') || skip(r, 'w') || skip(r, 'd'))
		return read_text(r);
	if (skip(r, 'A'))
		return read_list(r, "[", "]");
	if (skip(r, 'S'))
		return read_list(r, "(", ")");
	return skip(r, 'f') && read_symbol(r);
}

static bool read_value(struct d_name_reader *r, char type)
{
	return enter(r) && leave(r, read_value_of(r, type));
}

/* --- the whole ------------------------------------------------------------- */

/* After "_D": the name, and its type, which is not printed. */
static bool read_mangled(struct d_name_reader *r, bool top)
{
	size_t printed;

	if (!read_qualified(r, top))
		return false;
	printed = r->out->size;
	if (!skip(r, 'Z') && !read_type(r))
		return false;
	cut(r, printed);
	return true;
}

/* Parses a name, mangled or not. */
static bool read_symbol(struct d_name_reader *r)
{
	if (r->end - r->at < 3 || r->at[0] != '_' || r->at[1] != 'D')
		return read_qualified(r, false);
	r->at += 2;
	return enter(r) && leave(r, read_mangled(r, false));
}

bool demangle_d(const char *name, size_t size, bool bare, struct buf *out)
{
	struct d_name_reader r = {
	        .start = name, .at = name + 2, .end = name + size, .out = out, .bare = bare};

	if (size == 6 && !memcmp(name, "_Dmain", 6)) {
		buf_puts(out, "D main");
		return true;
	}
	if (size < 4 || memcmp(name, "_D", 2) != 0 || !is_digit(name[2]) || name[2] == '0')
		return false;
	return read_mangled(&r, true) && r.at == r.end;
}
