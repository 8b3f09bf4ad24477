import { type ChildProcess, spawn } from 'node:child_process';
import { createServer } from 'node:net';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { lastToolResult, openToolGateway, PATHS, type ToolGateway, textOf } from './tool-gateway.ts';

const TOKEN = 'token-of-the-sandbox';

let tools: ToolGateway;
let sandbox: ChildProcess;
let port: number;

/** The example of the guide; the test runs harmless commands in the place of containers. */
async function startSandbox(): Promise<void> {
  port = await freePort();
  sandbox = spawn(process.execPath, ['deploy/sandbox.mjs'], {
    env: {
      PATH: process.env.PATH,
      PORT: String(port),
      SANDBOX_TOKEN: TOKEN,
      SANDBOX_RUN: 'env BOX=SESSION',
    },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  await new Promise((resolve) => sandbox.stdout?.once('data', resolve));
}

function freePort(): Promise<number> {
  return new Promise((resolve) => {
    const server = createServer().listen(0, '127.0.0.1', () => {
      const address = server.address();
      server.close(() => resolve(typeof address === 'object' && address !== null ? address.port : 0));
    });
  });
}

beforeAll(async () => {
  await startSandbox();
  tools = await openToolGateway({
    tools: { sandbox: { url: `http://127.0.0.1:${port}/`, token: TOKEN } },
  });
});
beforeEach(() => tools.upstream.clear());
afterAll(async () => {
  sandbox.kill();
  await tools.close();
});

/** Asks the sandbox itself. */
const post = (body: string | object) =>
  fetch(`http://127.0.0.1:${port}/run`, {
    method: 'POST',
    headers: { authorization: `Bearer ${TOKEN}` },
    body: typeof body === 'string' ? body : JSON.stringify(body),
  });

const call = (name: string, input: object) => ({ name, arguments: JSON.stringify(input), id: 'call_a' });

async function run(name: string, input: object, more: object = {}) {
  tools.upstream.clear();
  tools.answers('m/chat', { tools: [call(name, input)] }, { text: 'Done.' });
  const asked = { tools: [{ type: `signalbox:${name}` }], ...more };
  const { status, body } = await tools.ask('/responses', 'm/chat', asked);
  expect(status, JSON.stringify(body)).toBe(200);
  return { item: body.output[0], told: lastToolResult(tools.upstream.requests[1]) };
}

describe('tools that run code', () => {
  it.each(PATHS)('run a command on %s, streamed and not', async (path) => {
    for (const isStreamed of [false, true]) {
      tools.upstream.clear();
      tools.answers('m/chat', { tools: [call('bash', { command: 'echo out; echo err >&2; exit 3' })] });
      tools.answers('m/chat', { text: 'Done.' });
      const asked = { tools: [{ type: 'signalbox:bash' }] };
      if (isStreamed) await tools.stream(path, 'm/chat', asked);
      else expect(textOf[path]((await tools.ask(path, 'm/chat', asked)).body)).toBe('Done.');
      expect(lastToolResult(tools.upstream.requests[1])).toEqual({
        command: 'echo out; echo err >&2; exit 3',
        stdout: 'out\n',
        stderr: 'err\n',
        exitCode: 3,
      });
    }
  });

  it('run several commands with a time for each', async () => {
    const { item } = await run('shell', { commands: ['echo one', 'sleep 60'], timeout_ms: 2000 });
    expect(item).toMatchObject({
      type: 'signalbox:shell',
      status: 'completed',
      output: [
        { stdout: 'one\n', outcome: { type: 'exit', exit_code: 0 } },
        { outcome: { type: 'timeout' } },
      ],
    });
  });

  it('share a session where the request names one', async () => {
    const session = async (more: object) => (await run('bash', { command: 'echo $BOX' }, more)).told.stdout;
    const first = await session({ session_id: 'a' });
    expect(first).toMatch(/^sandbox-[\w-]{43}\n$/);
    expect(await session({ session_id: 'a' })).toBe(first);
    expect(await session({ session_id: 'b' })).not.toBe(first);
    expect(await session({})).not.toBe(await session({}));
    const environment = { type: 'container_reference', container_id: 'mine' };
    const named = { tools: [{ type: 'signalbox:bash', parameters: { environment } }] };
    expect(await session({ ...named, session_id: 'a' })).toBe(await session({ ...named, session_id: 'b' }));
  });

  it('run the responses format’s own code interpreter, with its items and events', async () => {
    tools.answers(
      'm/chat',
      { tools: [call('code_interpreter', { code: 'print(1 + 1)' })] },
      { text: 'Two.' },
    );
    const events = await tools.stream('/responses', 'm/chat', {
      tools: [{ type: 'code_interpreter', container: { type: 'auto' } }],
    });
    const steps = events
      .map(({ data }) => data.type)
      .filter((type) => type?.includes('code_interpreter_call'));
    expect(steps).toEqual([
      'response.code_interpreter_call.in_progress',
      'response.code_interpreter_call_code.delta',
      'response.code_interpreter_call_code.done',
      'response.code_interpreter_call.interpreting',
      'response.code_interpreter_call.completed',
    ]);
    const numbers = events.map(({ data }) => data.sequence_number).filter((number) => number !== undefined);
    expect(numbers).toEqual(numbers.map((_, index) => index));
    const told = (type: string) => events.find(({ data }) => data.type === type)?.data;
    expect(told('response.output_item.added')?.item.code).toBe('');
    expect(told('response.code_interpreter_call_code.delta')).toMatchObject({
      output_index: 0,
      item_id: expect.stringMatching(/^ci_/),
      delta: 'print(1 + 1)',
    });
    expect(told('response.code_interpreter_call_code.done')).toMatchObject({ code: 'print(1 + 1)' });
    const done = events.find(({ data }) => data.type === 'response.output_item.done')?.data.item;
    expect(done).toMatchObject({ type: 'code_interpreter_call', status: 'completed', code: 'print(1 + 1)' });
    expect(done.outputs).toEqual([{ type: 'logs', logs: '2\n' }]);
    const { item } = await run('code_interpreter', { code: 'print(2)' });
    expect(item).toMatchObject({
      type: 'signalbox:code_interpreter',
      stdout: '2\n',
      exitCode: 0,
      language: 'python',
    });
  });

  it.each([
    [
      { environment: { type: 'container_reference', container_id: '../x' } },
      'tools[0].parameters.environment.container_id',
    ],
    [{ sleep_after_seconds: 2_592_001 }, 'tools[0].parameters.sleep_after_seconds'],
    [{ engine: 'native' }, 'tools[0].parameters.engine'],
  ])('refuse %j', async (parameters, path) => {
    const { status, body } = await tools.ask('/responses', 'm/chat', {
      tools: [{ type: 'signalbox:bash', parameters }],
    });
    expect(status).toBe(400);
    expect(body.error.metadata.issues[0].path).toBe(path);
  });

  it('run the responses format’s own shell, unless it is local', async () => {
    tools.answers('m/chat', { tools: [call('shell', { commands: ['echo out'] })] }, { text: 'Done.' });
    const { body } = await tools.ask('/responses', 'm/chat', { tools: [{ type: 'shell' }] });
    expect(body.output[0]).toMatchObject({
      type: 'signalbox:shell',
      status: 'completed',
      output: [{ stdout: 'out\n', outcome: { type: 'exit', exit_code: 0 } }],
    });
    tools.upstream.clear();
    tools.answers('m/chat', { text: 'Hm.' });
    const local = { type: 'shell', environment: { type: 'local' } };
    await tools.ask('/responses', 'm/chat', { tools: [local] });
    // The caller runs it itself.
    expect(tools.upstream.requests).toHaveLength(1);
    expect(tools.upstream.requests[0]?.json.tools).toMatchObject([
      { type: 'function', function: { name: 'shell' } },
    ]);
  });

  it('show no token of the sandbox, also if its output has it', async () => {
    const base64 = Buffer.from(`Bearer ${TOKEN}`).toString('base64');
    const half = TOKEN.slice(0, 9);
    const echo = `printf '%s%s %s' '${half}' '${TOKEN.slice(9)}' ${base64}`;
    const { item, told } = await run('bash', { command: `${echo}; ${echo} >&2` });
    for (const text of [told.stdout, told.stderr, item.stdout, item.stderr]) {
      expect(text).toContain('[redacted] ');
      expect(text).not.toContain(TOKEN);
      expect(text).not.toContain(base64);
    }
  });

  it('tell the model if the sandbox is gone or refuses', async () => {
    const other = await openToolGateway({
      tools: { sandbox: { url: `http://127.0.0.1:${port}`, token: 'wrong' } },
    });
    other.answers('m/chat', { tools: [call('bash', { command: 'ls' })] }, { text: 'Done.' });
    const { body } = await other.ask('/responses', 'm/chat', { tools: [{ type: 'signalbox:bash' }] });
    expect(body.output[0]).toMatchObject({ status: 'failed', error: 'the sandbox failed' });
    expect(other.gateway.logText()).not.toContain('wrong');
    await other.close();
  });

  it('keep the beginning of a long output', async () => {
    const response = await post({
      session_id: 's',
      language: 'bash',
      code: 'yes | head -c 3000000',
      timeout_ms: 30_000,
    });
    const { stdout, exit_code } = (await response.json()) as { stdout: string; exit_code: number };
    expect({ length: stdout.length, exit_code }).toEqual({ length: 1_000_000, exit_code: 0 });
  });

  it.each([
    'not JSON',
    'null',
    '{}',
    { session_id: 'a -v /:/host', language: 'bash', code: 'ls', timeout_ms: 1000 },
    { session_id: 's', language: 'toString', code: 'ls', timeout_ms: 1000 },
    { session_id: 's', language: 'bash', code: 'ls', timeout_ms: 'long' },
  ])('refuse %j, and go on', async (body) => {
    expect((await post(body)).status).toBe(400);
  });

  it('are refused without a sandbox, and nothing runs here', async () => {
    const none = await openToolGateway();
    for (const name of ['bash', 'shell', 'code_interpreter']) {
      for (const path of PATHS) {
        const { status, body } = await none.ask(path, 'm/chat', { tools: [{ type: `signalbox:${name}` }] });
        expect(status).toBe(400);
        expect(body.error.metadata.issues[0]).toMatchObject({ path: 'tools[0].type' });
      }
    }
    await none.close();
  });
});
