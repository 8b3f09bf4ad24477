import {
  appendFileSync,
  chmodSync,
  chownSync,
  cpSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import Database from 'libsql';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { openInstallation } from '../../../src/app/installation.ts';
import { listenForCommands } from '../../../src/control/listen.ts';
import { openLog } from '../../../src/kit/log/log.ts';
import { lockDirectory } from '../../../src/store/directory/directory-lock.ts';
import { temporaryDirectory } from '../../adapters/contracts/temporary-directory.ts';
import { newCredentialOf } from '../../kit/builders/byok.ts';
import { end, head, openFakeUpstream } from '../../kit/fakes/fake-upstream.ts';
import { freePort } from '../../kit/fakes/free-port.ts';
import { openTestGateway } from '../../kit/gateway-harness.ts';
import { postgresForTests } from '../../kit/servers/postgres-server.ts';
import { type DoctorReport, doctorReport, typedDoctor } from './doctor-report.ts';

const SECRET = 'canary-0123456789';
const SILENT = openLog({ level: 'silent', readable: false, write: () => {}, now: () => 0 });
const postgres = await postgresForTests();

let temporary: ReturnType<typeof temporaryDirectory>;
let dataDir: string;
let file: string;

beforeEach(() => {
  temporary = temporaryDirectory();
  dataDir = join(temporary.path, 'data');
  file = join(temporary.path, 'signalbox.yaml');
  writeFileSync(file, '');
  // A free port: other listeners of this machine must not matter.
  vi.stubEnv('PORT', '0');
});

afterEach(() => {
  vi.unstubAllEnvs();
  temporary.remove();
});

function doctor(config = file, directory = dataDir): Promise<DoctorReport> {
  return doctorReport(config, directory);
}

let left: ReturnType<typeof temporaryDirectory>;

beforeAll(async () => {
  left = temporaryDirectory();
  await fill(left.path);
});

afterAll(() => left.remove());

/** A data directory as a gateway leaves it. */
function leaveBehind(): void {
  cpSync(left.path, dataDir, { recursive: true });
  chmodSync(dataDir, 0o700);
}

/** An account with money and a credential. */
async function fill(directory: string): Promise<void> {
  const installation = await openInstallation({ dataDir: directory, keyPrefix: 'sk-' });
  const { accounts, credits, byokStore, vault, eventStore } = installation;
  const account = await accounts.ensureFirst();
  for (const dollars of [3n, 4n, 5n]) await credits.set(account.id, dollars * 1_000_000_000n);
  const owner = { id: 'own', accountId: account.id, provider: 'acme' };
  await byokStore.insert(newCredentialOf({ ...owner, encryptedSecret: vault.encrypt(owner, SECRET) }));
  await eventStore.sizes();
  await installation.close();
}

/** Every file with its content; what SQLite keeps in memory only is left out. */
function contentOf(directory: string): Record<string, string> {
  const files = readdirSync(directory, { recursive: true, withFileTypes: true }).filter(
    (entry) => entry.isFile() && !entry.name.endsWith('-shm'),
  );
  return Object.fromEntries(
    files.map(({ name, parentPath }) => [
      join(parentPath, name),
      readFileSync(join(parentPath, name), 'latin1'),
    ]),
  );
}

function newestSegment(): string {
  const names = readdirSync(join(dataDir, 'journal')).filter((name) => name.endsWith('.journal'));
  return join(dataDir, 'journal', names.sort().at(-1) ?? '');
}

function configureProvider(url: string): void {
  writeFileSync(
    file,
    `providers: [{ slug: acme, dialect: openai-chat, base_url: "${url}", api_key: ${SECRET}, headers: { x-secret: ${SECRET} } }]`,
  );
}

describe('a sound installation', () => {
  it('is reported as a table without problems', async () => {
    leaveBehind();
    const { code, out } = await typedDoctor('--config', file, '--data-dir', dataDir);
    expect(code).toBe(0);
    expect(out).toMatch(/^ +CHECK +FOUND\n/);
    expect(out).toMatch(/^ok +program +version \d+\.\d+\.\d+ on Node \d+/m);
    expect(out).toMatch(/^ok +ledger +the money equation holds for 1 account with money/m);
    expect(out).toMatch(/\nNothing is wrong\.\n$/);
  });

  it('is reported with figures, and not changed', async () => {
    leaveBehind();
    const before = contentOf(dataDir);
    const report = await doctor();
    expect(report).toMatchObject({ code: 0, verdict: 'ok' });
    expect(report.findings.every(({ figures }) => typeof figures === 'object')).toBe(true);
    expect(report.of('database')[0]?.figures.bytes).toBeGreaterThan(0);
    expect(report.of('events')[0]?.figures).toMatchObject({ events: 0, daily_rows: 0 });
    expect(report.of('ledger')[0]?.figures).toMatchObject({ open_reservations: 0, torn_tail_bytes: 0 });
    const figures = report.of('disk')[0]?.figures ?? {};
    const kinds = ['database', 'journal', 'events', 'other'].map((kind) => figures[`${kind}_bytes`] ?? 0);
    expect(kinds.every((bytes) => bytes > 0)).toBe(true);
    expect(contentOf(dataDir)).toEqual(before);
    // And the directory is free again.
    lockDirectory(dataDir).release();
  });

  it('is examined through the gateway that runs on it', async () => {
    const gateway = await openTestGateway();
    try {
      await (
        await gateway.post('/chat/completions', {
          model: 'simulator/standard',
          messages: [{ role: 'user', content: 'hi' }],
        })
      ).json();
      await expect
        .poll(async () => (await doctor(gateway.configFile, gateway.dataDir)).of('events')[0]?.figures.events)
        .toBe(1);
      const report = await doctor(gateway.configFile, gateway.dataDir);
      // A machine that is busy with other tests may be slow enough for a warning.
      expect(report.code).toBe(0);
      expect(report.of('server')[0]).toMatchObject({
        what: expect.stringMatching(/^ready for /),
        figures: { requests_in_flight: 0, generations_in_flight: 0 },
      });
      expect(report.of('server')[0]?.figures.memory_bytes).toBeGreaterThan(1e7);
      expect(report.of('server').at(-1)?.figures).toMatchObject({ journal_lag: 0, generations_lag: 0 });
      expect(report.of('ledger')[0]?.what).toContain('the money equation holds');
    } finally {
      await gateway.close();
    }
  });

  it('may be held by a command that does not serve', async () => {
    const installation = await openInstallation({ dataDir, keyPrefix: 'sk-' });
    const socket = await listenForCommands(dataDir, installation, SILENT);
    try {
      expect((await doctor()).of('server')[0]?.what).toContain('no gateway runs on it');
    } finally {
      await socket.close();
      await installation.close();
    }
  });
});

describe('a data directory', () => {
  it('that does not exist or holds no data is a problem, and is not created or filled', async () => {
    const report = await doctor();
    expect(report).toMatchObject({ code: 1, verdict: 'problem' });
    expect(report.of('data directory')).toMatchObject([
      { verdict: 'problem', what: `${dataDir} does not exist` },
    ]);
    expect(readdirSync(temporary.path)).toEqual(['signalbox.yaml']);
    mkdirSync(dataDir, { mode: 0o700 });
    expect((await doctor()).of('data directory')[0]).toMatchObject({
      verdict: 'problem',
      what: `${dataDir} holds no data of a gateway`,
    });
    expect(readdirSync(dataDir)).toEqual([]);
  });

  it('whose name is that of a file, or which cannot be created, is a problem', async () => {
    writeFileSync(dataDir, '');
    const taken = await doctor();
    expect(taken.code).toBe(1);
    expect(taken.of('data directory')).toMatchObject([
      { verdict: 'problem', mend: expect.stringContaining('--data-dir') },
    ]);
    const below = await doctor(file, join(dataDir, 'deeper'));
    expect(below.of('data directory')[0]?.what).toContain('(ENOTDIR)');
    expect(below.code).toBe(1);
  });

  it.skipIf(process.platform !== 'linux')(
    'in a place where no directory can be made is a problem',
    async () => {
      const report = await doctor(file, '/proc/signalbox/data');
      expect(report.code).toBe(1);
      expect(report.of('data directory')).toMatchObject([
        { verdict: 'problem', what: '/proc/signalbox/data does not exist and cannot be created (ENOENT)' },
      ]);
    },
  );

  it('whose name has a newline is reported in one line, with a command that can be pasted', async () => {
    const strange = join(temporary.path, "it's\nmine");
    cpSync(left.path, strange, { recursive: true });
    chmodSync(strange, 0o755);
    const { out } = await typedDoctor('--config', file, '--data-dir', strange);
    expect(out).toContain(String.raw`it's\u{a}mine is open to other users`);
    expect(out).toContain(String.raw`it\U00000027s\U0000000amine'`);
    expect((await doctor(file, strange)).of('data directory')[1]?.what).toContain(strange);
  });

  it('that is open to other users, or holds files put aside, is a warning', async () => {
    leaveBehind();
    chmodSync(dataDir, 0o755);
    chmodSync(join(dataDir, 'encryption-key'), 0o644);
    writeFileSync(join(dataDir, 'events.duckdb.damaged-20260101T000000Z'), 'x');
    const report = await doctor();
    expect(report.code).toBe(0);
    expect(report.of('data directory').map(({ verdict, mend }) => [verdict, mend])).toEqual([
      ['ok', null],
      ['warning', `chmod 700 ${dataDir}`],
      ['warning', `chmod 600 ${join(dataDir, 'encryption-key')}`],
      ['warning', expect.stringContaining('remove it')],
    ]);
    expect(report.of('disk')[0]?.figures).toMatchObject({ set_aside_bytes: 1 });
  });

  it.skipIf(process.getuid?.() !== 0)('with a file of another user in it is a warning', async () => {
    leaveBehind();
    chownSync(join(dataDir, 'hash-key'), 12_345, 12_345);
    expect((await doctor()).of('data directory')[1]).toMatchObject({
      verdict: 'warning',
      mend: expect.stringContaining(`chown -R 0 ${join(dataDir, 'hash-key')}`),
    });
  });

  it('whose lock cannot be taken is not said to be in use', async () => {
    leaveBehind();
    writeFileSync(join(dataDir, 'lock'), 'x'.repeat(8192));
    const report = await doctor();
    expect(report.of('data directory')).toContainEqual(
      expect.objectContaining({
        verdict: 'problem',
        what: expect.stringContaining('is not a lock file'),
        mend: 'it never holds anything, so it can be removed',
      }),
    );
    expect(report.of('ledger')).toMatchObject([{ what: 'not checked: the data directory cannot be locked' }]);
  });

  it('whose holder does not answer is examined as far as possible', async () => {
    leaveBehind();
    const lock = lockDirectory(dataDir);
    try {
      const report = await doctor();
      expect(report.of('data directory')).toContainEqual(
        expect.objectContaining({ verdict: 'warning', what: expect.stringContaining('in use by') }),
      );
      expect(report.of('ledger')).toMatchObject([{ verdict: 'warning' }]);
      expect(report.of('database')).toMatchObject([{ verdict: 'ok' }]);
      expect(report.code).toBe(0);
    } finally {
      lock.release();
    }
  });
});

describe('a configuration', () => {
  it('that is invalid does not stop the other checks', async () => {
    leaveBehind();
    writeFileSync(file, 'vendor: [\n');
    const report = await doctor();
    expect(report).toMatchObject({ code: 1, verdict: 'problem' });
    expect(report.of('configuration')).toMatchObject([
      { verdict: 'problem', mend: expect.stringContaining(`correct it in ${file}:1:9`) },
    ]);
    expect(report.of('ledger')).toMatchObject([{ verdict: 'ok' }]);
    expect(report.of('providers')).toMatchObject([{ verdict: 'warning' }]);
  });

  it('with an invalid DATABASE_URL leaves the database in the data directory unchecked', async () => {
    mkdirSync(join(dataDir, 'journal'), { recursive: true, mode: 0o700 });
    vi.stubEnv('DATABASE_URL', `mysql://${SECRET}`);
    const report = await doctor();
    expect(report.of('configuration')[0]?.what).toContain('DATABASE_URL');
    expect(report.of('database')).toMatchObject([{ verdict: 'warning' }]);
    expect(report.of('ledger')).toMatchObject([{ verdict: 'warning' }]);
  });

  it('has its warnings reported, half-set credentials included', async () => {
    vi.stubEnv('AZURE_API_KEY', SECRET);
    expect((await doctor()).of('configuration')).toContainEqual(
      expect.objectContaining({ verdict: 'warning', what: expect.stringContaining('AZURE_RESOURCE_NAME') }),
    );
  });
});

describe('damage', () => {
  it('in the journal is reported with its place, and the file is not changed', async () => {
    leaveBehind();
    const segment = newestSegment();
    const bytes = readFileSync(segment);
    bytes[60] = (bytes[60] ?? 0) ^ 0xff;
    writeFileSync(segment, bytes);
    rmSync(join(dataDir, 'journal', 'ledger.snapshot'), { force: true });
    const report = await doctor();
    expect(report.code).toBe(1);
    expect(report.of('ledger')).toMatchObject([
      {
        verdict: 'problem',
        what: expect.stringMatching(/0000000001\.journal is damaged at byte \d+/),
        mend: expect.stringContaining('backup'),
      },
    ]);
    expect(readFileSync(segment).equals(bytes)).toBe(true);
  });

  it('that is only half a record at the end of the journal is a warning', async () => {
    leaveBehind();
    appendFileSync(newestSegment(), Buffer.from([0xd7, 0, 0, 9, 1]));
    const report = await doctor();
    expect(report.code).toBe(0);
    expect(report.of('ledger')).toMatchObject([
      { verdict: 'ok', figures: { torn_tail_bytes: 5 } },
      { verdict: 'warning', what: expect.stringContaining('5 bytes') },
    ]);
  });

  it('includes a journal without records', async () => {
    leaveBehind();
    rmSync(join(dataDir, 'journal'), { recursive: true });
    expect((await doctor()).of('ledger')).toMatchObject([
      { verdict: 'problem', what: expect.stringContaining('holds no records') },
    ]);
  });

  it('in the database, or a missing or empty database, is a problem', async () => {
    leaveBehind();
    renameSync(join(dataDir, 'signalbox.sqlite'), join(temporary.path, 'saved'));
    for (const name of readdirSync(dataDir).filter((entry) => entry.startsWith('signalbox.sqlite-'))) {
      rmSync(join(dataDir, name));
    }
    expect((await doctor()).of('database')).toMatchObject([
      { verdict: 'problem', what: expect.stringContaining('is missing') },
    ]);
    writeFileSync(join(dataDir, 'signalbox.sqlite'), '');
    expect((await doctor()).of('database')).toMatchObject([
      { verdict: 'problem', what: expect.stringContaining('signalbox.sqlite is empty, although') },
    ]);
    writeFileSync(join(dataDir, 'signalbox.sqlite'), 'garbage '.repeat(2000));
    expect((await doctor()).of('database')).toMatchObject([
      { verdict: 'problem', what: expect.stringContaining('is damaged'), mend: expect.any(String) },
    ]);
  });
});

describe('a database', () => {
  const change = (sql: string) => {
    const database = new Database(join(dataDir, 'signalbox.sqlite'));
    database.exec(sql);
    database.close();
  };

  it('of an older version is a warning, and is not migrated', async () => {
    leaveBehind();
    change("delete from schema_migrations where name = '0001-first'");
    const report = await doctor();
    expect(report.code).toBe(0);
    expect(report.of('database')[1]).toMatchObject({
      verdict: 'warning',
      what: expect.stringContaining('it lacks 0001-first'),
    });
  });

  it('of a newer release is fine, unless it needs what this one does not know', async () => {
    leaveBehind();
    change("insert into schema_migrations values ('9999-later', 1)");
    expect((await doctor()).of('database')[1]).toMatchObject({
      verdict: 'ok',
      what: expect.stringContaining('9999-later'),
    });
    change("insert into schema_requirements values ('9999-later', '9998-before')");
    expect((await doctor()).of('database')[1]).toMatchObject({
      verdict: 'problem',
      what: expect.stringContaining('9998-before'),
    });
  });

  it('that cannot be reached is named without its password', async () => {
    mkdirSync(dataDir, { mode: 0o700 });
    vi.stubEnv('DATABASE_URL', `postgres://someone:${SECRET}@127.0.0.1:${await freePort()}/books`);
    const report = await doctor();
    expect(report.code).toBe(1);
    expect(report.of('database')).toMatchObject([
      {
        verdict: 'problem',
        what: expect.stringMatching(
          /^the database books at 127\.0\.0\.1:\d+ cannot be used \(ECONNREFUSED\)$/,
        ),
        mend: expect.stringContaining('DATABASE_URL'),
      },
    ]);
  });

  it.skipIf(postgres === undefined)('of PostgreSQL is checked with its clock and its books', async () => {
    mkdirSync(dataDir, { mode: 0o700 });
    vi.stubEnv('DATABASE_URL', await postgres?.createDatabase());
    const report = await doctor();
    expect(report.code).toBe(0);
    expect(report.of('database')[0]?.what).toContain('PostgreSQL');
    expect(report.of('database')[1]).toMatchObject({
      verdict: 'ok',
      what: expect.stringContaining(
        '0 running gateways, each with up to 20 connections; the server allows 97',
      ),
      figures: { gateways: 0, connections_per_gateway: 20, connections_allowed: 97 },
    });
    expect(report.of('ledger')[0]?.what).toContain('the money equation holds');
    expect(report.of('clocks')).toMatchObject([{ what: 'this clock agrees with that of PostgreSQL' }]);
  });
});

describe('an encryption key', () => {
  it('other than that of the stored credentials is named by its id', async () => {
    leaveBehind();
    const given = Buffer.alloc(32, 2).toString('base64');
    vi.stubEnv('SIGNALBOX_ENCRYPTION_KEY', given);
    const report = await doctor();
    expect(report.code).toBe(1);
    expect(report.of('secrets')).toMatchObject([
      {
        verdict: 'problem',
        what: expect.stringMatching(
          /encrypted under the key [0-9a-f]{16}, and the one in SIGNALBOX_ENCRYPTION_KEY is [0-9a-f]{16}$/,
        ),
        mend: expect.stringContaining('put the right key there'),
      },
    ]);
    expect(JSON.stringify(report.findings)).not.toContain(given);
  });

  it('that is missing is not made', async () => {
    leaveBehind();
    rmSync(join(dataDir, 'encryption-key'));
    expect((await doctor()).of('secrets')).toMatchObject([
      { verdict: 'problem', what: expect.stringContaining('encryption-key is missing') },
    ]);
    expect(readdirSync(dataDir)).not.toContain('encryption-key');
  });
});

describe('an address', () => {
  it('on which another process listens is a problem: no gateway could start', async () => {
    const other = createServer();
    await new Promise<void>((resolve) => other.listen(0, '127.0.0.1', resolve));
    try {
      leaveBehind();
      vi.stubEnv('PORT', String((other.address() as AddressInfo).port));
      const report = await doctor();
      expect(report.code).toBe(1);
      expect(report.of('server')).toMatchObject([
        {
          verdict: 'problem',
          what: expect.stringContaining('(EADDRINUSE)'),
          mend: expect.stringContaining('--port'),
        },
      ]);
    } finally {
      await new Promise((resolve) => other.close(resolve));
    }
  });
});

describe('a provider', () => {
  it('that answers is called without credentials', async () => {
    const upstream = await openFakeUpstream();
    try {
      upstream.answer([head(401), end()]);
      configureProvider(upstream.url);
      const report = await doctor();
      expect(report.of('providers')).toMatchObject([
        { verdict: 'ok', what: expect.stringMatching(/^acme at http:\/\/127\.0\.0\.1:\d+ answers 401 in /) },
      ]);
      expect(report.of('clocks')).toMatchObject([{ what: 'this clock agrees with that of 1 provider' }]);
      expect(upstream.requests).toHaveLength(1);
      expect(upstream.requests[0]).toMatchObject({ method: 'GET', path: '/v1', body: '' });
      expect(JSON.stringify(upstream.requests[0]?.rawHeaders)).not.toContain('canary');
    } finally {
      await upstream.close();
    }
  });

  it('that refuses the connection is a problem', async () => {
    configureProvider(`http://127.0.0.1:${await freePort()}/v1`);
    const report = await doctor();
    expect(report.code).toBe(1);
    expect(report.of('providers')).toMatchObject([
      {
        verdict: 'problem',
        what: expect.stringMatching(/^acme at http:\/\/127\.0\.0\.1:\d+: connection refused$/),
        mend: expect.stringContaining('base_url'),
      },
    ]);
    expect(report.of('clocks')).toEqual([]);
  });

  it('whose clock differs is a warning or a problem, by the difference', async () => {
    const upstream = await openFakeUpstream();
    try {
      configureProvider(upstream.url);
      upstream.answer([head(200, { date: new Date(Date.now() + 3_600_000).toUTCString() }), end()]);
      const far = await doctor();
      expect(far.code).toBe(1);
      expect(far.of('clocks')).toMatchObject([
        { verdict: 'problem', what: 'this clock is 60 min behind that of 1 provider' },
      ]);
      upstream.clear();
      upstream.answer([head(200, { date: new Date(Date.now() - 100_000).toUTCString() }), end()]);
      leaveBehind();
      const near = await doctor();
      expect(near.code).toBe(0);
      expect(near.of('clocks')).toMatchObject([
        {
          verdict: 'warning',
          what: expect.stringMatching(/^this clock is \d+ s ahead of that of 1 provider$/),
        },
      ]);
    } finally {
      await upstream.close();
    }
  });

  it('without a credential is a warning, unless its address is private', async () => {
    const findingsAt = async (address: string) => {
      writeFileSync(file, `providers: [{ slug: acme, dialect: openai-chat, base_url: "${address}" }]`);
      return (await doctor()).of('providers').slice(1);
    };
    expect(await findingsAt('https://acme.invalid/v1')).toMatchObject([
      { verdict: 'warning', what: expect.stringContaining('acme has no credential') },
    ]);
    expect(await findingsAt(`http://127.0.0.1:${await freePort()}/v1`)).toEqual([]);
  });
});
