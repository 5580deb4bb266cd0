export const shells = ["bash", "zsh", "fish"] as const;
export type Shell = (typeof shells)[number];

/**
 * Completion scripts of the shells. Each asks the program for suggestions. A line of the answer is a word, a tab and a
 * description; the line `:files` stands for paths.
 */
export const completionScripts: Readonly<Record<Shell, string>> = {
  bash: `# programme-mcp completion for bash: eval "$(programme-mcp completion bash)"
_programme_mcp() {
  local line=\${COMP_LINE:0:COMP_POINT} words word typed
  read -ra words <<<"$line"
  [[ $line == *[[:space:]] ]] && words+=("")
  typed=\${words[\${#words[@]} - 1]}
  # What bash replaces begins after the last of its word breaks.
  local kept=\${typed%"\${typed##*[:=]}"}
  COMPREPLY=()
  while IFS=$'\\t' read -r word _; do
    if [[ $word == :files ]]; then
      compopt -o default
    else
      COMPREPLY+=("\${word#"$kept"}")
    fi
  done < <("\${words[0]}" complete -- "\${words[@]:1}" 2>/dev/null)
}
complete -F _programme_mcp programme-mcp
`,
  zsh: `#compdef programme-mcp
# programme-mcp completion for zsh: eval "$(programme-mcp completion zsh)"
_programme_mcp() {
  local line word described
  local -a found
  while IFS= read -r line; do
    if [[ $line == :files ]]; then
      _files
      continue
    fi
    word=\${line%%$'\\t'*}
    described=\${line#*$'\\t'}
    found+=("\${word//:/\\\\:}\${described:+:$described}")
  done < <("\${words[1]}" complete -- "\${(@)words[2,CURRENT]}" 2>/dev/null)
  (( \${#found} )) && _describe programme-mcp found
}
if [[ \${funcstack[1]} == _programme[_-]mcp ]]; then
  _programme_mcp "$@"
else
  compdef _programme_mcp programme-mcp
fi
`,
  fish: `# programme-mcp completion for fish: programme-mcp completion fish | source
function __programme_mcp_complete
    set -l words (commandline -opc) (commandline -ct)
    for line in ($words[1] complete -- $words[2..-1] 2>/dev/null)
        if test "$line" = :files
            __fish_complete_path (commandline -ct)
        else
            echo $line
        end
    end
end
complete -c programme-mcp -f -a '(__programme_mcp_complete)'
`,
};
