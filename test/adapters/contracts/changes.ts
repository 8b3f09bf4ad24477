import { describe, expect, it } from 'vitest';
import type { Change, Changes } from '../../../src/ports/shared/changes.ts';

/** Two processes on one store, or one process twice if it is alone. */
export interface ChangesUnderTest {
  readonly here: Changes;
  /** Milliseconds of the monotonic clock of `here`. */
  now(): number;
}

/** What every adapter of the port does. */
export function changesContract(name: string, open: () => Promise<ChangesUnderTest>): void {
  describe(`${name}: changes`, () => {
    const heardBy = (changes: Changes) => {
      const heard: Change[] = [];
      return { heard, end: changes.subscribe((change) => heard.push(change)) };
    };

    it('delivers a change of this process before publish returns, in order, to every listener', async () => {
      const { here } = await open();
      const [one, two] = [heardBy(here), heardBy(here)];
      const published: Change[] = [
        { kind: 'key', hash: 'a' },
        { kind: 'workspace', id: 'w' },
        { kind: 'guardrails', accountId: 'a' },
        { kind: 'credentials', accountId: 'a' },
        { kind: 'imported-usage' },
        { kind: 'anything' },
      ];
      for (const change of published) here.publish(change);
      expect(one.heard).toEqual(published);
      expect(two.heard).toEqual(published);
    });

    it('delivers nothing to a listener that has left', async () => {
      const { here } = await open();
      const [one, two] = [heardBy(here), heardBy(here)];
      one.end();
      here.publish({ kind: 'imported-usage' });
      expect(one.heard).toEqual([]);
      expect(two.heard).toEqual([{ kind: 'imported-usage' }]);
    });

    it('has seen everything up to the call after catching up', async () => {
      const { here, now } = await open();
      const calledAt = now();
      await Promise.all([here.catchUp(), here.catchUp()]);
      expect(here.seenUntilMs()).toBeGreaterThanOrEqual(calledAt);
      expect(here.seenUntilMs()).toBeLessThanOrEqual(now());
    });
  });
}
