/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MR_BASE_DPDK_COMPAT_H
#define MR_BASE_DPDK_COMPAT_H

/*
 * Differences between DPDK versions, all of them. The reference is 22.11 (Debian 12); 24.11
 * (Debian 13) must build too.
 */
#include <rte_version.h>

#if RTE_VERSION < RTE_VERSION_NUM(22, 11, 0, 0)
#error "millrace needs DPDK 22.11 or later"
#endif

#include <rte_telemetry.h>

/* 23.03 renamed the 64-bit unsigned functions of telemetry. */
#if RTE_VERSION < RTE_VERSION_NUM(23, 3, 0, 0)
#define mr_tel_dict_add_uint rte_tel_data_add_dict_u64
#define mr_tel_array_add_uint rte_tel_data_add_array_u64
#define MR_TEL_UINT_VAL RTE_TEL_U64_VAL
#else
#define mr_tel_dict_add_uint rte_tel_data_add_dict_uint
#define mr_tel_array_add_uint rte_tel_data_add_array_uint
#define MR_TEL_UINT_VAL RTE_TEL_UINT_VAL
#endif

#endif
