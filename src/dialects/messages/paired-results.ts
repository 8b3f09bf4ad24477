import { isJsonObject, type Json } from '../../kit/json.ts';
import { stringAt } from '../../kit/members.ts';
import { Pace, type Sliced } from '../../kit/turns.ts';
import {
  type CallStep,
  labelOfResult,
  NO_RESULT,
  unpaired,
  WITHOUT_CALL,
  WITHOUT_RESULT,
} from '../pair-calls.ts';
import type { Report } from '../report.ts';
import type { PlacedMessage } from './placed-message.ts';
import { blocksOf } from './system-turns.ts';
import type { WireBlock, WireMessage } from './wire.ts';

/**
 * Relayed messages with every call and its result in pairs: the user says a result that answers no call, and a call
 * without a result gets one that says so. The same list when there is nothing of that kind.
 */
export function* withPairedResults(
  messages: readonly PlacedMessage[],
  report: Report,
): Sliced<readonly PlacedMessage[]> {
  const { orphans, missing } = yield* unpaired(stepsIn(messages));
  if (orphans.size === 0 && missing.size === 0) return messages;
  const pace = new Pace();
  const all: PlacedMessage[] = [];
  let unanswered: WireBlock[] = [];
  const answers = (): WireBlock[] => {
    const results = unanswered.map(emptyResult);
    unanswered = [];
    return results;
  };
  for (const { message, index } of messages) {
    const results = message.role === 'assistant' ? [] : answers();
    const content = yield* replaced(message, index, orphans, report, pace);
    if (message.role === 'system' && results.length > 0) {
      all.push({ message: { role: 'user', content: results }, index }, { message, index });
    } else if (results.length > 0) {
      all.push({
        message: { ...message, content: [...results, ...blocksOf({ ...message, content })] },
        index,
      });
    } else {
      all.push({ message: content === message.content ? message : { ...message, content }, index });
    }
    for (const [place, block] of listOf(message).entries()) {
      if (pace.tick()) yield;
      if (!missing.has(block)) continue;
      report.coerced(`messages[${index}].content[${place}]`, WITHOUT_RESULT);
      unanswered.push(block);
    }
  }
  const last = answers();
  if (last.length > 0) all.push({ message: { role: 'user', content: last }, index: messages.length });
  return all;
}

function listOf({ content }: WireMessage): readonly WireBlock[] {
  return typeof content === 'string' ? [] : content;
}

/** Calls and results by the type of their block, with the member that names the call. */
const KINDS: ReadonlyMap<string, readonly [kind: CallStep<WireBlock>['kind'], id: string]> = new Map([
  ['tool_use', ['call', 'id']],
  ['tool_result', ['result', 'tool_use_id']],
]);

function* stepsIn(messages: readonly PlacedMessage[]): Iterable<CallStep<WireBlock>> {
  for (const { message } of messages) {
    for (const block of listOf(message)) {
      const row = KINDS.get(block.type);
      if (row !== undefined) yield { kind: row[0], callId: stringAt(block, row[1]) ?? '', thing: block };
    }
  }
}

function emptyResult({ id }: WireBlock): WireBlock {
  return { type: 'tool_result', tool_use_id: id, content: NO_RESULT };
}

function* replaced(
  { content }: WireMessage,
  index: number,
  orphans: ReadonlySet<WireBlock>,
  report: Report,
  pace: Pace,
): Sliced<WireMessage['content']> {
  if (typeof content === 'string' || !content.some((block) => orphans.has(block))) return content;
  return yield* pace.flatMap(content.entries(), ([place, block]) =>
    orphans.has(block) ? asSaid(block, `messages[${index}].content[${place}]`, report) : [block],
  );
}

/** Blocks that stand only in results. */
const INNER_BLOCKS: ReadonlySet<unknown> = new Set(['tool_reference']);

function asSaid(block: WireBlock, path: string, report: Report): WireBlock[] {
  report.coerced(path, WITHOUT_CALL);
  const label = labelOfResult(stringAt(block, 'tool_use_id') ?? '', block.is_error === true);
  const said = [{ type: 'text', text: label }, ...blocksIn(block.content)];
  const last = said.at(-1);
  return last === undefined || !isJsonObject(block.cache_control)
    ? said
    : said.with(-1, { ...last, cache_control: block.cache_control });
}

function blocksIn(content: Json | undefined): WireBlock[] {
  if (typeof content === 'string') return content === '' ? [] : [{ type: 'text', text: content }];
  if (!Array.isArray(content)) return [];
  return content.flatMap((inner) => {
    const type = isJsonObject(inner) ? stringAt(inner, 'type') : undefined;
    return type === undefined || INNER_BLOCKS.has(type) ? [] : [{ ...(inner as WireBlock), type }];
  });
}
