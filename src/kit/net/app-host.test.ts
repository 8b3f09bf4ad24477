import { expect, it } from 'vitest';
import { appHostOf } from './app-host.ts';

it.each([
  ['https://APP.example/a?b', null, 'app.example'],
  ['https://app.example:443', null, 'app.example'],
  ['http://localhost:3000', null, null],
  ['http://localhost:3000', 'Mine', 'localhost:3000'],
  ['http://[::1]:3000', null, null],
  ['http://[::]:3000', null, null],
  ['http://127.0.0.2', null, null],
  ['http://0.0.0.0:8080', null, null],
  ['http://mine.localhost', null, null],
  ['http://mine.localhost', 'Mine', 'mine.localhost'],
  ['https://localhost.example', null, 'localhost.example'],
  ['https://app.example.:8443/', null, 'app.example:8443'],
  ['https://one.example,https://two.example', null, null],
  ['https://bücher.example', null, 'xn--bcher-kva.example'],
  ['https://my_app.example', null, 'my_app.example'],
  ['mailto:someone', 'Mine', null],
  ['no address', 'Mine', null],
  [null, 'Mine', null],
])('knows the app of %s with the title %s as %s', (referer, title, app) => {
  expect(appHostOf(referer, title)).toBe(app);
});
