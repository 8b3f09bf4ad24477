import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { encrypt, encryptionKeyOf } from '../../../src/kit/crypto/encrypt.ts';
import type { ByokStore, StoredByokCredential } from '../../../src/ports/tenancy/byok.ts';
import type { Tenancy } from '../../../src/ports/tenancy/tenancy.ts';
import { newCredentialOf } from '../../kit/builders/byok.ts';
import { workspaceOf } from '../../kit/builders/tenancy.ts';

/** An adapter under test, with the tenancy that its credentials belong to, and how to close both. */
export interface ByokUnderTest {
  readonly byok: ByokStore;
  readonly tenancy: Tenancy;
  close(): Promise<void>;
}

const OLD = encryptionKeyOf(Buffer.alloc(32, 1));
const NEW = encryptionKeyOf(Buffer.alloc(32, 2));

const credential = (id: string, more: Partial<StoredByokCredential> = {}) =>
  newCredentialOf({
    id,
    accountId: 'a',
    workspaceId: 'a-default',
    encryptedSecret: encrypt(OLD, `secret of ${id}`, id),
    createdAtMs: 10,
    ...more,
  });

/** What every ByokStore must do. `open` gives an empty one each time. */
export function byokContract(name: string, open: () => Promise<ByokUnderTest>): void {
  describe(`ByokStore: ${name}`, () => {
    let under: ByokUnderTest;
    let byok: ByokStore;

    beforeEach(async () => {
      under = await open();
      byok = under.byok;
      for (const id of ['a', 'b']) {
        await under.tenancy.createAccount(
          { id, name: id, createdAtMs: 1 },
          workspaceOf({ id: `${id}-default`, accountId: id }),
        );
      }
    });

    afterEach(() => under.close());

    const listed = async (accountId: string, page = { offset: 0, limit: 100 }, provider?: string) => {
      const filter = { accountId, workspaceId: `${accountId}-default`, ...(provider && { provider }) };
      const { credentials, total } = await byok.list(filter, page);
      return { ids: credentials.map(({ id }) => id), total };
    };

    it('begins empty', async () => {
      expect(await listed('a')).toEqual({ ids: [], total: 0 });
      expect(await byok.listAll('a')).toEqual([]);
      expect(await byok.find('a', 'x')).toBeUndefined();
      expect(await byok.encryptionKeyIds()).toEqual([]);
    });

    it('keeps every field', async () => {
      const whole = credential('x', {
        name: "Robert'); DROP TABLE keys;-- \u{1F511}",
        version: 7,
        disabled: true,
        isFallback: true,
        isRequired: true,
        declaredZdr: false,
        allowedModels: ['acme/large', 'a,"b"'],
        allowedUserIds: [],
        allowedApiKeyHashes: ['f'.repeat(64)],
        createdAtMs: 1_790_000_000_123,
        updatedAtMs: 1_790_000_000_124,
      });
      const stored = await byok.insert(whole);
      expect(stored).toEqual({ ...whole, sortOrder: 0 });
      expect(await byok.find('a', 'x')).toEqual(stored);
      expect(await byok.listAll('a')).toEqual([stored]);
      const other = credential('y', { isByokOnly: true, declaredZdr: true, workspaceId: null });
      expect(await byok.find('a', (await byok.insert(other)).id)).toEqual({ ...other, sortOrder: 1 });
    });

    it('counts places within provider and account', async () => {
      const placeOf = async (id: string, more: Partial<StoredByokCredential> = {}) =>
        (await byok.insert(credential(id, more))).sortOrder;
      expect(await placeOf('1')).toBe(0);
      expect(await placeOf('2')).toBe(1);
      expect(await placeOf('3', { provider: 'bolt' })).toBe(0);
      expect(await placeOf('4', { accountId: 'b', workspaceId: 'b-default' })).toBe(0);
      await byok.delete('a', '1', 20);
      expect(await placeOf('5')).toBe(2);
    });

    it('gives each of many concurrent inserts its own place', async () => {
      const stored = await Promise.all(
        Array.from({ length: 20 }, (_, index) => byok.insert(credential(`n${index}`))),
      );
      expect(new Set(stored.map(({ sortOrder }) => sortOrder)).size).toBe(20);
    });

    it('lists by provider, then place, in pages, with the count of all', async () => {
      await byok.insert(credential('z1', { provider: 'zeta' }));
      await byok.insert(credential('a1'));
      await byok.insert(credential('a2'));
      await byok.insert(credential('b1', { accountId: 'b', workspaceId: 'b-default' }));
      expect(await listed('a')).toEqual({ ids: ['a1', 'a2', 'z1'], total: 3 });
      expect(await listed('a', { offset: 1, limit: 1 })).toEqual({ ids: ['a2'], total: 3 });
      expect(await listed('a', { offset: 9, limit: 1 })).toEqual({ ids: [], total: 3 });
      expect(await listed('a', { offset: 0, limit: 9 }, 'zeta')).toEqual({ ids: ['z1'], total: 1 });
      expect((await byok.listAll('a')).map(({ id }) => id)).toEqual(['a1', 'a2', 'z1']);
    });

    it('lists credentials for all workspaces in each workspace', async () => {
      await byok.insert(credential('global', { workspaceId: null }));
      expect(await listed('a')).toEqual({ ids: ['global'], total: 1 });
      expect(await listed('b')).toEqual({ ids: [], total: 0 });
    });

    it('lists those of every workspace of the account where none is named', async () => {
      await under.tenancy.createWorkspace(
        workspaceOf({ id: 'a-other', accountId: 'a', slug: 'other', isDefault: false }),
      );
      await byok.insert(credential('global', { workspaceId: null }));
      await byok.insert(credential('other', { workspaceId: 'a-other' }));
      const { credentials, total } = await byok.list(
        { accountId: 'a', workspaceId: null },
        { offset: 0, limit: 9 },
      );
      expect([credentials.map(({ id }) => id), total]).toEqual([['global', 'other'], 2]);
    });

    it('changes the given members, and nothing of another account', async () => {
      const before = await byok.insert(credential('x', { allowedModels: ['m'] }));
      const changed = await byok.update('a', 'x', () => ({ disabled: true, allowedModels: null }), 99);
      expect(changed).toEqual({ ...before, disabled: true, allowedModels: null, updatedAtMs: 99 });
      expect(await byok.find('a', 'x')).toEqual(changed);
      expect(await byok.update('b', 'x', () => ({ disabled: false }), 100)).toBeUndefined();
      expect(await byok.update('a', 'nobody', () => ({}), 100)).toBeUndefined();
      expect(await byok.find('b', 'x')).toBeUndefined();
    });

    it('changes nothing when the decision fails', async () => {
      const before = await byok.insert(credential('x'));
      const refuse = () => {
        throw new Error('refused');
      };
      await expect(byok.update('a', 'x', refuse, 99)).rejects.toThrow('refused');
      expect(await byok.find('a', 'x')).toEqual(before);
    });

    it('shows each update the result of the one before it', async () => {
      await byok.insert(credential('x'));
      const next = ({ version }: StoredByokCredential) => ({ version: version + 1 });
      await Promise.all(Array.from({ length: 10 }, () => byok.update('a', 'x', next, 1)));
      expect((await byok.find('a', 'x'))?.version).toBe(11);
    });

    it('deletes once, and only for the account itself', async () => {
      await byok.insert(credential('x'));
      expect(await byok.delete('b', 'x', 20)).toBe(false);
      expect(await byok.delete('a', 'x', 20)).toBe(true);
      expect(await byok.delete('a', 'x', 21)).toBe(false);
      expect(await byok.find('a', 'x')).toBeUndefined();
      expect(await byok.listAll('a')).toEqual([]);
      expect(await listed('a')).toEqual({ ids: [], total: 0 });
      expect(await byok.update('a', 'x', () => ({}), 22)).toBeUndefined();
      expect(await byok.encryptionKeyIds()).toEqual([]);
    });

    it('stores a credential once, and again under the id of a deleted one', async () => {
      const first = await byok.insert(credential('x'));
      expect(await byok.insert(credential('x', { name: 'other' }))).toEqual(first);
      await byok.delete('a', 'x', 20);
      const again = await byok.insert(
        credential('x', { name: 'other', fileMember: 'workspaces[0].byok[0]' }),
      );
      expect(again).toMatchObject({ name: 'other', sortOrder: 0, fileMember: 'workspaces[0].byok[0]' });
      expect(await byok.listAll('a')).toEqual([again]);
    });

    it('refuses a credential of an account that does not exist', async () => {
      await expect(byok.insert(credential('x', { accountId: 'nobody' }))).rejects.toThrow();
    });

    it('encrypts credentials under another key again, unless they changed meanwhile', async () => {
      for (const id of ['1', '2', '3']) await byok.insert(credential(id));
      await byok.insert(credential('4', { encryptedSecret: encrypt(NEW, 's', '4') }));
      expect(await byok.encryptionKeyIds()).toEqual([OLD.id, NEW.id].sort());
      const old = await byok.listEncryptedOtherwise(NEW.id, 2);
      expect(old).toHaveLength(2);
      const rest = await byok.listEncryptedOtherwise(NEW.id, 100);
      expect(rest.map(({ id }) => id).sort()).toEqual(['1', '2', '3']);
      const becomes = encrypt(NEW, 'new', '3');
      await byok.update('a', '3', () => ({ encryptedSecret: becomes }), 20);
      await byok.reencrypt(
        rest.map(({ id, encryptedSecret }) => ({
          id,
          was: encryptedSecret,
          becomes: encrypt(NEW, `secret of ${id}`, id),
        })),
      );
      expect(await byok.encryptionKeyIds()).toEqual([NEW.id]);
      expect((await byok.find('a', '3'))?.encryptedSecret).toBe(becomes);
      expect(await byok.listEncryptedOtherwise(NEW.id, 100)).toEqual([]);
      await byok.purgeWipedSecrets();
    });
  });
}
