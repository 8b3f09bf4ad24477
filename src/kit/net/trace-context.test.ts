import { describe, expect, it } from 'vitest';
import { readTraceParent, readTraceState, writeTraceParent } from './trace-context.ts';

const TRACE = '4bf92f3577b34da6a3ce929d0e0e4736';
const SPAN = '00f067aa0ba902b7';

describe('readTraceParent', () => {
  it('reads the trace, the span of the sender and the flags', () => {
    const read = { traceId: TRACE, parentId: SPAN, flags: 1 };
    expect(readTraceParent(`00-${TRACE}-${SPAN}-01`)).toEqual(read);
    expect(readTraceParent(`cc-${TRACE}-${SPAN}-01-what-comes-later`)).toEqual(read);
  });

  it.each([
    '',
    `00-${TRACE}-${SPAN}`,
    `00-${TRACE}-${SPAN}-01-more`,
    `ff-${TRACE}-${SPAN}-01`,
    `00-${'0'.repeat(32)}-${SPAN}-01`,
    `00-${TRACE}-${'0'.repeat(16)}-01`,
    `00-${TRACE.toUpperCase()}-${SPAN}-01`,
    `00-${TRACE}-${SPAN}-01\r\nx: y`,
  ])('leaves %j out', (header) => {
    expect(readTraceParent(header)).toBeUndefined();
  });

  it('writes what it reads, with the one flag that is known', () => {
    expect(writeTraceParent({ traceId: TRACE, parentId: SPAN, flags: 0xff })).toBe(`00-${TRACE}-${SPAN}-01`);
    expect(writeTraceParent({ traceId: TRACE, parentId: SPAN, flags: 2 })).toBe(`00-${TRACE}-${SPAN}-00`);
  });
});

describe('readTraceState', () => {
  it('takes lists of vendors, without empty members and spaces around them', () => {
    expect(readTraceState('rojo=00f067aa0ba902b7,congo=t61rcWkgMzE')).toBe(
      'rojo=00f067aa0ba902b7,congo=t61rcWkgMzE',
    );
    expect(readTraceState(' a=1 ,, b@c=2 ')).toBe('a=1,b@c=2');
  });

  it('cuts long lists between members', () => {
    const members = Array.from({ length: 30 }, (_, index) => `v${index}=${'x'.repeat(60)}`);
    const kept = readTraceState(members.join(',')) ?? '';
    expect(kept.length).toBeLessThanOrEqual(512);
    expect(members.join(',').startsWith(`${kept},`)).toBe(true);
  });

  it.each(['', ',', 'a', 'A=1', 'a=1\n', 'a==b', `${'a=1,'.repeat(33)}`])('leaves %j out', (header) => {
    expect(readTraceState(header)).toBeUndefined();
  });
});
