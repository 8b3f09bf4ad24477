import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { LimitWindow } from '../../../src/kit/time/windows.ts';
import type { Account, Budget, Key, Tenancy, Workspace } from '../../../src/ports/tenancy/tenancy.ts';
import { keyOf, workspaceOf } from '../../kit/builders/tenancy.ts';

/** An adapter under test, and how to close it. */
export interface TenancyUnderTest {
  readonly tenancy: Tenancy;
  close(): Promise<void>;
}

const account = (id: string, name: string, createdAtMs = 1): Account => ({ id, name, createdAtMs });

const workspace = (accountId: string, slug = 'default', more: Partial<Workspace> = {}): Workspace =>
  workspaceOf({ id: `${accountId}-${slug}`, accountId, slug, isDefault: slug === 'default', ...more });

const key = (hash: string, accountId: string, more: Partial<Key> = {}): Key =>
  keyOf({
    hash: hash.padEnd(64, '0'),
    accountId,
    workspaceId: `${accountId}-default`,
    createdAtMs: 10,
    ...more,
  });

const budget = (workspaceId: string, window: LimitWindow, limitNanos: bigint, atMs = 1): Budget => ({
  id: `${workspaceId}-${window}`,
  workspaceId,
  window,
  limitNanos,
  createdAtMs: atMs,
  updatedAtMs: atMs,
});

/** What every Tenancy adapter must do. `open` gives an empty one each time. */
export function tenancyContract(name: string, open: () => Promise<TenancyUnderTest>): void {
  describe(`Tenancy: ${name}`, () => {
    let under: TenancyUnderTest;
    let tenancy: Tenancy;

    beforeEach(async () => {
      under = await open();
      tenancy = under.tenancy;
    });

    afterEach(() => under.close());

    it('begins empty', async () => {
      expect(await tenancy.listAccounts()).toEqual([]);
      expect(await tenancy.listKeys()).toEqual([]);
      expect(await tenancy.findAccount('default')).toBeUndefined();
      expect(await tenancy.findKey('0'.repeat(64))).toBeUndefined();
      expect(await tenancy.defaultWorkspaceOf('a')).toBeUndefined();
    });

    it('makes an account with its default workspace', async () => {
      expect(await tenancy.createAccount(account('a', 'Acme'), workspace('a'))).toBe(true);
      expect(await tenancy.findAccount('Acme')).toEqual(account('a', 'Acme'));
      expect(await tenancy.findAccount('acme')).toBeUndefined();
      expect(await tenancy.defaultWorkspaceOf('a')).toEqual(workspace('a'));
      expect(await tenancy.findWorkspace('a', 'default')).toEqual(workspace('a'));
      expect(await tenancy.findWorkspace('a', 'other')).toBeUndefined();
    });

    it('refuses a taken name and leaves nothing of the refused account behind', async () => {
      await tenancy.createAccount(account('a', 'Acme'), workspace('a'));
      expect(await tenancy.createAccount(account('b', 'Acme'), workspace('b'))).toBe(false);
      expect(await tenancy.listAccounts()).toEqual([account('a', 'Acme')]);
      expect(await tenancy.defaultWorkspaceOf('b')).toBeUndefined();
    });

    it('makes an account and its workspace together or not at all', async () => {
      await tenancy.createAccount(account('a', 'Acme'), workspace('a'));
      const clash = { ...workspace('b'), id: 'a-default' };
      await expect(tenancy.createAccount(account('b', 'Beta'), clash)).rejects.toThrow();
      expect(await tenancy.findAccount('Beta')).toBeUndefined();
    });

    it('lists accounts oldest first', async () => {
      await tenancy.createAccount(account('b', 'second', 20), workspace('b'));
      await tenancy.createAccount(account('a', 'third', 30), workspace('a'));
      await tenancy.createAccount(account('c', 'first', 10), workspace('c'));
      expect((await tenancy.listAccounts()).map(({ name }) => name)).toEqual(['first', 'second', 'third']);
    });

    it('does not show a workspace to another account', async () => {
      await tenancy.createAccount(account('a', 'Acme'), workspace('a'));
      await tenancy.createAccount(account('b', 'Beta'), workspace('b', 'blue'));
      expect(await tenancy.findWorkspace('a', 'blue')).toBeUndefined();
      expect(await tenancy.findWorkspaceById('a', 'b-blue')).toBeUndefined();
      expect(await tenancy.findWorkspaceById('b', 'b-blue')).toEqual(workspace('b', 'blue'));
    });

    it('keeps every field of a key', async () => {
      await tenancy.createAccount(account('a', 'Acme'), workspace('a'));
      const whole = key('ab', 'a', {
        name: "Robert'); DROP TABLE keys;-- \u{1F511}",
        isManagement: true,
        disabled: true,
        createdAtMs: 1_790_000_000_123,
        updatedAtMs: 1_790_000_000_124,
        expiresAtMs: Number.MAX_SAFE_INTEGER,
        creatorUserId: 'user_1',
        limitNanos: 999_999_999_999_999_999n,
        limitReset: 'weekly',
        includeByokInLimit: true,
        externalUser: 'their user',
        allowedModels: ['acme/large', '~acme/"quoted", ü'],
        requestsPerMinute: 1_000_000_000_000,
        tokensPerMinute: 1,
      });
      expect(await tenancy.insertKey(whole)).toBe(true);
      expect(await tenancy.findKey(whole.hash)).toEqual(whole);
    });

    it('leaves an existing key unchanged', async () => {
      await tenancy.createAccount(account('a', 'Acme'), workspace('a'));
      await tenancy.insertKey(key('ab', 'a', { name: 'first' }));
      expect(await tenancy.insertKey(key('ab', 'a', { name: 'second' }))).toBe(false);
      expect((await tenancy.findKey(key('ab', 'a').hash))?.name).toBe('first');
    });

    it('refuses a key of an account that does not exist', async () => {
      await expect(tenancy.insertKey(key('ab', 'nobody'))).rejects.toThrow();
    });

    it('lists keys newest first, of one account or of all', async () => {
      await tenancy.createAccount(account('a', 'Acme'), workspace('a'));
      await tenancy.createAccount(account('b', 'Beta'), workspace('b'));
      await tenancy.insertKey(key('01', 'a', { createdAtMs: 10, name: 'old' }));
      await tenancy.insertKey(key('02', 'b', { createdAtMs: 30, name: 'new', isManagement: true }));
      await tenancy.insertKey(key('03', 'a', { createdAtMs: 20, name: 'middle' }));
      expect((await tenancy.listKeys()).map(({ name }) => name)).toEqual(['new', 'middle', 'old']);
      expect((await tenancy.listKeys('a')).map(({ name }) => name)).toEqual(['middle', 'old']);
      expect(await tenancy.listKeys('c')).toEqual([]);
    });

    it('finds keys by the beginning of their hash', async () => {
      await tenancy.createAccount(account('a', 'Acme'), workspace('a'));
      for (const hash of ['abcd1', 'abcdf', 'abce', '%']) await tenancy.insertKey(key(hash, 'a'));
      const found = await tenancy.findKeysByHashPrefix('abcd', 10);
      expect(found.map(({ hash }) => hash.slice(0, 5))).toEqual(['abcd1', 'abcdf']);
      expect(await tenancy.findKeysByHashPrefix('abcd', 1)).toHaveLength(1);
      expect(await tenancy.findKeysByHashPrefix('0', 10)).toEqual([]);
    });

    it('deletes a key for good, once', async () => {
      await tenancy.createAccount(account('a', 'Acme'), workspace('a'));
      await tenancy.insertKey(key('ab', 'a'));
      await tenancy.insertKey(key('cd', 'a'));
      expect(await tenancy.deleteKey(key('ab', 'a').hash)).toBe(true);
      expect(await tenancy.deleteKey(key('ab', 'a').hash)).toBe(false);
      expect(await tenancy.findKey(key('ab', 'a').hash)).toBeUndefined();
      expect(await tenancy.listKeys()).toHaveLength(1);
    });

    it('changes the given members of a key, and nothing if there is no such key', async () => {
      await tenancy.createAccount(account('a', 'Acme'), workspace('a'));
      const before = key('ab', 'a', { limitNanos: 5n, externalUser: 'x' });
      await tenancy.insertKey(before);
      const changed = await tenancy.updateKey(before.hash, { limitNanos: null, disabled: true }, 99);
      expect(changed).toEqual({ ...before, limitNanos: null, disabled: true, updatedAtMs: 99 });
      expect(await tenancy.findKey(before.hash)).toEqual(changed);
      expect(await tenancy.updateKey(key('ff', 'a').hash, { name: 'n' }, 99)).toBeUndefined();
    });

    it('lists the enabled keys with a limit, oldest first, of all accounts', async () => {
      for (const id of ['a', 'b']) await tenancy.createAccount(account(id, id), workspace(id));
      const limited = (hash: string, of: string, createdAtMs: number, more: Partial<Key> = {}) =>
        tenancy.insertKey(key(hash, of, { createdAtMs, limitNanos: 5n, ...more }));
      await limited('01', 'a', 3);
      await limited('02', 'b', 1, { limitNanos: 0n });
      await limited('03', 'a', 2, { disabled: true });
      await limited('04', 'a', 2, { isManagement: true });
      await limited('05', 'a', 2, { limitNanos: null });
      const hashes = async (most: number) =>
        (await tenancy.listLimitedKeys(most)).map(({ hash }) => hash.slice(0, 2));
      expect(await hashes(10)).toEqual(['02', '01']);
      expect(await hashes(1)).toEqual(['02']);
    });

    it('gives a key models, rates and an expiry, and takes them away again', async () => {
      await tenancy.createAccount(account('a', 'Acme'), workspace('a'));
      const before = key('ab', 'a');
      await tenancy.insertKey(before);
      const limits = {
        allowedModels: ['acme/large'],
        requestsPerMinute: 60,
        tokensPerMinute: 40_000,
        expiresAtMs: 5_000,
      };
      expect(await tenancy.updateKey(before.hash, limits, 98)).toEqual({
        ...before,
        ...limits,
        updatedAtMs: 98,
      });
      expect(await tenancy.findKey(before.hash)).toMatchObject(limits);
      const none = {
        allowedModels: null,
        requestsPerMinute: null,
        tokensPerMinute: null,
        expiresAtMs: null,
      };
      await tenancy.updateKey(before.hash, none, 99);
      expect(await tenancy.findKey(before.hash)).toEqual({ ...before, updatedAtMs: 99 });
    });

    it('lists the plain keys of a workspace newest first, in pages, disabled ones when asked for', async () => {
      await tenancy.createAccount(account('a', 'Acme'), workspace('a'));
      await tenancy.createWorkspace(workspace('a', 'other'));
      const at = (hash: string, createdAtMs: number, more: Partial<Key> = {}) =>
        tenancy.insertKey(key(hash, 'a', { createdAtMs, name: hash, ...more }));
      await at('01', 1);
      await at('02', 2, { disabled: true });
      await at('03', 3);
      await at('04', 4, { isManagement: true });
      await at('05', 5, { workspaceId: 'a-other' });
      const names = async (includeDisabled: boolean, offset = 0, limit = 10) =>
        (
          await tenancy.listPlainKeys(
            { accountId: 'a', workspaceId: 'a-default', includeDisabled, search: null },
            { offset, limit },
          )
        ).map(({ name }) => name);
      expect(await names(false)).toEqual(['03', '01']);
      expect(await names(true)).toEqual(['03', '02', '01']);
      expect(await names(true, 1, 1)).toEqual(['02']);
      expect(await names(true, 3)).toEqual([]);
    });

    it('finds plain keys of every workspace by name, label or the start of the hash', async () => {
      await tenancy.createAccount(account('a', 'Acme'), workspace('a'));
      await tenancy.createWorkspace(workspace('a', 'other'));
      await tenancy.createAccount(account('b', 'Beta'), workspace('b'));
      await tenancy.insertKey(key('01', 'a', { createdAtMs: 1, name: 'Batch 100%', label: 'sk-...beef' }));
      await tenancy.insertKey(key('02', 'a', { createdAtMs: 2, name: 'batch_1', workspaceId: 'a-other' }));
      await tenancy.insertKey(key('03', 'a', { createdAtMs: 3, name: 'batch', isManagement: true }));
      await tenancy.insertKey(key('04', 'b', { createdAtMs: 4, name: 'batch' }));
      await tenancy.insertKey(key('05', 'a', { createdAtMs: 5, name: 'back\\slash' }));
      const found = async (search: string, workspaceId: string | null = null) =>
        (
          await tenancy.listPlainKeys(
            { accountId: 'a', workspaceId, includeDisabled: true, search },
            { offset: 0, limit: 10 },
          )
        ).map(({ hash }) => hash.slice(0, 2));
      expect(await found('BATCH')).toEqual(['02', '01']);
      expect(await found('batch', 'a-default')).toEqual(['01']);
      expect(await found('0%')).toEqual(['01']);
      expect(await found('h_1')).toEqual(['02']);
      expect(await found('\\')).toEqual(['05']);
      expect(await found('BEEF')).toEqual(['01']);
      expect(await found('02')).toEqual(['02']);
      expect(await found('2000')).toEqual([]);
    });

    it('lists the budgets of several workspaces', async () => {
      await tenancy.createAccount(account('a', 'Acme'), workspace('a'));
      await tenancy.createWorkspace(workspace('a', 'other'));
      await tenancy.createWorkspace(workspace('a', 'third'));
      for (const [place, window] of [
        ['a-default', 'lifetime'],
        ['a-default', 'daily'],
        ['a-other', 'weekly'],
        ['a-third', 'weekly'],
      ] as const) {
        await tenancy.setBudget(place, () => budget(place, window, 5n), undefined);
      }
      const listed = await tenancy.listBudgetsOf(['a-default', 'a-other']);
      const windowsOf = (id: string) =>
        listed.filter(({ workspaceId }) => workspaceId === id).map(({ window }) => window);
      expect(listed).toHaveLength(3);
      expect(windowsOf('a-default')).toEqual(['daily', 'lifetime']);
      expect(windowsOf('a-other')).toEqual(['weekly']);
      expect(await tenancy.listBudgetsOf([])).toEqual([]);
    });

    it('keeps every field of a workspace, and one slug an account', async () => {
      await tenancy.createAccount(account('a', 'Acme'), workspace('a'));
      await tenancy.createAccount(account('b', 'Beta'), workspace('b'));
      const whole = workspace('a', 'team', {
        name: 'Team',
        createdAtMs: 7,
        description: 'ours',
        defaultTextModel: 'a/b',
        defaultImageModel: 'c/d',
        defaultProviderSort: 'price',
        isObservabilityIoLoggingEnabled: true,
        isObservabilityBroadcastEnabled: true,
        isDataDiscountLoggingEnabled: true,
        ioLoggingSamplingRate: 0.0001,
        ioLoggingApiKeyIds: [1, 2],
        includeByokInBudgets: true,
        createdBy: 'user_1',
        updatedAtMs: 8,
      });
      expect(await tenancy.createWorkspace(whole)).toBe(true);
      expect(await tenancy.findWorkspaceById('a', whole.id)).toEqual(whole);
      expect(await tenancy.createWorkspace({ ...whole, id: 'another' })).toBe(false);
      expect(await tenancy.createWorkspace({ ...whole, id: 'b-team', accountId: 'b' })).toBe(true);
      expect(await tenancy.listWorkspaces('a', { offset: 0, limit: 1 })).toEqual({
        workspaces: [workspace('a')],
        total: 2,
      });
      expect((await tenancy.listWorkspaces('a', { offset: 1, limit: 9 })).workspaces).toEqual([whole]);
      const twin = { ...workspace('a'), id: '!', slug: 'twin', isDefault: false };
      expect(await tenancy.createWorkspace(twin)).toBe(true);
      expect((await tenancy.listWorkspaces('a', { offset: 0, limit: 2 })).workspaces).toEqual([
        workspace('a'),
        twin,
      ]);
    });

    it('changes a workspace of its own account, unless another one has the slug', async () => {
      await tenancy.createAccount(account('a', 'Acme'), workspace('a'));
      await tenancy.createWorkspace(workspace('a', 'team'));
      const change = (accountId: string, id: string, slug: string) =>
        tenancy.updateWorkspace(accountId, id, { slug, name: 'N' }, 50);
      expect(await change('a', 'a-team', 'default')).toEqual({ kind: 'slug-taken' });
      expect(await change('b', 'a-team', 'x')).toEqual({ kind: 'missing' });
      const changed = { ...workspace('a', 'team'), slug: 'crew', name: 'N', updatedAtMs: 50 };
      expect(await change('a', 'a-team', 'crew')).toEqual({ kind: 'changed', workspace: changed });
      expect(await change('a', 'a-team', 'crew')).toEqual({ kind: 'changed', workspace: changed });
      expect(await tenancy.findWorkspace('a', 'crew')).toEqual(changed);
    });

    it('deletes a workspace with what is left in it, but not the default one and not with active keys', async () => {
      await tenancy.createAccount(account('a', 'Acme'), workspace('a'));
      await tenancy.createWorkspace(workspace('a', 'team'));
      const inTeam = (hash: string, more: Partial<Key>) => key(hash, 'a', { workspaceId: 'a-team', ...more });
      await tenancy.insertKey(inTeam('01', {}));
      await tenancy.insertKey(inTeam('02', { disabled: true }));
      await tenancy.insertKey(inTeam('03', { expiresAtMs: 100 }));
      await tenancy.insertKey(inTeam('04', { isManagement: true }));
      await tenancy.setBudget('a-team', () => budget('a-team', 'daily', 5n), undefined);
      expect(await tenancy.deleteWorkspace('a', 'a-default', 100)).toEqual({ kind: 'is-default' });
      expect(await tenancy.deleteWorkspace('b', 'a-team', 100)).toEqual({ kind: 'missing' });
      expect(await tenancy.deleteWorkspace('a', 'a-team', 100)).toEqual({ kind: 'has-active-keys' });
      await tenancy.deleteKey(inTeam('01', {}).hash);
      expect(await tenancy.deleteWorkspace('a', 'a-team', 99)).toEqual({ kind: 'has-active-keys' });
      const gone = [inTeam('02', {}).hash, inTeam('03', {}).hash];
      const deletion = await tenancy.deleteWorkspace('a', 'a-team', 100);
      expect(deletion).toEqual({ kind: 'deleted', keyHashes: expect.arrayContaining(gone) });
      expect(await tenancy.findWorkspaceById('a', 'a-team')).toBeUndefined();
      expect(await tenancy.listBudgets('a-team')).toEqual([]);
      expect((await tenancy.listKeys()).map(({ hash, workspaceId }) => [hash, workspaceId])).toEqual([
        [inTeam('04', {}).hash, 'a-default'],
      ]);
    });

    it('sets budgets as decided, one a window, the shortest first', async () => {
      await tenancy.createAccount(account('a', 'Acme'), workspace('a'));
      const set = (window: LimitWindow, nanos: bigint, atMs: number, includeByok?: boolean) =>
        tenancy.setBudget('a-default', () => budget('a-default', window, nanos, atMs), includeByok);
      expect(await set('lifetime', 999_999_999_999_999_999n, 1)).toEqual(
        budget('a-default', 'lifetime', 999_999_999_999_999_999n, 1),
      );
      await set('daily', 5n, 2, true);
      const again = { ...budget('a-default', 'daily', 6n, 3), id: 'other' };
      const kept = { ...budget('a-default', 'daily', 6n, 2), updatedAtMs: 3 };
      expect(await tenancy.setBudget('a-default', () => again, undefined)).toEqual(kept);
      expect((await tenancy.listBudgets('a-default')).map(({ window }) => window)).toEqual([
        'daily',
        'lifetime',
      ]);
      expect((await tenancy.findWorkspaceById('a', 'a-default'))?.includeByokInBudgets).toBe(true);
      expect(await tenancy.setBudget('nowhere', () => again, undefined)).toBeUndefined();
      await tenancy.deleteBudget('a-default', 'daily');
      await tenancy.deleteBudget('a-default', 'daily');
      expect(await tenancy.listBudgets('a-default')).toHaveLength(1);
    });

    it('replaces all budgets at once', async () => {
      await tenancy.createAccount(account('a', 'Acme'), workspace('a'));
      await tenancy.setBudget('a-default', () => budget('a-default', 'daily', 5n), false);
      const wanted = [budget('a-default', 'weekly', 6n), budget('a-default', 'monthly', 7n)];
      await tenancy.replaceBudgets('a-default', wanted, true);
      expect(await tenancy.listBudgets('a-default')).toEqual(wanted);
      expect(await tenancy.defaultWorkspaceOf('a')).toMatchObject({ includeByokInBudgets: true });
      await tenancy.replaceBudgets('a-default', [], false);
      expect(await tenancy.listBudgets('a-default')).toEqual([]);
    });

    it('lists what the configuration file declares', async () => {
      await tenancy.createAccount(account('a', 'Acme'), workspace('a'));
      await tenancy.createWorkspace(workspace('a', 'team', { fileMember: 'workspaces[0]' }));
      await tenancy.updateWorkspace('a', 'a-default', { budgetsFileMember: 'workspaces[1].budgets' }, 5);
      await tenancy.insertKey(key('1', 'a', { fileMember: 'workspaces[0].keys[0]' }));
      await tenancy.insertKey(key('2', 'a'));
      const { workspaces, keys } = await tenancy.listDeclared('a');
      expect(workspaces.map(({ slug }) => slug).sort()).toEqual(['default', 'team']);
      expect(keys.map(({ hash }) => hash)).toEqual(['1'.padEnd(64, '0')]);
      await tenancy.updateKey(keys[0]?.hash ?? '', { workspaceId: 'a-team', fileMember: null }, 6);
      expect(await tenancy.listDeclared('b')).toEqual({ workspaces: [], keys: [] });
      expect((await tenancy.listDeclared('a')).keys).toEqual([]);
    });

    it('shows each budget update the result of the one before it, and undoes all of one that fails', async () => {
      await tenancy.createAccount(account('a', 'Acme'), workspace('a'));
      const seen: number[] = [];
      const windows: LimitWindow[] = ['daily', 'weekly', 'monthly', 'lifetime'];
      await Promise.all(
        windows.map((window) =>
          tenancy.setBudget(
            'a-default',
            (current) => {
              seen.push(current.length);
              return budget('a-default', window, 5n);
            },
            undefined,
          ),
        ),
      );
      expect(seen).toEqual([0, 1, 2, 3]);
      const failing = tenancy.setBudget(
        'a-default',
        () => {
          throw new Error('no');
        },
        true,
      );
      await expect(failing).rejects.toThrow('no');
      expect((await tenancy.findWorkspaceById('a', 'a-default'))?.includeByokInBudgets).toBe(false);
    });

    it('distinguishes the first start from later ones', async () => {
      expect(await tenancy.recordFirstStart(5)).toBe(true);
      expect(await tenancy.recordFirstStart(6)).toBe(false);
    });
  });
}
