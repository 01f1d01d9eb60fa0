# SPDX-License-Identifier: BSD-3-Clause
# Completion of millracectl for bash: the running millrace knows its commands.

_millracectl() {
	local words=() word socket=() at=1 last

	# Not COMP_WORDS: those are cut at the colons of a MAC address.
	read -ra words <<<"${COMP_LINE:0:COMP_POINT}"
	[[ ${COMP_LINE:0:COMP_POINT} != *[[:blank:]] ]] || words+=('')
	last=$((${#words[@]} - 1))
	word=${words[last]}
	COMPREPLY=()
	while [ $at -lt $last ] && [[ ${words[at]} == -* ]]; do
		case ${words[at]} in
		-s | --ctl-socket) socket=(-s "${words[++at]}") ;;
		-f | --file) ((++at)) ;;
		esac
		((++at))
	done
	if [ $at -gt $last ]; then
		mapfile -t COMPREPLY < <(compgen -f -- "$word")
		compopt -o filenames 2>/dev/null
	elif [[ $word == -* ]] && [ $at -eq $last ]; then
		mapfile -t COMPREPLY < <(compgen -W '--ctl-socket --json --file --complete --help --version' -- "$word")
	else
		# Values, which have a tab, are the user's to type.
		mapfile -t COMPREPLY < <("${words[0]}" "${socket[@]}" --complete -- "${words[@]:at}" 2>/dev/null | grep -v $'\t')
	fi
}

complete -F _millracectl millracectl
