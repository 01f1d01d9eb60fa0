/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MR_FILTER_LEXER_H
#define MR_FILTER_LEXER_H

#include <stdbool.h>

/*
 * The text of a rule as words and marks: ',', '{' and '}' stand for themselves, blanks part words,
 * everything else makes up words. The lexer looks one token ahead of the current one.
 */
#define MR_FILTER_WORD_SIZE 64

enum mr_filter_token_type {
	MR_FILTER_WORD,
	MR_FILTER_COMMA,
	MR_FILTER_OPEN,
	MR_FILTER_CLOSE,
	MR_FILTER_END,
	MR_FILTER_TOO_LONG, /* a word of MR_FILTER_WORD_SIZE characters or more */
};

struct mr_filter_token {
	enum mr_filter_token_type type;
	unsigned column;                /* of its first character, counted from 1 */
	char text[MR_FILTER_WORD_SIZE]; /* of a word; of one too long its start; else the mark */
};

struct mr_filter_lexer {
	const char *text, *at;
	struct mr_filter_token token, next;
};

/* Starts at the first token of text, which must live as long as the lexer. */
void mr_filter_lexer_start(struct mr_filter_lexer *lexer, const char *text);

/* Goes on to the next token; at the end stays there. */
void mr_filter_lexer_step(struct mr_filter_lexer *lexer);

/* Whether the current token is this word. */
bool mr_filter_lexer_is(const struct mr_filter_lexer *lexer, const char *word);

/* Goes on if the current token is this word, and tells whether it was. */
bool mr_filter_lexer_take(struct mr_filter_lexer *lexer, const char *word);

#endif
