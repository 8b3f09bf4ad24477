import { describe, expect, it } from 'vitest';
import { AbortGrace } from './abort-grace.ts';

const never = (): Promise<never> => new Promise(() => {});

describe('AbortGrace', () => {
  it('passes on what the work gives', async () => {
    const waits = new AbortGrace(new AbortController().signal, 10);
    expect(await waits.wait(Promise.resolve(5))).toBe(5);
    await expect(waits.wait(Promise.reject(new Error('no')))).rejects.toThrow('no');
    waits.close();
  });

  it('lets aborted work finish within the grace', async () => {
    const aborting = new AbortController();
    const waits = new AbortGrace(aborting.signal, 1_000);
    const work = new Promise((resolve) =>
      aborting.signal.addEventListener('abort', () => resolve('wound up')),
    );
    aborting.abort(new Error('deadline'));
    expect(await waits.wait(Promise.race([work, Promise.resolve('wound up')]))).toBe('wound up');
    waits.close();
  });

  it('gives up after the grace, and at once from then on', async () => {
    const aborting = new AbortController();
    const waits = new AbortGrace(aborting.signal, 20);
    const waiting = waits.wait(never());
    aborting.abort(new Error('deadline'));
    await expect(waiting).rejects.toThrow('deadline');
    await expect(waits.wait(never())).rejects.toThrow('deadline');
    waits.close();
  });

  it('counts the grace from now when the signal was aborted before', async () => {
    const waits = new AbortGrace(AbortSignal.abort(new Error('gone')), 10);
    await expect(waits.wait(never())).rejects.toThrow('gone');
    waits.close();
  });
});
