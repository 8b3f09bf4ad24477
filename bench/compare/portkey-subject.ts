import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Subject, upstreamModel } from './subject.ts';
import { freePort, untilReady, type Workbench } from './workbench.ts';

const PACKAGE = '@portkey-ai/gateway';
const VERSION = '1.15.2';

/** Kept between runs, and no part of the project. */
const FOLDER = join(tmpdir(), 'signalbox-bench-peers');

/** Starts Portkey's gateway, installed from the registry if missing. */
export async function startPortkey(workbench: Workbench, upstreamPort: number): Promise<Subject | undefined> {
  const problem = install();
  if (workbench.isClosing) return undefined;
  if (problem !== undefined) {
    console.error(`bench: ${PACKAGE} cannot be installed (${problem}); the comparisons with it are left out`);
    return undefined;
  }
  const port = await freePort();
  const program = join(FOLDER, 'node_modules', PACKAGE, 'build', 'start-server.js');
  const started = workbench.start('portkey', [process.execPath, program, `--port=${port}`, '--headless'], {
    place: 'tested',
    env: { NODE_ENV: 'production' },
  });
  await untilReady('portkey', started, `http://127.0.0.1:${port}/`);
  return {
    name: `portkey ${VERSION}`,
    process: started,
    port,
    basePath: '/v1',
    headers: {
      'x-portkey-provider': 'openai',
      'x-portkey-custom-host': `http://127.0.0.1:${upstreamPort}/v1`,
    },
    model: (_lane, answer) => upstreamModel(answer),
  };
}

/** What went wrong, if anything. */
function install(): string | undefined {
  const manifest = join(FOLDER, 'node_modules', PACKAGE, 'package.json');
  if (existsSync(manifest) && JSON.parse(readFileSync(manifest, 'utf8')).version === VERSION)
    return undefined;
  mkdirSync(FOLDER, { recursive: true });
  writeFileSync(join(FOLDER, 'package.json'), '{"private":true}');
  console.error(`bench: installing ${PACKAGE} ${VERSION} into ${FOLDER} (only needed once)`);
  const done = spawnSync(
    'npm',
    ['install', '--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error', `${PACKAGE}@${VERSION}`],
    { cwd: FOLDER, encoding: 'utf8', timeout: 120_000 },
  );
  return done.status === 0 ? undefined : (done.stderr || 'npm did not end well').trim().split('\n')[0];
}
