import { describe, expect, it } from 'vitest';
import { DIALECTS } from '../../dialects/dialects.ts';
import type { StoredFile } from '../../ports/content/files.ts';
import { type FileAccess, type StoredFiles, withStoredFiles } from './stored-files.ts';

const idOf = (name: string) => `file_${name.padEnd(24, '0')}`;

interface Content {
  readonly bytes: Uint8Array | string;
  readonly mimeType: string;
  readonly workspaceId?: string;
}

/** Files by their names, in pieces of some bytes, with all that was asked for. */
function filesOf(contents: Readonly<Record<string, Content>>, pieceBytes = 4) {
  const asked: string[] = [];
  const all = new Map(Object.entries(contents).map(([name, content]) => [idOf(name), content]));
  const files: StoredFiles = {
    store: {
      find: async (workspaceId, id) => {
        asked.push(`find ${id}`);
        const content = all.get(id);
        if (content === undefined || (content.workspaceId ?? 'own') !== workspaceId) return undefined;
        const sizeBytes = Buffer.from(content.bytes as string).length;
        return { id, filename: `${id}.x`, mimeType: content.mimeType, sizeBytes } as StoredFile;
      },
    },
    bytes: {
      read: async (id) => {
        asked.push(`read ${id}`);
        const content = all.get(id);
        return content && piecesOf(Buffer.from(content.bytes as string), pieceBytes);
      },
    },
  };
  return { files, asked, all };
}

async function* piecesOf(bytes: Uint8Array, length: number) {
  for (let at = 0; at < bytes.length; at += length) yield bytes.subarray(at, at + length);
}

const access: FileAccess = {
  workspaceId: 'own',
  maxBytes: 1000,
  maxPromptTokens: async () => Number.POSITIVE_INFINITY,
  takeRoom: () => {},
  signal: new AbortController().signal,
};
const bodyOf = (...names: string[]) => ({
  input: [{ role: 'user', content: names.map((name) => ({ type: 'input_file', file_id: idOf(name) })) }],
});
const fill = async (files: StoredFiles, names: string[], more: Partial<FileAccess> = {}) => {
  const body = bodyOf(...names);
  const accessTo = () => ({ ...access, ...more });
  return withStoredFiles(body, DIALECTS.responses.inbound.fileParts, files, accessTo);
};
const contentOf = ({ body }: Awaited<ReturnType<typeof fill>>) => (body as any).input[0].content as any[];

describe('stored files in a request', () => {
  it.each([1, 2, 3, 4, 5, 64])('are the same in pieces of %i bytes', async (pieceBytes) => {
    const bytes = Uint8Array.from({ length: 61 }, (_, index) => (index * 37) % 256);
    const text = '\u00fcber \u20ac \ud83d\ude00 Zeile\n';
    const { files } = filesOf(
      {
        pdf: { bytes, mimeType: 'application/pdf' },
        txt: { bytes: `\ufeff${text}`, mimeType: 'text/plain' },
      },
      pieceBytes,
    );
    const [pdf, txt] = contentOf(await fill(files, ['pdf', 'txt']));
    expect(pdf.file_data).toBe(`data:application/pdf;base64,${Buffer.from(bytes).toString('base64')}`);
    expect(txt.text).toBe(`${idOf('txt')}.x\n${text}`);
  });

  it('are looked up and read once, however often they are named', async () => {
    const { files, asked } = filesOf({ a: { bytes: 'a', mimeType: 'text/plain' } });
    expect(contentOf(await fill(files, ['a', 'a', 'a'])).map(({ text }) => text)).toEqual(
      Array(3).fill(`${idOf('a')}.x\na`),
    );
    expect(asked).toEqual([`find ${idOf('a')}`, `read ${idOf('a')}`]);
  });

  it.each<[string, string[]]>([
    ['is not there', ['a', 'none']],
    ['is in another workspace', ['a', 'theirs']],
  ])('one of which %s: 404, and nothing is read', async (_, names) => {
    const { files, asked } = filesOf({
      a: { bytes: 'a', mimeType: 'text/plain' },
      theirs: { bytes: 'b', mimeType: 'text/plain', workspaceId: 'other' },
    });
    await expect(fill(files, names)).rejects.toMatchObject({
      kind: 'not-found',
      message: 'input[0].content[1].file_id: there is no such file in the workspace of this key',
    });
    expect(asked.filter((question) => question.startsWith('read'))).toEqual([]);
  });

  it('of an id that was never given are not even looked for', async () => {
    const { files, asked } = filesOf({});
    const body = { input: [{ role: 'user', content: [{ type: 'input_file', file_id: 'file_../../etc' }] }] };
    const filled = withStoredFiles(body, DIALECTS.responses.inbound.fileParts, files, () => access);
    await expect(filled).rejects.toMatchObject({ kind: 'not-found' });
    expect(asked).toEqual([]);
  });

  it('that are deleted meanwhile are a 404', async () => {
    const { files, all } = filesOf({ a: { bytes: 'a', mimeType: 'text/plain' } });
    const { find } = files.store;
    const deleting = {
      find: (...wanted: Parameters<typeof find>) => find(...wanted).finally(() => all.clear()),
    };
    await expect(fill({ ...files, store: deleting }, ['a'])).rejects.toMatchObject({ kind: 'not-found' });
  });

  it.each(['hell', 'hello hello'])('that come with another length are a 503: %s', async (sent) => {
    const { files } = filesOf({ a: { bytes: 'hello', mimeType: 'text/plain' } });
    const bytes = { read: async () => piecesOf(Buffer.from(sent), 4) };
    await expect(fill({ ...files, bytes }, ['a'])).rejects.toMatchObject({ kind: 'overloaded' });
  });

  it('may come to the limit as they are sent, each time they are named, and not to more', async () => {
    const { files, asked } = filesOf({
      pdf: { bytes: 'a'.repeat(300), mimeType: 'application/pdf' },
      txt: { bytes: 'a'.repeat(200), mimeType: 'text/plain' },
    });
    expect(contentOf(await fill(files, ['pdf', 'pdf', 'txt']))).toHaveLength(3);
    asked.length = 0;
    await expect(fill(files, ['pdf', 'pdf', 'txt'], { maxBytes: 999 })).rejects.toMatchObject({
      kind: 'payload-too-large',
      message: expect.stringMatching(
        /^input\[0\]\.content\[2\]\.file_id: .* 999 bytes .*server\.max_body_bytes/,
      ),
    });
    expect(asked).toEqual([`find ${idOf('pdf')}`, `find ${idOf('txt')}`]);
  });

  it('take room for all that they come to, text twice, before anything is read', async () => {
    const { files, asked } = filesOf({
      pdf: { bytes: 'a'.repeat(100), mimeType: 'application/pdf' },
      txt: { bytes: 'a'.repeat(100), mimeType: 'text/plain' },
    });
    const full = new Error('full');
    const taken: number[] = [];
    const takeRoom = (bytes: number) => {
      taken.push(bytes);
      throw full;
    };
    await expect(fill(files, ['pdf', 'txt', 'txt'], { takeRoom })).rejects.toBe(full);
    expect(taken).toEqual([136 + 2 * 200]);
    expect(asked).toEqual([`find ${idOf('pdf')}`, `find ${idOf('txt')}`]);
  });

  it('that are not named take no room', async () => {
    const takeRoom = () => {
      throw new Error('taken');
    };
    expect(contentOf(await fill(filesOf({}).files, [], { takeRoom }))).toEqual([]);
  });

  it('with more text than any context holds are a 400, unread and without room', async () => {
    const { files, asked } = filesOf({ txt: { bytes: 'a'.repeat(160), mimeType: 'text/plain' } });
    const takeRoom = () => {
      throw new Error('taken');
    };
    await expect(
      fill(files, ['txt', 'txt'], { maxPromptTokens: async () => 19, takeRoom }),
    ).rejects.toMatchObject({
      kind: 'context-length',
      message: expect.stringMatching(/ at least 20 tokens, .* takes 19\. Its text files have 320 bytes/),
    });
    expect(asked).toEqual([`find ${idOf('txt')}`]);
    expect(contentOf(await fill(files, ['txt', 'txt'], { maxPromptTokens: async () => 20 }))).toHaveLength(2);
  });

  it('that are no text may be of any size: how many tokens they are is for others to say', async () => {
    const { files } = filesOf({ pdf: { bytes: 'a'.repeat(300), mimeType: 'application/pdf' } });
    expect(contentOf(await fill(files, ['pdf'], { maxPromptTokens: async () => 1 }))).toHaveLength(1);
  });

  it('are not read on for a caller who has left', async () => {
    const { files } = filesOf({ a: { bytes: 'aaaa bbbb', mimeType: 'text/plain' } });
    const leaving = new AbortController();
    const gone = new Error('gone');
    const reading = {
      read: async () =>
        (async function* () {
          yield Buffer.from('aaaa');
          leaving.abort(gone);
          yield Buffer.from('bbbb');
          throw new Error('read on');
        })(),
    };
    const filled = fill({ ...files, bytes: reading }, ['a'], { signal: leaving.signal });
    await expect(filled).rejects.toBe(gone);
  });
});
