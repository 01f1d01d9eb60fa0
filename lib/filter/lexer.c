/* SPDX-License-Identifier: BSD-3-Clause */
#include "filter/lexer.h"

#include <string.h>

static enum mr_filter_token_type mark_type(char c)
{
	return c == ',' ? MR_FILTER_COMMA : c == '{' ? MR_FILTER_OPEN : MR_FILTER_CLOSE;
}

static void scan(struct mr_filter_lexer *lexer, struct mr_filter_token *token)
{
	const char *at = lexer->at + strspn(lexer->at, " \t");
	size_t length = strcspn(at, " \t,{}"), shown;

	token->column = (unsigned)(at - lexer->text) + 1;
	if (*at == '\0') {
		token->type = MR_FILTER_END;
	} else if (length == 0) {
		token->type = mark_type(*at);
		length = 1;
	} else {
		token->type = length < MR_FILTER_WORD_SIZE ? MR_FILTER_WORD : MR_FILTER_TOO_LONG;
	}
	shown = length < MR_FILTER_WORD_SIZE ? length : MR_FILTER_WORD_SIZE - 1;
	memcpy(token->text, at, shown);
	token->text[shown] = '\0';
	lexer->at = at + length;
}

void mr_filter_lexer_start(struct mr_filter_lexer *lexer, const char *text)
{
	lexer->text = lexer->at = text;
	scan(lexer, &lexer->token);
	scan(lexer, &lexer->next);
}

void mr_filter_lexer_step(struct mr_filter_lexer *lexer)
{
	lexer->token = lexer->next;
	scan(lexer, &lexer->next);
}

bool mr_filter_lexer_is(const struct mr_filter_lexer *lexer, const char *word)
{
	return lexer->token.type == MR_FILTER_WORD && strcmp(lexer->token.text, word) == 0;
}

bool mr_filter_lexer_take(struct mr_filter_lexer *lexer, const char *word)
{
	if (!mr_filter_lexer_is(lexer, word))
		return false;
	mr_filter_lexer_step(lexer);
	return true;
}
