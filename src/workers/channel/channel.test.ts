import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { channelEnds, dropEnd } from '../../../test/kit/fakes/socket-pair.ts';
import { GatewayError } from '../../ir/errors.ts';
import { Channel, ChannelClosed, type ChannelSockets } from './channel.ts';

const FAR = {
  echo: (value: unknown) => value,
  later: async (ms: number, value: string) => {
    await new Promise((resolve) => setTimeout(resolve, ms));
    return value;
  },
  refuse: (message: string): void => {
    throw new GatewayError('conflict', message);
  },
  unserializable: (): unknown => () => {},
};

describe('Channel', () => {
  const noted: string[] = [];
  const failures: string[] = [];
  let ends: readonly [ChannelSockets, ChannelSockets];
  let near: Channel<typeof FAR & { note: (text: string) => void }, Record<string, never>>;
  let closings: string[] = [];

  beforeEach(async () => {
    noted.length = 0;
    failures.length = 0;
    const closed: string[] = [];
    closings = closed;
    ends = await channelEnds();
    near = new Channel(
      ends[0],
      {},
      { closed: () => closed.push('near'), failed: (name) => failures.push(name) },
    );
    const far = {
      ...FAR,
      note: (text: string) => {
        if (text === 'bad') throw new Error('cannot');
        noted.push(text);
      },
    };
    new Channel(ends[1], far, { closed: () => {}, failed: (name) => failures.push(name) });
  });

  afterEach(() => {
    for (const end of ends) dropEnd(end);
  });

  it('carries values that JSON cannot: big integers, maps, undefined, bytes', async () => {
    const value = {
      nanos: 12n,
      map: new Map([['a', new Set([1])]]),
      nothing: undefined,
      bytes: Buffer.from('x'),
    };
    expect(await near.call('echo', value)).toEqual(value);
  });

  it('answers calls as they end, not as they began', async () => {
    const ended: string[] = [];
    await Promise.all([
      near.call('later', 30, 'slow').then((text) => ended.push(text)),
      near.call('later', 0, 'fast').then((text) => ended.push(text)),
    ]);
    expect(ended).toEqual(['fast', 'slow']);
  });

  it('rejects with the error of the other process', async () => {
    await expect(near.call('refuse', 'no')).rejects.toMatchObject({ kind: 'conflict', message: 'no' });
  });

  it('writes the messages of one turn at once, in their order', async () => {
    let reads = 0;
    ends[1].incoming.on('data', () => reads++);
    for (let index = 0; index < 100; index++) near.note('note', String(index));
    await near.call('echo', 1);
    expect(reads).toBe(1);
    expect(noted).toEqual(Array.from({ length: 100 }, (_, index) => String(index)));
  });

  it('carries messages larger than a socket buffer', async () => {
    const text = 'x'.repeat(5_000_000);
    expect(await near.call('echo', text)).toBe(text);
  });

  it('reports a note that fails, and goes on', async () => {
    near.note('note', 'bad');
    expect(await near.call('echo', 2)).toBe(2);
    expect(failures).toEqual(['note']);
  });

  it('fails only the message that is no plain data', async () => {
    const [bad, good] = await Promise.allSettled([near.call('echo', () => {}), near.call('echo', 3)]);
    expect(bad.status).toBe('rejected');
    expect(good).toEqual({ status: 'fulfilled', value: 3 });
    await expect(near.call('unserializable')).rejects.toThrow(/could not be cloned/);
  });

  it('rejects open and later calls when the other process is gone', async () => {
    const open = near.call('later', 60_000, 'never');
    dropEnd(ends[1]);
    await expect(open).rejects.toBeInstanceOf(ChannelClosed);
    await expect(near.call('echo', 1)).rejects.toBeInstanceOf(ChannelClosed);
    expect(near.isClosed).toBe(true);
    expect(closings).toEqual(['near']);
  });

  it('takes what a process had sent before it died, also if the death is found out by writing', async () => {
    const [near, far] = await channelEnds();
    const taken: string[] = [];
    const events = { closed: () => {}, failed: () => {} };
    const closed = new Promise<void>((resolve) => {
      const handlers = { checkpoint: (text: string) => void taken.push(text) };
      const owner = new Channel<{ answer: () => void }, typeof handlers>(near, handlers, {
        ...events,
        closed: resolve,
      });
      const worker = new Channel<typeof handlers, Record<string, never>>(far, {}, events);
      // All in one turn of the event loop: the owner writes to a dead process before it reads.
      worker.note('checkpoint', 'sent');
      setImmediate(() => dropEnd(far));
      owner.note('answer');
    });
    await closed;
    expect(taken).toEqual(['sent']);
  });

  it('is closed at both ends when one closes it, after all that was sent', async () => {
    near.note('note', 'last');
    near.close();
    await expect.poll(() => closings).toEqual(['near']);
    expect(noted).toEqual(['last']);
  });
});
