/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef GEN_VALUES_H
#define GEN_VALUES_H

#include "options.h"

/* Parsers of option values that are more than a number. They set what the value says in options
 * and return 0, or -EINVAL. */
int value_size(struct options *options, const char *text); /* 64,512 or 64:7,570:4,1518:1 or imix */
int value_rate(struct options *options, const char *text); /* 1000, 1.5k, 2M, 12.5% */
int value_src_ip(struct options *options, const char *text); /* FIRST[-LAST] */
int value_dst_ip(struct options *options, const char *text);
int value_src_port(struct options *options, const char *text);
int value_dst_port(struct options *options, const char *text);
int value_src_mac(struct options *options, const char *text); /* FIRST[-LAST][,FIRST[-LAST]] */
int value_dst_mac(struct options *options, const char *text);
int value_gateway(struct options *options, const char *text);  /* A[,B] */
int value_pcap(struct options *options, const char *text);     /* FILE[,FILE] */
int value_ways(struct options *options, const char *text);     /* one, two, both */
int value_trial(struct options *options, const char *text);    /* rfc2544, back-to-back, latency */
int value_portmask(struct options *options, const char *text); /* hexadecimal */
int value_resolution(struct options *options, const char *text); /* 0.5 */

#endif
