/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * libedit in its unbuffered mode: el_gets handles one key a call. It asks for characters through a
 * function of ours, which only ever hands out what was typed, so libedit never waits on the
 * terminal. A key that takes several bytes (an arrow) is held back until all are there. Keys that
 * would make libedit ask for more within a call (incremental search, commands by name) are not
 * bound.
 */
#include "control/line_editor.h"

#include <histedit.h>
#include <stdlib.h>
#include <string.h>

#include "control/cmd_complete.h"

#define HISTORY_LINES 500
#define KEY_SIZE 16

enum { CTRL_D = 0x04, CTRL_V = 0x16, CTRL_X = 0x18, ESCAPE = 0x1b };

struct mr_line_editor {
	const struct mr_cmd_table *table;
	FILE *out;
	EditLine *el;
	History *history;
	mr_line_callback *callback;
	void *context;
	bool paused;
	char key[KEY_SIZE]; /* the bytes of one key */
	size_t key_length, key_read;
};

static struct mr_line_editor *editor_of(EditLine *el)
{
	void *editor;

	el_get(el, EL_CLIENTDATA, &editor);
	return editor;
}

static char *prompt(EditLine *el)
{
	static char text[] = "millrace> ";

	(void)el;
	return text;
}

static int next_char(EditLine *el, wchar_t *c)
{
	struct mr_line_editor *editor = editor_of(el);

	if (editor->key_read == editor->key_length)
		return 0;
	*c = (wchar_t)editor->key[editor->key_read++];
	return 1;
}

static bool key_is_complete(const char *key, size_t length)
{
	if (length == 0)
		return false;
	if (length == KEY_SIZE)
		return true;
	if (key[0] == CTRL_V || key[0] == CTRL_X)
		return length == 2;
	if (key[0] != ESCAPE)
		return true;
	if (length < 3 || (key[1] != '[' && key[1] != 'O'))
		return length == 2 && key[1] != '[' && key[1] != 'O';
	return key[length - 1] >= '@' && key[length - 1] <= '~';
}

static void show_choices(FILE *out, const struct mr_completion *completion)
{
	fputc('\n', out);
	for (unsigned i = 0; i < completion->literals; i++)
		fprintf(out, "%s%s", i > 0 ? "  " : "", completion->literal[i]);
	if (completion->end && completion->typed == 0)
		fprintf(out, "%s<Enter>", completion->literals > 0 ? "  " : "");
	if (completion->literals > 0 || (completion->end && completion->typed == 0))
		fputc('\n', out);
	for (unsigned i = 0; i < completion->hints; i++)
		fprintf(out, "%s: %s\n", completion->hint[i]->name, completion->hint[i]->takes);
	fflush(out);
}

static unsigned char complete(EditLine *el, int key)
{
	struct mr_line_editor *editor = editor_of(el);
	const LineInfo *line = el_line(el);
	struct mr_completion completion;
	char more[MR_MAX_LINE + 2];

	(void)key;
	mr_cmd_complete(editor->table, line->buffer, (size_t)(line->cursor - line->buffer),
			&completion);
	if (completion.literals == 0 && completion.hints == 0)
		return CC_REFRESH_BEEP;
	bool only = completion.literals == 1 && (completion.typed > 0 || completion.hints == 0);
	size_t length = completion.common > completion.typed && (only || completion.hints == 0)
				? completion.common - completion.typed
				: 0;
	if (!only && length == 0) {
		show_choices(editor->out, &completion);
		return CC_REDISPLAY;
	}
	if (completion.end && completion.typed == 0) {
		show_choices(editor->out, &completion);
		return CC_REDISPLAY;
	}
	memcpy(more, completion.literal[0] + completion.typed, length);
	strcpy(more + length, only ? " " : "");
	el_insertstr(el, more);
	return CC_REFRESH;
}

struct mr_line_editor *mr_line_editor_new(const struct mr_cmd_table *table, FILE *in, FILE *out,
					  mr_line_callback *callback, void *context)
{
	struct mr_line_editor *editor = calloc(1, sizeof(*editor));
	HistEvent event;

	if (editor == NULL)
		return NULL;
	editor->table = table;
	editor->out = out;
	editor->callback = callback;
	editor->context = context;
	editor->history = history_init();
	editor->el = el_init("millrace", in, out, stderr);
	if (editor->history == NULL || editor->el == NULL) {
		mr_line_editor_free(editor);
		return NULL;
	}
	history(editor->history, &event, H_SETSIZE, HISTORY_LINES);
	history(editor->history, &event, H_SETUNIQUE, 1);
	el_set(editor->el, EL_CLIENTDATA, editor);
	el_set(editor->el, EL_PROMPT, prompt);
	el_set(editor->el, EL_EDITOR, "emacs");
	el_set(editor->el, EL_HIST, history, editor->history);
	el_set(editor->el, EL_GETCFN, next_char);
	/* The narrow form of this leaks copies of its strings. */
	el_wset(editor->el, EL_ADDFN, L"mr-complete", L"Complete the word", complete);
	el_set(editor->el, EL_BIND, "^I", "mr-complete", NULL);
	el_set(editor->el, EL_BIND, "^R", "ed-search-prev-history", NULL);
	el_set(editor->el, EL_BIND, "^D", "ed-delete-next-char", NULL);
	el_set(editor->el, EL_BIND, "-r", "\\ex", NULL);
	el_set(editor->el, EL_BIND, "-r", "\\eX", NULL);
	el_set(editor->el, EL_UNBUFFERED, 1);
	return editor;
}

void mr_line_editor_free(struct mr_line_editor *editor)
{
	if (editor->el != NULL) {
		el_set(editor->el, EL_UNBUFFERED, 0);
		el_end(editor->el);
	}
	if (editor->history != NULL)
		history_end(editor->history);
	free(editor);
}

static void finish_line(struct mr_line_editor *editor, const char *edited, size_t length)
{
	HistEvent event;
	char *line = strndup(edited, length);

	el_set(editor->el, EL_UNBUFFERED, 0);
	if (line != NULL && line[strspn(line, " \t")] != '\0')
		history(editor->history, &event, H_ENTER, line);
	if (line != NULL)
		editor->callback(line, length, editor->context);
	free(line);
	if (!editor->paused)
		mr_line_editor_go_on(editor);
}

void mr_line_editor_pause(struct mr_line_editor *editor)
{
	editor->paused = true;
}

void mr_line_editor_go_on(struct mr_line_editor *editor)
{
	editor->paused = false;
	el_resize(editor->el);
	el_set(editor->el, EL_UNBUFFERED, 1);
}

static bool line_is_empty(EditLine *el)
{
	const LineInfo *line = el_line(el);

	return line->lastchar == line->buffer;
}

int mr_line_editor_feed(struct mr_line_editor *editor, const char *typed, size_t length)
{
	for (size_t i = 0; i < length; i++) {
		if ((unsigned char)typed[i] >= 0x80)
			continue; /* no command has it */
		if (typed[i] == CTRL_D && editor->key_length == 0 && line_is_empty(editor->el))
			return -1;
		editor->key[editor->key_length++] = typed[i];
		if (!key_is_complete(editor->key, editor->key_length))
			continue;
		/* A key that libedit does not know may leave bytes: they are dropped. */
		int count = 0;
		const char *line = el_gets(editor->el, &count);
		editor->key_length = editor->key_read = 0;
		if (line != NULL && count > 0 && line[count - 1] == '\n') {
			finish_line(editor, line, (size_t)count - 1);
			return (int)i + 1;
		}
	}
	return (int)length;
}
