import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { FileStore, StoredFile } from '../../src/ports/files.ts';
import type { Tenancy } from '../../src/ports/tenancy.ts';
import { workspaceOf } from '../builders/tenancy.ts';

/** An adapter under test, with the tenancy that its files belong to, and how to close both. */
export interface FileStoreUnderTest {
  readonly files: FileStore;
  readonly tenancy: Tenancy;
  close(): Promise<void>;
}

const file = (id: string, more: Partial<StoredFile> = {}): StoredFile => ({
  id,
  accountId: 'a',
  workspaceId: 'a-default',
  filename: 'notes.txt',
  mimeType: 'text/plain',
  sizeBytes: 5,
  isDownloadable: false,
  createdAtMs: 10,
  ...more,
});

/** What every FileStore must do. `open` gives an empty one each time. */
export function fileStoreContract(name: string, open: () => Promise<FileStoreUnderTest>): void {
  describe(`FileStore: ${name}`, () => {
    let under: FileStoreUnderTest;
    let files: FileStore;

    beforeEach(async () => {
      under = await open();
      files = under.files;
      for (const id of ['a', 'b']) {
        await under.tenancy.createAccount(
          { id, name: id, createdAtMs: 1 },
          workspaceOf({ id: `${id}-default`, accountId: id }),
        );
      }
      await under.tenancy.createWorkspace(
        workspaceOf({ id: 'a-team', accountId: 'a', slug: 'team', isDefault: false }),
      );
    });

    afterEach(() => under.close());

    const idsOf = async (workspaceId: string, page: Parameters<FileStore['list']>[1] = { limit: 100 }) =>
      (await files.list(workspaceId, page)).map(({ id }) => id);

    it('keeps every field', async () => {
      const whole = file('x', {
        filename: "Robert'); DROP TABLE files;-- \u{1F4C4}.pdf",
        mimeType: 'application/pdf',
        sizeBytes: 5_000_000_000,
        isDownloadable: true,
        createdAtMs: 1_790_000_000_123,
      });
      await files.insert(whole);
      expect(await files.find('a-default', 'x')).toEqual(whole);
      expect(await files.list('a-default', { limit: 1 })).toEqual([whole]);
    });

    it('finds, lists and deletes nothing of another workspace', async () => {
      await files.insert(file('x'));
      for (const other of ['a-team', 'b-default', 'nobody']) {
        expect(await files.find(other, 'x')).toBeUndefined();
        expect(await idsOf(other)).toEqual([]);
        expect(await files.delete(other, 'x')).toBe(false);
      }
      expect(await idsOf('a-default')).toEqual(['x']);
    });

    it('refuses a second file with the same id', async () => {
      await files.insert(file('x'));
      await expect(files.insert(file('x', { workspaceId: 'a-team' }))).rejects.toThrow();
    });

    it('lists oldest first, those of one moment by id, from behind any position', async () => {
      for (const [id, createdAtMs] of [
        ['d', 30],
        ['b', 20],
        ['c', 20],
        ['e', 10],
      ] as const) {
        await files.insert(file(id, { createdAtMs }));
      }
      expect(await idsOf('a-default')).toEqual(['e', 'b', 'c', 'd']);
      expect(await idsOf('a-default', { limit: 2 })).toEqual(['e', 'b']);
      expect(await idsOf('a-default', { after: { id: 'b', createdAtMs: 20 }, limit: 2 })).toEqual(['c', 'd']);
      await files.delete('a-default', 'b');
      expect(await idsOf('a-default', { after: { id: 'b', createdAtMs: 20 }, limit: 1 })).toEqual(['c']);
      expect(await idsOf('a-default', { after: { id: 'd', createdAtMs: 30 }, limit: 1 })).toEqual([]);
    });

    it('deletes once', async () => {
      await files.insert(file('x'));
      expect(await files.delete('a-default', 'x')).toBe(true);
      expect(await files.delete('a-default', 'x')).toBe(false);
      expect(await files.find('a-default', 'x')).toBeUndefined();
    });

    it('returns which ids belong to a file', async () => {
      await files.insert(file('x'));
      await files.insert(file('y', { accountId: 'b', workspaceId: 'b-default' }));
      expect(await files.existing(['x', 'y', 'z'])).toEqual(new Set(['x', 'y']));
      expect(await files.existing([])).toEqual(new Set());
    });

    it('has no files of a deleted workspace', async () => {
      await files.insert(file('x', { workspaceId: 'a-team' }));
      expect(await under.tenancy.deleteWorkspace('a', 'a-team', 50)).toMatchObject({ kind: 'deleted' });
      expect(await files.existing(['x'])).toEqual(new Set());
    });
  });
}
