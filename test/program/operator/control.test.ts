import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { openInstallation } from '../../../src/app/installation.ts';
import { type ControlSocket, listenForCommands } from '../../../src/control/listen.ts';
import { sendCommand } from '../../../src/control/send-command.ts';
import { findSocketPath, releaseSocketPath } from '../../../src/control/socket-path.ts';
import { openLog } from '../../../src/kit/log/log.ts';
import { isDirectoryInUse } from '../../../src/store/directory/data-directory-problem.ts';
import { temporaryDirectory } from '../../adapters/contracts/temporary-directory.ts';

const log = openLog({ level: 'silent', readable: false, write: () => {}, now: () => 0 });
let temporary: ReturnType<typeof temporaryDirectory>;

beforeEach(() => {
  temporary = temporaryDirectory();
});

afterEach(() => temporary.remove());

const open = (dataDir: string) => openInstallation({ dataDir, keyPrefix: 'sk-' });
const send = (dataDir: string, patienceMs = 300) => ({
  dataDir,
  openAlone: () => open(dataDir),
  isInUse: isDirectoryInUse,
  patienceMs,
});

/** A gateway as far as commands are concerned. */
async function serveCommands(dataDir: string) {
  const installation = await open(dataDir);
  const socket = await listenForCommands(dataDir, installation, log);
  return {
    installation,
    async close() {
      await socket.close();
      await installation.close();
    },
  };
}

describe.each([
  ['a short path', 'data'],
  ['a path too long for a socket', `${'long-'.repeat(30)}/data`],
])('commands in %s', (_name, folder) => {
  it('go to the running gateway, which sees the change at once', async () => {
    const dataDir = join(temporary.path, folder);
    mkdirSync(dataDir, { recursive: true });
    const gateway = await serveCommands(dataDir);
    try {
      const made = await sendCommand(send(dataDir), 'keys.create', { name: 'n', management: true });
      expect((await gateway.installation.callers.find(made.key))?.key.isManagement).toBe(true);
      expect(await sendCommand(send(dataDir), 'keys.list', {})).toHaveLength(1);
      await sendCommand(send(dataDir), 'keys.revoke', { hash: made.hash });
      expect(await gateway.installation.callers.find(made.key)).toBeUndefined();
    } finally {
      await gateway.close();
    }
    expect(readdirSync(dataDir)).not.toContain('control.sock');
  });

  it('work alone when no gateway runs, and are there when it starts', async () => {
    const dataDir = join(temporary.path, folder);
    const made = await sendCommand(send(dataDir), 'accounts.create', { name: 'acme' });
    expect(await sendCommand(send(dataDir), 'accounts.list', {})).toMatchObject([
      { name: 'default' },
      { name: 'acme', id: made.id },
    ]);
    const gateway = await serveCommands(dataDir);
    expect((await gateway.installation.callers.find(made.management_key))?.accountId).toBe(made.id);
    await gateway.close();
  });

  it('are not misled by a socket that a killed gateway left behind', async () => {
    const dataDir = join(temporary.path, folder);
    mkdirSync(dataDir, { recursive: true });
    writeFileSync(join(dataDir, 'control.sock'), '');
    expect(await sendCommand(send(dataDir), 'accounts.list', {})).toEqual([]);
    const gateway = await serveCommands(dataDir);
    expect(await sendCommand(send(dataDir), 'accounts.list', {})).toEqual([]);
    await gateway.close();
  });

  it('reach a socket that only its owner may use', async () => {
    const dataDir = join(temporary.path, folder);
    const gateway = await serveCommands(dataDir);
    const path = findSocketPath(dataDir) ?? '';
    expect(statSync(path).mode & 0o777).toBe(0o600);
    expect(lstatSync(path).isSocket()).toBe(true);
    await gateway.close();
  });
});

describe('a link that is planted where the socket belongs', () => {
  const NAME = 'control.sock';

  /** A directory as the gateway makes it, with a socket file without a listener. */
  function plant(dataDir: string, directory: string, mode = 0o700): void {
    mkdirSync(dataDir, { recursive: true });
    mkdirSync(directory);
    chmodSync(directory, mode);
    writeFileSync(join(directory, NAME), 'precious');
    symlinkSync(join(directory, NAME), join(dataDir, NAME));
  }

  it.each([
    ['in any directory', 'signalbox-precious'],
    ['in a directory of the temporary place', ''],
  ])('does no harm %s', async (_where, folder) => {
    const dataDir = join(temporary.path, 'data');
    const precious =
      folder === '' ? join(tmpdir(), `signalbox-test-${process.pid}`) : join(temporary.path, folder);
    plant(dataDir, precious);
    try {
      await (await serveCommands(dataDir)).close();
      expect(readFileSync(join(precious, NAME), 'utf8')).toBe('precious');
    } finally {
      rmSync(precious, { recursive: true, force: true });
    }
    expect(readdirSync(dataDir)).not.toContain(NAME);
  });

  it('never leads to a directory that holds more than the socket or is open to others', async () => {
    const dataDir = join(temporary.path, `${'long-'.repeat(30)}/data`);
    const first = await serveCommands(dataDir);
    const made = dirname(readlinkSync(join(dataDir, NAME)));
    await first.close();
    expect(existsSync(made)).toBe(false);
    plant(dataDir, made);
    try {
      writeFileSync(join(made, 'more'), '');
      releaseSocketPath(dataDir);
      expect(readdirSync(made)).toEqual([NAME, 'more']);
      rmSync(join(made, 'more'));
      chmodSync(made, 0o755);
      symlinkSync(join(made, NAME), join(dataDir, NAME));
      releaseSocketPath(dataDir);
      expect(readdirSync(made)).toEqual([NAME]);
    } finally {
      rmSync(made, { recursive: true, force: true });
    }
  });
});

describe('refusals', () => {
  it('have the same message with a gateway and without', async () => {
    const dataDir = join(temporary.path, 'data');
    const questions = async () => {
      await expect(sendCommand(send(dataDir), 'keys.create', { name: 'n', limit: -5 })).rejects.toThrow(
        'limit: must be >= 0',
      );
      await expect(sendCommand(send(dataDir), 'keys.list', { account: 'x' })).rejects.toThrow(
        'there is no account named x',
      );
      await expect(sendCommand(send(dataDir), 'keys.list', { acount: 'x' } as never)).rejects.toThrow(
        'acount: is not a known field',
      );
    };
    await questions();
    const gateway = await serveCommands(dataDir);
    await questions();
    await gateway.close();
  });

  it('name the directory if the process that holds it does not listen', async () => {
    const dataDir = join(temporary.path, 'data');
    const holder = await open(dataDir);
    await expect(sendCommand(send(dataDir, 100), 'keys.list', {})).rejects.toThrow(`${dataDir} is in use`);
    await holder.close();
  });

  it('wait for a gateway that is just starting', async () => {
    const dataDir = join(temporary.path, 'data');
    const holder = await open(dataDir);
    const listing = sendCommand(send(dataDir, 5000), 'keys.list', {});
    await new Promise((resolve) => setTimeout(resolve, 120));
    const socket: ControlSocket = await listenForCommands(dataDir, holder, log);
    expect(await listing).toEqual([]);
    await socket.close();
    await holder.close();
  });
});

describe('the socket', () => {
  it('survives garbage', async () => {
    const dataDir = join(temporary.path, 'data');
    const gateway = await serveCommands(dataDir);
    const ask = (question: string) =>
      new Promise<string>((resolve, reject) => {
        let reply = '';
        const socket = connect(join(dataDir, 'control.sock'), () => socket.end(question));
        socket.on('data', (piece) => {
          reply += piece;
        });
        socket.on('close', () => resolve(reply));
        socket.on('error', reject);
      });
    expect(await ask('')).toBe('');
    for (const nonsense of [
      'x\n',
      'null\n',
      '[1]\n',
      '{"command":"constructor"}\n',
      `${'['.repeat(1000)}\n`,
    ]) {
      expect(JSON.parse(await ask(nonsense))).toMatchObject({ ok: false });
    }
    expect(JSON.parse(await ask('x'.repeat(4_100_000)))).toEqual({
      ok: false,
      problem: 'the command is too long',
    });
    expect(JSON.parse(await ask('{"command":"accounts.list","input":{}}\n'))).toEqual({
      ok: true,
      output: [],
    });
    await gateway.close();
  });
});
