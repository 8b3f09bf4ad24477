import { describe, expect, it } from 'vitest';
import { COMMAND_TABLE, parseCommandLine, usageText } from './command-line.ts';

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
    ['usage import f --skip-bad', 'usage import', ['f'], { 'skip-bad': true }],
  ])('understands "%s"', (text, command, operands, flags) => {
    expect(parse(text)).toEqual({ kind: 'run', command, operands, flags });
  });

  it.each([
    ['frobnicate', 'unknown command: frobnicate'],
    ['keys', 'keys alone is no command; there is keys create, keys list, keys revoke'],
    ['keys burn', 'unknown command: keys burn; there is keys create, keys list, keys revoke'],
    ['ledger', 'ledger alone is no command; there is ledger verify, ledger rebuild, ledger accept-loss'],
    ['constructor', 'unknown command: constructor'],
    ['serve --colour', 'unknown flag: --colour'],
    ['serve -p', 'unknown flag: -p'],
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
    expect(parse('--help')).toEqual({ kind: 'help', command: undefined });
    expect(parse('serve --help')).toEqual({ kind: 'help', command: 'serve' });
    expect(parse('keys create --help')).toEqual({ kind: 'help', command: 'keys create' });
    expect(parse('frobnicate --help')).toEqual({ kind: 'help', command: undefined });
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
});
