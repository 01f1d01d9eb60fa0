/* SPDX-License-Identifier: BSD-3-Clause */
#include "control/cmd_complete.h"

#include <string.h>

static size_t common_length(const char *a, const char *b, size_t most)
{
	size_t length = 0;

	while (length < most && a[length] == b[length] && a[length] != '\0')
		length++;
	return length;
}

static void add_literal(struct mr_completion *completion, const char *literal)
{
	completion->common = completion->literals == 0 ? strlen(literal)
						       : common_length(completion->literal[0],
								       literal, completion->common);
	completion->literal[completion->literals++] = literal;
}

void mr_cmd_complete(const struct mr_cmd_table *table, const char *line, size_t length,
		     struct mr_completion *completion)
{
	struct mr_words words;
	struct mr_expected expected;
	const char *typed = "";

	*completion = (struct mr_completion){0};
	if (mr_words_split(&words, line, length, NULL) != 0 || memchr(line, '#', length) != NULL)
		return;
	if (words.count > 0 && line[length - 1] != ' ' && line[length - 1] != '\t') {
		typed = words.word[--words.count];
		completion->typed = strlen(typed);
	}
	mr_cmd_table_follow(table, &words, &expected);
	if (expected.position != words.count)
		return;
	completion->end = expected.end;
	for (unsigned i = 0; i < expected.count; i++) {
		const struct mr_choice *choice = &expected.choice[i];
		if (choice->placeholder == NULL) {
			if (strncmp(choice->text, typed, completion->typed) == 0)
				add_literal(completion, choice->text);
		} else {
			completion->hint[completion->hints++] = choice->placeholder;
		}
	}
}

void mr_completion_print(const struct mr_completion *completion, FILE *out)
{
	for (unsigned i = 0; i < completion->literals; i++)
		fprintf(out, "%s\n", completion->literal[i]);
	for (unsigned i = 0; i < completion->hints; i++)
		fprintf(out, "%s\t%s\n", completion->hint[i]->name, completion->hint[i]->takes);
}
