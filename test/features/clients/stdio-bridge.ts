import { spawn } from 'node:child_process';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createInterface } from 'node:readline';

/** An MCP server that speaks on its standard streams, at an HTTP address. */
export interface Bridge {
  readonly url: string;
  close(): Promise<void>;
}

/** Starts a program and passes each message of JSON-RPC on, and each reply back to the request with its id. */
export async function openStdioBridge(program: string, args: readonly string[]): Promise<Bridge> {
  const child = spawn(process.execPath, [program, ...args], { stdio: ['pipe', 'pipe', 'ignore'] });
  const waiting = new Map<unknown, (line: string) => void>();
  createInterface({ input: child.stdout }).on('line', (line) => {
    const { id } = JSON.parse(line);
    waiting.get(id)?.(line);
    waiting.delete(id);
  });
  const server = createServer((request, response) => {
    let text = '';
    request.on('data', (chunk) => {
      text += chunk;
    });
    request.on('end', () => {
      const { id } = JSON.parse(text);
      if (id === undefined) response.writeHead(202).end();
      else {
        waiting.set(id, (line) => {
          response.writeHead(200, { 'content-type': 'application/json' }).end(line);
        });
      }
      child.stdin.write(`${text}\n`);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`,
    async close() {
      child.kill();
      server.closeAllConnections();
      await new Promise<void>((resolve) => server.close(() => resolve()));
    },
  };
}
