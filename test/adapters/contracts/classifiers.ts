import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type {
  ClassificationStore,
  ClassifierRun,
  ClassifierRunStore,
  ClassifierStore,
} from '../../../src/ports/following/classifiers.ts';
import type { Tenancy } from '../../../src/ports/tenancy/tenancy.ts';
import { classificationOf, classifierOf } from '../../kit/builders/classifiers.ts';
import { workspaceOf } from '../../kit/builders/tenancy.ts';

/** Adapters under test, with the tenancy that the classifiers belong to, and how to close them. */
export interface ClassifiersUnderTest {
  readonly classifiers: ClassifierStore;
  readonly classifications: ClassificationStore;
  readonly runs: ClassifierRunStore;
  readonly tenancy: Tenancy;
  close(): Promise<void>;
}

const ALL = { offset: 0, limit: 100 };

/** What the stores of classifiers must do. `open` gives empty ones each time. */
export function classifierContract(name: string, open: () => Promise<ClassifiersUnderTest>): void {
  describe(`classifiers: ${name}`, () => {
    let under: ClassifiersUnderTest;

    beforeEach(async () => {
      under = await open();
      for (const id of ['a', 'b']) {
        await under.tenancy.createAccount(
          { id, name: id, createdAtMs: 1 },
          workspaceOf({ id: `${id}-default`, accountId: id }),
        );
      }
    });

    afterEach(() => under.close());

    const classifier = (id: string, more = {}) =>
      classifierOf({ id, accountId: 'a', workspaceId: 'a-default', ...more });

    describe('ClassifierStore', () => {
      it('keeps every field, and the one that has the id already', async () => {
        const whole = classifier('c', {
          description: 'Line one\nline two',
          samplingRate: 0.25,
          monthlyBudgetNanos: 9_007_199_254_740_993_000_000_001n,
          updatedAtMs: 5,
          fileMember: 'workspaces[0].classifiers[0]',
        });
        expect(await under.classifiers.insert(whole)).toEqual(whole);
        expect(await under.classifiers.insert(classifier('c', { name: 'other' }))).toEqual(whole);
        expect(await under.classifiers.find('a', 'c')).toEqual(whole);
        expect(await under.classifiers.find('b', 'c')).toBeUndefined();
      });

      it('has at most one that is active in a workspace', async () => {
        await under.classifiers.insert(classifier('c'));
        expect(await under.classifiers.insert(classifier('d'))).toBe('has-active');
        await under.classifiers.insert(classifier('d', { isActive: false }));
        await under.classifiers.insert(classifier('e', { accountId: 'b', workspaceId: 'b-default' }));
        expect(await under.classifiers.update('a', 'd', () => ({ isActive: true }), 3)).toBe('has-active');
        const two = await Promise.allSettled([
          under.classifiers.update('a', 'c', () => ({ isActive: false }), 3),
          under.classifiers.update('a', 'c', () => ({ name: 'changed' }), 4),
        ]);
        expect(two.map(({ status }) => status)).toEqual(['fulfilled', 'fulfilled']);
        expect(await under.classifiers.update('a', 'd', () => ({ isActive: true }), 5)).toMatchObject({
          isActive: true,
          updatedAtMs: 5,
        });
        expect((await under.classifiers.listActive()).map(({ id }) => id)).toEqual(['d', 'e']);
        expect([...(await under.classifiers.listIds())].sort()).toEqual(['c', 'd', 'e']);
      });

      it('reads the content of its workspace while it is active', async () => {
        const found = async () =>
          (await under.tenancy.findWorkspaceById('a', 'a-default'))?.hasContentReaders;
        await under.classifiers.insert(classifier('c', { isActive: false }));
        expect(await found()).toBe(false);
        await under.classifiers.update('a', 'c', () => ({ isActive: true }), 2);
        expect(await found()).toBe(true);
        await under.classifiers.delete('a', 'c');
        expect(await found()).toBe(false);
      });

      it('lists those of a workspace or of all, the oldest first', async () => {
        await under.tenancy.createWorkspace(
          workspaceOf({ id: 'w', accountId: 'a', slug: 'w', isDefault: false }),
        );
        await under.classifiers.insert(classifier('late', { createdAtMs: 3, isActive: false }));
        await under.classifiers.insert(classifier('early', { createdAtMs: 2 }));
        await under.classifiers.insert(classifier('elsewhere', { workspaceId: 'w' }));
        const idsOf = async (workspaceId: string | null, page = ALL) => {
          const { classifiers, total } = await under.classifiers.list('a', workspaceId, page);
          return [...classifiers.map(({ id }) => id), total];
        };
        expect(await idsOf(null)).toEqual(['elsewhere', 'early', 'late', 3]);
        expect(await idsOf('a-default', { offset: 1, limit: 1 })).toEqual(['late', 2]);
        expect((await under.classifiers.list('b', null, ALL)).total).toBe(0);
      });

      it('changes and deletes for the account that owns it, and keeps what a refusal would change', async () => {
        await under.classifiers.insert(classifier('c'));
        const refused = under.classifiers.update(
          'a',
          'c',
          () => {
            throw new Error('refused');
          },
          2,
        );
        await expect(refused).rejects.toThrow('refused');
        expect(await under.classifiers.update('b', 'c', () => ({ name: 'x' }), 2)).toBeUndefined();
        expect(await under.classifiers.delete('b', 'c')).toBe(false);
        expect(await under.classifiers.find('a', 'c')).toEqual(classifier('c'));
        expect(await under.classifiers.delete('a', 'c')).toBe(true);
        expect(await under.classifiers.find('a', 'c')).toBeUndefined();
      });

      it('stays without effect when its workspace is deleted', async () => {
        await under.tenancy.createWorkspace(
          workspaceOf({ id: 'w', accountId: 'a', slug: 'w', isDefault: false }),
        );
        await under.classifiers.insert(classifier('c', { workspaceId: 'w', fileMember: 'workspaces[0]' }));
        expect((await under.tenancy.deleteWorkspace('a', 'w', 9)).kind).toBe('deleted');
        expect(await under.classifiers.find('a', 'c')).toMatchObject({ isActive: false, fileMember: null });
      });
    });

    describe('ClassificationStore', () => {
      it('keeps the first of each classifier and generation, in the order of writing', async () => {
        const one = classificationOf({ generationId: 'gen-1' });
        const two = classificationOf({
          generationId: 'gen-2',
          tags: {},
          problem: 'nonsense',
          createdAtMs: 5,
        });
        const other = classificationOf({ classifierId: 'other', generationId: 'gen-1' });
        await under.classifications.add([one, two]);
        await under.classifications.add([]);
        await under.classifications.add([{ ...one, tags: { topic: 'returns' } }, other]);
        expect(await under.classifications.classified(one.classifierId, ['gen-1', 'gen-3'])).toEqual(
          new Set(['gen-1']),
        );
        expect(await under.classifications.classified(one.classifierId, [])).toEqual(new Set());
        const first = await under.classifications.behind(0, 1);
        expect(first.classifications).toEqual([one]);
        const rest = await under.classifications.behind(first.place, 10);
        expect(rest.classifications).toEqual([two, other]);
        expect(await under.classifications.end()).toBe(rest.place);
        expect(await under.classifications.behind(rest.place, 10)).toEqual({
          classifications: [],
          place: rest.place,
        });
        expect(await under.classifications.lastProblem(one.classifierId)).toEqual(two);
        expect(await under.classifications.lastProblem('other')).toBeUndefined();
      });

      it('shows no place before one that was reached, however many write at once', async () => {
        const seen: string[] = [];
        let place = 0;
        let isWriting = true;
        const writing = Promise.all(
          Array.from({ length: 20 }, (_, batch) =>
            under.classifications.add(
              [0, 1, 2].map((index) => classificationOf({ generationId: `gen-${batch}-${index}` })),
            ),
          ),
        ).finally(() => {
          isWriting = false;
        });
        const readOn = async () => {
          const page = await under.classifications.behind(place, 7);
          seen.push(...page.classifications.map(({ generationId }) => generationId));
          place = page.place;
          return page.classifications.length > 0;
        };
        while (isWriting) await readOn();
        await writing;
        while (await readOn());
        expect(seen.length).toBe(60);
        expect(new Set(seen).size).toBe(60);
      });

      it('prunes by the time of generations, and gives no place twice', async () => {
        await under.classifications.add([
          classificationOf({ generationId: 'old', createdAtMs: 5 }),
          classificationOf({ generationId: 'new', createdAtMs: 4 }),
        ]);
        expect(await under.classifications.prune(6)).toBe(2);
        const end = await under.classifications.end();
        await under.classifications.add([classificationOf({ generationId: 'next', createdAtMs: 7 })]);
        expect((await under.classifications.behind(end, 5)).classifications).toHaveLength(1);
      });
    });

    describe('ClassifierRunStore', () => {
      const progress = {
        state: 'running',
        place: null,
        seen: 0,
        tagged: 0,
        withoutContent: 0,
        failed: 0,
        spentNanos: 0n,
        problem: null,
        updatedAtMs: 1,
      } as const;
      const run = (id: string, more: Partial<ClassifierRun> = {}): ClassifierRun => ({
        id,
        classifierId: 'c',
        accountId: 'a',
        fromMs: 10,
        toMs: 20,
        budgetNanos: 5_000_000_000_000_000_000_000n,
        progress,
        createdAtMs: 1,
        ...more,
      });

      it('keeps every field, and lists the newest first', async () => {
        const ended = { ...progress, state: 'done' as const };
        await under.runs.insert(run('s', { createdAtMs: 2, budgetNanos: null, progress: ended }));
        await under.runs.insert(run('r'));
        await under.runs.insert(run('t', { classifierId: 'other' }));
        expect(await under.runs.find('a', 'c', 'r')).toEqual(run('r'));
        expect(await under.runs.find('b', 'c', 'r')).toBeUndefined();
        expect(await under.runs.find('a', 'other', 'r')).toBeUndefined();
        const { runs, total } = await under.runs.list('a', 'c', { offset: 0, limit: 1 });
        expect([runs.map(({ id }) => id), total]).toEqual([['s'], 2]);
      });

      it('has one under way of each classifier, however many are started at once', async () => {
        const ids = ['r', 's', 't', 'u', 'v', 'w'];
        const started = await Promise.all(ids.map((id) => under.runs.insert(run(id))));
        expect(started.filter((isStored) => isStored)).toHaveLength(1);
        expect(await under.runs.listRunning()).toHaveLength(1);
        expect(await under.runs.insert(run('x', { classifierId: 'other' }))).toBe(true);
      });

      it('notes progress of what runs, and nothing after the end', async () => {
        await under.runs.insert(run('r'));
        const further = {
          ...progress,
          place: { settledAtMs: 12, id: 'gen-1' },
          seen: 3,
          tagged: 2,
          withoutContent: 1,
          spentNanos: 7n,
        };
        expect(await under.runs.note('r', further)).toBe(true);
        expect(await under.runs.find('a', 'c', 'r')).toEqual(run('r', { progress: further }));
        expect((await under.runs.listRunning()).map(({ id }) => id)).toEqual(['r']);
        const ended = { ...further, state: 'stopped', problem: 'the budget is spent' } as const;
        expect(await under.runs.note('r', ended)).toBe(true);
        expect(await under.runs.note('r', further)).toBe(false);
        expect(await under.runs.listRunning()).toEqual([]);
        expect((await under.runs.find('a', 'c', 'r'))?.progress).toEqual(ended);
      });
    });
  });
}
