import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { LightAbortController } from './light-abort.ts';

for (const Controller of [AbortController, LightAbortController]) {
  describe(Controller.name, () => {
    it('calls every listener once, with the first reason', () => {
      const controller = new Controller();
      const { signal } = controller;
      const heard: string[] = [];
      const listen = (name: string) => () => heard.push(`${name}: ${signal.reason}`);
      const left = listen('left');
      const twice = listen('twice');
      signal.addEventListener('abort', listen('first'));
      signal.addEventListener('abort', left);
      signal.addEventListener('abort', twice, { once: true });
      signal.addEventListener('abort', twice, { once: true });
      signal.addEventListener('other', listen('other'));
      signal.removeEventListener('abort', left);
      expect([signal.aborted, heard]).toEqual([false, []]);
      signal.throwIfAborted();
      controller.abort('why');
      controller.abort('again');
      expect([signal.aborted, signal.reason, heard]).toEqual([true, 'why', ['first: why', 'twice: why']]);
      expect(() => signal.throwIfAborted()).toThrow('why');
    });

    it('has a reason where none is given', () => {
      const controller = new Controller();
      controller.abort();
      expect(controller.signal.reason).toMatchObject({ name: 'AbortError' });
    });

    it('ends what Node waits for', async () => {
      const controller = new Controller();
      const waits = [
        sleep(10_000, undefined, { signal: controller.signal }),
        once(process, 'never', { signal: controller.signal }),
      ];
      controller.abort();
      for (const wait of waits) await expect(wait).rejects.toMatchObject({ name: 'AbortError' });
    });
  });
}
