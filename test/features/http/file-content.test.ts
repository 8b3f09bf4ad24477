import { afterEach, expect, it } from 'vitest';
import { randomIds } from '../../../src/kit/ids.ts';
import { systemClock } from '../../../src/kit/time/clock.ts';
import { Files } from '../../../src/manage/files/files.ts';
import type { FileBytes, FileStore, StoredFile } from '../../../src/ports/content/files.ts';
import {
  ACCOUNT,
  ask,
  MANAGEMENT_KEY,
  openSocket,
  startServer,
  stopServers,
  until,
} from '../../kit/http-harness.ts';

afterEach(stopServers);

const ID = `file_${'a'.repeat(24)}`;
const PIECE = Buffer.alloc(65_536, 'x');

/** Files of which one was made by the gateway, with content of so many pieces. */
function filesWith(pieces: number) {
  let given = 0;
  let isClosed = false;
  async function* content() {
    try {
      for (; given < pieces; given++) yield PIECE;
    } finally {
      isClosed = true;
    }
  }
  const file: StoredFile = {
    id: ID,
    accountId: ACCOUNT,
    workspaceId: 'w',
    keyHash: 'k',
    filename: 'made.txt',
    mimeType: 'text/html',
    sizeBytes: pieces * PIECE.length,
    isDownloadable: true,
    createdAtMs: 1,
  };
  const files = new Files({
    store: { find: async () => file } as Partial<FileStore> as FileStore,
    bytes: { read: async () => content() } as Partial<FileBytes> as FileBytes,
    workspaces: { findWorkspaceById: async () => undefined, defaultWorkspaceOf: async () => undefined },
    sources: { clock: systemClock },
    ids: randomIds,
    quotas: () => {
      throw new Error('nothing is stored here');
    },
  });
  return { files, given: () => given, isClosed: () => isClosed };
}

it('gives out what the gateway made, as bytes and nothing else', async () => {
  const { files } = filesWith(3);
  const { port } = await startServer({ files });
  const answer = await ask(port, { path: `/v1/files/${ID}/content`, key: MANAGEMENT_KEY });
  expect(answer.status).toBe(200);
  expect(answer.headers).toMatchObject({
    'content-type': 'application/octet-stream',
    'content-disposition': 'attachment',
    'x-content-type-options': 'nosniff',
    'content-length': String(3 * PIECE.length),
  });
  expect(answer.text).toBe(PIECE.toString().repeat(3));
});

it('reads no faster than its reader, and stops with it', async () => {
  const { files, given, isClosed } = filesWith(10_000);
  const { port } = await startServer({ files });
  const { socket } = await openSocket(port);
  socket.pause();
  socket.write(
    `GET /v1/files/${ID}/content HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${MANAGEMENT_KEY}\r\n\r\n`,
  );
  await until(() => given() > 0, 'the first piece');
  await new Promise((resolve) => setTimeout(resolve, 100));
  expect(given()).toBeLessThan(1_000);
  socket.destroy();
  await until(isClosed, 'the end of reading');
});
