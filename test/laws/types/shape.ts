/** A published type as data: what a value of it may be. */
export type Shape =
  | { readonly kind: 'string' | 'number' | 'boolean' | 'unknown' }
  | { readonly kind: 'literal'; readonly value: Literal }
  | { readonly kind: 'list'; readonly of: Shape }
  | { readonly kind: 'map'; readonly of: Shape }
  | { readonly kind: 'union'; readonly of: readonly Shape[] }
  | ObjectShape;

export type Literal = string | number | boolean | null;

/** An object type. Its members are read on demand: types refer to themselves. */
export interface ObjectShape {
  readonly kind: 'object';
  /** Name of its declaration; undefined if it stands in place. */
  readonly name: string | undefined;
  readonly members: readonly Member[];
  /** True if it may have members of any name besides. */
  readonly isOpen?: boolean;
}

export interface Member {
  readonly name: string;
  readonly isOptional: boolean;
  readonly shape: Shape;
  /** True if its comment says that the SDK sends it as a header. */
  readonly isHeader: boolean;
}

export const STRING: Shape = { kind: 'string' };
export const NUMBER: Shape = { kind: 'number' };
export const BOOLEAN: Shape = { kind: 'boolean' };
export const UNKNOWN: Shape = { kind: 'unknown' };

export function literal(value: Literal): Shape {
  return { kind: 'literal', value };
}

/** One shape for several; unions inside are dissolved, and equal literals stand once. */
export function unionOf(shapes: readonly Shape[]): Shape {
  const flat = shapes.flatMap((shape) => (shape.kind === 'union' ? shape.of : [shape]));
  const seen = new Set<string>();
  const distinct = flat.filter((shape) => {
    if (shape.kind === 'object' || shape.kind === 'list' || shape.kind === 'map') return true;
    const key = shape.kind === 'literal' ? `=${JSON.stringify(shape.value)}` : shape.kind;
    return seen.has(key) ? false : seen.add(key);
  });
  const [only] = distinct;
  return distinct.length === 1 && only !== undefined ? only : { kind: 'union', of: distinct };
}

/** The shapes that a value may have: those of a union, or the shape itself. */
export function alternativesOf(shape: Shape): readonly Shape[] {
  return shape.kind === 'union' ? shape.of : [shape];
}

/** The literal that tells an object from the others of its union, and the member that has it. */
export function tagOf(shape: ObjectShape): { member: string; value: string } | undefined {
  for (const member of ['type', 'role']) {
    const tag = shape.members.find(({ name }) => name === member)?.shape;
    if (tag?.kind === 'literal' && typeof tag.value === 'string') return { member, value: tag.value };
  }
  return undefined;
}
