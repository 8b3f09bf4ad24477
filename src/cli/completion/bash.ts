import { type CompletedCommand, completedCommands, completedFlags, firstWords } from './completed-words.ts';

/** Completion for bash 3.2 and newer. Without an offer of ours the shell completes names of files. */
export function bashScript(): string {
  const flags = completedFlags();
  const withValue = flags.filter(({ offer }) => offer !== undefined).map(({ name }) => `--${name}`);
  const choices = flags.flatMap(({ name, offer }) =>
    offer?.kind === 'choice' ? [`    --${name}) offered='${offer.words.join(' ')}' ;;`] : [],
  );
  return `# bash completion of signalbox. Load it: source <(signalbox completion bash)
_signalbox() {
  local current="\${COMP_WORDS[COMP_CWORD]}" previous="\${COMP_WORDS[COMP_CWORD-1]}"
  local offered='' flags='' operands='' word='' first='' second='' count=0 index
  COMPREPLY=()
  for ((index = 1; index < COMP_CWORD; index++)); do
    word="\${COMP_WORDS[index]}"
    case "$word" in
    ${withValue.join(' | ')}) index=$((index + 1)) ;;
    -*) ;;
    *)
      count=$((count + 1))
      if [ "$count" -eq 1 ]; then first="$word"; elif [ "$count" -eq 2 ]; then second="$word"; fi
      ;;
    esac
  done
  case "$first $second" in
${completedCommands().map(commandCase).join('\n')}
  esac
  case "$first" in
${groupCases().join('\n')}
  esac
  case "$previous" in
${choices.join('\n')}
    ${withValue.join(' | ')}) return ;;
    *)
      if [[ "$current" == -* ]]; then
        offered="$flags"
      elif [ "$count" -eq 0 ]; then
        offered='${firstWords()
          .map(({ word }) => word)
          .join(' ')}'
      else
        offered="$operands"
      fi
      ;;
  esac
  COMPREPLY=($(compgen -W "$offered" -- "$current"))
}
complete -o default -F _signalbox signalbox
`;
}

/** Sets the flags and operands of one command. A command of one word may have an operand behind it. */
function commandCase({ words: [first, second], flags, operand }: CompletedCommand): string {
  const pattern = second === undefined ? `'${first} '*` : `'${first} ${second}'`;
  const names = flags.map(({ name }) => `--${name}`).join(' ');
  const words = operand?.kind === 'choice' ? operand.words.join(' ') : '';
  // Without a command, the flags are those of serve.
  const patterns = first === 'serve' ? `${pattern} | ' '` : pattern;
  return `    ${patterns}) flags='${names}' operands='${words}' ;;`;
}

/** Offers the second words of a group while none is typed. */
function groupCases(): string[] {
  const groups = new Map<string, string[]>();
  for (const { words } of completedCommands()) {
    const [first, second] = words;
    if (second !== undefined) groups.set(first, [...(groups.get(first) ?? []), second]);
  }
  return [...groups].map(
    ([first, seconds]) => `    ${first}) [ -z "$second" ] && operands='${seconds.join(' ')}' ;;`,
  );
}
