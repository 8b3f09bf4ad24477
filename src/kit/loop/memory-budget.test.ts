import { expect, test } from 'vitest';
import { MemoryBudget } from './memory-budget.ts';

const NEVER = new AbortController().signal;
const LONG_MS = 60_000;

function budgetOf(limit: number) {
  return new MemoryBudget(() => limit);
}

test('a single share gets more than the limit if no other has anything', () => {
  const budget = budgetOf(100);
  const share = budget.open('a');
  expect(share.tryGrowTo(1_000)).toBe(true);
  expect(budget.open('b').tryGrowTo(1)).toBe(false);
  share.free();
  expect(budget.takenBytes).toBe(0);
  expect(budget.open('b').tryGrowTo(1)).toBe(true);
});

test('refuses what exceeds the limit, and leaves a part to other owners', () => {
  const budget = budgetOf(100);
  expect(budget.open('a').tryGrowTo(60)).toBe(true);
  expect(budget.open('a').tryGrowTo(20)).toBe(false);
  expect(budget.open('b').tryGrowTo(41)).toBe(false);
  expect(budget.open('b').tryGrowTo(40)).toBe(true);
});

test('grants in the order of waiting: a small one does not overtake a large one', async () => {
  const budget = budgetOf(100);
  const first = budget.open('a');
  const second = budget.open('b');
  first.tryGrowTo(50);
  second.tryGrowTo(40);
  const granted: string[] = [];
  const large = budget.open('c');
  const waits = [
    large.growTo(50, LONG_MS, NEVER).then(() => granted.push('large')),
    budget
      .open('d')
      .growTo(10, LONG_MS, NEVER)
      .then(() => granted.push('small')),
  ];
  await Promise.resolve();
  expect(granted).toEqual([]);
  expect(budget.open('e').tryGrowTo(1)).toBe(false);
  first.free();
  await Promise.all(waits);
  expect(granted).toEqual(['large', 'small']);
  expect(budget.takenBytes).toBe(100);
});

test('shares that grow never wait for each other: the first gets beyond the limit', async () => {
  const budget = budgetOf(100);
  const first = budget.open('a');
  const second = budget.open('b');
  first.tryGrowTo(50);
  second.tryGrowTo(50);
  const later = second.growTo(80, LONG_MS, NEVER);
  expect(await first.growTo(90, LONG_MS, NEVER)).toBe(true);
  first.free();
  expect(await later).toBe(true);
  expect(budget.takenBytes).toBe(80);
});

test('gives up after a time, and when aborted', async () => {
  const budget = budgetOf(10);
  budget.open('a').tryGrowTo(10);
  expect(await budget.open('b').growTo(1, 1, NEVER)).toBe(false);
  const controller = new AbortController();
  const waiting = budget.open('b').growTo(1, LONG_MS, controller.signal);
  controller.abort();
  expect(await waiting).toBe(false);
  expect(budget.takenBytes).toBe(10);
});

test('a share that was freed while it waited keeps nothing', async () => {
  const budget = budgetOf(10);
  const first = budget.open('a');
  first.tryGrowTo(10);
  const second = budget.open('b');
  const waiting = second.growTo(5, LONG_MS, NEVER);
  second.free();
  first.free();
  await waiting;
  expect(budget.takenBytes).toBe(0);
});
