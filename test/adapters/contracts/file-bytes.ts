import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { FileBytes } from '../../../src/ports/content/files.ts';

/** An adapter under test, and how to close it. */
export interface FileBytesUnderTest {
  readonly bytes: FileBytes;
  /** Opens the same directory again, as after a crash. */
  reopen(): Promise<FileBytes>;
  close(): Promise<void>;
}

const idOf = (name: string) => `file_${name.padEnd(24, '0')}`;
const X = idOf('x');

/** What every FileBytes must do. `open` gives an empty one each time. */
export function fileBytesContract(name: string, open: () => Promise<FileBytesUnderTest>): void {
  describe(`FileBytes: ${name}`, () => {
    let under: FileBytesUnderTest;
    let bytes: FileBytes;

    beforeEach(async () => {
      under = await open();
      bytes = under.bytes;
    });

    afterEach(() => under.close());

    const textOf = async (id: string) => {
      const content = await bytes.read(id);
      if (content === undefined) return undefined;
      const pieces: Uint8Array[] = [];
      for await (const piece of content) pieces.push(piece);
      return Buffer.concat(pieces).toString();
    };

    const store = async (id: string, ...pieces: string[]) => {
      const incoming = await bytes.receive(id);
      for (const piece of pieces) await incoming.write(Buffer.from(piece));
      await incoming.keep();
    };

    it('returns the bytes in the order in which they were written', async () => {
      await store(X, 'one ', 'two ', 'three');
      expect(await textOf(X)).toBe('one two three');
      expect(await bytes.ids()).toEqual([X]);
    });

    it('returns nothing before the content is complete', async () => {
      const incoming = await bytes.receive(X);
      await incoming.write(Buffer.from('half'));
      expect(await bytes.read(X)).toBeUndefined();
      expect(await bytes.ids()).toEqual([]);
      await incoming.discard();
    });

    it('leaves nothing of discarded content, also after it was kept', async () => {
      const early = await bytes.receive(X);
      await early.write(Buffer.from('half'));
      await early.discard();
      const late = await bytes.receive(X);
      await late.keep();
      await late.discard();
      expect(await bytes.ids()).toEqual([]);
      await store(X, 'again');
      expect(await textOf(X)).toBe('again');
    });

    it('removes content, and ignores missing content', async () => {
      await store(X, 'one');
      await bytes.remove(X);
      await bytes.remove(X);
      expect(await bytes.read(X)).toBeUndefined();
    });

    it('has only complete files after a crash', async () => {
      await store(X, 'whole');
      const half = await bytes.receive(idOf('half'));
      await half.write(Buffer.from('half'));
      bytes = await under.reopen();
      expect(await bytes.ids()).toEqual([X]);
      expect(await textOf(X)).toBe('whole');
      await half.discard();
    });

    it('takes no name for an id', async () => {
      for (const name of ['../x', 'file_', `${X}/..`, '']) {
        await expect(bytes.receive(name)).rejects.toThrow();
        await expect(bytes.read(name)).rejects.toThrow();
        await expect(bytes.remove(name)).rejects.toThrow();
      }
    });
  });
}
