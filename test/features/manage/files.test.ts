import { existsSync, readdirSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openTestGateway, type TestGateway } from '../../kit/gateway-harness.ts';
import { type Management, managementOf } from '../../kit/management.ts';

const FILE_ID = /^file_[0-9A-Za-z]{24}$/;
const UNKNOWN_FILE = `file_${'0'.repeat(24)}`;
const UNKNOWN_WORKSPACE = '00000000-0000-4000-8000-000000000000';
const LIMIT = 100 * 1024 * 1024;

let gateway: TestGateway;
let management: Management;
let ask: Management['ask'];
/** Another workspace of the account, and a key of it. */
let team: { id: string; key: string };
/** Keys of a second account. */
let stranger: { managementKey: string; key: string; workspaceId: string };

beforeAll(async () => {
  gateway = await openTestGateway();
  management = managementOf(gateway);
  ({ ask } = management);
  const keyIn = async (workspaceId: string | undefined, managementKey?: string): Promise<string> => {
    const body = { name: 'k', ...(workspaceId !== undefined && { workspace_id: workspaceId }) };
    const { body: issued } = await ask('POST', '/keys', body, managementKey);
    return issued.key;
  };
  const { id } = await management.data(201, 'POST', '/workspaces', { name: 'Team', slug: 'team' });
  team = { id, key: await keyIn(id) };
  const managementKey = (await management.command('accounts.create', { name: 'stranger' })).management_key;
  const { body } = await ask('GET', '/workspaces', undefined, managementKey);
  const workspaceId = body.data[0].id;
  stranger = { managementKey, key: await keyIn(undefined, managementKey), workspaceId };
});

afterAll(() => gateway.close());

const directory = () => join(gateway.dataDir, 'files');
const stored = () => readdirSync(directory());

interface Upload {
  readonly content?: string | Uint8Array;
  readonly filename?: string;
  readonly part?: string;
  readonly query?: string;
  readonly key?: string;
}

async function send(body: FormData, { query = '', key }: Upload = {}) {
  const response = await gateway.fetch(`/files${query}`, { method: 'POST', body, ...(key && { key }) });
  return { status: response.status, body: (await response.json()) as any };
}

function upload(options: Upload = {}) {
  const { content = 'hello', filename = 'notes.txt', part = 'file' } = options;
  const form = new FormData();
  form.append(part, new Blob([content], { type: 'application/x-wrong' }), filename);
  return send(form, options);
}

const uploaded = async (options: Upload = {}) => {
  const { status, body } = await upload(options);
  expect(status).toBe(200);
  return body;
};

describe('POST /files', () => {
  it('stores a file and detects its type from its content', async () => {
    const body = await uploaded({ content: '{"a":1}', filename: 'Grüße – 1.pdf' });
    expect(body).toEqual({
      id: expect.stringMatching(FILE_ID),
      type: 'file',
      filename: 'Grüße – 1.pdf',
      mime_type: 'application/json',
      size_bytes: 7,
      downloadable: false,
      created_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/),
      _shape: 'signalbox',
    });
    expect(stored()).toContain(body.id);
    expect(await ask('GET', `/files/${body.id}`, undefined, gateway.apiKey)).toEqual({ status: 200, body });
  });

  it('takes exactly 100 MiB', async () => {
    const { size_bytes } = await uploaded({ content: new Uint8Array(LIMIT).fill(97) });
    expect(size_bytes).toBe(LIMIT);
  });

  it.each<[string, Upload, number, RegExp]>([
    ['an empty file', { content: '' }, 400, /^file: .*empty/],
    ['a type that is not accepted', { content: '\x7fELF\0\0' }, 400, /^file: .*no accepted type/],
    ['101 MiB', { content: new Uint8Array(LIMIT + 1024 * 1024) }, 413, /104857600 bytes/],
    ['one byte too much', { content: new Uint8Array(LIMIT + 1).fill(97) }, 413, /104857600 bytes/],
    ['a part of another name', { part: 'document' }, 400, /document.*"file"/],
    ['a name that is too long', { filename: `${'n'.repeat(256)}` }, 400, /^file: .*255/],
    ['an unknown workspace', { query: `?workspace_id=${UNKNOWN_WORKSPACE}` }, 404, /workspace_id/],
    ['a workspace id that is none', { query: '?workspace_id=x' }, 400, /workspace_id.*UUID/],
    ['a provider', { query: '?provider=openai' }, 400, /^provider: is not supported/],
  ])('refuses %s and keeps nothing', async (_, options, status, message) => {
    const before = stored();
    const answer = await upload(options);
    expect(answer.status).toBe(status);
    expect(answer.body.error.message).toMatch(message);
    expect(stored()).toEqual(before);
  });

  it('refuses two files, other fields, a field instead of a file and nothing at all', async () => {
    const before = stored();
    const file = new File(['hello'], 'a.txt');
    const refusals: [RegExp, [name: string, value: string | File][]][] = [
      [
        /^file: must be given once/,
        [
          ['file', file],
          ['file', file],
        ],
      ],
      [
        /^purpose: must be user_data or vision or assistants/,
        [
          ['file', file],
          ['purpose', 'fine-tune'],
        ],
      ],
      [
        /"expires_after\[anchor\]": is no part of an upload/,
        [
          ['file', file],
          ['expires_after[anchor]', 'created_at'],
        ],
      ],
      [/^file: must be a file/, [['file', 'hello']]],
      [/^file: is required/, []],
    ];
    for (const [message, parts] of refusals) {
      const form = new FormData();
      for (const [name, value] of parts) form.append(name, value);
      const { status, body } = await send(form);
      expect({ status, message: body.error.message }).toEqual({
        status: 400,
        message: expect.stringMatching(message),
      });
    }
    expect(stored()).toEqual(before);
  });

  it.each([
    ['no form', 'application/json', '{}', 415],
    ['a form without a boundary', 'multipart/form-data', 'x', 400],
    ['a form that is cut', 'multipart/form-data; boundary=b', `${headOf('b')}hello`, 400],
    ['an encoded part', 'multipart/form-data; boundary=b', encodedIn('b'), 400],
    ['an empty body', 'multipart/form-data; boundary=b', '', 400],
  ])('refuses %s', async (_, type, body, status) => {
    const before = stored();
    const response = await gateway.fetch('/files', {
      method: 'POST',
      body,
      headers: { 'content-type': type },
    });
    expect(response.status).toBe(status);
    await response.text();
    expect(stored()).toEqual(before);
  });

  it('keeps nothing of an upload whose caller leaves', async () => {
    const before = stored();
    const { socket } = sendRaw(gateway, 100_000, headOf('b') + 'a'.repeat(50_000));
    await until(() => stored().length === before.length + 1);
    socket.destroy();
    await until(() => stored().length === before.length);
    expect(stored()).toEqual(before);
  });

  it('invites no upload that announces too much', async () => {
    const { socket, received } = sendRaw(gateway, LIMIT * 2, '', ['Expect: 100-continue']);
    await until(() => received().includes('104857600'));
    expect(received()).toMatch(/^HTTP\/1.1 413 /);
    socket.destroy();
  });

  it('ends uploads with the gateway', async () => {
    const ending = await openTestGateway();
    const files = join(ending.dataDir, 'files');
    const { received } = sendRaw(ending, 100_000, headOf('b'));
    await until(() => readdirSync(files).length === 1);
    await ending.drain(0);
    expect(received()).toMatch(/^HTTP\/1.1 503 /);
    expect(readdirSync(files)).toEqual([]);
    await ending.close();
  });

  it('gives up on an upload that takes too long', async () => {
    const slow = await openTestGateway({}, { times: { uploadMs: 100, lingerMs: 20 } });
    const { socket, received } = sendRaw(slow, 100_000, headOf('b'));
    await until(() => received().includes('did not arrive in time'));
    expect(received()).toMatch(/^HTTP\/1.1 408 /);
    expect(readdirSync(join(slow.dataDir, 'files'))).toEqual([]);
    socket.destroy();
    await slow.close();
  });

  it('needs a key, and counts against its limit', async () => {
    const limited = await openTestGateway({ limits: { per_key: { requests_per_minute: 1 } } });
    expect((await limited.fetch('/files', { key: null })).status).toBe(401);
    expect((await limited.fetch('/files')).status).toBe(200);
    expect((await limited.fetch('/files')).status).toBe(429);
    await limited.close();
  });
});

describe('GET /files', () => {
  it('lists page by page, oldest first, also when the last of a page is deleted', async () => {
    const { id: workspace } = await management.data(201, 'POST', '/workspaces', { name: 'L', slug: 'list' });
    const key = gateway.managementKey;
    const query = `?workspace_id=${workspace}`;
    expect((await ask('GET', `/files${query}`)).body).toEqual({
      data: [],
      has_more: false,
      first_id: null,
      last_id: null,
      cursor: null,
      next_page: null,
      _shape: 'signalbox',
    });
    const ids: string[] = [];
    for (let count = 0; count < 3; count++) {
      ids.push((await uploaded({ query, key })).id);
      await delay(2);
    }
    const first = (await ask('GET', `/files${query}&limit=2`)).body;
    expect(first).toMatchObject({ has_more: true, first_id: ids[0], last_id: ids[1] });
    expect(first.data.map(({ id }: { id: string }) => id)).toEqual(ids.slice(0, 2));
    expect((await ask('GET', `/files${query}&after_id=${ids[0]}`)).body.first_id).toBe(ids[1]);
    await ask('DELETE', `/files/${ids[1]}${query}`);
    const second = (await ask('GET', `/files${query}&limit=2&cursor=${first.cursor}`)).body;
    expect(second).toMatchObject({ has_more: false, first_id: ids[2], last_id: ids[2], cursor: null });
    expect((await ask('GET', `/files${query}&limit=2&page=${first.next_page}`)).body).toEqual(second);
  });

  it.each([
    ['limit=0', 'limit'],
    ['limit=1001', 'limit'],
    ['cursor=x', 'cursor'],
    ['page=x', 'page'],
    [`after_id=${UNKNOWN_FILE}`, 'after_id'],
    ['before_id=x', 'before_id'],
    ['order=desc', 'order'],
    ['cursor=x&after=y', 'after'],
  ])('refuses %s', async (query, field) => {
    const { status, body } = await ask('GET', `/files?${query}`);
    expect(status).toBe(400);
    expect(body.error.message).toMatch(new RegExp(`^${field}\\b`));
  });
});

describe('one file', () => {
  it('gives out nothing that was uploaded', async () => {
    const { id } = await uploaded();
    const { status, body } = await ask('GET', `/files/${id}/content`);
    expect(status).toBe(400);
    expect(body.error.message).toMatch(/uploaded/);
    expect((await ask('GET', `/files/${UNKNOWN_FILE}/content`)).status).toBe(404);
  });

  it('is deleted for good', async () => {
    const { id } = await uploaded();
    expect(await ask('DELETE', `/files/${id}`, undefined, gateway.apiKey)).toEqual({
      status: 200,
      body: { id, type: 'file_deleted', _shape: 'signalbox' },
    });
    expect(existsSync(join(directory(), id))).toBe(false);
    for (const method of ['GET', 'DELETE']) expect((await ask(method, `/files/${id}`)).status).toBe(404);
  });

  it('is not found for another account, whatever it sends', async () => {
    const { id } = await uploaded();
    const { body: unknown } = await ask('GET', `/files/${UNKNOWN_FILE}`, undefined, stranger.key);
    const withoutIds = (answer: any) => ({ ...answer, user_id: undefined });
    const workspaceId = (await ask('GET', '/workspaces')).body.data[0].id;
    for (const key of [stranger.key, stranger.managementKey]) {
      for (const query of ['', `?workspace_id=${workspaceId}`, `?workspace_id=${stranger.workspaceId}`]) {
        for (const [method, path] of [
          ['GET', ''],
          ['GET', '/content'],
          ['DELETE', ''],
        ] as const) {
          const { status, body } = await ask(method, `/files/${id}${path}${query}`, undefined, key);
          expect(status).toBe(404);
          expect(withoutIds(body)).toEqual(withoutIds(unknown));
        }
      }
      expect((await ask('GET', `/files?workspace_id=${workspaceId}`, undefined, key)).status).toBe(404);
      expect((await upload({ key, query: `?workspace_id=${workspaceId}` })).status).toBe(404);
    }
    expect((await ask('GET', `/files/${id}`)).status).toBe(200);
  });

  it('is not found in another workspace of the account', async () => {
    const { id } = await uploaded({ key: team.key });
    expect((await ask('GET', `/files/${id}`, undefined, team.key)).status).toBe(200);
    expect((await ask('GET', `/files/${id}`, undefined, gateway.apiKey)).status).toBe(404);
    expect((await ask('GET', `/files/${id}?workspace_id=${team.id}`, undefined, gateway.apiKey)).status).toBe(
      403,
    );
    expect((await ask('GET', `/files/${id}?workspace_id=${team.id}`)).status).toBe(200);
    expect((await ask('GET', `/files/${id}`)).status).toBe(404);
  });

  it('goes with its workspace', async () => {
    const { id: workspace } = await management.data(201, 'POST', '/workspaces', { name: 'G', slug: 'gone' });
    const { id } = await uploaded({ key: gateway.managementKey, query: `?workspace_id=${workspace}` });
    expect((await ask('DELETE', `/workspaces/${workspace}`)).status).toBe(200);
    expect(existsSync(join(directory(), id))).toBe(false);
  });
});

it('removes content without a row, and nothing else', async () => {
  const first = await openTestGateway();
  const form = new FormData();
  form.append('file', new Blob(['hello']), 'a.txt');
  const { id } = (await (await first.fetch('/files', { method: 'POST', body: form })).json()) as {
    id: string;
  };
  const orphan = `file_${'x'.repeat(24)}`;
  const path = join(first.dataDir, 'files');
  writeFileSync(join(path, orphan), 'nobody knows of it');
  const workspaces = managementOf(first);
  const { id: workspace } = await workspaces.data(201, 'POST', '/workspaces', { name: 'W', slug: 'w' });
  await workspaces.ask('DELETE', `/workspaces/${workspace}`);
  expect(readdirSync(path)).toEqual([id]);
  await first.close();
});

/**
 * Sends the head of an upload of so many bytes and the first of them; the test sends the rest, or not, on the
 * returned socket.
 */
function sendRaw(
  { origin, apiKey }: TestGateway,
  length: number,
  begin: string,
  headers: readonly string[] = [],
) {
  const socket = connect(Number(new URL(origin).port), '127.0.0.1');
  let text = '';
  socket
    .on('error', () => {})
    .on('data', (chunk) => {
      text += chunk;
    });
  const lines = [
    'POST /api/v1/files HTTP/1.1',
    'Host: x',
    `Authorization: Bearer ${apiKey}`,
    ...headers,
    'Content-Type: multipart/form-data; boundary=b',
    `Content-Length: ${length}`,
  ];
  socket.write(`${lines.join('\r\n')}\r\n\r\n${begin}`);
  return { socket, received: () => text };
}

function headOf(boundary: string): string {
  return `--${boundary}\r\nContent-Disposition: form-data; name="file"; filename="a.txt"\r\nContent-Type: text/plain\r\n\r\n`;
}

function encodedIn(boundary: string): string {
  const head = headOf(boundary).replace('text/plain', 'text/plain\r\nContent-Transfer-Encoding: base64');
  return `${head}aGVsbG8=\r\n--${boundary}--\r\n`;
}

async function until(holds: () => boolean): Promise<void> {
  const deadline = Date.now() + 4_000;
  while (!holds()) {
    if (Date.now() > deadline) throw new Error('never happened');
    await delay(5);
  }
}
