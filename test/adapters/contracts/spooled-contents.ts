import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { GenerationContent, StoredContent } from '../../../src/ports/content/content.ts';
import type { SpooledContents } from '../../../src/ports/following/spooled-contents.ts';
import { HandClock } from '../../kit/fakes/hand-clock.ts';

/** Adapters under test on one database, and how to close it. */
export interface SpooledContentsUnderTest {
  /** Opens another on the same database. */
  spool(clock: HandClock, warn: (message: string) => void): SpooledContents;
  close(): Promise<void>;
}

function contentOf(text: string): GenerationContent {
  return { input: { prompt: text }, output: { completion: text, reasoning: null }, error: null };
}

function stored(generationId: string, text = 'a \u{1F511} \u0000'): StoredContent {
  return { generationId, accountId: 'a', workspaceId: 'w', content: contentOf(text) };
}

/** What every SpooledContents must do. `open` gives an empty one each time. */
export function spooledContentsContract(name: string, open: () => Promise<SpooledContentsUnderTest>): void {
  describe(`SpooledContents: ${name}`, () => {
    let under: SpooledContentsUnderTest;
    let warnings: string[];
    let clock: HandClock;

    beforeEach(async () => {
      clock = new HandClock();
      under = await open();
      warnings = [];
    });

    afterEach(() => under.close());

    /** Puts contents, and waits until they are written. */
    const put = async (contents: readonly StoredContent[]) => {
      const spool = reader();
      for (const content of contents) spool.put(content);
      await spool.close();
    };
    const reader = () => under.spool(clock, (message) => warnings.push(message));

    it('finds what was put, by any gateway, until it is deleted', async () => {
      const spool = reader();
      expect(await spool.find([], 100)).toEqual({ contents: new Map(), lookedUp: 0 });
      expect(await spool.find(['gen-1'], 100)).toEqual({ contents: new Map(), lookedUp: 1 });
      await put([stored('gen-1'), stored('gen-2', 'two'), stored('gen-1', 'again')]);
      expect(await spool.find(['gen-2', 'gen-3', 'gen-1'], 1e6)).toEqual({
        contents: new Map([
          ['gen-1', stored('gen-1').content],
          ['gen-2', contentOf('two')],
        ]),
        lookedUp: 3,
      });
      await spool.delete([]);
      await spool.delete(['gen-1', 'gen-9']);
      expect([...(await spool.find(['gen-1', 'gen-2'], 1e6)).contents.keys()]).toEqual(['gen-2']);
    });

    it('gives no more at once than was asked for, but always the first', async () => {
      const large = 'x'.repeat(10_000);
      await put(['1', '2', '3', '4'].map((number) => stored(`gen-${number}`, large)));
      const ids = ['gen-0', 'gen-1', 'gen-2', 'gen-3', 'gen-4'];
      const found = await reader().find(ids, 45_000);
      expect([found.lookedUp, found.contents.size]).toEqual([3, 2]);
      const one = await reader().find(ids.slice(1), 10);
      expect([one.lookedUp, one.contents.size]).toEqual([1, 1]);
    });

    it('takes more than one statement holds', async () => {
      await put(Array.from({ length: 230 }, (_, index) => stored(`gen-${index}`)));
      const ids = Array.from({ length: 230 }, (_, index) => `gen-${index}`);
      expect((await reader().find(ids, 1e9)).contents.size).toBe(230);
    });

    it('prunes what is too old, then the oldest above a size, and says so', async () => {
      const text = (from: number) => Array.from({ length: 500 }, (_, at) => (from * (at + 7)) % 9973).join();
      for (let number = 1; number <= 4; number++) {
        await put([stored(`gen-${number}`, text(number))]);
        clock.pass(100);
      }
      const spool = reader();
      const ids = ['gen-1', 'gen-2', 'gen-3', 'gen-4'];
      const left = async () => [...(await spool.find(ids, 1e9)).contents.keys()].sort();
      const bytes = await spool.prune({ beforeMs: clock.now() - 350, maxBytes: 1e9 });
      expect(await left()).toEqual(['gen-2', 'gen-3', 'gen-4']);
      expect(warnings).toEqual([]);
      const remaining = await spool.prune({ beforeMs: 0, maxBytes: Math.floor(bytes * 0.75) });
      expect(remaining).toBeLessThanOrEqual(bytes * 0.75);
      expect(await left()).toEqual(['gen-3', 'gen-4']);
      expect(warnings).toHaveLength(1);
      expect(spool.lostCount).toBe(1);
    });

    it('loses what comes after it is closed, and says so', async () => {
      const spool = reader();
      await spool.close();
      spool.put(stored('gen-1'));
      spool.put(stored('gen-2'));
      expect((await spool.find(['gen-1', 'gen-2'], 100)).contents.size).toBe(0);
      expect(warnings).toHaveLength(1);
      expect(spool.lostCount).toBe(2);
    });
  });
}
