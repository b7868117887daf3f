# fish completion for gridmount, gridfiles and gridstore. The commands and options come from the
# programs' own --help, so they match the installed version. Names of GridFS files come from the
# store.

# Prints "kind<TAB>name<TAB>description" for each command and option that the help of the command lists.
function __gridmount_help
    $argv --help 2>/dev/null | awk '
        /^[A-Z].*commands include:$/ || /^Subcommands:$/ { commands = 1; next }
        /^ *$/ { commands = 0 }
        commands {
            name = $1
            sub(/^[ \t]*[^ \t]+[ \t]+(- )?/, "")
            print "command\t" name "\t" $0
            next
        }
        /^ +-/ {
            head = text = $0
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
        }'
end

function __gridmount_list --argument-names kind
    set --erase argv[1]
    __gridmount_help $argv | string match --regex "^$kind\t.*" | string replace --regex '^\w+\t' ''
end

# Prints the first word before the cursor that is a command of the program.
function __gridmount_command
    set --local words (commandline --tokenize --cut-at-cursor --current-process)
    set --local commands (__gridmount_list command $words[1] | string split --fields 1 \t)
    for word in $words[2..]
        if contains -- $word $commands
            echo $word
            return
        end
    end
    return 1
end

function __gridmount_options
    set --local program (commandline --tokenize --cut-at-cursor --current-process)[1]
    __gridmount_list option $program
    if test (path basename -- $program) = gridstore
        set --local command (__gridmount_command)
        and __gridmount_list option $program $command
    end
end

# Prints the names of the store's GridFS files that begin with the word at the cursor.
function __gridmount_names
    set --local words (commandline --tokenize --cut-at-cursor --current-process)
    set --local store
    for i in (seq 2 (count $words))
        switch $words[$i]
            case '--store=*' '--db=*' '--prefix=*'
                set --append store $words[$i]
            case --store --db -d --prefix
                set --append store $words[$i] $words[(math $i + 1)]
        end
    end
    string match --quiet -- '--store*' $store
    and $words[1] $store --quiet list (commandline --current-token) 2>/dev/null | string split --fields 1 \t
end

# Succeeds if the word at the cursor may be the name of a GridFS file, and not of a local file or folder.
function __gridmount_takes_names
    set --local command (__gridmount_command)
    or return 1
    test $command = put
    and return 1
    set --local words (commandline --tokenize --cut-at-cursor --current-process)
    not string match --quiet 'sync_*' $command
    or test $words[-1] != $command
end

# This file is installed under the name of each program, as the completion of this program.
set --local program (path basename -- (status filename) | path change-extension '')
complete --command $program --condition 'string match --quiet -- "-*" (commandline --current-token)' \
    --no-files --arguments '(__gridmount_options)'
if test $program != gridmount
    complete --command $program --condition 'not __gridmount_command >/dev/null' \
        --no-files --arguments "(__gridmount_list command $program)"
end
if test $program = gridfiles
    complete --command gridfiles --condition '__gridmount_takes_names' \
        --no-files --arguments '(__gridmount_names)'
end
