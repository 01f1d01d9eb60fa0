/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Lines through the command table of an appliance over four ports, so that handlers run. An input
 * is text, a command a line. Whatever it says: a refused command has a sentence and has changed
 * nothing that is shown, an answer can be printed in both styles, what completion offers goes on
 * from what was typed, and the `del` commands lead back to an appliance without configuration.
 */
#include <ctype.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "control/cmd_complete.h"
#include "control/cmd_render.h"
#include "control/control.h"
#include "fuzz.h"
#include "fuzz_eal.h"
#include "lcore/lcores.h"
#include "ring_rig.h"

#define PORTS 4
#define MAX_LINES 64

static const char *const shown[] = {
	"show bridge",      "show station",     "show address",     "show route",
	"show neighbour",   "show config fwd",  "show config rxtx", "show config cores",
	"show port info 0", "show port info 1", "show port info 2", "show port info 3",
};

struct fuzz {
	struct ring_rig rig;
	char *fresh; /* what is shown when nothing is configured */
	char *now;   /* what is shown after the last command that was done; NULL: not asked yet */
	unsigned free_buffers;
};

static struct fuzz the_fuzz;

static char *show(struct fuzz *f)
{
	struct mr_error error = {0};
	char *text = ring_rig_show(&f->rig, shown, RTE_DIM(shown), &error);

	if (text == NULL)
		fuzz_fail("%s", error.text);
	return text;
}

static void drain(struct fuzz *f)
{
	struct rte_mbuf *m;

	ring_rig_run(&f->rig);
	for (unsigned port = 0; port < PORTS; port++)
		while ((m = ring_rig_take(&f->rig, port)) != NULL)
			rte_pktmbuf_free(m);
}

static void check_text(const json_t *data)
{
	size_t length;
	char *text = mr_render(data, MR_STYLE_TEXT, &length);

	if (text == NULL || strlen(text) != length || (length > 0 && text[length - 1] != '\n'))
		fuzz_fail("an answer is not lines of text");
	free(text);
}

static void check_json(const json_t *data)
{
	size_t length;
	char *text = mr_render(data, MR_STYLE_JSON, &length);
	json_t *again;

	if (text == NULL || strlen(text) != length || text[length - 1] != '\n' ||
	    strchr(text, '\n') != text + length - 1)
		fuzz_fail("an answer is not one line of JSON");
	again = json_loadb(text, length, JSON_DECODE_ANY, NULL);
	if (data == NULL ? !json_is_null(again) : !json_equal(again, data))
		fuzz_fail("an answer is not what its JSON says: %s", text);
	json_decref(again);
	free(text);
}

static void check_refusal(const char *line, const struct mr_reply *reply)
{
	size_t length = strnlen(reply->error.text, sizeof(reply->error.text));

	if (reply->data != NULL || length == 0 || length == sizeof(reply->error.text))
		fuzz_fail("'%s' is refused without a sentence", line);
	for (size_t i = 0; i < length; i++)
		if (!isprint((unsigned char)reply->error.text[i]))
			fuzz_fail("'%s' is refused with a control character", line);
}

static void check_completion(struct fuzz *f, const char *line, size_t length)
{
	struct mr_completion completion;

	mr_cmd_complete(mr_control_table(f->rig.mr->control), line, length, &completion);
	if (completion.typed > length)
		fuzz_fail("more was typed than there is");
	for (unsigned i = 0; i < completion.literals; i++)
		if (completion.common < completion.typed ||
		    strlen(completion.literal[i]) < completion.common ||
		    memcmp(completion.literal[i], completion.literal[0], completion.common) != 0 ||
		    memcmp(completion.literal[i], line + length - completion.typed,
			   completion.typed) != 0)
			fuzz_fail("'%s' does not go on from what was typed", completion.literal[i]);
}

static void forget_shown(struct fuzz *f)
{
	free(f->now);
	f->now = NULL;
}

/* What a refused command left, compared with what was before it. */
static void check_unchanged(struct fuzz *f, const char *line)
{
	char *after = show(f);

	if (strcmp(after, f->now) != 0)
		fuzz_fail("'%s' was refused, but was:\n%sis:\n%s", line, f->now, after);
	free(after);
}

/* The command whose handler gets to see the line, or NULL. */
static const struct mr_cmd *command_of(struct fuzz *f, const char *line, size_t length)
{
	struct mr_words words;
	const struct mr_cmd *cmd;
	struct mr_args args;

	if (mr_words_split(&words, line, length, NULL) != 0 || words.count == 0 ||
	    mr_cmd_table_find(mr_control_table(f->rig.mr->control), &words, &cmd, &args, NULL) != 0)
		return NULL;
	return cmd;
}

/* Files and devices (files, kernel interfaces) are not for a fuzzer to make, nor its ports to be
 * removed. */
static bool reaches_outside(const struct mr_cmd *cmd)
{
	return cmd != NULL && (strncmp(cmd->syntax, "port add", 8) == 0 ||
			       strncmp(cmd->syntax, "port remove", 11) == 0 ||
			       strstr(cmd->syntax, " FILE") != NULL);
}

static void check_done(struct fuzz *f, const struct mr_reply *reply)
{
	check_text(reply->data);
	check_json(reply->data);
	if (!f->rig.mr->lcores->running) /* it was `stop`; `start` would need threads */
		mr_lcores_adopt(f->rig.mr);
	drain(f);
}

/* line ends where its memory ends, but for a copy with a NUL for messages. */
static void execute(struct fuzz *f, const char *line, size_t length)
{
	char *exact = malloc(length), *message = strndup(line, length);
	struct mr_reply reply;

	if (length > 0)
		memcpy(exact, line, length);
	check_completion(f, exact, length);
	check_completion(f, exact, length / 2);
	const struct mr_cmd *cmd = command_of(f, exact, length);
	bool handled = cmd != NULL;
	if (reaches_outside(cmd))
		goto done;
	if (handled && f->now == NULL)
		f->now = show(f);
	if (mr_control_execute(f->rig.mr, exact, length, &reply) != 0) {
		check_refusal(message, &reply);
		if (handled)
			check_unchanged(f, message);
	} else {
		check_done(f, &reply);
		if (reply.data ==
		    NULL) /* what answers something else than "done" changes nothing */
			forget_shown(f);
	}
	mr_reply_clear(&reply);
done:
	free(exact);
	free(message);
}

/* A command that has to be done. */
static json_t *must(struct fuzz *f, const char *line)
{
	struct mr_reply reply;

	if (mr_control_execute(f->rig.mr, line, strlen(line), &reply) != 0)
		fuzz_fail("'%s' refused: %s", line, reply.error.text);
	return reply.data;
}

static const char *text_of(const json_t *entry, const char *key)
{
	const char *text = json_string_value(json_object_get(entry, key));

	return text != NULL ? text : "";
}

/* Deletes all that a show command lists; line makes the command that deletes an entry, or "". */
static void delete_all(struct fuzz *f, const char *list,
		       void (*line)(const json_t *entry, char *text, size_t size))
{
	json_t *entries = must(f, list), *entry;
	size_t i;

	json_array_foreach (entries, i, entry) {
		char text[128] = "";

		line(entry, text, sizeof(text));
		if (text[0] != '\0')
			json_decref(must(f, text));
	}
	json_decref(entries);
}

static void delete_route(const json_t *entry, char *text, size_t size)
{
	if (strcmp(text_of(entry, "type"), "static") == 0)
		snprintf(text, size, "route del %s", text_of(entry, "prefix"));
}

static int port_of(const json_t *entry)
{
	return (int)json_integer_value(json_object_get(entry, "port"));
}

static void delete_neighbour(const json_t *entry, char *text, size_t size)
{
	snprintf(text, size, "neighbour del %s port %d", text_of(entry, "address"), port_of(entry));
}

static void delete_address(const json_t *entry, char *text, size_t size)
{
	snprintf(text, size, "address del %s port %d", text_of(entry, "address"), port_of(entry));
}

static void delete_bridge(const json_t *entry, char *text, size_t size)
{
	snprintf(text, size, "bridge del %s", text_of(entry, "name"));
}

static void renew_port(struct fuzz *f, unsigned port)
{
	static const char *const commands[] = {"set promisc %u on", "set allmulti %u off",
					       "port config mtu %u 1500"};
	struct mr_port *p = mr_port(f->rig.mr, (uint16_t)port);
	char line[64];

	if (!p->started) {
		snprintf(line, sizeof(line), "port start %u", port);
		json_decref(must(f, line));
	}
	for (unsigned i = 0; i < RTE_DIM(commands); i++) {
		snprintf(line, sizeof(line), commands[i], port);
		json_decref(must(f, line));
	}
	snprintf(line, sizeof(line), "mac_addr set %u 02:00:00:00:00:0%u", port, port);
	json_decref(must(f, line));
}

static void unconfigure(struct fuzz *f)
{
	delete_all(f, "show route", delete_route);
	delete_all(f, "show neighbour", delete_neighbour);
	delete_all(f, "show address", delete_address);
	delete_all(f, "show bridge", delete_bridge);
	for (unsigned port = 0; port < PORTS; port++)
		renew_port(f, port);
	ring_rig_advance(&f->rig, 3000, 1000); /* announcements */
	drain(f);
	forget_shown(f);
}

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
	struct fuzz *f = &the_fuzz;
	struct mr_error error = {0};

	(void)argc;
	(void)argv;
	fuzz_eal_start();
	if (ring_rig_create(&f->rig, PORTS, &error) != 0)
		fuzz_fail("%s", error.text);
	unconfigure(f);
	f->free_buffers = ring_rig_free_buffers(&f->rig);
	f->fresh = show(f);
	return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct fuzz *f = &the_fuzz;
	const char *at = (const char *)data, *end = at + size;

	for (unsigned lines = 0; at < end && lines < MAX_LINES; lines++) {
		const char *newline = memchr(at, '\n', (size_t)(end - at));
		const char *stop = newline != NULL ? newline : end;

		execute(f, at, (size_t)(stop - at));
		at = stop + 1;
	}
	unconfigure(f);
	f->now = show(f);
	if (strcmp(f->now, f->fresh) != 0)
		fuzz_fail("all is deleted, but was:\n%sis:\n%s", f->fresh, f->now);
	if (ring_rig_free_buffers(&f->rig) != f->free_buffers)
		fuzz_fail("%u buffers are free, not %u", ring_rig_free_buffers(&f->rig),
			  f->free_buffers);
	return 0;
}
