import { expect, it } from 'vitest';
import { isByKey, objectFolder } from './object-folder.ts';

const facts = { atMs: Date.UTC(2026, 0, 2, 23, 59), apiKeyName: 'Team / key #1' };

it.each([
  ['{prefix}/{date}', 'a/b/', 'a/b/2026-01-02'],
  ['{prefix}/{date}', '', '2026-01-02'],
  ['logs/year={year}/{month}/{day}', '', 'logs/year=2026/01/02'],
  ['{apiKeyName}/../x', '', 'Team___key__1/x'],
  ['{prefix}', '', ''],
])('fills %s with prefix "%s": %s', (pathTemplate, prefix, folder) => {
  expect(objectFolder({ pathTemplate, prefix }, facts)).toBe(folder);
});

it('names a key that is gone', () => {
  expect(objectFolder({ pathTemplate: '{apiKeyName}', prefix: '' }, { ...facts, apiKeyName: null })).toBe(
    'unknown',
  );
});

it('knows whether keys have folders of their own', () => {
  expect(isByKey({ pathTemplate: '{date}/{apiKeyName}' })).toBe(true);
  expect(isByKey({ pathTemplate: '{date}' })).toBe(false);
});
