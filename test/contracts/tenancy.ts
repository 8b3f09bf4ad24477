import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Account, Key, Tenancy, Workspace } from '../../src/ports/tenancy.ts';

/** An adapter under test, and how to put it away. */
export interface TenancyUnderTest {
  readonly tenancy: Tenancy;
  close(): Promise<void>;
}

const account = (id: string, name: string, createdAtMs = 1): Account => ({ id, name, createdAtMs });

const workspace = (accountId: string, slug = 'default'): Workspace => ({
  id: `${accountId}-${slug}`,
  accountId,
  slug,
  name: 'Default Workspace',
  isDefault: true,
  createdAtMs: 1,
});

const key = (hash: string, accountId: string, more: Partial<Key> = {}): Key => ({
  hash: hash.padEnd(64, '0'),
  accountId,
  workspaceId: `${accountId}-default`,
  name: 'a key',
  label: 'sk-...0000',
  isManagement: false,
  disabled: false,
  createdAtMs: 10,
  updatedAtMs: null,
  expiresAtMs: null,
  creatorUserId: null,
  ...more,
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
      });
      expect(await tenancy.insertKey(whole)).toBe(true);
      expect(await tenancy.findKey(whole.hash)).toEqual(whole);
    });

    it('leaves a key that is already there as it is', async () => {
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

    it('knows the first start from all later ones', async () => {
      expect(await tenancy.recordFirstStart(5)).toBe(true);
      expect(await tenancy.recordFirstStart(6)).toBe(false);
    });
  });
}
