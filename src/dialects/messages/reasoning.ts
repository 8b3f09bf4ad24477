import type { Seal } from '../../ir/events.ts';
import type { ReasoningItem } from '../../ir/items.ts';
import type { JsonObject } from '../../kit/json/json.ts';
import type { ReplyContext } from '../dialect.ts';
import { CLAUDE_FORMAT, visibleThoughts } from '../shared/reasoning/claude-seals.ts';
import { damagedSeal, familyOf, type Sealed, unwrapSeal, wrapSeal } from '../shared/reasoning/custody.ts';
import { facts } from './facts.ts';
import type { WireBlock } from './wire.ts';

/**
 * Thinking blocks in both directions. The format has one field for a seal and none for its family: seals that no
 * upstream of this dialect gave travel wrapped, and so does the absence of one, so that a block we made is told from
 * one the upstream made.
 */

/** Signature of thoughts without a seal. */
const UNSEALED = wrapSeal({});

/** Reads a `thinking` block. */
export function parseThinking(block: WireBlock): ReasoningItem {
  const signature = typeof block.signature === 'string' ? block.signature : '';
  const thoughts = typeof block.thinking === 'string' && block.thinking !== '' ? [block.thinking] : [];
  if (signature === '') return { type: 'reasoning', text: thoughts, summary: [] };
  const foreign = unwrapSeal(signature);
  if (foreign === undefined) {
    return { type: 'reasoning', text: thoughts, summary: [], signature, format: CLAUDE_FORMAT };
  }
  return isSummarised(foreign)
    ? { type: 'reasoning', text: [], summary: thoughts, ...foreign }
    : { type: 'reasoning', text: thoughts, summary: [], ...foreign };
}

/** Reads a `redacted_thinking` block. */
export function parseRedacted(block: WireBlock): ReasoningItem {
  const data = typeof block.data === 'string' ? block.data : '';
  const seal =
    data === '' ? damagedSeal(data) : (unwrapSeal(data) ?? { encrypted: data, format: CLAUDE_FORMAT });
  return { type: 'reasoning', text: [], summary: [], ...seal };
}

/** The seal that a signature means; undefined when it means there is none. */
export function sealOfSignature(signature: string): Seal | undefined {
  return signature === '' || signature === UNSEALED ? undefined : { signature, format: CLAUDE_FORMAT };
}

/** The block for an upstream; undefined when the thoughts are not sealed by its family and it would refuse them. */
export function renderThoughts(item: ReasoningItem): JsonObject | undefined {
  if (!facts.seals.ofThoughts(item)) return undefined;
  const { signature = '', encrypted = '' } = item;
  if (signature !== '') return { type: 'thinking', thinking: visibleThoughts(item), signature };
  return encrypted === '' ? undefined : { type: 'redacted_thinking', data: encrypted };
}

/** True for a block that no upstream of this dialect made: another one gave its seal, or it has none. */
export function isForeignThinking(block: WireBlock): boolean {
  const seal =
    block.type === 'thinking' ? block.signature : block.type === 'redacted_thinking' ? block.data : undefined;
  return typeof seal === 'string' && (seal === '' || unwrapSeal(seal) !== undefined);
}

/** What stands in `signature` of a block for a caller. */
export function signatureFor(item: Sealed): string {
  if (item.signature === undefined && item.encrypted === undefined && item.givenBy === undefined) {
    return UNSEALED;
  }
  return isNativeSignature(item) ? item.signature : wrapSeal(item);
}

/** The whole block for thoughts without visible text; undefined when there is nothing to say. */
export function silentBlock(item: Sealed): JsonObject | undefined {
  if (isNativeSignature(item)) return { type: 'thinking', thinking: '', signature: item.signature };
  if (item.signature === undefined && item.encrypted === undefined) return undefined;
  const isNative = isNativeSeal(item) && item.signature === undefined;
  return { type: 'redacted_thinking', data: isNative ? (item.encrypted ?? '') : wrapSeal(item) };
}

/** The block of a whole reasoning item for a caller. */
export function reasoningBlock(item: ReasoningItem, hidesThoughts: boolean): JsonObject | undefined {
  const thinking = visibleThoughts(item);
  if (thinking === '') return silentBlock(item);
  return { type: 'thinking', thinking: hidesThoughts ? '' : thinking, signature: signatureFor(item) };
}

function isNativeSignature(item: Sealed): item is Sealed & { signature: string } {
  return isNativeSeal(item) && item.signature !== undefined && item.encrypted === undefined;
}

function isNativeSeal({ format, givenBy }: Sealed): boolean {
  return familyOf(format) === 'anthropic' && givenBy === undefined;
}

/** One family shows only summaries of what it seals. */
function isSummarised(seal: Sealed): boolean {
  return seal.encrypted !== undefined && familyOf(seal.format) === 'openai';
}

/** True when the caller asked that thoughts be made but not shown. */
export function hidesThoughts({ request }: ReplyContext): boolean {
  return request.reasoning?.display === 'omitted' || request.reasoning?.exclude === true;
}
