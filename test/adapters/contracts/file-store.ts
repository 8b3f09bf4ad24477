import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { FileQuotas, FileStore, StoredFile } from '../../../src/ports/content/files.ts';
import type { Tenancy } from '../../../src/ports/tenancy/tenancy.ts';
import { workspaceOf } from '../../kit/builders/tenancy.ts';

/** An adapter under test, with the tenancy that its files belong to, and how to close both. */
export interface FileStoreUnderTest {
  readonly files: FileStore;
  readonly tenancy: Tenancy;
  close(): Promise<void>;
}

const UNLIMITED = { bytes: null, files: null };
const QUOTAS: FileQuotas = { key: UNLIMITED, workspace: UNLIMITED, account: UNLIMITED };

const file = (id: string, more: Partial<StoredFile> = {}): StoredFile => ({
  id,
  accountId: 'a',
  workspaceId: 'a-default',
  keyHash: 'k',
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

    it('refuses a file beyond a quota of its key, workspace or account', async () => {
      await files.insert(file('x', { sizeBytes: 60 }), QUOTAS);
      await files.insert(file('y', { keyHash: 'other', workspaceId: 'a-team', sizeBytes: 30 }), QUOTAS);
      await files.insert(file('z', { keyHash: null, sizeBytes: 7 }), QUOTAS);
      await files.insert(file('b', { accountId: 'b', workspaceId: 'b-default', sizeBytes: 1000 }), QUOTAS);
      expect(await files.usageOf(file('new'))).toEqual({
        key: { bytes: 60, files: 1 },
        workspace: { bytes: 67, files: 2 },
        account: { bytes: 97, files: 3 },
      });
      const limited = (scope: keyof FileQuotas, quota: object) => ({
        ...QUOTAS,
        [scope]: { ...UNLIMITED, ...quota },
      });
      const refused = async (scope: keyof FileQuotas, quota: object) => {
        const passed = await files.insert(file('new'), limited(scope, quota));
        expect(await files.find('a-default', 'new')).toBeUndefined();
        return passed;
      };
      expect(await refused('key', { bytes: 64 })).toEqual({
        scope: 'key',
        unit: 'bytes',
        limit: 64,
        used: 60,
      });
      expect(await refused('workspace', { files: 2 })).toMatchObject({ unit: 'files', limit: 2, used: 2 });
      expect(await refused('account', { bytes: 101 })).toMatchObject({ scope: 'account', used: 97 });
      expect(await files.insert(file('new'), limited('account', { bytes: 102 }))).toBeUndefined();
    });

    it('lets racing files pass no quota together', async () => {
      const quotas = { ...QUOTAS, account: { bytes: 23, files: null } };
      const passed = await Promise.all(
        Array.from({ length: 20 }, (_, at) =>
          files.insert(file(`f${at}`, { workspaceId: at % 2 === 0 ? 'a-default' : 'a-team' }), quotas),
        ),
      );
      expect(passed.filter((each) => each === undefined)).toHaveLength(4);
      expect((await files.usageOf(file('new'))).account).toEqual({ bytes: 20, files: 4 });
    });

    it('keeps every field', async () => {
      const whole = file('x', {
        filename: "Robert'); DROP TABLE files;-- \u{1F4C4}.pdf",
        mimeType: 'application/pdf',
        sizeBytes: 5_000_000_000,
        isDownloadable: true,
        createdAtMs: 1_790_000_000_123,
      });
      await files.insert(whole, QUOTAS);
      expect(await files.find('a-default', 'x')).toEqual(whole);
      expect(await files.list('a-default', { limit: 1 })).toEqual([whole]);
    });

    it('finds, lists and deletes nothing of another workspace', async () => {
      await files.insert(file('x'), QUOTAS);
      for (const other of ['a-team', 'b-default', 'nobody']) {
        expect(await files.find(other, 'x')).toBeUndefined();
        expect(await idsOf(other)).toEqual([]);
        expect(await files.delete(other, 'x')).toBe(false);
      }
      expect(await idsOf('a-default')).toEqual(['x']);
    });

    it('refuses a second file with the same id', async () => {
      await files.insert(file('x'), QUOTAS);
      await expect(files.insert(file('x', { workspaceId: 'a-team' }), QUOTAS)).rejects.toThrow();
    });

    it('lists oldest first, those of one moment by id, from behind any position', async () => {
      for (const [id, createdAtMs] of [
        ['d', 30],
        ['b', 20],
        ['c', 20],
        ['e', 10],
      ] as const) {
        await files.insert(file(id, { createdAtMs }), QUOTAS);
      }
      expect(await idsOf('a-default')).toEqual(['e', 'b', 'c', 'd']);
      expect(await idsOf('a-default', { limit: 2 })).toEqual(['e', 'b']);
      expect(await idsOf('a-default', { after: { id: 'b', createdAtMs: 20 }, limit: 2 })).toEqual(['c', 'd']);
      await files.delete('a-default', 'b');
      expect(await idsOf('a-default', { after: { id: 'b', createdAtMs: 20 }, limit: 1 })).toEqual(['c']);
      expect(await idsOf('a-default', { after: { id: 'd', createdAtMs: 30 }, limit: 1 })).toEqual([]);
    });

    it('deletes once', async () => {
      await files.insert(file('x'), QUOTAS);
      expect(await files.delete('a-default', 'x')).toBe(true);
      expect(await files.delete('a-default', 'x')).toBe(false);
      expect(await files.find('a-default', 'x')).toBeUndefined();
    });

    it('returns which ids belong to a file', async () => {
      await files.insert(file('x'), QUOTAS);
      await files.insert(file('y', { accountId: 'b', workspaceId: 'b-default' }), QUOTAS);
      expect(await files.existing(['x', 'y', 'z'])).toEqual(new Set(['x', 'y']));
      expect(await files.existing([])).toEqual(new Set());
    });

    it('has no files of a deleted workspace', async () => {
      await files.insert(file('x', { workspaceId: 'a-team' }), QUOTAS);
      expect(await under.tenancy.deleteWorkspace('a', 'a-team', 50)).toMatchObject({ kind: 'deleted' });
      expect(await files.existing(['x'])).toEqual(new Set());
    });
  });
}
