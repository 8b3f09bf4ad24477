import { execFileSync } from 'node:child_process';
import { expect, it } from 'vitest';
import { shellWord } from './shell-word.ts';

it.each([
  ['/var/lib/signalbox', '/var/lib/signalbox'],
  ['/my data', "'/my data'"],
  ["/it's", String.raw`'/it'\''s'`],
  ['a\nb', String.raw`$'a\U0000000ab'`],
])('writes %j', (text, word) => {
  expect(shellWord(text)).toBe(word);
});

it.each(['/plain', 'two words', "it's $HOME; `x`", "line\nbreak 'and' \\ more\u001b[2J", ''])(
  'gives %j back',
  (text) => {
    const echoed = execFileSync('bash', ['-c', `printf %s ${shellWord(text)}`]);
    expect(echoed.toString()).toBe(text);
  },
);
