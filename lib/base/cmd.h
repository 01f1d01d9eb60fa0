/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MR_BASE_CMD_H
#define MR_BASE_CMD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <jansson.h>

#include "base/addr.h"
#include "base/error.h"
#include "base/mr.h"

/*
 * Commands. A room declares a table of them; its syntax strings are at once the parser, the help,
 * the completion and the documentation. Console, configuration file and client share the tables.
 *
 * A syntax is words in the form in which a person types them:
 *
 *   bridge add NAME [ageing SECONDS]
 *   route add A.B.C.D/L via A.B.C.D [A.B.C.D ...]
 *   show port info all|N
 *   set promisc all|N on|off
 *
 * A word in lower case stands for itself, a|b for one of several words, [ ] for what may be left
 * out (a group of words that starts with a word), "[X ...]" for what may be given any number of
 * times. Adjacent groups may be given in any order, each once. Where a word fits both a literal
 * and a placeholder, the literal is meant. A word in upper case is a placeholder; it fixes the
 * type:
 *
 *   NAME              1 to 31 characters out of A-Z a-z 0-9 _ . -, no leading '-'
 *   N                 a port number, 0 to 65535 (the handler knows which exist)
 *   Q, L              a queue number, an lcore id, 0 to 65535
 *   LCORES            lcore ids with commas between them, 1,2 (a word; the handler parses it)
 *   MAC               02:00:00:00:00:01
 *   A.B.C.D           an IPv4 address
 *   A.B.C.D/L         an IPv4 prefix (host bits are kept)
 *   ADDRESS, PREFIX   the same for either family
 *   SECONDS, COUNT, BYTES   a number, 0 to 4294967295
 *   NUMBER            the number of a rule, likewise
 *   PERCENT           a number, 0 to 100
 *   DEVARGS           a device and its arguments, 0000:03:00.0 or net_tap0,iface=tap0 (a word)
 *   FILE              the name of a file, without blanks
 *   TEXT              any one word
 *   RULE              the rest of the line as typed, at least a word; it ends a syntax
 *
 * Numbers are decimal, without sign or leading zeros. So that a handler can cast one to uint16_t
 * or uint32_t, whatever exceeds the range is refused before the handler runs.
 *
 * A line is at most MR_MAX_LINE bytes of printable ASCII and blanks; a word that starts with '#'
 * starts a comment. There is no quoting.
 */
#define MR_MAX_LINE 4096
#define MR_NAME_SIZE 32 /* of a buffer that holds a NAME */

enum mr_arg_type { MR_ARG_WORD, MR_ARG_NUMBER, MR_ARG_MAC, MR_ARG_ADDR, MR_ARG_PREFIX };

struct mr_arg {
	const char *placeholder; /* "A.B.C.D", or the literal that was typed for a|b */
	const char *text;        /* as typed; lives as long as the handler runs */
	enum mr_arg_type type;
	union {
		uint64_t number;
		struct rte_ether_addr mac;
		struct mr_addr addr;
		struct mr_prefix prefix;
	};
};

#define MR_MAX_ARGS 64

struct mr_args {
	unsigned count;
	struct mr_arg arg[MR_MAX_ARGS]; /* literals and values in the order of the line */
};

/* The index-th value that was given for a placeholder, NULL if there is none. */
const struct mr_arg *mr_arg(const struct mr_args *args, const char *placeholder, unsigned index);

/* How many values were given for a placeholder. */
unsigned mr_arg_count(const struct mr_args *args, const char *placeholder);

/* Whether a literal word was typed (a name that reads the same does not count). */
bool mr_arg_has(const struct mr_args *args, const char *word);

/* The number given for a placeholder, or fallback. */
uint64_t mr_arg_number(const struct mr_args *args, const char *placeholder, uint64_t fallback);

/*
 * What a command answers: data, which is printed as JSON or as text. An array of objects is
 * printed as a table whose headings are the keys of the first object; an object as one
 * "key: value" a line, an array or object inside it indented; a string as it is.
 */
struct mr_reply {
	json_t *data;          /* owned by the reply; NULL for "done, nothing to say" */
	struct mr_error error; /* set when the handler returns < 0 */
	struct mr_job *job;    /* what is left to be done; see below */
};

/*
 * What a command has to compute that takes long. The handler makes what the work needs, leaves the
 * job in its reply and returns 0: the command is done when the job is. Only one is under way at a
 * time; a handler that has a job refuses, while its room has one under way, whatever that one rests
 * upon.
 */
struct mr_job {
	/* Runs on any thread while the control thread does other things: touches nothing that it
	 * might. */
	void (*work)(struct mr_job *job);
	/* Runs on the control thread afterwards, and frees the job. Returns what a handler does. */
	int (*finish)(struct mr *mr, struct mr_job *job, struct mr_reply *reply);
	bool brief; /* the work takes less than starting a thread is worth */
};

/* Gives data (a new reference, consumed) to the reply. Returns 0, or -ENOMEM if data is NULL, so
 * that handlers can end with `return mr_reply(reply, json_pack(...))`. */
int mr_reply(struct mr_reply *reply, json_t *data);

/* Frees what the reply holds and empties it. */
void mr_reply_clear(struct mr_reply *reply);

/* Refuses: `return mr_refuse(reply, -EEXIST, "bridge %s exists already", name)`. */
#define mr_refuse(reply, code, ...) mr_fail(&(reply)->error, code, __VA_ARGS__)

struct mr_cmd {
	const char *syntax; /* NULL ends a table */
	const char *help;   /* one sentence */
	/* Runs on the control thread. Returns 0 or a negative errno with reply->error set; a
	 * refused command has changed nothing. */
	int (*run)(struct mr *mr, const struct mr_args *args, struct mr_reply *reply);
};

/*
 * Queries by telemetry are declared in tables too: the same data for programs. params is what
 * follows the first comma ("" without one). Runs on the control thread.
 */
struct mr_query {
	const char *path; /* "/millrace/bridge/list"; NULL ends a table */
	const char *help;
	int (*run)(struct mr *mr, const char *params, struct mr_reply *reply);
};

#endif
