import { answerParts, type MessagePart, promptMessages, shownPart } from '../following/content-messages.ts';
import { boundedText } from '../kit/json/bounded-json.ts';
import type { GenerationContent } from '../ports/content/content.ts';

/** Characters of a turn; the rest is cut. */
const MAX_TURN_CHARACTERS = 5_000;

/** Characters of all turns: the newest that fit, and the first ones if they are of the system. */
const MAX_CHARACTERS = 100_000;

const CUT = ' [truncated]';
const LEFT_OUT = '[earlier turns left out]';

const LABELS: Readonly<Record<string, string>> = {
  system: 'SYSTEM',
  developer: 'SYSTEM',
  assistant: 'ASSISTANT',
  model: 'ASSISTANT',
  tool: 'TOOL_RESULT',
  function: 'TOOL_RESULT',
};

interface Turn {
  readonly label: string;
  readonly text: string;
}

/** The text that a classifier reads instead of a conversation. A text alone is what a user has said. */
export function transcriptOf(content: GenerationContent): string {
  const prompt = promptMessages(content).flatMap(({ role, parts }) => turnsOf(LABELS[role] ?? 'USER', parts));
  const answer = turnsOf('ASSISTANT', answerParts(content));
  const isInstruction = ({ label }: Turn) => label === 'SYSTEM';
  const firstOther = prompt.findIndex((turn) => !isInstruction(turn));
  const first = prompt.slice(0, firstOther === -1 ? prompt.length : firstOther);
  const tools: Turn[] =
    content.tools === undefined ? [] : [{ label: 'TOOLS', text: content.tools.join(', ') }];
  return written([...first, ...tools], [...prompt.slice(first.length), ...answer]);
}

export function transcriptOfText(text: string): string {
  return written([], [{ label: 'USER', text }]);
}

/** Turns of a message: its text as one, each call and result as one of its own. Thoughts are left out. */
function turnsOf(label: string, parts: readonly MessagePart[]): Turn[] {
  const turns: { label: string; text: string }[] = [];
  for (const part of parts) {
    if (part.type === 'reasoning') continue;
    if (part.type === 'tool_call') {
      turns.push({ label: 'TOOL_CALL', text: `${part.name ?? ''}(${part.arguments})` });
    } else if (part.type === 'tool_call_response') {
      turns.push({ label: 'TOOL_RESULT', text: part.response });
    } else {
      const last = turns.at(-1);
      const text = shownPart(part);
      if (last?.label === label) last.text += `\n${text}`;
      else turns.push({ label, text });
    }
  }
  return turns;
}

function written(first: readonly Turn[], rest: readonly Turn[]): string {
  const beginning = newestWithin(first.map(line), MAX_CHARACTERS / 2);
  const used = beginning.reduce((sum, text) => sum + text.length, 0);
  return [...beginning, ...newestWithin(rest.map(line), MAX_CHARACTERS - used)].join('\n\n');
}

/** The last lines that fit, behind a mark for those that do not. */
function newestWithin(lines: readonly string[], characters: number): string[] {
  let left = characters;
  let from = lines.length;
  while (from > 0 && left >= (lines[from - 1]?.length ?? 0)) left -= lines[--from]?.length ?? 0;
  return from === 0 ? [...lines] : [LEFT_OUT, ...lines.slice(from)];
}

function line({ label, text }: Turn): string {
  const cut = boundedText(text, MAX_TURN_CHARACTERS);
  return `${label}: ${cut}${cut.length < text.length ? CUT : ''}`;
}
