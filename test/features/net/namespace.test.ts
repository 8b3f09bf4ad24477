import { spawn, spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { rolldown } from 'rolldown';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { FORBIDDEN_HOSTS, FORBIDDEN_URLS } from './spellings.ts';

const PAGE = '11.22.33.44';

/** Addresses that exist inside the namespace, so that connections to them would succeed. */
const ADDRESSES = [
  PAGE,
  '10.99.0.1',
  '100.64.0.1',
  '100.100.100.200',
  '168.63.129.16',
  '169.254.169.254',
  '172.16.0.1',
  '192.168.7.7',
  'fd00:ec2::254',
  'fc00::1',
  '64:ff9b::7f00:1',
  '2002:7f00:1::',
];

const NAMES = ['127.0.0.1 loop.example', '169.254.169.254 meta.example', '::1 six.example'].concat([
  '11.22.33.44 both.example',
  '127.0.0.1 both.example',
]);

/** Only root may make a network namespace. */
const canUnshare =
  process.getuid?.() === 0 &&
  spawnSync('unshare', ['-n', '-m', 'ip', 'link', 'set', 'lo', 'up']).status === 0;

let directory: string;
beforeAll(() => {
  directory = mkdtempSync(join(tmpdir(), 'egress-'));
});
afterAll(() => rmSync(directory, { recursive: true }));

async function bundled(): Promise<string> {
  const file = join(directory, 'egress.mjs');
  const build = await rolldown({
    input: fileURLToPath(new URL('../../../src/net/egress/egress.ts', import.meta.url)),
    platform: 'node',
  });
  await build.write({ file, format: 'esm', codeSplitting: false });
  await build.close();
  return file;
}

interface Seen {
  readonly connections: Readonly<Record<string, number>>;
  readonly outcomes: readonly (readonly [url: string, outcome: string | number])[];
}

async function runInNamespace(work: object): Promise<Seen> {
  const hosts = join(directory, 'hosts');
  writeFileSync(hosts, `${NAMES.join('\n')}\n`);
  const script = [
    'ip link set lo up',
    ...ADDRESSES.map((address) => `ip addr add ${address}/${address.includes(':') ? 128 : 32} dev lo`),
    `mount --bind ${hosts} /etc/hosts`,
    `exec ${process.execPath} ${fileURLToPath(new URL('in-namespace.mjs', import.meta.url))}`,
  ].join(' && ');
  const child = spawn('unshare', ['-n', '-m', 'sh', '-c', script], { stdio: ['pipe', 'pipe', 'inherit'] });
  child.stdin.end(JSON.stringify(work));
  const pieces: Buffer[] = [];
  for await (const piece of child.stdout) pieces.push(piece as Buffer);
  return JSON.parse(Buffer.concat(pieces).toString()) as Seen;
}

it.skipIf(!canUnshare)(
  'makes no connection to a forbidden address, spelt, redirected or looked up in any way (skipped without root)',
  async () => {
    const targets = FORBIDDEN_HOSTS.length + FORBIDDEN_URLS.length;
    expect(targets).toBeGreaterThan(140);
    const work = { bundle: await bundled(), hosts: FORBIDDEN_HOSTS, urls: FORBIDDEN_URLS };
    const { connections, outcomes } = await runInNamespace(work);
    expect(Object.keys(connections)).toEqual([`${PAGE}:80`]);
    const reached = outcomes
      .filter(([url, outcome]) => outcome === 200 && !url.includes('/to/'))
      .map(([url]) => url);
    // The name with a public address among its private ones leads there and nowhere else.
    expect(reached).toEqual([
      'http://both.example/',
      ...Array(3).fill('http://rebind.example/'),
      `http://${PAGE}/`,
    ]);
    expect(outcomes).toHaveLength(2 * targets + 12);
  },
);
