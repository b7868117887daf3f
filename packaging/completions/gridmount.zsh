#compdef gridmount gridfiles gridstore
# zsh completion for gridmount, gridfiles and gridstore. The commands and options come from the
# programs' own --help, so they match the installed version. Names of GridFS files come from the
# store.

# _gridmount_help COMMAND...: adds what the help of the command lists to `options` and `commands`, as
# "name:description".
_gridmount_help() {
  local kind name text
  while IFS=$'\t' read -r kind name text; do
    if [[ $kind == option ]]; then options+=("$name:$text"); else commands+=("$name:$text"); fi
  done < <("$@" --help 2>/dev/null | awk '
    /^[A-Z].*commands include:$/ || /^Subcommands:$/ { commands = 1; next }
    /^ *$/ { commands = 0 }
    commands {
      name = $1
      sub(/^[ \t]*[^ \t]+[ \t]+(- )?/, "")
      print "command\t" name "\t" $0
      next
    }
    /^ +-/ {
      head = $0
      sub(/^ +/, "", head)
      if (match(head, /  +/)) text = substr(head, RSTART + RLENGTH); else text = ""
      sub(/  .*/, "", head)
      while (match(head, /(^|[ ,])--?[A-Za-z][A-Za-z0-9-]*/)) {
        name = substr(head, RSTART, RLENGTH)
        gsub(/[ ,]/, "", name)
        print "option\t" name "\t" text
        head = substr(head, RSTART + RLENGTH)
        if (head !~ /^,/) break
      }
    }')
}

_gridmount() {
  local program=$words[1] command word
  local -a options commands store names
  _gridmount_help $program
  local -i i
  for ((i = 2; i < CURRENT; ++i)); do
    case $words[i] in
      --store=* | --db=* | --prefix=*) store+=(${(Q)words[i]}) ;;
      --store | --db | -d | --prefix) store+=($words[i] ${~${(Q)words[i+1]}}) ;;
      *) if [[ -z $command && -n ${(M)commands:#$words[i]:*} ]]; then command=$words[i]; fi ;;
    esac
  done
  if [[ ${program:t} == gridstore && -n $command ]]; then _gridmount_help $program $command; fi

  if [[ $PREFIX == -* ]]; then
    _describe option options
  elif (( $#commands )) && [[ -z $command ]]; then
    _describe command commands || _files
  elif [[ ${program:t} != gridfiles || $command == put || ($command == sync_* && ${words[CURRENT-1]} == $command) ]]; then
    _files
  elif (( $#store )); then
    names=(${(f)"$($program $store --quiet list ${(Q)PREFIX} 2>/dev/null | cut -f 1)"})
    _multi_parts / names
  fi
}

_gridmount "$@"
