import { describe, expect, it } from 'vitest';
import { probesOf, type Walk } from './probe.ts';
import { hasSubstance } from './sample.ts';
import { BOOLEAN, literal, type Member, type ObjectShape, type Shape, STRING, unionOf } from './shape.ts';

function object(members: Record<string, Shape>, name?: string): ObjectShape {
  return {
    kind: 'object',
    name,
    members: Object.entries(members).map(
      ([key, shape]): Member => ({
        name: key.replace('?', ''),
        isOptional: key.endsWith('?'),
        isHeader: false,
        shape,
      }),
    ),
  };
}

function probe(root: ObjectShape, walk: Partial<Walk> = {}) {
  return probesOf(root, '', {
    anchors: () => [],
    isPossible: () => true,
    isFull: false,
    seen: new Set(),
    visited: new Set(),
    ...walk,
  });
}

describe('probes', () => {
  it('compare an optional member with its absence', () => {
    expect(probe(object({ 'on?': BOOLEAN }))).toMatchObject([
      { name: 'on', body: { on: true }, without: {} },
    ]);
  });

  it('compare a required member with another value', () => {
    const [found] = probe(object({ word: STRING }));
    expect(found).toMatchObject({ body: { word: 'word_a' }, without: { word: 'word_b' } });
  });

  it('are one for each value of a union, each kind of object, and each member in it', () => {
    const kinds = unionOf([
      object({ type: literal('x'), 'size?': STRING }),
      object({ type: literal('y') }),
      literal('auto'),
      literal(null),
    ]);
    expect(probe(object({ 'mode?': kinds })).map(({ name, parent }) => [name, parent])).toEqual([
      ['mode : x', undefined],
      ['mode : y', undefined],
      ['mode = auto', undefined],
      ['mode = null', undefined],
      ['x.size', 'mode : x'],
    ]);
  });

  it('stand in what is required around them', () => {
    const inner = object({ type: literal('x'), id: STRING, 'note?': STRING });
    const [, , note] = probe(object({ 'items?': { kind: 'list', of: inner } }));
    expect(note).toMatchObject({
      name: 'x.note',
      body: { items: [{ type: 'x', id: 'id_a', note: 'note_a' }] },
      without: { items: [{ type: 'x', id: 'id_a' }] },
    });
  });

  it('of a schema of the answer differ in the schema, not in its name alone', () => {
    const schema = object({ name: STRING, 'schema?': { kind: 'map', of: { kind: 'unknown' } } });
    const format = object({ type: literal('json_schema'), json_schema: schema });
    const whole = probe(object({ 'response_format?': format })).find(
      ({ name }) => name === 'json_schema.json_schema',
    );
    const [one, other] = [whole?.body, whole?.without].map((body: any) => body.response_format.json_schema);
    expect(one.schema).toMatchObject({ properties: { a: {} } });
    expect(other.schema).not.toEqual(one.schema);
  });

  it('of answers whose members are optional stand in real content', () => {
    const citation = object({ 'uri?': STRING, 'title?': STRING });
    const root = object({ 'citations?': { kind: 'list', of: citation } });
    const found = probe(root, { isFull: true });
    expect(found.map(({ name, body }) => [name, body])).toEqual([
      ['citations', { citations: [{ uri: 'https://files.invalid/a', title: 'title_a' }] }],
      ['citations.uri', { citations: [{ uri: 'https://files.invalid/a', title: 'title_a' }] }],
      ['citations.title', { citations: [{ uri: 'https://files.invalid/a', title: 'title_a' }] }],
    ]);
    expect(found[1]?.without).toEqual({ citations: [{ title: 'title_a' }] });
  });

  it('leave out what has no content', () => {
    expect(probe(object({ 'empty?': object({}) }), { isFull: true })).toEqual([]);
    expect([hasSubstance({ a: [{}] }), hasSubstance({ a: [{ b: 0 }] })]).toEqual([false, true]);
  });
});
