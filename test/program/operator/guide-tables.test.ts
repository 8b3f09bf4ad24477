import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { PROVIDER_TABLE } from '../../../src/catalog/providers/provider-table.ts';
import {
  COMMAND_GROUPS,
  COMMAND_TABLE,
  COMMANDS_BY_WORDS,
  type CommandWords,
} from '../../../src/cli/command-table.ts';

/** The rows of a page's tables whose first cell begins with a code span, with the code spans of each row. */
function rowsOf(page: string): { first: readonly string[]; all: readonly string[] }[] {
  const text = readFileSync(fileURLToPath(new URL(`../../../docs/guide/${page}`, import.meta.url)), 'utf8');
  const spansOf = (cell: string) => [...cell.matchAll(/`([^`]+)`/g)].map(([, span]) => span as string);
  return text
    .split('\n')
    .filter((line) => line.startsWith('| `'))
    .map((line) => ({ first: spansOf(line.split(' | ')[0] ?? ''), all: spansOf(line) }));
}

/** The command that a code span such as `signalbox keys revoke HASH` names. */
function commandIn(span: string): CommandWords | undefined {
  const typed = `${span.replace(/^signalbox /, '')} `;
  return COMMANDS_BY_WORDS.find(([words]) => typed.startsWith(`${words} `))?.[0];
}

it('lists every command, each with flags that it takes', () => {
  const rows = rowsOf('commands.md').map(({ first, all }) => ({
    commands: first.flatMap((span) => commandIn(span) ?? []),
    flags: all.flatMap((span) => [...span.matchAll(/--([a-z-]+)/g)].map(([, flag]) => flag as string)),
  }));
  const listed = new Set(rows.flatMap(({ commands }) => commands));
  expect(COMMANDS_BY_WORDS.map(([words]) => words).filter((words) => !listed.has(words))).toEqual([]);
  const foreign = rows.flatMap(({ commands, flags }) => {
    const taken = new Set<string>(commands.flatMap((words) => COMMAND_TABLE[words].flags));
    return flags.filter((flag) => !taken.has(flag)).map((flag) => `${commands}: --${flag}`);
  });
  expect(foreign).toEqual([]);
});

it('names the variables that switch each provider on', () => {
  const rows = rowsOf('providers.md').filter(({ first }) => first.some((slug) => slug in PROVIDER_TABLE));
  expect(rows.length).toBeGreaterThan(8);
  const unknown = rows.flatMap(({ first, all }) => {
    const known = JSON.stringify(first.map((slug) => PROVIDER_TABLE[slug]));
    return all.filter((span) => /^[A-Z][A-Z_]+$/.test(span) && !known.includes(`"${span}"`));
  });
  expect(unknown).toEqual([]);
});

it('the usage text has every command in one group', () => {
  const grouped = COMMAND_GROUPS.flatMap(([, words]) => words);
  const first = COMMANDS_BY_WORDS.map(([words]) => words.split(' ', 1)[0]);
  expect(grouped.toSorted()).toEqual([...new Set(first)].toSorted());
});
