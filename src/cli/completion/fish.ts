import {
  type CompletedCommand,
  type CompletedFlag,
  completedCommands,
  completedFlags,
  firstWords,
  type Offer,
} from './completed-words.ts';

export function fishScript(): string {
  const withValue = completedFlags().filter(({ offer }) => offer !== undefined);
  return `# fish completion of signalbox. Load it: signalbox completion fish | source
function __signalbox_typed
  set -l typed
  set -l is_value 0
  for word in (commandline -opc)[2..-1]
    if test $is_value = 1
      set is_value 0
      continue
    end
    switch $word
      case ${withValue.map(({ name }) => `--${name}`).join(' ')}
        set is_value 1
      case '-*'
      case '*'
        set -a typed $word
    end
  end
  string join ' ' -- $typed
end
function __signalbox_is
  test (__signalbox_typed | string collect -a) = "$argv"
end
function __signalbox_begins
  string match -q -- "$argv *" (__signalbox_typed | string collect -a)' '
end
complete -c signalbox -f
${firstWords()
  .map(({ word, meaning }) => `complete -c signalbox -n '__signalbox_is' -a ${word} -d ${quoted(meaning)}`)
  .join('\n')}
${completedCommands().flatMap(linesOf).join('\n')}
`;
}

function linesOf({ words: [first, second], meaning, flags, operand }: CompletedCommand): string[] {
  const name = second === undefined ? first : `${first} ${second}`;
  const conditions = [`__signalbox_begins ${name}`];
  // Without a command, the flags are those of serve.
  if (first === 'serve') conditions.push('__signalbox_is');
  return [
    ...(second === undefined
      ? []
      : [`complete -c signalbox -n '__signalbox_is ${first}' -a ${second} -d ${quoted(meaning)}`]),
    ...conditions.flatMap((condition) => flags.map((flag) => flagLine(condition, flag))),
    ...(operand === undefined || operand.kind === 'any'
      ? []
      : [`complete -c signalbox -n '__signalbox_is ${name}' ${offerText(operand)}`]),
  ];
}

function flagLine(condition: string, { name, meaning, offer }: CompletedFlag): string {
  // -x offers no names of files.
  const value = offer === undefined ? '' : ` ${offer.kind === 'file' ? '-r' : '-x'} ${offerText(offer)}`;
  return `complete -c signalbox -n '${condition}' -l ${name}${value.trimEnd()} -d ${quoted(meaning)}`;
}

function offerText(offer: Offer): string {
  switch (offer.kind) {
    case 'file':
      return '-F';
    case 'directory':
      return "-a '(__fish_complete_directories)'";
    case 'choice':
      return `-a '${offer.words.join(' ')}'`;
    default:
      return '';
  }
}

function quoted(text: string): string {
  return `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`;
}
