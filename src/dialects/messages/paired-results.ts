import { isJsonObject, type Json } from '../../kit/json/json.ts';
import { stringAt } from '../../kit/json/members.ts';
import {
  type CallStep,
  LATE_RESULT,
  labelOfResult,
  NO_RESULT,
  type Pairing,
  pairingOf,
  ResultSequence,
  WITHOUT_CALL,
  WITHOUT_RESULT,
} from '../shared/pairing/pair-calls.ts';
import type { Report } from '../shared/report/report.ts';
import type { PlacedMessage } from './placed-message.ts';
import { blocksOf } from './system-turns.ts';
import type { WireBlock, WireMessage } from './wire.ts';

/**
 * Relayed messages with every call and its result in pairs, one behind the other: the user says a result that answers no
 * call, a call without a result gets one that says so, and a result that comes later, or after other blocks of its turn, is
 * put where upstreams look for it. The same list when there is nothing of that kind.
 */
export function withPairedResults(
  messages: readonly PlacedMessage[],
  report: Report,
): readonly PlacedMessage[] {
  const paths = new Map<WireBlock, string>();
  const pairing = pairingOf(stepsIn(messages, paths));
  if (paths.size === 0) return messages;
  const turns = new PairedTurns(pairing, paths, report);
  for (const placed of messages) turns.add(placed);
  const paired = turns.end(messages.length);
  const isSame = paired.length === messages.length && paired.every((placed, at) => placed === messages[at]);
  return isSame ? messages : paired;
}

class PairedTurns {
  readonly #pairing: Pairing<WireBlock>;
  /** Where calls and results stand in the list that the caller wrote. */
  readonly #paths: ReadonlyMap<WireBlock, string>;
  readonly #report: Report;
  readonly #sequence: ResultSequence<WireBlock>;
  readonly #messages: PlacedMessage[] = [];

  constructor(pairing: Pairing<WireBlock>, paths: ReadonlyMap<WireBlock, string>, report: Report) {
    this.#pairing = pairing;
    this.#paths = paths;
    this.#report = report;
    this.#sequence = new ResultSequence(pairing.results);
  }

  add(placed: PlacedMessage): void {
    const { message, index } = placed;
    if (message.role === 'assistant') {
      if (this.#sequence.hasResults) this.#answer(index);
      const content = listOf(message).flatMap((block) => [this.#said(block)]);
      this.#push(placed, content);
      return;
    }
    if (message.role === 'system') {
      this.#answer(index);
      this.#messages.push(placed);
      return;
    }
    const results: WireBlock[] = [];
    const others: WireBlock[] = [];
    let isBehind = false;
    for (const block of listOf(message)) {
      if (!this.#isAnswer(block)) others.push(...this.#heard(block));
      else if (this.#sequence.takesResult(block)) {
        isBehind ||= others.length > 0;
        results.push(this.#named(block));
      }
    }
    if (isBehind) this.#report.coerced(`messages[${index}].content`, RESULTS_FIRST);
    const isText = typeof message.content === 'string';
    const made = isText || others.length > 0 ? this.#rest() : [];
    if (isText && made.length === 0) this.#messages.push(placed);
    else this.#push(placed, [...made, ...results, ...(isText ? blocksOf(message) : others)]);
  }

  end(index: number): readonly PlacedMessage[] {
    this.#answer(index);
    return this.#messages;
  }

  #isAnswer(block: WireBlock): boolean {
    return KINDS.get(block.type)?.[0] === 'result' && !this.#pairing.orphans.has(block);
  }

  #said(block: WireBlock): WireBlock {
    if (KINDS.get(block.type)?.[0] === 'call') this.#sequence.addCall(block);
    return this.#named(block);
  }

  #heard(block: WireBlock): readonly WireBlock[] {
    if (!this.#pairing.orphans.has(block)) return [block];
    return asSaid(block, this.#paths.get(block) ?? 'messages', this.#report);
  }

  #named(block: WireBlock): WireBlock {
    const id = this.#pairing.newIds.get(block);
    const member = KINDS.get(block.type)?.[1];
    return id === undefined || member === undefined ? block : { ...block, [member]: id };
  }

  /** The results of the turn's calls that did not come. */
  #rest(): WireBlock[] {
    return this.#sequence.rest().map(({ call, result }) => {
      const path = this.#paths.get(result ?? call) ?? 'messages';
      this.#report.coerced(path, result === undefined ? WITHOUT_RESULT : LATE_RESULT);
      return result === undefined ? emptyResult(this.#named(call)) : this.#named(result);
    });
  }

  /** Puts them into the user's last message, or into one of their own. */
  #answer(index: number): void {
    const results = this.#rest();
    if (results.length === 0) return;
    const last = this.#messages.at(-1);
    if (last?.message.role !== 'user') {
      this.#messages.push({ message: { role: 'user', content: results }, index });
      return;
    }
    const content = [...results, ...blocksOf(last.message)];
    this.#messages[this.#messages.length - 1] = { ...last, message: { ...last.message, content } };
  }

  /** The message with this content; itself where that is its own, and nothing where all of it was put elsewhere. */
  #push(placed: PlacedMessage, content: readonly WireBlock[]): void {
    const own = listOf(placed.message);
    const isSame = own.length === content.length && content.every((block, at) => block === own[at]);
    if (isSame) this.#messages.push(placed);
    else if (content.length > 0)
      this.#messages.push({ ...placed, message: { ...placed.message, content: [...content] } });
  }
}

/** What the report says of a turn in which other blocks stood before results. */
const RESULTS_FIRST =
  'tool results were put before the other blocks of their turn: upstreams want them first';

function listOf({ content }: WireMessage): readonly WireBlock[] {
  return typeof content === 'string' ? [] : content;
}

/** Calls and results by the type of their block, with the member that names the call. */
const KINDS: ReadonlyMap<string, readonly [kind: CallStep<WireBlock>['kind'], id: string]> = new Map([
  ['tool_use', ['call', 'id']],
  ['tool_result', ['result', 'tool_use_id']],
]);

/** Calls and results in order; notes where each stands in the list that the caller wrote. */
function* stepsIn(
  messages: readonly PlacedMessage[],
  paths: Map<WireBlock, string>,
): Iterable<CallStep<WireBlock>> {
  for (const { message, index: turn } of messages) {
    for (const [at, block] of listOf(message).entries()) {
      const row = KINDS.get(block.type);
      if (row === undefined) continue;
      paths.set(block, `messages[${turn}].content[${at}]`);
      yield { kind: row[0], callId: stringAt(block, row[1]) ?? '', thing: block, turn };
    }
  }
}

function emptyResult({ id }: WireBlock): WireBlock {
  return { type: 'tool_result', tool_use_id: id, content: NO_RESULT };
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
