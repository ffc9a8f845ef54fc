#compdef slotgate
_slotgate() {
  local at='' before='' word
  for word in "${(@)words[2,CURRENT-1]}"; do
    case "$before" in ({{valued}}) before=''; continue ;; esac
    case "$at $word" in ({{commands}}) at="${at:+$at }$word" ;; esac
    before="$word"
  done
  case "${words[CURRENT-1]}" in
{{values}}
  esac
  local -a names flags
  case "$at" in
{{words}}
  esac
  _describe command names
  _describe flag flags
}
if [ "$funcstack[1]" = "_slotgate" ]; then _slotgate "$@"; else compdef _slotgate slotgate; fi
