/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A syntax is compiled to a small graph and a line is matched by walking it with backtracking.
 * A word's node leads to the next; a run of adjacent groups is one "set" node, which tries each
 * group that was not used yet and then what follows the set; the last node of a group leads back
 * to its set. The set of used groups is one word, so that trying costs nothing to undo. Syntaxes
 * are short and literals are tried first, so backtracking is rare; a bound on steps keeps a badly
 * designed syntax from costing more than it should.
 */
#include "control/cmd_syntax.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define MAX_NODES 64
#define MAX_CHOICES 96
#define MAX_GROUPS 32
#define MAX_DEPTH 8
#define MAX_STEPS 20000

enum node_type {
	NODE_END,  /* of the syntax */
	NODE_WORD, /* one of choices */
	NODE_SET,  /* groups, entered anew */
	NODE_BACK, /* a group of the set `next` is done */
};

struct node {
	enum node_type type;
	unsigned next;
	unsigned first, count; /* choices of a word */
};

struct group {
	unsigned set; /* its node */
	unsigned first;
	bool repeats;
};

struct mr_syntax {
	struct node node[MAX_NODES]; /* node[0] is the end */
	struct mr_choice choice[MAX_CHOICES];
	struct group group[MAX_GROUPS];
	unsigned nodes, choices, groups, start;
	char *text; /* the words that choices point to */
};

/* ---- compiling ---- */

struct compiler {
	struct mr_syntax *syntax;
	char *cursor; /* in syntax->text */
	const char *whole;
	unsigned depth;
	struct mr_error *error;
};

static int fault(struct compiler *c, const char *what)
{
	return mr_fail(c->error, -EINVAL, "syntax '%s': %s", c->whole, what);
}

/* Returns its index; 0, which is the end's, after a fault. */
static unsigned new_node(struct compiler *c, enum node_type type)
{
	if (c->syntax->nodes == MAX_NODES) {
		fault(c, "too long");
		return 0;
	}
	c->syntax->node[c->syntax->nodes].type = type;
	return c->syntax->nodes++;
}

static bool is_literal(const char *word)
{
	return islower((unsigned char)word[0]) &&
	       strspn(word, "abcdefghijklmnopqrstuvwxyz0123456789-_") == strlen(word);
}

/* Like new_node. */
static unsigned compile_word(struct compiler *c, char *word)
{
	struct mr_syntax *s = c->syntax;
	unsigned index = new_node(c, NODE_WORD);

	if (index == 0)
		return 0;
	s->node[index].first = s->choices;
	for (char *choice = strsep(&word, "|"); choice != NULL; choice = strsep(&word, "|")) {
		const struct mr_placeholder *placeholder = mr_placeholder_find(choice);
		if (placeholder == NULL && !is_literal(choice)) {
			fault(c, "a word is neither a literal nor a known placeholder");
			return 0;
		}
		if (s->choices == MAX_CHOICES) {
			fault(c, "too many words");
			return 0;
		}
		s->choice[s->choices++] = (struct mr_choice){choice, placeholder};
		s->node[index].count++;
	}
	return index;
}

static char *next_token(struct compiler *c)
{
	char *token;

	do {
		token = strsep(&c->cursor, " ");
	} while (token != NULL && token[0] == '\0');
	return token;
}

static int compile_sequence(struct compiler *c, unsigned after, unsigned *first, bool *repeats);

static int compile_group(struct compiler *c, unsigned set)
{
	struct mr_syntax *s = c->syntax;

	if (s->groups == MAX_GROUPS || ++c->depth > MAX_DEPTH)
		return fault(c, "too many groups");
	struct group *group = &s->group[s->groups++];
	group->set = set;
	unsigned back = new_node(c, NODE_BACK);
	if (back == 0)
		return -EINVAL;
	s->node[back].next = set;
	if (compile_sequence(c, back, &group->first, &group->repeats) != 0)
		return -EINVAL;
	if (s->node[group->first].type != NODE_WORD)
		return fault(c, "a group starts with a word");
	c->depth--;
	return 0;
}

/* Compiles up to the end or the bracket that closes; the last node leads to `after`. */
static int compile_sequence(struct compiler *c, unsigned after, unsigned *first, bool *repeats)
{
	struct mr_syntax *s = c->syntax;
	unsigned last = 0, depth = c->depth;
	char *token;

	*first = after;
	*repeats = false;
	while ((token = next_token(c)) != NULL && strcmp(token, "]") != 0) {
		if (*repeats)
			return fault(c, "'...' ends a group");
		if (strcmp(token, "...") == 0) {
			if (depth == 0 || last == 0)
				return fault(c, "'...' has nothing to repeat");
			*repeats = true;
			continue;
		}
		if (strcmp(token, "[") == 0 && last != 0 && s->node[last].type == NODE_SET) {
			if (compile_group(c, last) != 0)
				return -EINVAL;
			continue;
		}
		bool group = strcmp(token, "[") == 0;
		unsigned index = group ? new_node(c, NODE_SET) : compile_word(c, token);
		if (index == 0 || (group && compile_group(c, index) != 0))
			return -EINVAL;
		if (last == 0)
			*first = index;
		else
			s->node[last].next = index;
		s->node[index].next = after;
		last = index;
	}
	if ((token == NULL) != (depth == 0))
		return fault(c, "brackets do not match");
	if (last == 0)
		return fault(c, "nothing between brackets");
	return 0;
}

/* Puts blanks around brackets, so that they are tokens. */
static char *spaced(const char *text)
{
	char *copy = malloc(3 * strlen(text) + 1), *out = copy;

	if (copy == NULL)
		return NULL;
	for (; *text != '\0'; text++) {
		bool bracket = *text == '[' || *text == ']';
		if (bracket)
			*out++ = ' ';
		*out++ = *text;
		if (bracket)
			*out++ = ' ';
	}
	*out = '\0';
	return copy;
}

int mr_syntax_compile(const char *text, struct mr_syntax **syntax, struct mr_error *error)
{
	struct mr_syntax *s = calloc(1, sizeof(*s));
	bool repeats;

	if (s == NULL || (s->text = spaced(text)) == NULL) {
		free(s);
		return mr_fail(error, -ENOMEM, "not enough memory for a syntax");
	}
	struct compiler c = {.syntax = s, .cursor = s->text, .whole = text, .error = error};
	s->nodes = 1;
	int rc = compile_sequence(&c, 0, &s->start, &repeats);
	if (rc == 0 && (s->node[s->start].type != NODE_WORD ||
			s->choice[s->node[s->start].first].placeholder != NULL))
		rc = fault(&c, "a command starts with a literal");
	if (rc != 0) {
		mr_syntax_free(s);
		return rc;
	}
	*syntax = s;
	return 0;
}

void mr_syntax_free(struct mr_syntax *syntax)
{
	if (syntax == NULL)
		return;
	free(syntax->text);
	free(syntax);
}

/* ---- walking ---- */

struct walk {
	const struct mr_syntax *syntax;
	const struct mr_words *words;
	struct mr_args *args;
	struct mr_expected *expected;
	uint32_t used; /* groups */
	unsigned steps;
	bool follow; /* never content with a match: every way is to be seen */
};

static bool walk_node(struct walk *w, unsigned index, unsigned position);

/* Whether what is expected at this position is worth noting; a new furthest one starts afresh. */
static bool expecting(struct walk *w, unsigned position)
{
	struct mr_expected *expected = w->expected;

	if (position < expected->position)
		return false;
	if (position > expected->position) {
		*expected = (struct mr_expected){.position = position};
		while (expected->literals < position &&
		       islower((unsigned char)w->args->arg[expected->literals].placeholder[0]))
			expected->literals++;
	}
	return true;
}

static void expect(struct walk *w, unsigned position, const struct mr_choice *choice)
{
	struct mr_expected *expected = w->expected;

	if (!expecting(w, position) || expected->count == MR_MAX_EXPECTED)
		return;
	for (unsigned i = 0; i < expected->count; i++) {
		if (strcmp(expected->choice[i].text, choice->text) == 0)
			return;
	}
	expected->choice[expected->count++] = *choice;
}

static bool take(const struct mr_choice *choice, const char *word, struct mr_arg *arg)
{
	arg->placeholder = choice->text;
	if (choice->placeholder != NULL)
		return mr_placeholder_parse(choice->placeholder, word, arg);
	arg->text = word;
	arg->type = MR_ARG_WORD;
	return strcmp(choice->text, word) == 0;
}

static bool takes_as_literal(const struct mr_syntax *s, const struct node *node, const char *word)
{
	for (unsigned i = node->first; i < node->first + node->count; i++) {
		if (s->choice[i].placeholder == NULL && strcmp(s->choice[i].text, word) == 0)
			return true;
	}
	return false;
}

/* A placeholder that takes the rest of the line leaves the places of its other words empty. */
static bool walk_rest(struct walk *w, const struct node *node, unsigned position)
{
	struct mr_arg *arg = w->args->arg;

	arg[position].text = w->words->line + (w->words->word[position] - w->words->text);
	for (unsigned i = position + 1; i < w->words->count; i++)
		arg[i] = (struct mr_arg){.placeholder = "", .text = ""};
	return walk_node(w, node->next, w->words->count);
}

static bool walk_word(struct walk *w, const struct node *node, unsigned position)
{
	const struct mr_syntax *s = w->syntax;

	if (position < w->words->count) {
		const char *word = w->words->word[position];
		bool literal = takes_as_literal(s, node, word);
		for (unsigned i = node->first; i < node->first + node->count; i++) {
			if (literal != (s->choice[i].placeholder == NULL) ||
			    !take(&s->choice[i], word, &w->args->arg[position]))
				continue;
			if (!literal && s->choice[i].placeholder->rest)
				return walk_rest(w, node, position);
			return walk_node(w, node->next, position + 1);
		}
	}
	for (unsigned i = node->first; i < node->first + node->count; i++)
		expect(w, position, &s->choice[i]);
	return false;
}

static bool walk_set(struct walk *w, unsigned set, unsigned position)
{
	const struct mr_syntax *s = w->syntax;
	const char *word = position < w->words->count ? w->words->word[position] : "";

	for (unsigned pass = 0; pass < 2; pass++) {
		for (unsigned i = 0; i < s->groups; i++) {
			const struct group *group = &s->group[i];
			uint32_t used = w->used;
			if (group->set != set || (!group->repeats && (used & 1u << i) != 0))
				continue;
			if (takes_as_literal(s, &s->node[group->first], word) != (pass == 0))
				continue;
			w->used |= 1u << i;
			if (walk_node(w, group->first, position))
				return true;
			w->used = used;
		}
	}
	return walk_node(w, s->node[set].next, position);
}

static bool walk_node(struct walk *w, unsigned index, unsigned position)
{
	const struct node *node = &w->syntax->node[index];

	if (++w->steps > MAX_STEPS)
		return false;
	switch (node->type) {
	case NODE_WORD:
		return walk_word(w, node, position);
	case NODE_SET: {
		uint32_t used = w->used;
		for (unsigned i = 0; i < w->syntax->groups; i++) {
			if (w->syntax->group[i].set == index)
				w->used &= ~(1u << i);
		}
		bool matched = walk_set(w, index, position);
		w->used = used;
		return matched;
	}
	case NODE_BACK:
		return walk_set(w, node->next, position);
	case NODE_END:
		break;
	}
	if (position == w->words->count && !w->follow) {
		w->args->count = position;
		return true;
	}
	if (expecting(w, position))
		w->expected->end = true;
	return false;
}

bool mr_syntax_match(const struct mr_syntax *syntax, const struct mr_words *words,
		     struct mr_args *args, struct mr_expected *expected)
{
	struct walk w = {.syntax = syntax, .words = words, .args = args, .expected = expected};

	return walk_node(&w, syntax->start, 0);
}

void mr_syntax_follow(const struct mr_syntax *syntax, const struct mr_words *words,
		      struct mr_args *args, struct mr_expected *expected)
{
	struct walk w = {.syntax = syntax,
			 .words = words,
			 .args = args,
			 .expected = expected,
			 .follow = true};

	walk_node(&w, syntax->start, 0);
}
