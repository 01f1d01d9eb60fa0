/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A refusal is one sentence that starts with the command, names the word at fault and says what is
 * allowed in its place:
 *
 *   unknown command 'brigde'; did you mean 'bridge'?
 *   'show port' needs one of: info, stats, xstats
 *   bridge add: SECONDS takes a decimal number (0 to 4294967295), not 'x'
 *   route add: expected via or blackhole, not 'vai'; did you mean 'via'?
 */
#include "control/cmd_refusal.h"

#include <ctype.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define SHOWN 40 /* characters of a word that are shown */

struct sentence {
	size_t length;
	char text[sizeof(((struct mr_error *)NULL)->text)];
};

static void say(struct sentence *s, const char *format, ...) __attribute__((format(printf, 2, 3)));

static void say(struct sentence *s, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	int length = vsnprintf(s->text + s->length, sizeof(s->text) - s->length, format, args);
	va_end(args);
	s->length += (size_t)length;
	if (s->length >= sizeof(s->text))
		s->length = sizeof(s->text) - 1;
}

static void say_word(struct sentence *s, const char *word)
{
	say(s, "%.*s%s", SHOWN, word, strlen(word) > SHOWN ? "..." : "");
}

static void say_words(struct sentence *s, const struct mr_words *words, unsigned count)
{
	for (unsigned i = 0; i < count; i++) {
		if (i > 0 && s->length > sizeof(s->text) / 3) {
			say(s, " ...");
			return;
		}
		say(s, "%s", i > 0 ? " " : "");
		say_word(s, words->word[i]);
	}
}

static void say_choices(struct sentence *s, const struct mr_expected *expected, bool or_end)
{
	for (unsigned i = 0; i < expected->count; i++) {
		bool last = i + 1 == expected->count && !or_end;
		say(s, "%s%s", i == 0 ? "" : last ? " or " : ", ", expected->choice[i].text);
	}
	if (or_end)
		say(s, "%snothing more", expected->count > 0 ? " or " : "");
}

/* Edit distance in which swapped neighbours count once; long words are no typing errors. */
static unsigned distance(const char *a, const char *b)
{
	enum { MAX = 24 };
	unsigned row[3][MAX + 1];
	size_t rows = strlen(a), columns = strlen(b);

	if (rows > MAX || columns > MAX)
		return MAX;
	for (unsigned j = 0; j <= columns; j++)
		row[0][j] = j;
	for (unsigned i = 1; i <= rows; i++) {
		unsigned *now = row[i % 3], *before = row[(i + 2) % 3], *swap = row[(i + 1) % 3];
		now[0] = i;
		for (unsigned j = 1; j <= columns; j++) {
			unsigned best = before[j - 1] + (a[i - 1] != b[j - 1]);
			if (before[j] + 1 < best)
				best = before[j] + 1;
			if (now[j - 1] + 1 < best)
				best = now[j - 1] + 1;
			if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] &&
			    swap[j - 2] + 1 < best)
				best = swap[j - 2] + 1;
			now[j] = best;
		}
	}
	return row[rows % 3][columns];
}

static const char *nearest(const struct mr_expected *expected, const char *word)
{
	const char *best = NULL;
	unsigned best_distance = 3;

	for (unsigned i = 0; i < expected->count; i++) {
		const struct mr_choice *choice = &expected->choice[i];
		if (choice->placeholder != NULL)
			continue;
		unsigned d = distance(word, choice->text);
		if (d < best_distance && d < strlen(choice->text) && d < strlen(word)) {
			best = choice->text;
			best_distance = d;
		}
	}
	return best;
}

/* The placeholder that the word was meant for: the only one, unless a literal may be meant. */
static const struct mr_placeholder *meant(const struct mr_expected *expected, const char *word)
{
	const struct mr_placeholder *only = NULL;

	for (unsigned i = 0; i < expected->count; i++) {
		const struct mr_placeholder *placeholder = expected->choice[i].placeholder;
		if (placeholder == NULL && islower((unsigned char)word[0]))
			return NULL;
		if (placeholder != NULL && only != NULL)
			return NULL;
		if (placeholder != NULL)
			only = placeholder;
	}
	return only;
}

static void say_missing(struct sentence *s, const struct mr_words *words,
			const struct mr_expected *expected)
{
	say(s, "'");
	say_words(s, words, words->count);
	if (expected->count == 1) {
		const struct mr_placeholder *placeholder = expected->choice[0].placeholder;
		say(s, "' needs %s", expected->choice[0].text);
		if (placeholder != NULL)
			say(s, ", %s", placeholder->takes);
		return;
	}
	say(s, "' needs one of: ");
	for (unsigned i = 0; i < expected->count; i++)
		say(s, "%s%s", i > 0 ? ", " : "", expected->choice[i].text);
}

int mr_cmd_refusal(const struct mr_words *words, const struct mr_expected *expected,
		   struct mr_error *error)
{
	struct sentence s = {0};

	if (expected->position >= words->count) {
		say_missing(&s, words, expected);
		return mr_fail(error, -EINVAL, "%s", s.text);
	}
	const char *word = words->word[expected->position];
	const char *near = nearest(expected, word);
	const struct mr_placeholder *placeholder = meant(expected, word);
	if (expected->position == 0) {
		say(&s, "unknown command '");
		say_word(&s, word);
		if (near != NULL)
			say(&s, "'; did you mean '%s'?", near);
		else
			say(&s, "'; try 'help'");
		return mr_fail(error, -EINVAL, "%s", s.text);
	}
	say_words(&s, words, expected->literals);
	if (placeholder != NULL) {
		say(&s, ": %s takes %s, not '", placeholder->name, placeholder->takes);
	} else {
		say(&s, ": expected ");
		say_choices(&s, expected, expected->end);
		say(&s, ", not '");
	}
	say_word(&s, word);
	say(&s, "'");
	if (near != NULL)
		say(&s, "; did you mean '%s'?", near);
	return mr_fail(error, -EINVAL, "%s", s.text);
}
