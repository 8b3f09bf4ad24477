import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { GenerationIds, namedTrace, ownTraceOf, spanIdOf, traceIdOf, traceIdOfGeneration } from './trace.ts';

const TRACE = '4bf92f3577b34da6a3ce929d0e0e4736';
const SPAN = '00f067aa0ba902b7';
const traceparent = `00-${TRACE}-${SPAN}-01`;

describe('ids', () => {
  it('takes hexadecimal ids and UUIDs as they are, and hashes others', () => {
    expect(traceIdOf(TRACE.toUpperCase())).toBe(TRACE);
    expect(traceIdOf('4bf92f35-77b3-4da6-a3ce-929d0e0e4736')).toBe(TRACE);
    for (const text of ['workflow 7', '0'.repeat(32), 'ä', TRACE.slice(1)]) {
      expect(traceIdOf(text)).toMatch(/^[0-9a-f]{32}$/);
      expect(traceIdOf(text)).not.toBe(text);
      expect(traceIdOf(text)).toBe(traceIdOf(text));
    }
    expect(traceIdOf('a')).not.toBe(traceIdOf('b'));
    expect(spanIdOf(SPAN)).toBe(SPAN);
    expect(spanIdOf('my step')).toMatch(/^[0-9a-f]{16}$/);
  });

  it('gives a generation the same ids every time, and each of its spans another', () => {
    const of = (id: string) => {
      const ids = new GenerationIds(id);
      const children = (['attempt', 'tool', 'guardrail'] as const).flatMap((kind) =>
        [0, 1, 4_095].map((index) => ids.child(kind, index)),
      );
      return [ids.root, ...children];
    };
    expect(of('gen-1')).toEqual(of('gen-1'));
    expect(new Set([...of('gen-1'), ...of('gen-2')]).size).toBe(20);
    for (const id of of('gen-1')) expect(id).toMatch(/^[0-9a-f]{16}$/);
    expect(new GenerationIds('gen-1').ownTraceId).toMatch(/^[0-9a-f]{32}$/);
    expect(new GenerationIds('gen-1').ownTraceId).not.toBe(new GenerationIds('gen-2').ownTraceId);
  });
});

describe('namedTrace', () => {
  it('reads the header where the body says nothing', () => {
    expect(namedTrace({ traceparent })).toEqual({ traceId: TRACE, parentSpanId: SPAN });
    expect(namedTrace({ trace: { feature: 'x' }, traceparent })).toEqual({
      traceId: TRACE,
      parentSpanId: SPAN,
    });
    expect(namedTrace({})).toEqual({ traceId: undefined, parentSpanId: undefined });
  });

  it('lets the body win: a span of another trace is no parent', () => {
    const other = 'a'.repeat(32);
    expect(namedTrace({ trace: { trace_id: other }, traceparent })).toEqual({
      traceId: other,
      parentSpanId: undefined,
    });
    expect(namedTrace({ trace: { trace_id: TRACE }, traceparent })).toEqual({
      traceId: TRACE,
      parentSpanId: SPAN,
    });
    expect(namedTrace({ trace: { parent_span_id: 'b'.repeat(16) }, traceparent })).toEqual({
      traceId: TRACE,
      parentSpanId: 'b'.repeat(16),
    });
  });
});

describe('the trace of a generation', () => {
  const id = 'gen-1794892624-6l9r2DXYGDJmKWOZUQd3';

  it('is the one that its caller names', () => {
    expect(traceIdOfGeneration(id, { traceparent })).toBe(TRACE);
    expect(traceIdOfGeneration(id, { traceparent, trace: { trace_id: 'workflow 7' } })).toBe(
      traceIdOf('workflow 7'),
    );
  });

  it('is its own otherwise, whose id begins with the second of the arrival', () => {
    const own = traceIdOfGeneration(id, { trace: null });
    expect(own).toMatch(/^[0-9a-f]{32}$/);
    const { arrivedFromMs, digits, skipped } = ownTraceOf(own);
    expect(arrivedFromMs).toBe(1_794_892_624_000);
    expect(createHash('sha256').update(id).digest('hex').slice(skipped)).toMatch(new RegExp(`^${digits}`));
    expect(traceIdOfGeneration('foreign', {})).toMatch(/^[0-9a-f]{32}$/);
  });
});
