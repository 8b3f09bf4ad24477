import { expect, it } from 'vitest';
import { isSampled } from './sampling.ts';

const generation = (id: string, row = {}) => ({ id, row });
const many = Array.from({ length: 4_000 }, (_, index) => generation(`gen-${index}`));

it('takes about its share, the same every time', () => {
  const taken = many.filter((each) => isSampled(each, 0.1));
  expect(taken.length / many.length).toBeGreaterThan(0.09);
  expect(taken.length / many.length).toBeLessThan(0.11);
  expect(many.filter((each) => isSampled(each, 0.1))).toEqual(taken);
});

it('takes all of a larger share that a smaller one takes', () => {
  const taken = many.filter((each) => isSampled(each, 0.05));
  expect(taken.every((each) => isSampled(each, 0.2))).toBe(true);
  expect(many.every((each) => isSampled(each, 1))).toBe(true);
});

it('takes sessions whole, and else traces', () => {
  const whole = (row: object) => new Set(many.map(({ id }) => isSampled(generation(id, row), 0.5)));
  expect(whole({ session_id: 's' }).size).toBe(1);
  expect(whole({ session_id: null, trace: { trace_id: 't' } }).size).toBe(1);
  const traceparent = `00-${'ab'.repeat(16)}-${'cd'.repeat(8)}-01`;
  expect(whole({ session_id: null, trace: { feature: 'x' }, traceparent }).size).toBe(1);
  expect(whole({ session_id: '', trace: null }).size).toBe(2);
  const asUuid = { session_id: null, trace: { trace_id: 'ABABABAB-abab-abab-abab-abababababab' } };
  expect([...whole(asUuid)]).toEqual([...whole({ session_id: null, trace: null, traceparent })]);
  expect(whole({ session_id: null, trace: null }).size).toBe(2);
  expect(isSampled(generation('a', { session_id: 's', trace: { trace_id: 'x' } }), 0.5)).toBe(
    isSampled(generation('b', { session_id: 's', trace: { trace_id: 'y' } }), 0.5),
  );
});
