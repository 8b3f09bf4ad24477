import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { GatewayError } from '../../ir/errors.ts';
import { UpstreamReading } from './upstream-reading.ts';

beforeEach(() => {
  vi.useFakeTimers();
});

afterEach(() => {
  vi.useRealTimers();
});

function open(bills: boolean, current = 0) {
  const caller = new AbortController();
  const drains = { current };
  return { caller, drains, reading: new UpstreamReading(caller.signal, drains, () => bills) };
}

const gone = new Error('the caller is gone');

describe('how long an upstream is read', () => {
  it('aborts the upstream when the caller leaves', () => {
    const { caller, reading } = open(false);
    caller.abort(gone);
    expect(reading.signal.reason).toBe(gone);
    expect(reading).toMatchObject({ isAbandoned: true, isDraining: false });
  });

  it('reads on for a minute if the upstream bills everything', () => {
    const { caller, reading, drains } = open(true);
    caller.abort(gone);
    expect(reading).toMatchObject({ isAbandoned: true, isDraining: true });
    expect(reading.signal.aborted).toBe(false);
    expect(drains.current).toBe(1);
    vi.advanceTimersByTime(60_000);
    expect(reading.signal.reason).toBe(gone);
    expect(reading.isDraining).toBe(false);
    reading.close();
    expect(drains.current).toBe(0);
  });

  it.each([
    ['the gateway gives up', new GatewayError('deadline', 'too late'), 0],
    ['too many are read already', gone, 64],
  ])('does not where %s', (_, reason, current) => {
    const { caller, reading, drains } = open(true, current);
    caller.abort(reason);
    expect(reading.signal.reason).toBe(reason);
    reading.close();
    expect(drains.current).toBe(current);
  });

  it('ignores aborts after its end', () => {
    const { caller, reading, drains } = open(true);
    reading.close();
    caller.abort(gone);
    expect(reading.signal.aborted).toBe(false);
    expect(drains.current).toBe(0);
  });

  it('does not begin for a caller who has left', () => {
    const aborted = AbortSignal.abort(gone);
    expect(new UpstreamReading(aborted, { current: 0 }, () => true).signal.reason).toBe(gone);
  });
});
