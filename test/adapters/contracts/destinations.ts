import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { encrypt, encryptionKeyOf } from '../../../src/kit/crypto/encrypt.ts';
import type { DestinationStore, FilterRules } from '../../../src/ports/following/destinations.ts';
import type { Tenancy } from '../../../src/ports/tenancy/tenancy.ts';
import { destinationOf } from '../../kit/builders/destinations.ts';
import { workspaceOf } from '../../kit/builders/tenancy.ts';

/** An adapter under test, with the tenancy that its destinations belong to, and how to close both. */
export interface DestinationsUnderTest {
  readonly destinations: DestinationStore;
  readonly tenancy: Tenancy;
  close(): Promise<void>;
}

const ALL = { offset: 0, limit: 100 };
const MOST = 5;

/** What every DestinationStore must do. `open` gives an empty one each time. */
export function destinationContract(name: string, open: () => Promise<DestinationsUnderTest>): void {
  describe(`DestinationStore: ${name}`, () => {
    let under: DestinationsUnderTest;
    let store: DestinationStore;

    beforeEach(async () => {
      under = await open();
      store = under.destinations;
      for (const id of ['a', 'b']) {
        await under.tenancy.createAccount(
          { id, name: id, createdAtMs: 1 },
          workspaceOf({ id: `${id}-default`, accountId: id }),
        );
      }
      await under.tenancy.createWorkspace(
        workspaceOf({ id: 'w', accountId: 'a', slug: 'w', isDefault: false }),
      );
    });

    afterEach(() => under.close());

    const destination = (id: string, more = {}) =>
      destinationOf({ id, accountId: 'a', workspaceId: 'w', ...more });
    const idsOf = ({ destinations }: Awaited<ReturnType<DestinationStore['list']>>) =>
      destinations.map(({ id }) => id);

    it('keeps every field', async () => {
      const whole = destination('d', {
        type: 'langfuse',
        config: { baseUrl: 'https://langfuse.example.com' },
        encryptedSecrets: encrypt(encryptionKeyOf(Buffer.alloc(32, 1)), '{}', 'd'),
        secretLabels: { secretKey: 'sk-...abcd', 'headers.x-é': '...' },
        version: 3,
        isEnabled: false,
        privacyMode: true,
        samplingRate: 0.0001,
        apiKeyHashes: ['a'.repeat(64)],
        filterRules: {
          isEnabled: true,
          groups: [{ logic: 'or', rules: [{ field: 'model', operator: 'exists', value: null }] }],
        } satisfies FilterRules,
        sendsCost: true,
        sendsIdentity: true,
        sendsRequestContext: true,
        updatedAtMs: 5,
        fileMember: 'workspaces[0].destinations[0]',
      });
      expect(await store.insert(whole, MOST)).toEqual(whole);
      expect(await store.find('a', 'd')).toEqual(whole);
      expect(await store.find('b', 'd')).toBeUndefined();
    });

    it('keeps the one that has the id already', async () => {
      await store.insert(destination('d', { name: 'first' }), 1);
      expect(await store.insert(destination('d', { name: 'second' }), 1)).toMatchObject({ name: 'first' });
    });

    it('stores so many of a type in a workspace, also at the same time', async () => {
      const outcomes = await Promise.all(['1', '2', '3', '4'].map((id) => store.insert(destination(id), 3)));
      expect(outcomes.filter((outcome) => outcome === 'full')).toHaveLength(1);
      expect(await store.insert(destination('other', { type: 's3' }), 3)).toMatchObject({ id: 'other' });
      expect(await store.insert(destination('here', { workspaceId: 'a-default' }), 3)).toMatchObject({
        id: 'here',
      });
      expect((await store.list('a', 'w', ALL)).total).toBe(4);
    });

    it('lists those of a workspace or of an account, the oldest first', async () => {
      await store.insert(destination('late', { createdAtMs: 3 }), MOST);
      await store.insert(destination('early', { createdAtMs: 2 }), MOST);
      await store.insert(destination('elsewhere', { workspaceId: 'a-default', createdAtMs: 1 }), MOST);
      await store.insert(destination('foreign', { accountId: 'b', workspaceId: 'b-default' }), MOST);
      const page = await store.list('a', 'w', { offset: 1, limit: 1 });
      expect([idsOf(page), page.total]).toEqual([['late'], 2]);
      expect(idsOf(await store.list('a', null, ALL))).toEqual(['elsewhere', 'early', 'late']);
      expect((await store.listAll()).map(({ id }) => id)).toEqual(['elsewhere', 'foreign', 'early', 'late']);
    });

    it('changes what is decided, for the account that owns it', async () => {
      await store.insert(destination('d'), MOST);
      const changed = await store.update('a', 'd', ({ version }) => ({ version: version + 1 }), 7);
      expect(changed).toEqual(destination('d', { version: 2, updatedAtMs: 7 }));
      expect(await store.find('a', 'd')).toEqual(changed);
      expect(await store.update('b', 'd', () => ({ name: 'x' }), 8)).toBeUndefined();
      const refuse = () => {
        throw new Error('refused');
      };
      await expect(store.update('a', 'd', refuse, 9)).rejects.toThrow('refused');
      expect(await store.find('a', 'd')).toEqual(changed);
    });

    it('deletes one, and all of a deleted workspace', async () => {
      await store.insert(destination('d'), MOST);
      await store.insert(destination('e'), MOST);
      expect(await store.delete('b', 'd')).toBe(false);
      expect(await store.delete('a', 'd')).toBe(true);
      expect(await store.delete('a', 'd')).toBe(false);
      expect(await under.tenancy.deleteWorkspace('a', 'w', 2)).toMatchObject({ kind: 'deleted' });
      expect(await store.listAll()).toEqual([]);
    });

    it('lists secrets under other keys, and replaces those that are still the same', async () => {
      const [old, next] = [1, 2].map((byte) => encryptionKeyOf(Buffer.alloc(32, byte)));
      if (old === undefined || next === undefined) throw new Error('two keys');
      const was = encrypt(old, 'secret', 'x');
      const becomes = encrypt(next, 'secret', 'x');
      await store.insert(destination('d', { type: 's3', encryptedSecrets: was }), MOST);
      await store.insert(destination('e', { encryptedSecrets: becomes }), MOST);
      await store.insert(destination('none'), MOST);
      expect(await store.encryptionKeyIds()).toEqual([old.id, next.id].sort());
      const secret = { id: 'd', accountId: 'a', provider: 'destination:s3', encryptedSecret: was };
      expect(await store.listEncryptedOtherwise(next.id, 10)).toEqual([secret]);
      await store.reencrypt([{ id: 'd', was: 'something else', becomes }]);
      expect(await store.listEncryptedOtherwise(next.id, 10)).toEqual([secret]);
      await store.reencrypt([{ id: 'd', was, becomes }]);
      expect(await store.encryptionKeyIds()).toEqual([next.id]);
      expect(await store.find('a', 'd')).toMatchObject({ encryptedSecrets: becomes });
    });

    describe('Workspace.hasContentReaders', () => {
      const found = async () => (await under.tenancy.findWorkspaceById('a', 'w'))?.hasContentReaders;
      const broadcast = (isOn: boolean) =>
        under.tenancy.updateWorkspace('a', 'w', { isObservabilityBroadcastEnabled: isOn }, 2);

      it('is true while the workspace sends to a destination that reads content', async () => {
        await broadcast(true);
        expect(await found()).toBe(false);
        await store.insert(destination('elsewhere', { workspaceId: 'a-default' }), MOST);
        expect(await found()).toBe(false);
        await store.insert(destination('d'), MOST);
        expect(await found()).toBe(true);
        expect((await under.tenancy.listWorkspaces('a', ALL)).workspaces).toMatchObject([
          { id: 'a-default', hasContentReaders: false },
          { id: 'w', hasContentReaders: true },
        ]);
        await broadcast(false);
        expect(await found()).toBe(false);
        await broadcast(true);
        await store.update('a', 'd', () => ({ isEnabled: false }), 3);
        expect(await found()).toBe(false);
        await store.update('a', 'd', () => ({ isEnabled: true, privacyMode: true }), 4);
        expect(await found()).toBe(false);
        const filterRules: FilterRules = {
          isEnabled: true,
          groups: [{ logic: 'and', rules: [{ field: 'input', operator: 'contains', value: 'x' }] }],
        };
        await store.update('a', 'd', () => ({ filterRules }), 5);
        expect(await found()).toBe(true);
        await store.update('a', 'd', () => ({ filterRules: { ...filterRules, isEnabled: false } }), 6);
        expect(await found()).toBe(false);
      });
    });
  });
}
