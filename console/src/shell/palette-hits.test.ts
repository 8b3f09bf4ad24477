import { expect, it } from 'vitest';
import { hitsFor } from './palette-hits.ts';

const SEARCHED = {
  views: [
    { title: 'Log', path: '/log', shortcut: 'l' },
    { title: 'Keys', path: '/keys', shortcut: null },
  ],
  keys: [{ hash: 'ab12', name: '', label: 'sk-…logs' }],
  models: [{ value: 'acme/logic', label: 'acme/logic' }],
  workspaces: [{ value: 'w-1', label: 'Logistics' }],
};

it('offers the views without a text', () => {
  expect(hitsFor('', SEARCHED).map(({ title, detail }) => [title, detail])).toEqual([
    ['Log', 'G L'],
    ['Keys', ''],
  ]);
});

it('finds what is called so, of every kind, with its place and its rows in the log', () => {
  expect(hitsFor('LOG', SEARCHED).map(({ address, logAddress }) => [address, logAddress])).toEqual([
    ['/log', undefined],
    ['/keys#ab12', '/log?key=ab12'],
    ['/models?open=acme%2Flogic&search=acme%2Flogic', '/log?model=acme%2Flogic'],
    ['/workspaces#w-1', '/log?workspace=w-1'],
  ]);
});

it('finds a view by the word of its address', () => {
  const views = [{ title: 'Signed-in browsers', path: '/sessions', shortcut: null }];
  expect(hitsFor('sess', { ...SEARCHED, views })[0]?.address).toBe('/sessions');
});

it('opens a generation by its id', () => {
  expect(hitsFor('gen-1-abc', SEARCHED)).toEqual([
    { title: 'gen-1-abc', detail: 'Generation', address: '/log#gen-1-abc' },
  ]);
});
