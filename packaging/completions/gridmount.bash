# bash completion for gridmount, gridfiles and gridstore. The commands and options come from the
# programs' own --help, so they match the installed version. Names of GridFS files come from the
# store.

# _gridmount_help COMMAND...: prints what the help of the command lists, one item per line:
#   option NAME [PLACEHOLDER OF ITS VALUE]
#   command NAME
_gridmount_help() {
  "$@" --help 2>/dev/null | awk '
    /^[A-Z].*commands include:$/ || /^Subcommands:$/ { commands = 1; next }
    /^ *$/ { commands = 0 }
    commands { print "command", $1; next }
    /^ +-/ {
      head = $0
      sub(/^ +/, "", head)
      sub(/  .*/, "", head)
      value = ""
      if (match(head, /=<[^>]*>/)) value = substr(head, RSTART + 2, RLENGTH - 3)
      else if (match(head, / [A-Z][A-Z:]*/)) value = substr(head, RSTART + 1, RLENGTH - 1)
      while (match(head, /(^|[ ,])--?[A-Za-z][A-Za-z0-9-]*/)) {
        name = substr(head, RSTART, RLENGTH)
        gsub(/[ ,]/, "", name)
        print "option", name, value
        head = substr(head, RSTART + RLENGTH)
        if (head !~ /^,/) break
      }
    }'
}

# _gridmount_names PROGRAM STORE_OPTIONS... -- PREFIX: prints the names of the GridFS files that begin with
# the prefix, up to the slash after it.
_gridmount_names() {
  local prefix=${*: -1}
  local command=("${@:1:$#-2}")
  "${command[@]}" --quiet list "$prefix" 2>/dev/null | awk -F '\t' -v prefix="$prefix" '
    index($1, prefix) == 1 {
      rest = substr($1, length(prefix) + 1)
      slash = index(rest, "/")
      print prefix (slash ? substr(rest, 1, slash) : rest)
    }' | sort -u
}

# Sets `words` to the words before the word at the cursor, with `--name=value` as two words. Sets
# `current` to the word at the cursor.
_gridmount_words() {
  local word
  words=()
  for word in "${COMP_WORDS[@]:0:COMP_CWORD}"; do
    case $word in
      =) ;;  # bash divides words at this character
      --*=*) words+=("${word%%=*}" "${word#*=}") ;;
      *) words+=("$word") ;;
    esac
  done
  current=${COMP_WORDS[COMP_CWORD]}
  if [ "$current" = = ]; then current=; fi
}

_gridmount_reply() {
  local IFS=$'\n'
  mapfile -t COMPREPLY < <(compgen "$@" -- "$current")
}

_gridmount_value() {
  compopt -o filenames 2>/dev/null
  case $1 in
    STORE | FOLDER | folder | MOUNTPOINT | DIRECTORY | directory | path-to-directory) _gridmount_reply -d ;;
    FILE | file | filename | *-file | PATH | path) _gridmount_reply -f ;;
  esac
}

_gridmount() {
  local words current program kind name value word store=() command= expects=
  _gridmount_words
  program=${words[0]}
  local -A values=() commands=()
  while read -r kind name value; do
    if [ "$kind" = option ]; then values[$name]=$value; else commands[$name]=1; fi
  done < <(_gridmount_help "$program")

  for word in "${words[@]:1}"; do
    if [ -n "$expects" ]; then
      case $expects in
        --store | --db | -d | --prefix) store+=("$expects" "${word/#\~\//$HOME/}") ;;
      esac
      expects=
    elif [[ $word == -* ]]; then
      if [ -n "${values[$word]:-}" ]; then expects=$word; fi
    elif [ -z "$command" ] && [ -n "${commands[$word]:-}" ]; then
      command=$word
      if [ "${program##*/}" = gridstore ]; then
        while read -r kind name value; do values[$name]=$value; done < <(_gridmount_help "$program" "$command")
      fi
    fi
  done

  if [ -n "$expects" ]; then
    _gridmount_value "${values[$expects]}"
  elif [[ $current == -* ]]; then
    _gridmount_reply -W "$(printf '%s\n' "${!values[@]}")"
  elif [ "${#commands[@]}" -gt 0 ] && [ -z "$command" ]; then
    _gridmount_reply -W "$(printf '%s\n' "${!commands[@]}")"
  elif [ "${program##*/}" != gridfiles ]; then
    _gridmount_value STORE
  elif [ "$command" = put ]; then
    _gridmount_value FILE
  elif [[ $command == sync_* && ${words[-1]} == "$command" ]]; then
    _gridmount_value FOLDER
  elif [[ " ${store[*]} " == *" --store "* ]]; then
    mapfile -t COMPREPLY < <(_gridmount_names "$program" "${store[@]}" -- "$current")
    if [ "${#COMPREPLY[@]}" -eq 1 ] && [[ ${COMPREPLY[0]} == */ ]]; then compopt -o nospace 2>/dev/null; fi
    mapfile -t COMPREPLY < <([ "${#COMPREPLY[@]}" -eq 0 ] || printf '%q\n' "${COMPREPLY[@]}")
  fi
}

complete -F _gridmount gridmount gridfiles gridstore
