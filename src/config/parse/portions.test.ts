import { describe, expect, it } from 'vitest';
import { inWholeFile, JoinedPortions, portionsOf } from './portions.ts';
import { piecesOf } from './yaml-thread.ts';

const many = {
  vendor: 'acme',
  models: Array.from({ length: 1_000 }, (_, index) => ({ id: `acme/${index}` })),
  prompts: Object.fromEntries(
    Array.from({ length: 3_000 }, (_, index) => [`p${index}`, { instructions: 'Hi' }] as const),
  ),
  server: { region: 'here' },
};

function joined(file: object): object {
  const whole = new JoinedPortions();
  for (const { value } of portionsOf(file)) whole.add(value);
  return whole.value;
}

describe('portions of a configuration', () => {
  it('are one of a usual file, and many of a large one, none of which is large', () => {
    expect([...portionsOf({ models: [{}], prompts: { a: {} } })]).toHaveLength(1);
    const portions = [...portionsOf(many)];
    expect(portions.length).toBeGreaterThan(20);
    for (const { value } of portions) expect(JSON.stringify(value).length).toBeLessThan(20_000);
  });

  it.each([
    ['many models and prompts', many],
    ['few', { models: [{ id: 'a' }], prompts: { a: {} } }],
    ['sections of a wrong type', { models: 'a', prompts: [1, 2], server: null }],
    ['a prompt named __proto__', JSON.parse('{"prompts":{"__proto__":{"instructions":"Hi"}}}') as object],
    ['nothing', {}],
  ])('are the same file together: %s', (_, file) => {
    expect(JSON.stringify(joined(file))).toBe(JSON.stringify(file));
  });

  it('have problems whose paths are those of the whole file', () => {
    const portion = [...portionsOf(many)].find(({ modelsBefore }) => modelsBefore > 0);
    const shift = portion?.modelsBefore ?? 0;
    expect(shift).toBeGreaterThan(0);
    if (portion === undefined) return;
    expect(inWholeFile(portion, { path: 'models[2].id' }).path).toBe(`models[${2 + shift}].id`);
    expect(inWholeFile(portion, { path: 'prompts.models[2]' }).path).toBe('prompts.models[2]');
  });
});

it('hands a large file over in pieces, none of which is large', () => {
  const pieces = [...piecesOf({ ok: true, value: many })];
  expect(pieces[0]).toEqual({ ok: true, value: { ...many, models: [], prompts: {} } });
  expect(pieces.length).toBeGreaterThan(5);
  for (const piece of pieces) expect(JSON.stringify(piece).length).toBeLessThan(50_000);
});
