import { renameSync, writeFileSync } from 'node:fs';
import { Agent, request } from 'node:https';
import { connect as connectPlain } from 'node:net';
import { join } from 'node:path';
import { connect, type PeerCertificate, type TLSSocket } from 'node:tls';
import { afterEach, describe, expect, it } from 'vitest';
import { EXPIRED, SELF_SIGNED } from '../../kit/fakes/raw-server.ts';
import { openTestGateway, type TestGateway } from '../../kit/gateway-harness.ts';

let gateway: TestGateway | undefined;
afterEach(async () => {
  await gateway?.close();
  gateway = undefined;
});

/** `cert.pem` and `key.pem` beside the configuration file. */
function writeFiles(folder: string, { cert, key }: { cert: string; key: string }): void {
  for (const [name, text] of Object.entries({ 'cert.pem': cert, 'key.pem': key })) {
    writeFileSync(join(folder, `${name}.new`), text);
    renameSync(join(folder, `${name}.new`), join(folder, name));
  }
}

async function openTlsGateway(): Promise<TestGateway & { readonly port: number }> {
  const opened = await openTestGateway(
    { server: { tls: { cert: 'cert.pem', key: 'key.pem' } } },
    { prepare: async (folder) => writeFiles(folder, SELF_SIGNED) },
  );
  gateway = opened;
  return { ...opened, port: Number(new URL(opened.origin).port) };
}

interface Answer {
  readonly status: number | undefined;
  readonly text: string;
}

function post(port: number, path: string, key: string, body: unknown, agent: Agent): Promise<Answer> {
  const text = JSON.stringify(body);
  return new Promise((resolve, reject) => {
    const headers = {
      authorization: `Bearer ${key}`,
      'content-type': 'application/json',
      'content-length': Buffer.byteLength(text),
    };
    const sent = request(
      { host: '127.0.0.1', port, path, method: 'POST', agent, headers },
      async (response) => {
        const pieces: Buffer[] = [];
        for await (const piece of response) pieces.push(piece as Buffer);
        resolve({ status: response.statusCode, text: Buffer.concat(pieces).toString() });
      },
    );
    sent.on('error', reject);
    sent.end(text);
  });
}

function shownCertificate(port: number): Promise<PeerCertificate> {
  return new Promise((resolve, reject) => {
    const socket: TLSSocket = connect({ host: '127.0.0.1', port, rejectUnauthorized: false }, () => {
      resolve(socket.getPeerCertificate());
      socket.destroy();
    });
    socket.on('error', reject);
  });
}

describe('server.tls', () => {
  it('serves whole answers and streams over HTTPS, also large ones on a kept connection', async () => {
    const { port, apiKey } = await openTlsGateway();
    const agent = new Agent({ keepAlive: true, maxSockets: 1, ca: SELF_SIGNED.cert });
    const body = { model: 'simulator/standard', messages: [{ role: 'user', content: 'x'.repeat(500_000) }] };
    const whole = await post(port, '/api/v1/chat/completions', apiKey, body, agent);
    expect(whole.status).toBe(200);
    expect(JSON.parse(whole.text).choices[0].message.content).not.toBe('');
    const streamed = await post(port, '/api/v1/chat/completions', apiKey, { ...body, stream: true }, agent);
    expect(streamed.status).toBe(200);
    expect(streamed.text.trimEnd().endsWith('data: [DONE]')).toBe(true);
    agent.destroy();
  });

  it('shows a renewed certificate to new connections, and keeps the old one while the files do not fit', async () => {
    const { port, dataDir, logged } = await openTlsGateway();
    const before = (await shownCertificate(port)).fingerprint256;
    writeFileSync(join(dataDir, 'key.pem'), 'half a file');
    await expect
      .poll(() => logged('the changed certificate cannot be used; the one in use stays').length)
      .toBe(1);
    expect((await shownCertificate(port)).fingerprint256).toBe(before);
    writeFiles(dataDir, EXPIRED);
    await expect.poll(async () => (await shownCertificate(port)).fingerprint256 !== before).toBe(true);
  });

  it('closes connections that speak plain HTTP or never finish their handshake', async () => {
    const { port, drain } = await openTlsGateway();
    const plain = connectPlain(port, '127.0.0.1');
    const closed = new Promise((resolve) => plain.on('close', resolve).on('error', () => {}));
    plain.write('GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n');
    await closed;
    const silent = connectPlain(port, '127.0.0.1');
    const gone = new Promise((resolve) => silent.on('close', resolve).on('error', () => {}));
    await new Promise((resolve) => silent.once('connect', resolve));
    await drain(0);
    await gone;
  });
});
