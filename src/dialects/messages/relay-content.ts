import type { ToolCallItem, ToolResultItem } from '../../ir/items.ts';
import { isJsonObject, type Json, type JsonObject } from '../../kit/json/json.ts';
import { membersBeyond, stringAt } from '../../kit/json/members.ts';
import { MADE_IMAGE } from '../shared/blocks/part-losses.ts';
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
import { whyUnsealed } from '../shared/reasoning/claude-seals.ts';
import { NO_FIELD } from '../shared/report/field-fates.ts';
import type { Report } from '../shared/report/report.ts';
import { LAST_SYSTEM_AS_USER, SYSTEM_BETWEEN_TURNS } from '../shared/requests/system-messages.ts';
import { inputObject } from '../shared/tools/call-input.ts';
import { isMade } from './citations.ts';
import { imageInText } from './media.ts';
import { replayedStep } from './parse-content.ts';
import { isForeignThinking, parseRedacted, parseThinking, renderThoughts } from './reasoning.ts';
import { FOREIGN_CITATIONS } from './render-parts.ts';
import { MESSAGE_FIELDS, type WireBlock, type WireMessage } from './wire.ts';

// --- Conversation ---------------------------------------------------------------------------------------------------

export interface RelayedMessages {
  /** Blocks from the list that belong to the system prompt. */
  readonly system: readonly JsonObject[];
  /** Messages to send: the given list itself if nothing changes. */
  readonly messages: JsonObject[];
}

/**
 * Makes the necessary changes to the caller's own list for an upstream of this dialect. `takesSystem`: the upstream
 * takes system turns.
 */
export function relayMessages(
  given: readonly WireMessage[],
  report: Report,
  takesSystem = false,
): RelayedMessages {
  const placed = given.flatMap((message, index) =>
    withPlainCalls(message).map((plain) => ({ message: plain, index })),
  );
  const paired = withPairedResults(placed, report);
  const cleaned = withoutForeignTraces(paired, report);
  const { system, messages } =
    takesSystem && cleaned.some((placed) => !isSystem(placed))
      ? { system: [], messages: cleaned }
      : withoutSystemTurns(cleaned, report);
  const isSame =
    messages.length === given.length && messages.every(({ message }, at) => message === given[at]);
  const sent = isSame ? given : messages.map(({ message }) => message);
  return { system, messages: sent as unknown as JsonObject[] };
}

/** A message in the relay lane, and its index in the caller's list. */
export interface PlacedMessage {
  readonly message: WireMessage;
  readonly index: number;
}

/** Content as blocks; upstreams refuse empty text. */
export function blocksOf({ content = [] }: WireMessage): readonly WireBlock[] {
  if (typeof content !== 'string') return content;
  return content === '' ? [] : [{ type: 'text', text: content }];
}

// --- Calls and results ----------------------------------------------------------------------------------------------

/** A message with plain calls and results in the place of the gateway's own server tools, which end a turn each. */
function withPlainCalls(message: WireMessage): readonly WireMessage[] {
  const { role, content } = message;
  if (role !== 'assistant' || typeof content !== 'object' || !content.some(isOwnStep)) return [message];
  const plain: { role: 'user' | 'assistant'; content: WireBlock[] }[] = [];
  for (const block of content) {
    const step = replayedStep(block);
    const said = step?.type === 'tool-result' ? 'user' : 'assistant';
    const last = plain.at(-1);
    const written = step === undefined ? block : plainBlock(step);
    if (last?.role === said) last.content.push(written);
    else plain.push({ role: said, content: [written] });
  }
  return plain as readonly WireMessage[];
}

function isOwnStep(block: WireBlock): boolean {
  return replayedStep(block) !== undefined;
}

function plainBlock(step: ToolCallItem | ToolResultItem): WireBlock {
  if (step.type === 'tool-call') {
    // The text has the doubles that stand for long numbers, and so has the object.
    return {
      type: 'tool_use',
      id: step.callId,
      name: step.name,
      input: inputObject(step.input, undefined) ?? {},
    };
  }
  const content = step.content.map((part) => (part.type === 'text' ? part.text : '')).join('');
  return { type: 'tool_result', tool_use_id: step.callId, content };
}

/**
 * Relayed messages with each result right after its call. An orphan result becomes user text, a call without a result
 * gets one that says so, and a late result, or one after other blocks of its turn, is moved. Returns the same list if
 * nothing changes.
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
  /** Paths of calls and results in the caller's list. */
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

  /** The missing results of the turn's calls. */
  #rest(): WireBlock[] {
    return this.#sequence.rest().map(({ call, result }) => {
      const path = this.#paths.get(result ?? call) ?? 'messages';
      this.#report.coerced(path, result === undefined ? WITHOUT_RESULT : LATE_RESULT);
      return result === undefined ? emptyResult(this.#named(call)) : this.#named(result);
    });
  }

  /** Adds the missing results to the user's last message, or to a new one. */
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

  /** Adds the message with this content: the same object if the content is its own, none if the content is empty. */
  #push(placed: PlacedMessage, content: readonly WireBlock[]): void {
    const own = listOf(placed.message);
    const isSame = own.length === content.length && content.every((block, at) => block === own[at]);
    if (isSame) this.#messages.push(placed);
    else if (content.length > 0)
      this.#messages.push({ ...placed, message: { ...placed.message, content: [...content] } });
  }
}

/** Report detail of a turn with other blocks before results. */
const RESULTS_FIRST =
  'tool results were put before the other blocks of their turn: upstreams want them first';

function listOf({ content = [] }: WireMessage): readonly WireBlock[] {
  return typeof content === 'string' ? [] : content;
}

const KINDS: ReadonlyMap<string, readonly [kind: CallStep<WireBlock>['kind'], id: string]> = new Map([
  ['tool_use', ['call', 'id']],
  ['tool_result', ['result', 'tool_use_id']],
]);

/** Calls and results in order; notes the path of each in the caller's list. */
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

/** Blocks that occur only in results. */
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

// --- Traces of this gateway in earlier turns ------------------------------------------------------------------------

/**
 * Messages without blocks that the gateway made when another family answered an earlier turn: an upstream would refuse
 * the whole request. Returns the same list if there are none.
 */
function withoutForeignTraces(messages: readonly PlacedMessage[], report: Report): readonly PlacedMessage[] {
  const cleaned: PlacedMessage[] = [];
  for (const placed of messages) {
    const kept = cleanedMessage(placed, report);
    if (kept !== undefined) cleaned.push(kept);
  }
  const hasTraces = cleaned.length !== messages.length || cleaned.some((each, at) => each !== messages[at]);
  return hasTraces ? cleaned : messages;
}

/** The message without such blocks; undefined if nothing is left of it. */
function cleanedMessage(placed: PlacedMessage, report: Report): PlacedMessage | undefined {
  const { message, index } = placed;
  const { content } = message;
  if (typeof content !== 'object' || message.role !== 'assistant') return placed;
  const path = `messages[${index}].content`;
  const kept = [...content.entries()].flatMap(([place, block]) =>
    withoutTraces(block, `${path}[${place}]`, report),
  );
  const isSame = kept.length === content.length && kept.every((block, place) => block === content[place]);
  if (isSame) return placed;
  return kept.length === 0 ? undefined : { message: { ...message, content: kept }, index };
}

function withoutTraces(block: WireBlock, path: string, report: Report): WireBlock[] {
  if (isForeignThinking(block)) {
    const item = block.type === 'thinking' ? parseThinking(block) : parseRedacted(block);
    // A chat upstream may have passed on a seal of this family.
    const own = renderThoughts(item);
    if (own !== undefined) return [own as WireBlock];
    report.dropped(path, whyUnsealed(item));
    return [];
  }
  if (block.type === 'text' && imageInText(block.text) !== undefined) {
    report.dropped(path, MADE_IMAGE);
    return [];
  }
  if (block.type !== 'text' || !Array.isArray(block.citations) || !block.citations.some(isMade))
    return [block];
  report.dropped(`${path}.citations`, FOREIGN_CITATIONS);
  return [{ ...block, citations: block.citations.filter((citation) => !isMade(citation)) }];
}

// --- System prompts in the list -------------------------------------------------------------------------------------

/** A conversation without system turns, and its blocks for the system prompt. */
export interface WithoutSystemTurns {
  readonly system: readonly JsonObject[];
  readonly messages: readonly PlacedMessage[];
}

/**
 * Agents put system prompts into the list of messages, although some upstreams accept only users and assistants there.
 * Those at the front move to the system prompt; others stay at their place as user text.
 */
export function withoutSystemTurns(messages: readonly PlacedMessage[], report: Report): WithoutSystemTurns {
  if (!messages.some(isSystem)) return { system: [], messages };
  const firstTurn = messages.findIndex((placed) => !isSystem(placed));
  // A conversation of system prompts alone needs a turn: the last one is sent as the user's.
  const lead = messages.slice(0, firstTurn === -1 ? messages.length - 1 : firstTurn);
  for (const placed of messages) if (isSystem(placed)) reportSettings(placed, report);
  const turns = new UserTurns();
  for (const placed of messages.slice(lead.length)) {
    const isLast = firstTurn === -1;
    if (!isSystem(placed)) turns.add(placed);
    else turns.addMade(isLast ? asUser(placed, report) : asUserText(placed, report));
  }
  return { system: lead.flatMap(({ message }) => blocksOf(message)), messages: turns.end() };
}

/** Settings of a system turn are lost with the turn. */
function reportSettings({ message, index }: PlacedMessage, report: Report): void {
  for (const name of Object.keys(membersBeyond(message as unknown as JsonObject, MESSAGE_FIELDS) ?? {})) {
    report.dropped(`messages[${index}].${name}`, NO_FIELD);
  }
}

function isSystem({ message }: PlacedMessage): boolean {
  return message.role === 'system';
}

function asUser({ message, index }: PlacedMessage, report: Report): PlacedMessage {
  report.coerced(`messages[${index}]`, LAST_SYSTEM_AS_USER);
  return { message: { ...message, role: 'user' }, index };
}

function asUserText({ message, index }: PlacedMessage, report: Report): PlacedMessage {
  const blocks = blocksOf(message);
  if (blocks.length === 0) return { message: { role: 'user', content: [] }, index };
  report.coerced(`messages[${index}]`, SYSTEM_BETWEEN_TURNS);
  const content = [{ type: 'text', text: '<system>' }, ...blocks, { type: 'text', text: '</system>' }];
  return { message: { role: 'user', content }, index };
}

/** Collects turns. Text made from a system prompt joins the adjacent user turn, after tool results. */
class UserTurns {
  readonly #messages: PlacedMessage[] = [];
  /** The last turn, if others may join it. */
  #open: OpenTurn | undefined;

  add(placed: PlacedMessage): void {
    const isUser = placed.message.role === 'user';
    if (isUser && this.#open?.isMade === true) this.#open.members.push(placed);
    else {
      this.#close();
      if (isUser) this.#open = { members: [placed], isMade: false };
      else this.#messages.push(placed);
    }
  }

  addMade(placed: PlacedMessage): void {
    if (blocksOf(placed.message).length === 0) return;
    this.#open ??= { members: [], isMade: true };
    this.#open.members.push(placed);
    this.#open.isMade = true;
  }

  end(): readonly PlacedMessage[] {
    this.#close();
    return this.#messages;
  }

  #close(): void {
    const members = this.#open?.members ?? [];
    this.#open = undefined;
    const [first] = members;
    if (first === undefined) return;
    this.#messages.push(members.length === 1 ? first : joined(members, first.index));
  }
}

/** Messages of the user that are joined. */
interface OpenTurn {
  readonly members: PlacedMessage[];
  /** True if it has text made from a system prompt. */
  isMade: boolean;
}

function joined(members: readonly PlacedMessage[], index: number): PlacedMessage {
  const blocks = members.flatMap(({ message }) => blocksOf(message));
  const content = [...blocks.filter(isResult), ...blocks.filter((block) => !isResult(block))];
  return { message: { role: 'user', content }, index };
}

function isResult({ type }: WireBlock): boolean {
  return type === 'tool_result';
}
