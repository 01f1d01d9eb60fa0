/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MR_CONTROL_CTL_PROTOCOL_H
#define MR_CONTROL_CTL_PROTOCOL_H

/*
 * How a client and millrace talk over the control socket, a UNIX stream socket of mode 0600.
 *
 * A client sends requests, each a line: "text COMMAND", "json COMMAND" or "next COMMAND", of up to
 * MR_CTL_MAX_LINE bytes of command and a newline. It may send the next before it has read the
 * answer.
 *
 * millrace answers each in order with a header line, "STATUS LENGTH", and LENGTH bytes of body.
 * STATUS is 0 when the command was done: the body is its answer as text or as one line of JSON. Or
 * STATUS is the errno's name with a minus ("-EEXIST") when it was refused: the body is one sentence
 * and a newline in either style. A client that does not read its answers is not read from. Of a
 * client that closes, the whole lines that it sent are still run.
 *
 * "next" runs nothing: COMMAND is being typed, and the body has a line for each thing that its last
 * word may become (an empty one after a blank): a word, or a value's name, a tab and what it takes.
 */
#define MR_CTL_SOCKET "/run/millrace/ctl.sock" /* unless --ctl-socket names another */
#define MR_CTL_MAX_LINE 4096
#define MR_CTL_MAX_HEADER 64 /* bytes, newline included */
#define MR_CTL_MAX_CLIENTS 32

#endif
