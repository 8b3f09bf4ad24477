import { describe, expect, it } from 'vitest';
import { callerOf } from '../../../test/kit/builders/tenancy.ts';
import { randomIds } from '../../kit/ids.ts';
import { systemClock } from '../../kit/time/clock.ts';
import type { FileBytes, FileStore } from '../../ports/content/files.ts';
import { Files } from './files.ts';

const CALLER = callerOf({ hash: 'h', accountId: 'a', name: 'k', label: 'l', isManagement: false });

const NONE = { bytes: 0, files: 0 };
const UNLIMITED = { bytes: null, files: null };
const QUOTAS = { key: UNLIMITED, workspace: UNLIMITED, account: UNLIMITED };

/** Files over ports that only know ids, and whose rows wait for `insert`. */
function filesOver(insert: () => Promise<void>) {
  const contents = new Set<string>();
  const rows = new Set<string>();
  const bytes: FileBytes = {
    receive: async (id) => ({
      write: async () => {},
      keep: async () => {
        contents.add(id);
      },
      discard: async () => {
        contents.delete(id);
      },
    }),
    read: async () => undefined,
    remove: async (id) => {
      contents.delete(id);
    },
    ids: async () => [...contents],
  };
  const store: FileStore = {
    insert: async ({ id }) => {
      await insert();
      rows.add(id);
      return undefined;
    },
    usageOf: async () => ({ key: NONE, workspace: NONE, account: NONE }),
    find: async () => undefined,
    list: async () => [],
    delete: async (_, id) => rows.delete(id),
    existing: async (ids) => new Set(ids.filter((id) => rows.has(id))),
  };
  const workspaces = { findWorkspaceById: async () => undefined, defaultWorkspaceOf: async () => undefined };
  const files = new Files({
    store,
    bytes,
    workspaces,
    sources: { clock: systemClock },
    ids: randomIds,
    quotas: () => QUOTAS,
  });
  return { files, contents, rows };
}

describe('Files', () => {
  it('sweeps content without a row, but no open upload', async () => {
    const { files, contents } = filesOver(async () => {
      contents.add('orphan');
      await files.sweep();
    });
    const intake = await files.receive(CALLER, {});
    await intake.write(Buffer.from('hello'));
    const { id } = await intake.keep('a.txt');
    expect([...contents]).toEqual([id]);
    await files.sweep();
    expect([...contents]).toEqual([id]);
  });

  it('leaves nothing of an upload that could not be made known', async () => {
    const { files, contents } = filesOver(() => Promise.reject(new Error('the database is away')));
    const intake = await files.receive(CALLER, {});
    await intake.write(Buffer.from('hello'));
    await expect(intake.keep('a.txt')).rejects.toThrow('away');
    await intake.discard();
    expect(contents.size).toBe(0);
  });

  it('sweeps the content of files that were deleted elsewhere', async () => {
    const { files, contents, rows } = filesOver(async () => {});
    const intake = await files.receive(CALLER, {});
    await intake.write(Buffer.from('hello'));
    const { id } = await intake.keep('a.txt');
    rows.delete(id);
    await files.sweep();
    expect(contents.size).toBe(0);
  });
});
