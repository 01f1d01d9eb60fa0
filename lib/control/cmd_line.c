/* SPDX-License-Identifier: BSD-3-Clause */
#include "control/cmd_line.h"

#include <errno.h>
#include <string.h>

static bool is_blank(char c)
{
	return c == ' ' || c == '\t';
}

int mr_words_split(struct mr_words *words, const char *line, size_t length, struct mr_error *error)
{
	bool in_word = false;

	words->count = 0;
	if (length > MR_MAX_LINE)
		return mr_fail(error, -EMSGSIZE, "a line of %zu bytes is too long, %u are allowed",
			       length, MR_MAX_LINE);
	for (size_t i = 0; i < length; i++) {
		char c = line[i];
		words->text[i] = words->line[i] = c;
		if (is_blank(c)) {
			words->text[i] = '\0';
			in_word = false;
			continue;
		}
		if (!in_word && c == '#') {
			/* A comment may be in any language, but not hide a NUL. */
			if (memchr(line + i, '\0', length - i) != NULL)
				return mr_fail(error, -EILSEQ, "a line may not contain a NUL");
			length = i;
			break;
		}
		if (c < '!' || c > '~')
			return mr_fail(error, -EILSEQ,
				       "byte 0x%02x at column %zu: a command is printable ASCII",
				       (unsigned char)c, i + 1);
		if (!in_word && words->count == MR_MAX_ARGS)
			return mr_fail(error, -E2BIG, "more than %u words in a line", MR_MAX_ARGS);
		if (!in_word)
			words->word[words->count++] = &words->text[i];
		in_word = true;
	}
	words->text[length] = words->line[length] = '\0';
	return 0;
}
