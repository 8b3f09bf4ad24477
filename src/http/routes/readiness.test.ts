import { describe, expect, it } from 'vitest';
import type { PartState, ReadinessParts } from '../../contract/envelopes/health.ts';
import { readinessOf, readinessOfPart, UNKNOWN_PARTS } from './readiness.ts';

const OK: PartState = { status: 'ok' };
const LIMITED: PartState = { status: 'limited', reason: 'some' };
const AWAY: PartState = { status: 'unavailable', reason: 'it is away' };
const ALL_OK: ReadinessParts = { ledger: OK, store: OK, events: OK, providers: OK };

const ready = (parts: Partial<ReadinessParts>) =>
  readinessOf({ state: 'ready', restartReason: null, parts: { ...ALL_OK, ...parts } });

describe('readiness', () => {
  it.each([
    ['all parts work', {}, 200],
    ['only what no limit covers is admitted', { ledger: LIMITED }, 200],
    ['nothing is admitted', { ledger: AWAY }, 503],
    ['analytics are away', { events: AWAY }, 200],
    ['all providers are away', { providers: AWAY }, 200],
  ] as const)('%s: %j is %d', (_, parts, status) => {
    expect(ready(parts)).toMatchObject({ status, body: { parts: { ...ALL_OK, ...parts } } });
  });

  it('names the reason', () => {
    expect(ready({ ledger: AWAY }).body).toMatchObject({
      status: 'unavailable',
      error: { code: 503, message: 'Not ready: it is away' },
    });
    const restart = { state: 'ready', restartReason: 'a copy runs', parts: ALL_OK } as const;
    expect(readinessOf(restart).body.error?.message).toBe('Not ready: a copy runs');
  });

  it.each(['starting', 'draining'] as const)('is not given while %s', (state) => {
    const { status, body } = readinessOf({ state, restartReason: null, parts: ALL_OK });
    expect([status, body.status, body.error?.message]).toEqual([503, state, `The gateway is ${state}`]);
  });

  it('of a part depends on that part alone', () => {
    const parts = { ...ALL_OK, events: AWAY };
    expect(readinessOfPart('ledger', parts)).toEqual({
      status: 200,
      body: { status: 'ok', parts: { ledger: OK } },
    });
    expect(readinessOfPart('events', parts)).toMatchObject({
      status: 503,
      body: { status: 'unavailable', error: { message: 'events: it is away' }, parts: { events: AWAY } },
    });
    expect(readinessOfPart('store', UNKNOWN_PARTS)).toMatchObject({
      status: 503,
      body: { status: 'starting' },
    });
  });
});
