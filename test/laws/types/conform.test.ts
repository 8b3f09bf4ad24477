import { describe, expect, it } from 'vitest';
import type { Json } from '../../../src/kit/json/json.ts';
import { faultIn } from './conform.ts';
import { literal, NUMBER, type ObjectShape, type Shape, STRING, unionOf } from './shape.ts';

function object(name: string, members: Record<string, Shape>, isOpen = false): ObjectShape {
  return {
    kind: 'object',
    name,
    isOpen,
    members: Object.entries(members).map(([key, shape]) => ({
      name: key.replace('?', ''),
      isOptional: key.endsWith('?'),
      isHeader: false,
      shape,
    })),
  };
}

const TEXT = object('Text', { type: literal('text'), text: STRING });
const IMAGE = object('Image', {
  type: literal('image'),
  'detail?': unionOf([literal('low'), literal('high')]),
});
const TURN = object('Turn', { role: STRING, 'content?': { kind: 'list', of: unionOf([TEXT, IMAGE]) } });

describe('the check of a body by its types', () => {
  it.each<[unknown, string | undefined]>([
    [{ role: 'user' }, undefined],
    [
      {
        role: 'user',
        content: [
          { type: 'text', text: 'a' },
          { type: 'image', detail: 'low' },
        ],
      },
      undefined,
    ],
    [{}, 'role of Turn is missing'],
    [{ role: 1 }, 'role is no string'],
    [{ role: 'user', name: 'x' }, 'name is no member of Turn'],
    [{ role: 'user', content: 'a' }, 'content is no list'],
    [{ role: 'user', content: [{ type: 'text' }] }, 'content[0].text of Text is missing'],
    [{ role: 'user', content: [{ type: 'image', detail: 'huge' }] }, 'content[0].detail is not "low"'],
  ])('%j', (body, fault) => {
    expect(faultIn(body as Json, TURN)).toBe(fault);
  });

  it('lets maps and open objects have any member', () => {
    expect(faultIn({ a: 1, b: 2 }, { kind: 'map', of: NUMBER })).toBeUndefined();
    expect(faultIn({ a: 'x' }, { kind: 'map', of: NUMBER })).toBe('a is no number');
    expect(faultIn({ a: 'x', z: 1 }, object('O', { a: STRING }, true))).toBeUndefined();
  });

  it('passes over members that are listed', () => {
    const listed = { members: new Set(['Turn.role', 'Turn.name', 'Turn.x']), used: new Set<string>() };
    expect(faultIn({ name: 'x' }, TURN, listed)).toBeUndefined();
    expect(faultIn({ name: 'x', other: 1 }, TURN, listed)).toBe('other is no member of Turn');
    expect([...listed.used]).toEqual(['Turn.name', 'Turn.role']);
  });
});
