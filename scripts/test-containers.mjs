// `npm run test:containers`: builds the image of deploy/Dockerfile and starts it as deploy/compose.yaml does. Needs
// Docker or Podman, and the package registry. Variables: CONTAINER_ENGINE (docker, else podman), NODE_IMAGE (a copy of
// the base image under another name).
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { setTimeout as delay } from 'node:timers/promises';
import { root } from './toolchain.mjs';

const NAME = `signalbox-test-${process.pid}`;
const READY_TRIES = 240;
const ENGINES = process.env.CONTAINER_ENGINE ? [process.env.CONTAINER_ENGINE] : ['docker', 'podman'];

const engine = ENGINES.find((name) => spawnSync(name, ['info']).status === 0);
if (engine === undefined) {
  for (const name of ENGINES) {
    const { error, stderr } = spawnSync(name, ['info'], { encoding: 'utf8' });
    console.error(`${name}: ${error?.code ?? stderr.trim()}`);
  }
  console.error('test:containers needs a container engine that answers: start Docker, or install Podman');
  process.exit(1);
}

/** Runs the engine to its end; returns what it wrote to standard output. */
function run(...args) {
  const { status, stdout, stderr } = spawnSync(engine, args, { cwd: root, encoding: 'utf8' });
  assert.equal(status, 0, `${engine} ${args.join(' ')}\n${stdout}${stderr}`);
  return stdout.trim();
}

const signalbox = (...words) => run('exec', NAME, 'signalbox', ...words);

/** The gateway's address on this machine, once it is ready. */
async function ready() {
  const address = `http://${run('port', NAME, '8787/tcp').split('\n')[0]}`;
  for (let tries = 0; tries < READY_TRIES; tries += 1) {
    // A probe may stay without an answer: the engine accepts connections before the gateway listens.
    const response = await Promise.race([fetch(`${address}/readyz`).catch(() => undefined), delay(2000)]);
    if (response?.ok) return address;
    await delay(500);
  }
  throw new Error(`the gateway is not ready:\n${run('logs', NAME)}`);
}

function ask(address, key, model) {
  return fetch(`${address}/api/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify({ model, stream: true, messages: [{ role: 'user', content: 'Hello' }] }),
  });
}

const spentBy = (name) =>
  JSON.parse(signalbox('keys', 'list', '--json')).find((key) => key.name === name).usage;

async function check(step, work) {
  await work();
  console.log(`ok  ${step}`);
}

try {
  await check('the image builds', () => {
    const base = process.env.NODE_IMAGE ? ['--build-arg', `NODE_IMAGE=${process.env.NODE_IMAGE}`] : [];
    const format = engine.endsWith('podman') ? ['--format', 'docker'] : [];
    run('build', '-f', 'deploy/Dockerfile', '-t', NAME, ...base, ...format, '.');
  });
  let address = '';
  let key = '';
  await check('it starts on a read-only root, without capabilities', async () => {
    const confined = ['--read-only', '--cap-drop', 'ALL', '--security-opt', 'no-new-privileges'];
    const shared = ['-v', `${NAME}:/data`, '-p', '127.0.0.1::8787'];
    run('run', '-d', '--name', NAME, ...confined, ...shared, NAME);
    address = await ready();
    assert.equal(run('exec', NAME, 'id', '-u'), '1000');
  });
  await check('its health check succeeds', () => run('exec', NAME, 'node', 'health-check.mjs'));
  await check('a key is made, and a generation answered', async () => {
    key = signalbox('keys', 'create', '--name', 'tried');
    const response = await ask(address, key, 'simulator/standard');
    assert.equal(response.status, 200);
    assert.match(await response.text(), /\[DONE\]/);
  });
  await check('a stop lets an open stream end', async () => {
    const response = await ask(address, key, 'simulator/slow-stream');
    assert.equal(response.status, 200);
    const text = response.text();
    run('stop', '-t', '45', NAME);
    assert.match(await text, /\[DONE\]/);
    assert.equal(run('inspect', '-f', '{{.State.ExitCode}}', NAME), '0');
  });
  await check('the next start has the books', async () => {
    run('start', NAME);
    await ready();
    assert.ok(spentBy('tried') > 0);
    assert.match(signalbox('ledger', 'verify'), /2 generations\.[\s\S]*The books are right\./);
  });
} finally {
  for (const words of [
    ['rm', '-f', NAME],
    ['volume', 'rm', NAME],
    ['rmi', NAME],
  ])
    spawnSync(engine, words);
}
