import { getEventListeners } from 'node:events';
import { expect, it } from 'vitest';
import type { Event } from '../../ir/events.ts';
import { ToolProgress } from './tool-progress.ts';

const delta: Event = { type: 'server-delta', item: 0, text: 'x' };

it('holds tools back until what they have shown is read', async () => {
  const progress = new ToolProgress();
  const { signal } = new AbortController();
  await progress.room(signal);
  for (let index = 0; index < 1000; index++) progress.show(delta);
  let hasRoom = false;
  const waiting = progress.room(signal).then(() => {
    hasRoom = true;
  });
  const shown = progress.until(waiting);
  expect((await shown.next()).value).toHaveLength(1000);
  expect(hasRoom).toBe(false);
  expect((await shown.next()).done).toBe(true);
  expect(hasRoom).toBe(true);
});

it('leaves nothing at the signal however often a tool waits', async () => {
  const progress = new ToolProgress();
  const { signal } = new AbortController();
  let pending = true;
  const end = (async () => {
    for (let round = 0; round < 50; round++) {
      for (let index = 0; index < 200; index++) progress.show(delta);
      await progress.room(signal);
    }
    pending = false;
  })();
  for await (const _ of progress.until(end));
  expect(pending).toBe(false);
  expect(getEventListeners(signal, 'abort')).toHaveLength(0);
});

it('holds no tool back whose caller has left', async () => {
  const progress = new ToolProgress();
  const caller = new AbortController();
  for (let index = 0; index < 1000; index++) progress.show(delta);
  const waiting = progress.room(caller.signal);
  caller.abort();
  await waiting;
});
