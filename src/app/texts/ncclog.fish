# fish completion for ncclog, written by 'ncclog completion fish'

function __ncclog_offered
    set -l words (commandline -opc)
    set -l word (commandline -ct)
    set -l program ncclog
    string match -q '*/*' -- $words[1]
    and set program (string replace -r '^~' $HOME -- $words[1])
    set -e words[1]
    # Of --format=json only the value is offered.
    set -l before (string match -r '^--[^=]+=' -- $word)
    set -l value (string replace -r '^--[^=]+=' '' -- $word)
    for line in ($program __complete $words "$word" 2>/dev/null)
        switch $line
            case :more
            case :files
                printf '%s\n' "$before"(__fish_complete_path "$value")
            case :folders
                printf '%s\n' "$before"(__fish_complete_directories "$value")
            case '*'
                printf '%s\n' "$before$line"
        end
    end
end

complete -c ncclog -f -a '(__ncclog_offered)'
