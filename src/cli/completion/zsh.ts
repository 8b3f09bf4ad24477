import {
  type CompletedCommand,
  completedCommands,
  completedFlags,
  firstWords,
  type Offer,
} from './completed-words.ts';

export function zshScript(): string {
  const flags = completedFlags();
  const withValue = flags.filter(({ offer }) => offer !== undefined);
  return `#compdef signalbox
# zsh completion of signalbox. Load it after compinit: source <(signalbox completion zsh)
_signalbox() {
  local -a typed offered flags
  local index word
  for ((index = 2; index < CURRENT; index++)); do
    word=\${words[index]}
    case $word in
      (${withValue.map(({ name }) => `--${name}`).join('|')}) ((index++)) ;;
      (-*) ;;
      (*) typed+=($word) ;;
    esac
  done
  case \${words[CURRENT-1]} in
${withValue.map(({ name, offer }) => `    (--${name}) ${actionOf(offer)}; return ;;`).join('\n')}
  esac
  case "\${typed[1]} \${typed[2]}" in
${completedCommands().map(flagCase).join('\n')}
  esac
  if [[ $PREFIX == -* ]]; then
    _describe -o 'flag' flags
    return
  fi
  if (( $#typed == 0 )); then
    offered=(${firstWords()
      .map(({ word, meaning }) => described(word, meaning))
      .join(' ')})
    _describe 'command' offered
    return
  fi
  if (( $#typed == 1 )); then
    case \${typed[1]} in
${groupCases().join('\n')}
    esac
  fi
  case "\${typed[1]} \${typed[2]}" in
${completedCommands().flatMap(operandCase).join('\n')}
  esac
}
if [[ $funcstack[1] == _signalbox ]]; then _signalbox "$@"; else compdef _signalbox signalbox; fi
`;
}

function patternOf({ words: [first, second] }: CompletedCommand): string {
  // Without a command, the flags are those of serve.
  if (first === 'serve') return `'serve '*|' '`;
  return second === undefined ? `'${first} '*` : `'${first} ${second}'`;
}

function flagCase(command: CompletedCommand): string {
  const flags = command.flags.map(({ name, meaning }) => described(`--${name}`, meaning));
  return `    (${patternOf(command)}) flags=(${flags.join(' ')}) ;;`;
}

function operandCase(command: CompletedCommand): string[] {
  return command.operand === undefined
    ? []
    : [`    (${patternOf(command)}) ${actionOf(command.operand)}; return ;;`];
}

function groupCases(): string[] {
  const groups = new Map<string, string[]>();
  for (const { words, meaning } of completedCommands()) {
    const [first, second] = words;
    if (second !== undefined) groups.set(first, [...(groups.get(first) ?? []), described(second, meaning)]);
  }
  return [...groups].map(
    ([first, seconds]) =>
      `      (${first}) offered=(${seconds.join(' ')}); _describe 'command' offered; return ;;`,
  );
}

function actionOf(offer: Offer | undefined): string {
  switch (offer?.kind) {
    case 'file':
      return '_files';
    case 'directory':
      return '_files -/';
    case 'choice':
      return `compadd -- ${offer.words.join(' ')}`;
    default:
      return "_message 'value'";
  }
}

/** A word and its meaning, as \`_describe\` takes them: a colon between, in single quotes. */
function described(word: string, meaning: string): string {
  return `'${word}:${meaning.replaceAll("'", "'\\''").replaceAll(':', '\\:')}'`;
}
