import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { expect, it } from 'vitest';
import { failureText } from './failure-text.ts';
import { portHolder } from './port-holder.ts';

const isLinux = process.platform === 'linux';

const inUse = (port: number) =>
  failureText(
    Object.assign(new Error('in use'), { syscall: 'listen', code: 'EADDRINUSE', address: '127.0.0.1', port }),
  );

it.skipIf(!isLinux)('finds the process that listens on a port', async () => {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  expect(portHolder(port)).toMatchObject({ pid: process.pid, isStopped: false });
  expect(inUse(port)).toMatch(
    new RegExp(
      `^signalbox: port ${port} of 127\\.0\\.0\\.1 is in use by process ${process.pid} \\(.+\\); ` +
        'stop it, or choose another port with --port\n$',
    ),
  );
  server.close();
  await once(server, 'close');
  expect(portHolder(port)).toBeUndefined();
  expect(inUse(port)).toContain('is in use by another process; stop it');
});

it.skipIf(!isLinux)(
  'says how to end one that is stopped, as a worker that hung when its owner died',
  async () => {
    const program =
      'require("node:net").createServer().listen(0, "::", function () { console.log(this.address().port); })';
    const child = spawn(process.execPath, ['-e', program], { stdio: ['ignore', 'pipe', 'inherit'] });
    try {
      const [text] = await once(child.stdout, 'data');
      const port = Number(String(text));
      child.kill('SIGSTOP');
      await expect
        .poll(() => portHolder(port), { timeout: 20_000 })
        .toMatchObject({ pid: child.pid, isStopped: true });
      expect(inUse(port)).toContain(
        `which is stopped and does not end by itself; end it with kill -9 ${child.pid}, or choose another port`,
      );
    } finally {
      child.kill('SIGKILL');
    }
  },
);
