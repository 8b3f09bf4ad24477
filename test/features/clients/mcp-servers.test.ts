import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { openTestGateway, type TestGateway } from '../../kit/gateway-harness.ts';
import { CLIENTS, inClients } from './agent.ts';
import { type Bridge, openStdioBridge } from './stdio-bridge.ts';

/** Two public MCP servers behind the gateway, asked by both generations of the official client. */
describe.skipIf(CLIENTS === undefined)('public MCP servers', () => {
  let folder: string;
  let everything: ChildProcess;
  let filesystem: Bridge;
  let gateway: TestGateway;

  beforeAll(async () => {
    folder = realpathSync(mkdtempSync(join(tmpdir(), 'signalbox-mcp-')));
    writeFileSync(join(folder, 'note.txt'), 'heliotrope');
    const port = await freePort();
    everything = spawn(
      process.execPath,
      [join(inClients(), '@modelcontextprotocol/server-everything/dist/index.js'), 'streamableHttp'],
      { env: { ...process.env, PORT: String(port) }, stdio: 'ignore' },
    );
    const program = join(inClients(), '@modelcontextprotocol/server-filesystem/dist/index.js');
    filesystem = await openStdioBridge(program, [folder]);
    const url = `http://127.0.0.1:${port}/mcp`;
    await vi.waitUntil(() => isListening(url), { timeout: 60_000 });
    gateway = await openTestGateway({
      tools: { mcp_servers: { everything: { url }, files: { url: filesystem.url, read_only: true } } },
    });
  }, 120_000);

  afterAll(async () => {
    await gateway?.close();
    await filesystem?.close();
    everything?.kill();
    rmSync(folder, { recursive: true, force: true });
  });

  const address = () => new URL(`${gateway.url}/mcp`);
  const withKey = () => ({ requestInit: { headers: { authorization: `Bearer ${gateway.apiKey}` } } });

  const GENERATIONS = {
    async second() {
      const client = new Client({ name: 'test', version: '1' });
      await client.connect(new StreamableHTTPClientTransport(address(), withKey()));
      return client;
    },
    async first() {
      const at = (file: string) =>
        import(pathToFileURL(join(inClients(), '@modelcontextprotocol/sdk/dist/esm/client', file)).href);
      const [{ Client: First }, { StreamableHTTPClientTransport: Transport }] = await Promise.all([
        at('index.js'),
        at('streamableHttp.js'),
      ]);
      const client = new First({ name: 'test', version: '1' });
      await client.connect(new Transport(address(), withKey()));
      return client as Client;
    },
  };

  it.each(['first', 'second'] as const)('lists and calls tools with the %s client', async (generation) => {
    const client = await GENERATIONS[generation]();
    try {
      const names = (await client.listTools()).tools.map(({ name }) => name);
      expect(names).toEqual(expect.arrayContaining(['everything__echo', 'files__read_text_file']));
      expect(names).not.toContain('files__write_file');
      const call = (name: string, given: Record<string, unknown>) =>
        client.callTool({ name, arguments: given });
      expect(await call('everything__echo', { message: 'hello' })).toMatchObject({
        content: [{ type: 'text', text: expect.stringContaining('hello') }],
      });
      expect(await call('everything__get-sum', { a: 2, b: 3 })).toMatchObject({
        content: [{ type: 'text', text: expect.stringContaining('5') }],
      });
      const path = join(folder, 'note.txt');
      expect(await call('files__read_text_file', { path })).toMatchObject({
        content: [{ type: 'text', text: expect.stringContaining('heliotrope') }],
      });
      expect(await call('files__read_text_file', { path: '/etc/passwd' })).toMatchObject({ isError: true });
    } finally {
      await client.close();
    }
  });
});

function freePort(): Promise<number> {
  return new Promise((resolve) => {
    const probe = createServer();
    probe.listen(0, '127.0.0.1', () => {
      const { port } = probe.address() as { port: number };
      probe.close(() => resolve(port));
    });
  });
}

async function isListening(url: string): Promise<boolean> {
  try {
    await fetch(url, { method: 'DELETE' });
    return true;
  } catch {
    return false;
  }
}
