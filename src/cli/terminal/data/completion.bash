# bash completion of slotgate
_slotgate() {
  local current="${COMP_WORDS[COMP_CWORD]}" previous="${COMP_WORDS[COMP_CWORD - 1]}" at='' before='' word i
  COMPREPLY=()
  for ((i = 1; i < COMP_CWORD; i++)); do
    word="${COMP_WORDS[i]}"
    case "$before" in {{valued}}) before=''; continue ;; esac
    case "$at $word" in {{commands}}) at="${at:+$at }$word" ;; esac
    before="$word"
  done
  case "$previous" in
{{values}}
  esac
  case "$at" in
{{words}}
  esac
}
complete -o bashdefault -o default -F _slotgate slotgate
