import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Member, MemberStore, WorkspaceMember } from '../../../src/ports/tenancy/members.ts';
import type { Tenancy } from '../../../src/ports/tenancy/tenancy.ts';
import { keyOf, workspaceOf } from '../../kit/builders/tenancy.ts';

/** An adapter under test, the keys of the same database, and how to close it. */
export interface MembersUnderTest {
  readonly store: MemberStore;
  readonly tenancy: Tenancy;
  close(): Promise<void>;
}

const PAGE = { offset: 0, limit: 100 };

const memberOf = (id: string, more: Partial<Member> = {}): Member => ({
  id,
  accountId: 'account',
  email: `${id}@example.com`,
  firstName: null,
  lastName: null,
  role: 'org:member',
  state: 'active',
  createdAtMs: 1_760_000_000_000,
  updatedAtMs: null,
  fileMember: null,
  ...more,
});

const roleOf = (userId: string, more: Partial<WorkspaceMember> = {}): WorkspaceMember => ({
  workspaceId: 'team',
  userId,
  role: 'member',
  createdAtMs: 1_760_000_000_000,
  ...more,
});

/** What every MemberStore must do. `open` gives an empty one each time. */
export function memberContract(name: string, open: () => Promise<MembersUnderTest>): void {
  describe(`MemberStore: ${name}`, () => {
    let under: MembersUnderTest;
    let store: MemberStore;

    beforeEach(async () => {
      under = await open();
      store = under.store;
    });

    afterEach(() => under.close());

    const all = (more = {}) => store.list({ accountId: 'account', state: null, search: null, ...more }, PAGE);

    it('keeps every field, and lists the oldest first', async () => {
      const whole = memberOf('whole', {
        firstName: 'Jané',
        lastName: "O'Neil",
        role: 'org:owner',
        state: 'disabled',
        createdAtMs: 1_760_000_000_001,
        updatedAtMs: 1_760_000_000_002,
        fileMember: 'members[0]',
      });
      await store.insert(whole);
      await store.insert(memberOf('older'));
      await store.insert(memberOf('elsewhere', { accountId: 'other' }));
      expect(await store.find('account', 'whole')).toEqual(whole);
      expect(await store.findByEmail('account', whole.email)).toEqual(whole);
      expect(await store.find('other', 'whole')).toBeUndefined();
      expect(await all()).toEqual({ members: [memberOf('older'), whole], total: 2 });
      expect(
        (await store.list({ accountId: 'account', state: null, search: null }, { offset: 1, limit: 1 }))
          .members,
      ).toEqual([whole]);
    });

    it('finds by part of the address or the name, and by state', async () => {
      await store.insert(memberOf('jane', { firstName: 'Jane', lastName: 'Doe_y' }));
      await store.insert(memberOf('max', { state: 'disabled' }));
      const idsOf = async (more: object) => (await all(more)).members.map(({ id }) => id);
      expect(await idsOf({ search: 'ANE d' })).toEqual(['jane']);
      expect(await idsOf({ search: 'MAX@' })).toEqual(['max']);
      expect(await idsOf({ search: 'e_y' })).toEqual(['jane']);
      expect(await idsOf({ search: 'd%y' })).toEqual([]);
      expect(await idsOf({ state: 'disabled' })).toEqual(['max']);
    });

    it('has an address once in an account, and again after its member was removed', async () => {
      expect(await store.insert(memberOf('one'))).toBe(true);
      expect(await store.insert(memberOf('two', { email: 'one@example.com' }))).toBe(false);
      expect(await store.insert(memberOf('two', { email: 'one@example.com', accountId: 'other' }))).toBe(
        true,
      );
      await store.insert(memberOf('three'));
      expect(await store.update('account', 'three', () => ({ email: 'one@example.com' }), 1)).toEqual({
        kind: 'email-taken',
      });
      await store.update('account', 'one', () => ({ state: 'removed' }), 1);
      expect(await store.update('account', 'three', () => ({ email: 'one@example.com' }), 2)).toMatchObject({
        kind: 'changed',
        member: { email: 'one@example.com', updatedAtMs: 2 },
      });
    });

    it('shows none that was removed, and knows what became of them', async () => {
      await store.insert(memberOf('gone'));
      await store.update('account', 'gone', () => ({ state: 'removed' }), 1);
      expect(await store.find('account', 'gone')).toBeUndefined();
      expect(await store.findByEmail('account', 'gone@example.com')).toBeUndefined();
      expect(await all()).toEqual({ members: [], total: 0 });
      expect(await store.known('account', ['gone'])).toEqual(new Set());
      expect(await store.update('account', 'gone', () => ({ state: 'active' }), 2)).toEqual({
        kind: 'missing',
      });
      expect(await store.stateOf('account', 'gone')).toBe('removed');
      expect(await store.stateOf('other', 'gone')).toBeUndefined();
    });

    it('tells how many other active owners there are, and changes nothing if that is refused', async () => {
      await store.insert(memberOf('first', { role: 'org:owner' }));
      await store.insert(memberOf('second', { role: 'org:owner' }));
      await store.insert(memberOf('third', { role: 'org:owner', state: 'disabled' }));
      const owners: number[] = [];
      await store.update(
        'account',
        'first',
        (_current, others) => {
          owners.push(others.owners);
          return { role: 'org:member' };
        },
        1,
      );
      const refused = store.update(
        'account',
        'second',
        (_current, others) => {
          owners.push(others.owners);
          throw new Error('the last');
        },
        2,
      );
      await expect(refused).rejects.toThrow('the last');
      expect(owners).toEqual([1, 0]);
      expect(await store.find('account', 'second')).toEqual(memberOf('second', { role: 'org:owner' }));
    });

    it('gives roles in workspaces, replaces and takes them, with the member at last', async () => {
      for (const id of ['one', 'two']) await store.insert(memberOf(id));
      expect(await store.setWorkspaceRoles([roleOf('one'), roleOf('two')])).toBe(2);
      expect(await store.setWorkspaceRoles([roleOf('one', { role: 'admin', createdAtMs: 5 })])).toBe(0);
      expect(await store.listWorkspaceMembers('team', PAGE)).toEqual({
        members: [roleOf('one', { role: 'admin' }), roleOf('two')],
        total: 2,
      });
      expect(await store.listWorkspaceMembers('team', { offset: 1, limit: 1 })).toEqual({
        members: [roleOf('two')],
        total: 2,
      });
      expect(await store.workspaceRolesOf('team', ['one', 'three'])).toEqual(new Map([['one', 'admin']]));
      expect(await store.removeWorkspaceRoles('team', ['one', 'three'])).toBe(1);
      await store.update('account', 'two', () => ({ state: 'removed' }), 1);
      expect(await store.listWorkspaceMembers('team', PAGE)).toEqual({ members: [], total: 0 });
    });

    it('tells keys the state of the member of their account that made them', async () => {
      const { tenancy } = under;
      const accountId = 'account';
      await tenancy.createAccount({ id: accountId, name: 'Account', createdAtMs: 1 }, workspaceOf());
      await store.insert(memberOf('owner', { accountId }));
      await store.insert(memberOf('stranger', { accountId: 'other' }));
      const hashes: string[] = [];
      for (const [index, creatorUserId] of ['owner', 'stranger', 'nobody', null].entries()) {
        const key = keyOf({ hash: String(index).repeat(64), creatorUserId, name: String(creatorUserId) });
        hashes.push(key.hash);
        await tenancy.insertKey(key);
      }
      const states = () =>
        Promise.all(hashes.map(async (hash) => (await tenancy.findKey(hash))?.ownerState ?? null));
      expect(await states()).toEqual(['active', null, null, null]);
      await store.update(accountId, 'owner', () => ({ state: 'disabled' }), 1);
      expect(await states()).toEqual(['disabled', null, null, null]);
      await store.update(accountId, 'owner', () => ({ state: 'removed' }), 2);
      expect(await states()).toEqual(['removed', null, null, null]);
      const listed = await tenancy.listKeys(accountId);
      expect(listed.find(({ name }) => name === 'owner')?.ownerState).toBe('removed');
    });
  });
}
