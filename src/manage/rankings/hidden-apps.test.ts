import { expect, it } from 'vitest';
import { hiddenBy } from './hidden-apps.ts';

it.each([
  ['app.example', 'app.example', true],
  ['App.Example', 'app.example', true],
  ['app.example', 'app.example:8080', true],
  ['app.example:8080', 'app.example:8080', true],
  ['app.example:8080', 'app.example', false],
  ['app.example:8080', 'app.example:80801', false],
  ['app.example:443', 'app.example', true],
  ['app.example', 'sub.app.example', false],
  ['example', 'app.example', false],
  ['*.example', 'app.example', true],
  ['*.example', 'a.b.example:8080', true],
  ['*.b.example:8080', 'a.b.example:8080', true],
  ['*.b.example:8080', 'a.b.example', false],
  ['*.app.example', 'app.example', false],
  ['[::1]', '[::1]:3000', true],
  ['::1', '[::1]:3000', true],
  ['::1', '[::1]', true],
])('%s and %s: %s', (hidden, app, isHidden) => {
  expect(hiddenBy(['other.example', hidden])(app)).toBe(isHidden);
  expect(hiddenBy([])(app)).toBe(false);
});
