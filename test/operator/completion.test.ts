import { spawnSync } from 'node:child_process';
import { describe, expect, it } from 'vitest';
import { COMMAND_TABLE, FLAGS } from '../../src/cli/command-table.ts';
import { completionScript } from '../../src/cli/commands/completion.ts';

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
    const { status, stderr } = spawnSync(shell, ['-n'], {
      input: completionScript(shell).text,
      encoding: 'utf8',
    });
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
  });
});
