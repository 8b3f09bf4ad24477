import type { ReasoningItem } from '../../../ir/items.ts';
import { isJsonObject, type JsonObject } from '../../../kit/json/json.ts';
import { numberAt } from '../../../kit/json/members.ts';

/**
 * Reasoning custody: a seal (signature or encrypted thoughts) goes back byte for byte, and only to the family that
 * minted it, or to the kind of upstream that gave it. Formats with one field for a seal and none for its origin get
 * foreign seals in a wrapper.
 */

const WRAPPER = 'sealed.v1.';

/** Wrappers of any version: no upstream's seal begins like this. */
const OURS = /^sealed\.v\d+\./;

/** Families of seals, by the prefix of the reasoning format. */
export type SealFamily = 'openai' | 'anthropic' | 'google' | 'xai' | 'unknown';

const FAMILY_PREFIXES: readonly (readonly [string, SealFamily])[] = [
  ['openai-', 'openai'],
  ['azure-openai-', 'openai'],
  ['anthropic-', 'anthropic'],
  ['google-', 'google'],
  ['xai-', 'xai'],
];

export function familyOf(format: string | undefined): SealFamily {
  return FAMILY_PREFIXES.find(([prefix]) => format?.startsWith(prefix))?.[1] ?? 'unknown';
}

/** True if models of one family mint seals of both formats. */
export function areOfOneFamily(format: string | undefined, other: string): boolean {
  const family = familyOf(format);
  return family === 'unknown' ? format === other : family === familyOf(other);
}

/** A seal with the members that it needs on its way back. */
export type OpenedSeal = Pick<ReasoningItem, 'id' | 'signature' | 'encrypted' | 'format' | 'givenBy'>;

/** What is wrapped into a seal: members that are missing may be undefined. */
export type Sealed = { readonly [Member in keyof OpenedSeal]: OpenedSeal[Member] | undefined };

/**
 * Wraps a foreign seal, with the members that it needs on its way back, into one opaque string. `after`: index of the
 * content that it followed, for formats that lose the order of an answer.
 */
export function wrapSeal(item: Sealed, after?: number): string {
  const { id, signature, encrypted, format, givenBy } = item;
  const text = JSON.stringify({ id, signature, encrypted, format, givenBy, after });
  return WRAPPER + Buffer.from(text).toString('base64url');
}

/** Opens a wrapped seal: undefined if the string is no wrapper; a damaged one gives a seal that no upstream takes. */
export function unwrapSeal(text: string): OpenedSeal | undefined {
  if (!OURS.test(text)) return undefined;
  const value = contentOf(text);
  if (value === undefined) return damagedSeal(text);
  const member = (name: string) => (typeof value[name] === 'string' ? { [name]: value[name] } : {});
  return {
    ...member('id'),
    ...member('signature'),
    ...member('encrypted'),
    ...member('format'),
    ...(value.givenBy === 'chat' && { givenBy: 'chat' }),
  };
}

/** A seal that no upstream takes: dropped content is still reported as sealed. */
export function damagedSeal(encrypted: string): OpenedSeal {
  return { encrypted, format: 'damaged' };
}

/** The index that a seal was wrapped with, if any. */
export function placeOfSeal(text: string): number | undefined {
  return numberAt(contentOf(text), 'after');
}

function contentOf(text: string): JsonObject | undefined {
  if (!OURS.test(text)) return undefined;
  try {
    const value: unknown = JSON.parse(Buffer.from(text.slice(WRAPPER.length), 'base64url').toString());
    return isJsonObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}
