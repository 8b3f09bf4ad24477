import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { GuardrailStore } from '../../../src/ports/tenancy/guardrails.ts';
import type { Tenancy } from '../../../src/ports/tenancy/tenancy.ts';
import { assignmentOf, guardrailOf } from '../../kit/builders/guardrails.ts';
import { keyOf, workspaceOf } from '../../kit/builders/tenancy.ts';

/** An adapter under test, with the tenancy that its guardrails belong to, and how to close both. */
export interface GuardrailsUnderTest {
  readonly guardrails: GuardrailStore;
  readonly tenancy: Tenancy;
  close(): Promise<void>;
}

const ALL = { offset: 0, limit: 100 };

/** What every GuardrailStore must do. `open` gives an empty one each time. */
export function guardrailContract(name: string, open: () => Promise<GuardrailsUnderTest>): void {
  describe(`GuardrailStore: ${name}`, () => {
    let under: GuardrailsUnderTest;
    let store: GuardrailStore;

    beforeEach(async () => {
      under = await open();
      store = under.guardrails;
      for (const id of ['a', 'b']) {
        await under.tenancy.createAccount(
          { id, name: id, createdAtMs: 1 },
          workspaceOf({ id: `${id}-default`, accountId: id }),
        );
      }
    });

    afterEach(() => under.close());

    const guardrail = (id: string, more = {}) =>
      guardrailOf({ id, accountId: 'a', workspaceId: 'a-default', ...more });
    const assignment = (subject: string, more = {}) =>
      assignmentOf({ id: `of ${subject}`, guardrailId: 'g', accountId: 'a', subject, ...more });
    const subjects = async (filter: Parameters<GuardrailStore['listAssignments']>[0], page = ALL) => {
      const { assignments, total } = await store.listAssignments(filter, page);
      return { subjects: assignments.map(({ subject }) => subject), total };
    };

    it('keeps every field', async () => {
      const whole = guardrail('g', {
        description: 'Line one\nline two',
        limitNanos: 9_007_199_254_740_993_000_000_001n,
        resetInterval: 'weekly',
        includeByokInBudgets: true,
        allowedProviders: ['acme'],
        ignoredModels: ['acme/large'],
        enforceZdr: { anthropic: true, openai: false, google: null, xai: null, other: true },
        enablePaidModelTraining: false,
        allowedDataRegions: ['europe'],
        builtins: [{ slug: 'email', action: 'redact', scanScope: 'all_messages' }],
        filters: [{ pattern: 'é[0-9]+', action: 'block', label: null }],
        service: { url: 'http://127.0.0.1:9/x', timeoutMs: 1000, retries: 1, onFailure: 'open' },
        updatedAtMs: 5,
        fileMember: 'workspaces[0].guardrails[0]',
      });
      expect(await store.insert(whole)).toEqual(whole);
      expect(await store.find('a', 'g')).toEqual(whole);
    });

    it('keeps the guardrail that has the id already', async () => {
      await store.insert(guardrail('g', { name: 'first' }));
      expect(await store.insert(guardrail('g', { name: 'second' }))).toMatchObject({ name: 'first' });
    });

    it('lists those of a workspace, oldest first, and all of an account', async () => {
      await under.tenancy.createWorkspace(
        workspaceOf({ id: 'w', accountId: 'a', slug: 'w', isDefault: false }),
      );
      await store.insert(guardrail('late', { createdAtMs: 3 }));
      await store.insert(guardrail('early', { createdAtMs: 2 }));
      await store.insert(guardrail('elsewhere', { workspaceId: 'w' }));
      const place = { accountId: 'a', workspaceId: 'a-default' };
      const { guardrails, total } = await store.list(place, { offset: 1, limit: 1 });
      expect({ ids: guardrails.map(({ id }) => id), total }).toEqual({ ids: ['late'], total: 2 });
      const everywhere = await store.list({ accountId: 'a', workspaceId: null }, { offset: 1, limit: 1 });
      expect(everywhere.guardrails.map(({ id }) => id)).toEqual(['early']);
      expect(everywhere.total).toBe(3);
      expect((await store.listAll('a')).map(({ id }) => id)).toEqual(['elsewhere', 'early', 'late']);
      expect(await store.listAll('b')).toEqual([]);
    });

    it('changes what is decided, for the account that owns it', async () => {
      await store.insert(guardrail('g'));
      const changed = await store.update('a', 'g', ({ name }) => ({ name: `${name}!` }), 7);
      expect(changed).toEqual(guardrail('g', { name: 'a guardrail!', updatedAtMs: 7 }));
      expect(await store.find('a', 'g')).toEqual(changed);
      expect(await store.update('b', 'g', () => ({ name: 'x' }), 8)).toBeUndefined();
      const failing = store.update(
        'a',
        'g',
        () => {
          throw new Error('refused');
        },
        9,
      );
      await expect(failing).rejects.toThrow('refused');
      expect(await store.find('a', 'g')).toEqual(changed);
    });

    it('assigns a key to one guardrail only, and a member of the same name beside it', async () => {
      await store.insert(guardrail('g'));
      await store.insert(guardrail('h'));
      await store.assign([assignment('x'), assignment('y')]);
      await store.assign([assignment('x', { id: 'member', kind: 'member', assignedBy: 'boss' })]);
      expect(await store.assign([assignment('x')])).toEqual([]);
      const replaced = await store.assign([
        assignment('x', { id: 'moved', guardrailId: 'h', createdAtMs: 2 }),
        assignment('z', { guardrailId: 'h', createdAtMs: 3 }),
      ]);
      expect(replaced).toEqual([assignment('x')]);
      expect(await subjects({ accountId: 'a', kind: 'key', subject: 'x' })).toEqual({
        subjects: ['x'],
        total: 1,
      });
      await store.unassign('h', 'key', ['z']);
      expect(await subjects({ accountId: 'a', kind: 'key', guardrailId: 'g' })).toEqual({
        subjects: ['y'],
        total: 1,
      });
      expect(await subjects({ accountId: 'a', kind: 'key' }, { offset: 1, limit: 1 })).toEqual({
        subjects: ['x'],
        total: 2,
      });
      const ofKey = await store.assignmentsOf('a', { key: 'x', member: null });
      expect(ofKey).toEqual([assignment('x', { id: 'moved', guardrailId: 'h', createdAtMs: 2 })]);
      const ofBoth = await store.assignmentsOf('a', { key: 'x', member: 'x' });
      expect(ofBoth.map(({ guardrailId }) => guardrailId).sort()).toEqual(['g', 'h']);
      expect(await store.assignmentsOf('b', { key: 'x', member: 'x' })).toEqual([]);
    });

    it('counts the keys and members of each guardrail of an account', async () => {
      for (const id of ['g', 'h', 'unassigned']) await store.insert(guardrail(id));
      await store.assign([
        assignment('x'),
        assignment('y'),
        assignment('x', { id: 'member', kind: 'member' }),
        assignment('z', { guardrailId: 'h' }),
      ]);
      expect(Object.fromEntries(await store.countAssignments('a'))).toEqual({
        g: { key: 2, member: 1 },
        h: { key: 1, member: 0 },
      });
      expect((await store.countAssignments('b')).size).toBe(0);
    });

    it('removes assignments of the guardrail that is named', async () => {
      await store.insert(guardrail('g'));
      await store.insert(guardrail('h'));
      await store.assign([assignment('x'), assignment('y', { guardrailId: 'h' })]);
      expect(await store.unassign('g', 'key', ['x', 'y', 'z'])).toBe(1);
      expect(await subjects({ accountId: 'a', kind: 'key' })).toEqual({ subjects: ['y'], total: 1 });
    });

    it('deletes a guardrail with its assignments', async () => {
      await store.insert(guardrail('g'));
      await store.assign([assignment('x')]);
      expect(await store.delete('b', 'g')).toBe(false);
      expect(await store.delete('a', 'g')).toBe(true);
      expect(await store.delete('a', 'g')).toBe(false);
      expect(await subjects({ accountId: 'a', kind: 'key' })).toEqual({ subjects: [], total: 0 });
    });

    it('loses what belongs to a deleted key or workspace', async () => {
      const { tenancy } = under;
      await tenancy.createWorkspace(workspaceOf({ id: 'w', accountId: 'a', slug: 'w', isDefault: false }));
      await store.insert(guardrail('g', { workspaceId: 'w' }));
      await store.insert(guardrail('h'));
      const keys = ['x', 'y'].map((hash) =>
        keyOf({ hash, accountId: 'a', workspaceId: hash === 'y' ? 'w' : 'a-default', disabled: true }),
      );
      for (const key of keys) await tenancy.insertKey(key);
      await store.assign([
        assignment('x', { guardrailId: 'h' }),
        assignment('y', { guardrailId: 'h' }),
        assignment('m', { kind: 'member' }),
      ]);
      await tenancy.deleteKey('x');
      expect(await subjects({ accountId: 'a', kind: 'key' })).toEqual({ subjects: ['y'], total: 1 });
      expect((await tenancy.deleteWorkspace('a', 'w', 2)).kind).toBe('deleted');
      expect((await store.listAll('a')).map(({ id }) => id)).toEqual(['h']);
      for (const kind of ['key', 'member'] as const) {
        expect(await subjects({ accountId: 'a', kind })).toEqual({ subjects: [], total: 0 });
      }
    });
  });
}
