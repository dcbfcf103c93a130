# bash completion for ncclog, written by 'ncclog completion bash'

_ncclog() {
  local program=ncclog cur="${COMP_WORDS[COMP_CWORD]}" word line
  local -a words=()
  COMPREPLY=()
  [[ "${COMP_WORDS[0]}" != */* ]] || program="${COMP_WORDS[0]/#\~/${HOME-}}"
  # To bash, the "=" of --format=json is a word of its own.
  [ "$cur" != "=" ] || cur=""
  for word in "${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
    [ "$word" = "=" ] || words+=("$word")
  done
  while IFS= read -r line; do
    case "$line" in
      :more) compopt -o nospace 2>/dev/null ;;
      :files | :folders)
        compopt -o filenames 2>/dev/null
        [ "$line" = :files ] && word=-f || word=-d
        mapfile -t -O "${#COMPREPLY[@]}" COMPREPLY < <(compgen "$word" -- "$cur")
        ;;
      "$cur"*) COMPREPLY+=("${line%%$'\t'*}") ;;
    esac
  done < <("$program" __complete "${words[@]}" "$cur" 2>/dev/null)
}

complete -F _ncclog ncclog
