import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { GatewayError } from '../../ir/errors.ts';
import type { GenerationRow } from '../../ports/generations/generation-row.ts';
import type { KeyOwner, RefusedRequest } from '../../ports/generations/refused-requests.ts';
import type { Refusal } from '../record/refused-row.ts';
import { RefusalLog } from './refusal-log.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

let made = 0;

const refusal = (key = 'k'): Refusal => {
  const id = `gen-${++made}`;
  return {
    id,
    scopes: { account: 'a', workspace: 'w', key },
    row: () => ({ model: id }) as GenerationRow,
  };
};

const payment = new GatewayError('payment', 'Key limit exceeded');

function openLog() {
  made = 0;
  const stored: RefusedRequest[] = [];
  const figures = { refused: 0, withoutRow: 0, lookups: 0 };
  const owners = new Map<string, KeyOwner>([['deleted', { accountId: 'a', workspaceId: 'w' }]]);
  const store = {
    add: vi.fn(async (rows: readonly RefusedRequest[]) => void stored.push(...rows)),
    ownerOfDeleted: async (hash: string) => {
      figures.lookups++;
      return owners.get(hash);
    },
  };
  const log = new RefusalLog({
    store,
    clock: { now: () => Date.now(), monotonic: () => Date.now() },
    counts: {
      noteRefused: () => void figures.refused++,
      noteWithoutRow: (requests) => {
        figures.withoutRow += requests;
      },
    },
  });
  const sum = () => stored.reduce((total, { row }) => total + (row.refused_requests ?? 0), 0);
  return { log, stored, figures, store, sum };
}

describe('RefusalLog', () => {
  it('stores a row for each refused request while there are few, within a second', async () => {
    const { log, stored } = openLog();
    for (let count = 0; count < 3; count++) log.note(refusal(), payment);
    expect(stored).toEqual([]);
    await vi.advanceTimersByTimeAsync(1_000);
    expect(stored.map(({ id, row }) => [id, row.refused_requests, row.error])).toEqual(
      ['gen-1', 'gen-2', 'gen-3'].map((id) => [
        id,
        1,
        { status: 402, type: 'payment_required', message: 'Key limit exceeded' },
      ]),
    );
    await log.close();
  });

  it('keeps few rows of a flood, which stand for all of it', async () => {
    const { log, stored, figures, sum } = openLog();
    for (let second = 0; second < 60; second++) {
      for (let count = 0; count < 1_000; count++) log.note(refusal(), payment);
      await vi.advanceTimersByTimeAsync(1_000);
    }
    // Ten at once, and one in ten seconds.
    expect(stored.length).toBeGreaterThanOrEqual(15);
    expect(stored.length).toBeLessThanOrEqual(17);
    await log.close();
    expect(sum()).toBe(60_000);
    expect(figures.refused).toBe(60_000);
    expect(figures.withoutRow).toBe(60_000 - stored.length);
  });

  it('bounds the rows of all keys, without a loss of numbers', async () => {
    const { log, stored, sum } = openLog();
    for (let second = 0; second < 10; second++) {
      for (let key = 0; key < 500; key++) log.note(refusal(`key-${key}`), payment);
      await vi.advanceTimersByTimeAsync(1_000);
    }
    expect(stored.length).toBeLessThanOrEqual(100 + 2 * 11);
    await log.close();
    expect(sum()).toBe(5_000);
  });

  it('only counts keys beyond those that it can tell apart', async () => {
    const { log, figures, sum } = openLog();
    for (let key = 0; key < 1_500; key++) log.note(refusal(`key-${key}`), payment);
    await log.close();
    expect([sum(), figures.refused, figures.withoutRow]).toEqual([1_000, 1_500, 500]);
  });

  it('keeps rows that cannot be stored, as many as there is room for', async () => {
    const { log, stored, store } = openLog();
    store.add.mockRejectedValueOnce(new Error('away'));
    log.note(refusal(), payment);
    await vi.advanceTimersByTimeAsync(1_000);
    expect(stored).toEqual([]);
    await vi.advanceTimersByTimeAsync(1_000);
    expect(stored.length).toBe(1);
    await log.close();
  });

  it('stops its timer when no request was refused for a while', async () => {
    const { log } = openLog();
    log.note(refusal(), payment);
    expect(vi.getTimerCount()).toBe(1);
    await vi.advanceTimersByTimeAsync(120_000);
    expect(vi.getTimerCount()).toBe(0);
    log.note(refusal(), payment);
    expect(vi.getTimerCount()).toBe(1);
    await log.close();
    expect(vi.getTimerCount()).toBe(0);
  });

  it('takes neither faults of the gateway nor failures of providers for refusals', async () => {
    const { log, figures } = openLog();
    log.note(refusal(), new GatewayError('server', 'x'));
    log.note(refusal(), new GatewayError('upstream-unavailable', 'x'));
    log.note(refusal(), new Error('x'));
    expect(figures.refused).toBe(0);
    log.note(refusal(), new GatewayError('overloaded', 'x'));
    expect(figures.refused).toBe(1);
    await log.close();
  });

  it('looks up keys that are not valid, few of a flood, and each once', async () => {
    const { log, stored, figures } = openLog();
    const invalid = new GatewayError('authentication', 'Invalid API key');
    const of = ({ accountId: account, workspaceId: workspace }: KeyOwner) => ({
      ...refusal('deleted'),
      scopes: { account, workspace, key: 'deleted' },
    });
    for (let count = 0; count < 3; count++) {
      log.noteKey('deleted', of, invalid);
      await vi.advanceTimersByTimeAsync(1);
    }
    expect(figures.lookups).toBe(1);
    for (let count = 0; count < 1_000; count++) log.noteKey(`unknown-${count}`, of, invalid);
    await vi.advanceTimersByTimeAsync(1_000);
    expect(figures.lookups).toBeLessThanOrEqual(20);
    expect(stored.map(({ scopes }) => scopes.key)).toEqual(['deleted', 'deleted', 'deleted']);
    await log.close();
  });
});
