import type { Seal } from '../../ir/events.ts';
import type { ReasoningItem } from '../../ir/items.ts';
import type { JsonObject } from '../../kit/json/json.ts';
import type { ReplyContext } from '../dialect.ts';
import { CLAUDE_FORMAT } from '../shared/reasoning/claude-seals.ts';
import {
  damagedSeal,
  familyOf,
  type Sealed,
  type SealFamily,
  unwrapSeal,
  wrapSeal,
} from '../shared/reasoning/custody.ts';
import { visibleThoughts } from '../shared/reasoning/thoughts-as-text.ts';
import { facts } from './facts.ts';
import type { WireBlock } from './wire.ts';

/**
 * Thinking blocks in both directions. The format has one field for a seal and none for its family. Seals from other
 * upstreams are wrapped, and so is the absence of a seal, so that blocks of the gateway differ from blocks of the
 * upstream.
 */

/** Signature of thoughts without a seal. */
const UNSEALED = wrapSeal({});

// --- From the wire --------------------------------------------------------------------------------------------------

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

export function parseRedacted(block: WireBlock): ReasoningItem {
  const data = typeof block.data === 'string' ? block.data : '';
  const seal =
    data === '' ? damagedSeal(data) : (unwrapSeal(data) ?? { encrypted: data, format: CLAUDE_FORMAT });
  return { type: 'reasoning', text: [], summary: [], ...seal };
}

/** The seal in a signature; undefined if it stands for no seal. */
export function sealOfSignature(signature: string): Seal | undefined {
  return signature === '' || signature === UNSEALED ? undefined : { signature, format: CLAUDE_FORMAT };
}

// --- To the wire ----------------------------------------------------------------------------------------------------

/** The block for an upstream; undefined if its family did not seal the thoughts and it would refuse them. */
export function renderThoughts(item: ReasoningItem): JsonObject | undefined {
  if (!facts.seals.ofThoughts(item)) return undefined;
  const { signature = '', encrypted = '' } = item;
  if (signature !== '') return { type: 'thinking', thinking: visibleThoughts(item), signature };
  return encrypted === '' ? undefined : { type: 'redacted_thinking', data: encrypted };
}

export function reasoningBlock(item: ReasoningItem, hidesThoughts: boolean): JsonObject | undefined {
  const thinking = visibleThoughts(item);
  if (thinking === '') return silentBlock(item);
  return { type: 'thinking', thinking: hidesThoughts ? '' : thinking, signature: signatureFor(item) };
}

/** The whole block for thoughts without visible text; undefined if there is no seal either. */
export function silentBlock(item: Sealed): JsonObject | undefined {
  if (isNativeSignature(item)) return { type: 'thinking', thinking: '', signature: item.signature };
  if (item.signature === undefined && item.encrypted === undefined) return undefined;
  const isNative = isNativeSeal(item) && item.signature === undefined;
  return { type: 'redacted_thinking', data: isNative ? (item.encrypted ?? '') : wrapSeal(item) };
}

export function signatureFor(item: Sealed): string {
  if (item.signature === undefined && item.encrypted === undefined && item.givenBy === undefined) {
    return UNSEALED;
  }
  return isNativeSignature(item) ? item.signature : wrapSeal(item);
}

export function hidesThoughts({ request }: ReplyContext): boolean {
  return request.reasoning?.display === 'omitted' || request.reasoning?.exclude === true;
}

// --- Seals ----------------------------------------------------------------------------------------------------------

/** True for a block that no upstream of this dialect made: its seal is foreign or missing. */
export function isForeignThinking(block: WireBlock): boolean {
  const seal =
    block.type === 'thinking' ? block.signature : block.type === 'redacted_thinking' ? block.data : undefined;
  return typeof seal === 'string' && (seal === '' || unwrapSeal(seal) !== undefined);
}

function isNativeSignature(item: Sealed): item is Sealed & { signature: string } {
  return isNativeSeal(item) && item.signature !== undefined && item.encrypted === undefined;
}

function isNativeSeal({ format, givenBy }: Sealed): boolean {
  return familyOf(format) === 'anthropic' && givenBy === undefined;
}

/** Families that show only summaries of the sealed thoughts. */
const SUMMARISED: ReadonlySet<SealFamily> = new Set(['openai', 'xai']);

function isSummarised(seal: Sealed): boolean {
  return seal.encrypted !== undefined && SUMMARISED.has(familyOf(seal.format));
}
