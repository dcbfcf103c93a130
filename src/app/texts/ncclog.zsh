#compdef ncclog
# zsh completion for ncclog, written by 'ncclog completion zsh'

_ncclog() {
  local program=ncclog line place=''
  local -a offered described more
  [[ $words[1] != */* ]] || program=${~words[1]}
  offered=(${(f)"$($program __complete "${(@Q)words[2,CURRENT-1]}" "${(Q)PREFIX}" 2>/dev/null)"})
  for line in $offered; do
    case $line in
      :more) more=(-S '') ;;
      :*) place=$line ;;
      # _describe takes "word:what it is".
      *$'\t'*) described+=("${${line%%$'\t'*}//:/\\:}:${line#*$'\t'}") ;;
      *) described+=("${line//:/\\:}") ;;
    esac
  done
  compset -P '--*='
  local ret=1
  (( ! $#described )) || _describe 'completion' described "${more[@]}" && ret=0
  case $place in
    :files) _files && ret=0 ;;
    :folders) _files -/ && ret=0 ;;
  esac
  return ret
}

# Loaded from fpath the file is the function's body; read by `source` it has to be made known.
if [ "$funcstack[1]" = _ncclog ]; then
  _ncclog "$@"
else
  compdef _ncclog ncclog
fi
