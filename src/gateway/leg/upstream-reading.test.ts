import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { endpointOf, modelOf, providerOf } from '../../../test/kit/builders/catalog.ts';
import { GatewayError } from '../../ir/errors.ts';
import { SHARED } from '../../routing/rules/candidate.ts';
import { Drains, UpstreamReading } from './upstream-reading.ts';

beforeEach(() => {
  vi.useFakeTimers();
});

afterEach(() => {
  vi.useRealTimers();
});

function candidateOf(billsAbandoned: boolean) {
  const endpoint = endpointOf({ provider: providerOf({ quirks: { billsAbandoned } }) });
  const model = modelOf({ endpoints: [endpoint] });
  return { model, endpoint, access: SHARED, lane: 'translate' as const, isSticky: false };
}

type State = 'uncalled' | 'called' | 'answering' | 'ended';

function open({ bills = false, state = 'answering', drains = new Drains(), key = 'key' as string } = {}) {
  const caller = new AbortController();
  const candidate = candidateOf(bills);
  const leg = {
    end: (state as State) === 'ended' ? ({} as never) : undefined,
    calling: (state as State) === 'uncalled' ? undefined : candidate,
    selected: state === 'answering' ? candidate : undefined,
  };
  return { caller, drains, reading: new UpstreamReading(caller.signal, drains, key, [{ leg }]) };
}

const gone = new Error('the caller is gone');

describe('how long an upstream is read', () => {
  it('reads on for its report for three seconds once its content has begun', () => {
    const { caller, reading, drains } = open();
    caller.abort(gone);
    expect(reading).toMatchObject({ isAbandoned: true, isDraining: true });
    expect(reading.signal.aborted).toBe(false);
    expect(drains.open).toBe(1);
    vi.advanceTimersByTime(3000);
    expect(reading.signal.reason).toBe(gone);
    expect(reading.isDraining).toBe(false);
    reading.close();
    expect(drains.open).toBe(0);
  });

  it('reads on for a minute if the upstream bills everything', () => {
    const { caller, reading } = open({ bills: true, state: 'called' });
    caller.abort(gone);
    reading.readLate(1000);
    vi.advanceTimersByTime(59_999);
    expect(reading).toMatchObject({ isAbandoned: true, isDraining: true });
    vi.advanceTimersByTime(1);
    expect(reading.signal.reason).toBe(gone);
  });

  it('stops an upstream that writes on, not one whose answer came in a burst', () => {
    const { caller, reading } = open();
    caller.abort(gone);
    reading.readLate(1000);
    expect(reading.isDraining).toBe(true);
    vi.advanceTimersByTime(300);
    reading.readLate(1);
    expect(reading.signal.reason).toBe(gone);
  });

  it('lets few words come late', () => {
    const { caller, reading } = open();
    caller.abort(gone);
    vi.advanceTimersByTime(2000);
    reading.readLate(16);
    expect(reading.isDraining).toBe(true);
    reading.readLate(1);
    expect(reading.isDraining).toBe(false);
  });

  it.each([
    ['the gateway gives up', new GatewayError('deadline', 'too late'), {}],
    ['nothing was called', gone, { state: 'uncalled' }],
    ['no content has begun', gone, { state: 'called' }],
    ['the answer has ended', gone, { state: 'ended' }],
  ])('aborts the upstream where %s', (_, reason, options) => {
    const { caller, reading, drains } = open(options);
    caller.abort(reason);
    expect(reading.signal.reason).toBe(reason);
    reading.close();
    expect(drains.open).toBe(0);
  });

  it('reads on for so many of all keys, and of one key', () => {
    const drains = new Drains();
    const leave = (key: string) => {
      const { caller, reading } = open({ drains, key });
      caller.abort(gone);
      return reading;
    };
    const ofOne = Array.from({ length: 70 }, () => leave('greedy'));
    expect(ofOne.filter(({ isDraining }) => isDraining)).toHaveLength(64);
    const others = Array.from({ length: 200 }, (_, index) => leave(`key-${index}`));
    expect(others.filter(({ isDraining }) => isDraining)).toHaveLength(192);
    for (const reading of [...ofOne, ...others]) reading.close();
    expect(drains.open).toBe(0);
    expect(leave('greedy').isDraining).toBe(true);
  });

  it('ignores aborts after its end', () => {
    const { caller, reading, drains } = open({ bills: true });
    reading.close();
    caller.abort(gone);
    expect(reading.signal.aborted).toBe(false);
    expect(drains.open).toBe(0);
  });

  it('does not begin for a caller who has left', () => {
    const aborted = AbortSignal.abort(gone);
    expect(new UpstreamReading(aborted, new Drains(), 'key', []).signal.reason).toBe(gone);
  });
});
