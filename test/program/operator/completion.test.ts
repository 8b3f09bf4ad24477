import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { COMMAND_TABLE, FLAGS } from '../../../src/cli/command-table.ts';
import { completionScript } from '../../../src/cli/commands/completion.ts';
import { temporaryDirectory } from '../../adapters/contracts/temporary-directory.ts';

let temporary: ReturnType<typeof temporaryDirectory>;

beforeAll(() => {
  temporary = temporaryDirectory();
});

afterAll(() => temporary.remove());

/** What bash offers for the last of these words. */
function offeredBy(...words: string[]): string[] {
  const typed = words.map((word) => `'${word}'`).join(' ');
  const lines = `COMP_WORDS=(signalbox ${typed}); COMP_CWORD=${words.length}; _signalbox; echo "\${COMPREPLY[*]}"`;
  const { stdout, stderr } = spawnSync('bash', ['--norc'], {
    input: `${completionScript('bash').text}\n${lines}\n`,
    encoding: 'utf8',
  });
  expect(stderr).toBe('');
  return stdout.trim().split(' ').filter(Boolean);
}

/** The script in a file: fish reads none from a pipe. */
function writtenScript(shell: string): string {
  const file = join(temporary.path, shell);
  writeFileSync(file, completionScript(shell).text);
  return file;
}

function hasShell(shell: string): boolean {
  return spawnSync(shell, ['-c', 'true']).status === 0;
}

describe('signalbox completion', () => {
  it.skipIf(!hasShell('bash'))('completes commands, flags, values and operands in bash', () => {
    expect(offeredBy('ke')).toEqual(['keys']);
    expect(offeredBy('keys', 'cr')).toEqual(['create']);
    expect(offeredBy('keys', 'create', '--man')).toEqual(['--management']);
    expect(offeredBy('keys', 'create', '--limit-reset', '')).toEqual(['daily', 'weekly', 'monthly', 'never']);
    expect(offeredBy('--data-dir', 'keys', 'keys', 're')).toEqual(['revoke']);
    expect(offeredBy('--po')).toEqual(['--port']);
    expect(offeredBy('keys', 'list', '--po')).toEqual([]);
    expect(offeredBy('completion', 'z')).toEqual(['zsh']);
    expect(offeredBy('check-config', 'si')).toEqual([]);
  });

  it.skipIf(!hasShell('fish'))('completes them in fish, with what they mean', () => {
    const lines = ['ke', 'keys cr', 'keys create --limit-reset ', '--data-dir keys keys re', 'help byo'];
    const asked = lines.map((line) => `complete -C 'signalbox ${line}'`).join('\n');
    const script = `source ${writtenScript('fish')}\n${asked}\n`;
    const { stdout } = spawnSync('fish', ['--no-config', '-c', script], { encoding: 'utf8' });
    const offered = stdout.split('\n').map((line) => line.split('\t', 1)[0]);
    const values = ['daily', 'monthly', 'never', 'weekly'];
    expect(offered).toEqual(['keys', 'create', ...values, 'revoke', 'byok', '']);
    expect(stdout).toContain('create\tmake a key and print its secret once\n');
  });

  it.each(['bash', 'zsh', 'fish'])('knows every command and flag in %s', (shell) => {
    const { text } = completionScript(shell);
    const words = new Set(text.split(/[^\w-]+/));
    const wanted = [...Object.keys(COMMAND_TABLE).flatMap((name) => name.split(' ')), ...Object.keys(FLAGS)];
    // The version flag belongs to no command.
    const isMissing = (word: string) => !words.has(word) && !words.has(`--${word}`) && word !== 'version';
    expect(wanted.filter(isMissing)).toEqual([]);
  });

  it.each(['bash', 'zsh', 'fish'])('is a script that %s can read, where that is installed', (shell) => {
    if (!hasShell(shell)) return;
    const { status, stderr } = spawnSync(shell, ['-n', writtenScript(shell)], { encoding: 'utf8' });
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
  });
});
