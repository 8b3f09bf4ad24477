import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { ContentStore, GenerationContent, StoredContent } from '../../../src/ports/content/content.ts';

/** An adapter under test, and how to close it. */
export interface ContentStoreUnderTest {
  readonly contents: ContentStore;
  /** Closes it and opens another on what it kept. */
  reopen(): Promise<ContentStore>;
  close(): Promise<void>;
}

const DAY_MS = 86_400_000;
const MIDNIGHT_MS = Date.parse('2026-09-27T00:00:00Z');

/** Noise, which no compression makes small. */
const noise = (length: number) => {
  let seed = 1;
  const next = () => {
    seed = (seed * 48_271) % 2_147_483_647;
    return (seed % 36).toString(36);
  };
  return Array.from({ length }, next).join('');
};

export const contentOf = (text: string): GenerationContent => ({
  input: { messages: [{ role: 'user', content: text }] },
  output: { completion: 'done', reasoning: null },
  error: null,
});

/** The id of a generation that came in so many milliseconds after midnight. */
export const idAt = (afterMs: number, name: string) =>
  `gen-${Math.floor((MIDNIGHT_MS + afterMs) / 1000)}-${name}`;

export const stored = (generationId: string, more: Partial<StoredContent> = {}): StoredContent => ({
  generationId,
  accountId: 'a',
  workspaceId: 'a-default',
  content: contentOf('hello'),
  ...more,
});

const UNLIMITED = { beforeMs: 0, maxBytes: Number.MAX_SAFE_INTEGER };

/** What every ContentStore must do. `open` gives an empty one each time. */
export function contentStoreContract(name: string, open: () => Promise<ContentStoreUnderTest>): void {
  describe(`ContentStore: ${name}`, () => {
    let under: ContentStoreUnderTest;
    let contents: ContentStore;

    beforeEach(async () => {
      under = await open();
      contents = under.contents;
    });

    afterEach(() => under.close());

    const foundOf = async (ids: readonly string[]) => {
      const found = await Promise.all(ids.map((id) => contents.get('a', id)));
      return ids.filter((_, index) => found[index] !== undefined);
    };

    it('begins empty', async () => {
      expect(await contents.get('a', idAt(0, 'x'))).toBeUndefined();
      expect(await contents.delete('a', idAt(0, 'x'))).toBe(false);
      expect(await contents.prune(UNLIMITED)).toBe(0);
    });

    it('gives back what was put, at once and after a restart', async () => {
      const content: GenerationContent = {
        input: { prompt: `\u0000 \u{1F511} ${noise(300_000)}` },
        output: { completion: null, reasoning: 'because', tool_calls: [{ name: 'f', arguments: '{}' }] },
        error: { status: 502, message: 'no', provider_name: null, raw: null, previous_errors: [] },
      };
      contents.put(stored(idAt(0, 'x'), { content }));
      expect(await contents.get('a', idAt(0, 'x'))).toEqual(content);
      contents = await under.reopen();
      expect(await contents.get('a', idAt(0, 'x'))).toEqual(content);
    });

    it('gives nothing to another account', async () => {
      contents.put(stored(idAt(0, 'x')));
      expect(await contents.get('b', idAt(0, 'x'))).toBeUndefined();
      contents = await under.reopen();
      expect(await contents.get('b', idAt(0, 'x'))).toBeUndefined();
      expect(await contents.delete('b', idAt(0, 'x'))).toBe(false);
      expect(await contents.get('a', idAt(0, 'x'))).toBeDefined();
    });

    it.each(['', 'x', '../../etc/passwd', 'gen-1-../x', `gen-1-${'x'.repeat(500)}`, 'gen-99999999999999-x'])(
      'knows nothing by the name %j',
      async (id) => {
        expect(await contents.get('a', id)).toBeUndefined();
        expect(await contents.delete('a', id)).toBe(false);
      },
    );

    it('deletes once, also what is not written yet', async () => {
      contents.put(stored(idAt(0, 'x')));
      contents.put(stored(idAt(0, 'y')));
      expect(await contents.delete('a', idAt(0, 'y'))).toBe(true);
      contents = await under.reopen();
      expect(await contents.delete('a', idAt(0, 'x'))).toBe(true);
      expect(await contents.delete('a', idAt(0, 'x'))).toBe(false);
      expect(await foundOf([idAt(0, 'x'), idAt(0, 'y')])).toEqual([]);
      expect(await contents.prune(UNLIMITED)).toBe(0);
    });

    it('removes what is too old, to the second', async () => {
      const ids = [-2 * DAY_MS, -1000, 0, 5000, 6000, DAY_MS].map((at) => idAt(at, 'x'));
      for (const id of ids) contents.put(stored(id));
      contents = await under.reopen();
      await contents.prune({ ...UNLIMITED, beforeMs: MIDNIGHT_MS + 6000 });
      expect(await foundOf(ids)).toEqual(ids.slice(4));
    });

    it('removes the oldest when it is too much', async () => {
      const ids = [-DAY_MS, -1000, 0, 5000, 6000, DAY_MS].map((at) => idAt(at, 'x'));
      const content = contentOf(noise(4000));
      for (const id of ids.slice(0, 3)) contents.put(stored(id, { content }));
      contents = await under.reopen();
      const half = await contents.prune(UNLIMITED);
      for (const id of ids.slice(3)) contents.put(stored(id, { content }));
      contents = await under.reopen();
      const all = await contents.prune(UNLIMITED);
      expect(all).toBe(2 * half);
      const left = await contents.prune({ ...UNLIMITED, maxBytes: all / 3 });
      expect(await foundOf(ids)).toEqual(ids.slice(4));
      expect(left).toBe(all / 3);
      await contents.prune({ ...UNLIMITED, maxBytes: 0 });
      expect(await foundOf(ids)).toEqual([]);
    });

    it('knows how much there is without looking again', async () => {
      await contents.prune(UNLIMITED);
      contents.put(stored(idAt(0, 'x')));
      contents.put(stored(idAt(1000, 'y')));
      await expect.poll(() => contents.prune(UNLIMITED)).toBeGreaterThan(0);
      contents = await under.reopen();
      const bytes = await contents.prune(UNLIMITED);
      await contents.delete('a', idAt(0, 'x'));
      expect(await contents.prune(UNLIMITED)).toBeLessThan(bytes);
    });
  });
}
