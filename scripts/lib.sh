# SPDX-License-Identifier: BSD-3-Clause
# What the scripts share; sourced by bash, after which $root is the top of the source tree.

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
pages_file=/sys/kernel/mm/hugepages/hugepages-2048kB/nr_hugepages

say() {
	printf '%s: %s\n' "$(basename "$0")" "$*"
}

fail() {
	printf '%s: %s\n' "$(basename "$0")" "$*" >&2
	exit 1
}

# usage_error MESSAGE: a command line that names no known option
usage_error() {
	printf '%s: %s (try --help)\n' "$(basename "$0")" "$*" >&2
	exit 2
}

need_root() {
	[ "$(id -u)" -eq 0 ] || fail "needs root for $1: try sudo $0"
}

# is_count TEXT: whether it is a decimal number
is_count() {
	[[ $1 =~ ^[0-9]{1,9}$ ]]
}

# build_release: (re)builds $root/build as a release; quiet unless it fails
build_release() {
	local log
	log=$(mktemp)
	{
		{ [ -f "$root/build/build.ninja" ] || meson setup "$root/build" "$root"; } &&
			ninja -C "$root/build"
	} >"$log" 2>&1 || {
		tail -n 40 "$log" >&2
		rm -f "$log"
		fail "the build failed"
	}
	tail -n 1 "$log" | grep -q 'no work to do' && say "build: nothing to do" || say "build: done, in $root/build"
	rm -f "$log"
}

# wait_until SECONDS COMMAND...: whether the command succeeds within that time
wait_until() {
	local deadline=$((SECONDS + $1))
	shift
	until "$@" >/dev/null 2>&1; do
		[ $SECONDS -lt $deadline ] || return 1
		sleep 0.1
	done
}
