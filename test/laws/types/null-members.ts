import type { Format } from '../../../src/ir/items.ts';
import type { Json, JsonObject } from '../../../src/kit/json/json.ts';
import { ANSWERS, EVENTS, PublishedTypes } from './published.ts';
import { alternativesOf, type Member, type ObjectShape, type Shape } from './shape.ts';

/** A null in an answer. */
export interface NullMember {
  /** `Type.member`, or `tag.member` where the type has no name. */
  readonly member: string;
  /**
   * What its type says. `unpublished`: it has no such member. `forbidden`: the member is never null. `optional`: it may
   * be null or be left out. `demanded`: the member must be there, and may be null.
   */
  readonly type: 'unpublished' | 'forbidden' | 'optional' | 'demanded';
}

const OPENAI = 'openai';
const ANTHROPIC = '@anthropic-ai/sdk';

/** The types of the SDKs that the project is tested with. */
const PUBLISHED = new PublishedTypes({
  [OPENAI]: `${import.meta.dirname}/../../../node_modules/${OPENAI}`,
  [ANTHROPIC]: `${import.meta.dirname}/../../../node_modules/${ANTHROPIC}`,
});

const EMBEDDINGS = {
  from: OPENAI,
  file: 'resources/embeddings.d.ts',
  name: 'CreateEmbeddingResponse',
} as const;

/** What callers receive: whole answers and events of streams. */
const ROOTS: Readonly<Record<Format | 'embeddings', readonly Shape[]>> = {
  chat: rootsOf('chat'),
  responses: rootsOf('responses'),
  messages: rootsOf('messages'),
  embeddings: PUBLISHED.shapes(EMBEDDINGS),
};

function rootsOf(format: Format): Shape[] {
  const events = EVENTS[format].filter(({ from }) => from === OPENAI || from === ANTHROPIC);
  return [ANSWERS[format], ...events].flatMap((root) => PUBLISHED.shapes(root));
}

/** The nulls of an answer or event, in all that has a published type: kinds of items that are ours have none. */
export function nullMembersOf(format: keyof typeof ROOTS, value: JsonObject): NullMember[] {
  return nullsIn(value, ROOTS[format], 'answer');
}

function nullsIn(value: Json | undefined, shapes: readonly Shape[], name: string): NullMember[] {
  if (Array.isArray(value)) {
    const elements = shapes.flatMap((shape) => (shape.kind === 'list' ? alternativesOf(shape.of) : []));
    return value.flatMap((each) => nullsIn(each, elements, `${name}[]`));
  }
  if (typeof value !== 'object' || value === null) return [];
  const found = shapes.flatMap((shape): NullMember[][] => {
    if (shape.kind === 'map') {
      return [Object.values(value).flatMap((each) => nullsIn(each, alternativesOf(shape.of), `${name}{}`))];
    }
    return shape.kind === 'object' && isTagged(value, shape) ? [nullsOfObject(value, shape, name)] : [];
  });
  // Types without a tag, or with the same: what is right by one of them is right.
  return found.reduce((best, each) => (faultsOf(each) < faultsOf(best) ? each : best), found[0] ?? []);
}

function nullsOfObject(value: JsonObject, shape: ObjectShape, name: string): NullMember[] {
  const owner = shape.name ?? name;
  return Object.entries(value).flatMap(([key, inner]): NullMember[] => {
    const member = shape.members.find((each) => each.name === key);
    const place = `${owner}.${key}`;
    if (inner !== null) return member ? nullsIn(inner, alternativesOf(member.shape), place) : [];
    return [{ member: place, type: typeOfNull(member) }];
  });
}

function faultsOf(nulls: readonly NullMember[]): number {
  return nulls.filter(({ type }) => type !== 'demanded').length;
}

function typeOfNull(member: Member | undefined): NullMember['type'] {
  if (member === undefined) return 'unpublished';
  const isAllowed = alternativesOf(member.shape).some(
    (shape) => shape.kind === 'unknown' || (shape.kind === 'literal' && shape.value === null),
  );
  if (!isAllowed) return 'forbidden';
  return member.isOptional ? 'optional' : 'demanded';
}

/** True if an object has the literals by which a type tells its objects from others. */
function isTagged(value: JsonObject, { members }: ObjectShape): boolean {
  return members.every(({ name, shape }) => {
    if (name !== 'type' && name !== 'object' && name !== 'role') return true;
    const literals = alternativesOf(shape);
    const isLiteral = literals.length > 0 && literals.every(({ kind }) => kind === 'literal');
    return !isLiteral || literals.some((each) => each.kind === 'literal' && each.value === value[name]);
  });
}
