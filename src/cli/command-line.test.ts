import { describe, expect, it } from 'vitest';
import { parseCommandLine } from './command-line.ts';
import { COMMAND_TABLE } from './command-table.ts';
import { usageText } from './run.ts';

const parse = (text: string) => parseCommandLine(text === '' ? [] : text.split(' '));

describe('parseCommandLine', () => {
  it.each([
    ['', 'serve', [], {}],
    ['--port 9000 --config my.yaml', 'serve', [], { port: '9000', config: 'my.yaml' }],
    ['serve --host=::1', 'serve', [], { host: '::1' }],
    ['check-config a.yaml --json', 'check-config', ['a.yaml'], { json: true }],
    ['keys create --name n --management', 'keys create', [], { name: 'n', management: true }],
    ['--data-dir d keys list', 'keys list', [], { 'data-dir': 'd' }],
    ['keys revoke abcd --account acme', 'keys revoke', ['abcd'], { account: 'acme' }],
    ['accounts create acme', 'accounts create', ['acme'], {}],
    ['doctor --json', 'doctor', [], { json: true }],
    ['completion zsh', 'completion', ['zsh'], {}],
    ['usage import f --skip-bad', 'usage import', ['f'], { 'skip-bad': true }],
  ])('understands "%s"', (text, command, operands, flags) => {
    expect(parse(text)).toEqual({ kind: 'run', command, operands, flags });
  });

  it.each([
    ['frobnicate', 'unknown command: frobnicate'],
    [
      'keys',
      'keys alone is no command; there is keys create, keys list, keys show, keys update, keys disable, keys enable, keys revoke',
    ],
    [
      'keys burn',
      'unknown command: keys burn; there is keys create, keys list, keys show, keys update, keys disable, keys enable, keys revoke',
    ],
    ['ledger', 'ledger alone is no command; there is ledger verify, ledger rebuild, ledger accept-loss'],
    ['constructor', 'unknown command: constructor'],
    ['dcotor', 'unknown command: dcotor; did you mean doctor?'],
    ['key list', 'unknown command: key list; did you mean keys list?'],
    ['keys revok 12345678', 'unknown command: keys revok 12345678; did you mean keys revoke?'],
    ['leger', 'unknown command: leger; did you mean ledger?'],
    ['serve --colour', 'unknown flag: --colour'],
    ['serve --prot 9000', 'unknown flag: --prot; did you mean --port?'],
    ['--prot 9000', 'unknown flag: --prot; did you mean --port?'],
    [
      'keys create --name n --limit-reset weakly',
      '--limit-reset: weakly is none of daily, weekly, monthly, never; did you mean weekly?',
    ],
    ['completion tcsh', 'argument: tcsh is none of bash, zsh, fish'],
    ['serve -p', 'unknown flag: -p'],
    ['budgets set daily -1', 'a number or an amount must not be negative'],
    ['keys list --port 1', 'unknown flag: --port'],
    ['serve --port', '--port needs a PORT'],
    ['serve --port=', '--port needs a PORT'],
    ['keys list --json=yes', '--json takes no value'],
    ['keys create', '--name NAME is missing'],
    ['keys revoke', 'HASH is missing'],
    ['accounts create', 'NAME is missing'],
    ['keys list extra', 'unexpected argument: extra'],
    ['serve extra', 'unexpected argument: extra'],
  ])('refuses "%s"', (text, message) => {
    expect(parse(text)).toMatchObject({ kind: 'misuse', message });
  });

  it('shows help and version wherever they are asked for', () => {
    expect(parse('--help')).toEqual({ kind: 'help', topic: '' });
    expect(parse('serve --help')).toEqual({ kind: 'help', topic: 'serve' });
    expect(parse('keys create --help')).toEqual({ kind: 'help', topic: 'keys create' });
    expect(parse('keys --help')).toEqual({ kind: 'help', topic: 'keys' });
    expect(parse('frobnicate --help')).toEqual({ kind: 'help', topic: '' });
    expect(parse('help')).toEqual({ kind: 'help', topic: '' });
    expect(parse('help keys')).toEqual({ kind: 'help', topic: 'keys' });
    expect(parse('keys help')).toEqual({ kind: 'help', topic: 'keys' });
    expect(parse('help keys create')).toEqual({ kind: 'help', topic: 'keys create' });
    expect(parse('help kyes')).toMatchObject({
      kind: 'misuse',
      message: 'unknown command: kyes; did you mean keys?',
    });
    expect(parse('help keys creat')).toMatchObject({ kind: 'misuse', topic: 'keys' });
    expect(parse('--version')).toEqual({ kind: 'version' });
  });
});

describe('usageText', () => {
  it('lists every command, with its operands, and every flag', () => {
    const text = usageText();
    for (const words of Object.keys(COMMAND_TABLE)) expect(text).toContain(`signalbox ${words}`);
    expect(text).toContain('keys revoke HASH');
    expect(text).toContain('--data-dir DIRECTORY');
  });

  it('is about one command when one is named', () => {
    const text = usageText('keys list');
    expect(text).toContain('signalbox keys list');
    expect(text).not.toContain('--port');
  });

  it('is about one group when one is named', () => {
    const lines = usageText('keys').split('\n');
    const commands = lines.filter((line) => line.startsWith('  signalbox'));
    expect(commands.length).toBeGreaterThan(2);
    expect(commands.filter((line) => !line.startsWith('  signalbox keys '))).toEqual([]);
    expect(lines.join('\n')).not.toContain('--new-key-file');
  });
});
