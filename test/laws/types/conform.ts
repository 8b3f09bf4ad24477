import type { Json, JsonObject } from '../../../src/kit/json/json.ts';
import { alternativesOf, type ObjectShape, type Shape } from './shape.ts';

/** Members that are not checked, as `Type.member`, and those of them that occurred. */
export interface Unchecked {
  readonly members: ReadonlySet<string>;
  readonly used: Set<string>;
}

/**
 * Why a published type would refuse a value: the first fault, with its place; undefined = it would not. Of a union, the
 * alternative that the tag selects says why, or else the one that understands most.
 */
export function faultIn(value: Json, shape: Shape, unchecked?: Unchecked): string | undefined {
  return deepestFault(value, shape, '', { unchecked, depth: 0 })?.text;
}

interface Checking {
  readonly unchecked: Unchecked | undefined;
  readonly depth: number;
}

function deeper({ unchecked, depth }: Checking): Checking {
  return { unchecked, depth: depth + 1 };
}

interface Fault {
  readonly text: string;
  /** How far into the value it lies: of several alternatives, the one that gets furthest is meant. */
  readonly depth: number;
}

function deepestFault(
  value: Json | undefined,
  shape: Shape,
  place: string,
  checking: Checking,
): Fault | undefined {
  let deepest: Fault | undefined;
  for (const each of candidatesFor(value, alternativesOf(shape))) {
    const fault = faultOfOne(value, each, place, checking);
    if (fault === undefined) return undefined;
    if (deepest === undefined || fault.depth > deepest.depth) deepest = fault;
  }
  return deepest ?? { text: `${place || 'the body'} has no type`, depth: checking.depth };
}

/** The alternatives whose literals fit: all, if none does. */
function candidatesFor(value: Json | undefined, shapes: readonly Shape[]): readonly Shape[] {
  if (!isObject(value)) return shapes;
  const fitting = shapes.filter((shape) => shape.kind !== 'object' || isTagged(value, shape));
  return fitting.length > 0 ? fitting : shapes;
}

/** True if an object has the literals that a type demands. */
function isTagged(value: JsonObject, { members }: ObjectShape): boolean {
  return members.every(({ name, shape, isOptional }) => {
    if (isOptional && name !== 'type' && name !== 'role') return true;
    const literals = alternativesOf(shape);
    if (!literals.every(({ kind }) => kind === 'literal')) return true;
    if (value[name] === undefined) return isOptional || name !== 'type';
    return literals.some((each) => each.kind === 'literal' && each.value === value[name]);
  });
}

function faultOfOne(
  value: Json | undefined,
  shape: Shape,
  place: string,
  checking: Checking,
): Fault | undefined {
  const fault = (text: string): Fault => ({
    text: `${place || 'the body'} ${text}`,
    depth: checking.depth,
  });
  switch (shape.kind) {
    case 'unknown':
      return undefined;
    case 'string':
    case 'number':
    case 'boolean':
      return typeof value === shape.kind ? undefined : fault(`is no ${shape.kind}`);
    case 'literal':
      return value === shape.value ? undefined : fault(`is not ${JSON.stringify(shape.value)}`);
    case 'list':
      if (!Array.isArray(value)) return fault('is no list');
      return firstOf(value, (each, index) =>
        deepestFault(each, shape.of, `${place}[${index}]`, deeper(checking)),
      );
    case 'map':
      if (!isObject(value)) return fault('is no object');
      return firstOf(Object.entries(value), ([name, each]) =>
        deepestFault(each, shape.of, inside(place, name), deeper(checking)),
      );
    case 'union':
      return deepestFault(value, shape, place, checking);
    case 'object':
      return isObject(value) ? faultOfMembers(value, shape, place, checking) : fault('is no object');
  }
}

function faultOfMembers(
  value: JsonObject,
  { name: type, members, isOpen }: ObjectShape,
  place: string,
  checking: Checking,
): Fault | undefined {
  const { depth, unchecked } = checking;
  const isUnchecked = (member: string) => {
    const key = `${type}.${member}`;
    if (unchecked?.members.has(key) !== true) return false;
    unchecked.used.add(key);
    return true;
  };
  const known = new Map(members.map((member) => [member.name, member]));
  for (const [name, inner] of Object.entries(value)) {
    if (isUnchecked(name)) continue;
    const member = known.get(name);
    if (member === undefined) {
      if (isOpen === true) continue;
      return { text: `${inside(place, name)} is no member of ${type ?? 'its type'}`, depth };
    }
    const fault = deepestFault(inner, member.shape, inside(place, name), deeper(checking));
    if (fault !== undefined) return fault;
  }
  const missing = members.find(
    ({ name, isOptional, isHeader }) =>
      !isOptional && !isHeader && value[name] === undefined && !isUnchecked(name),
  );
  return missing && { text: `${inside(place, missing.name)} of ${type ?? 'its type'} is missing`, depth };
}

function firstOf<T>(
  values: readonly T[],
  faultOf: (value: T, index: number) => Fault | undefined,
): Fault | undefined {
  for (const [index, value] of values.entries()) {
    const fault = faultOf(value, index);
    if (fault !== undefined) return fault;
  }
  return undefined;
}

function inside(place: string, name: string): string {
  return place === '' ? name : `${place}.${name}`;
}

function isObject(value: Json | undefined): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
