import { expect, it } from 'vitest';
import { appHostOf } from './app-host.ts';

it.each([
  ['https://APP.example/a?b', null, 'app.example'],
  ['https://app.example:443', null, 'app.example'],
  ['http://localhost:3000', null, null],
  ['http://localhost:3000', 'Mine', 'localhost:3000'],
  ['http://[::1]:3000', null, null],
  ['mailto:someone', 'Mine', null],
  ['no address', 'Mine', null],
  [null, 'Mine', null],
])('knows the app of %s with the title %s as %s', (referer, title, app) => {
  expect(appHostOf(referer, title)).toBe(app);
});
