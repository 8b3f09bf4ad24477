import { GatewayError } from '../ir/errors.ts';
import type { JsonObject } from '../kit/json/json.ts';
import { stringAt } from '../kit/json/members.ts';
import { closed } from '../kit/json/schema.ts';
import type { StoredFile } from '../ports/content/files.ts';
import { type ServerTool, type ToolContext, type ToolOutcome, toolFailure } from './server-tool.ts';

const MAX_LISTED = 1000;

type Operation = (asked: JsonObject, context: ToolContext) => Promise<JsonObject>;

const NEEDED: Readonly<Record<string, readonly string[]>> = {
  list: [],
  read: ['file_id'],
  write: ['filename', 'content'],
  edit: ['file_id', 'old', 'new'],
};

const OPERATIONS: Readonly<Record<string, Operation>> = {
  list: async (_, { files, caller }) => {
    const found = await files.list(caller, { limit: MAX_LISTED });
    return { files: found.files.map(fileResult) };
  },
  read: async (asked, context) => {
    const { file, text } = await readText(asked, context);
    return { ...fileResult(file), content: text };
  },
  write: (asked, context) => made(stringAt(asked, 'filename') ?? '', String(asked.content), context),
  edit: async (asked, context) => {
    const { file, text } = await readText(asked, context);
    return made(file.filename, edited(text, String(asked.old), String(asked.new)), context);
  },
};

/** Lists, reads, writes and edits files of the caller's workspace. An edit makes a copy. */
export const files: ServerTool = {
  name: 'files',
  costsNothing: true,
  parameters: closed({}),
  runsAlone: () => true,
  declare: () => ({
    description:
      'Works with the stored files of the user. list: all files. read: the text of file_id. write: stores content ' +
      'as a new file called filename. edit: replaces the text old, which must occur once in file_id, by new, and ' +
      'stores the outcome as a new file with an id of its own; the file itself stays as it is.',
    parameters: {
      type: 'object',
      properties: {
        operation: { type: 'string', enum: Object.keys(OPERATIONS) },
        file_id: { type: 'string' },
        filename: { type: 'string', maxLength: 255 },
        content: { type: 'string' },
        old: { type: 'string' },
        new: { type: 'string' },
      },
      required: ['operation'],
    },
  }),
  async run({ arguments: asked }, context): Promise<ToolOutcome> {
    const operation = stringAt(asked, 'operation') ?? '';
    const shown: JsonObject = { operation };
    for (const key of ['file_id', 'filename']) if (typeof asked[key] === 'string') shown[key] = asked[key];
    const missing = NEEDED[operation]?.find((key) => typeof asked[key] !== 'string');
    if (missing !== undefined) return toolFailure(`${operation} needs ${missing}`, shown);
    try {
      const result = (await OPERATIONS[operation]?.(asked, context)) ?? {};
      const { file_id = shown.file_id, filename = shown.filename } = result;
      return {
        output: JSON.stringify({ result }),
        shown: {
          operation,
          ...(file_id !== undefined && { file_id }),
          ...(filename !== undefined && { filename }),
          result: JSON.stringify(result),
        },
      };
    } catch (error) {
      if (!(error instanceof GatewayError)) throw error;
      return toolFailure(error.message, shown);
    }
  },
};

function fileResult({ id, filename, mimeType, sizeBytes }: StoredFile): JsonObject {
  return { file_id: id, filename, mime_type: mimeType, size_bytes: sizeBytes };
}

async function made(filename: string, text: string, { files, caller }: ToolContext): Promise<JsonObject> {
  return fileResult(await files.make(caller, filename, Buffer.from(text)));
}

async function readText(
  asked: JsonObject,
  { files, caller, settings, signal }: ToolContext,
): Promise<{ readonly file: StoredFile; readonly text: string }> {
  const { file, content } = await files.read(caller, stringAt(asked, 'file_id') ?? '');
  const { readBytes } = settings.web.limits;
  if (file.sizeBytes > readBytes) throw problem(`the file is larger than ${readBytes} bytes`);
  const pieces: Uint8Array[] = [];
  for await (const piece of content) {
    signal.throwIfAborted();
    pieces.push(piece);
  }
  try {
    return { file, text: new TextDecoder('utf-8', { fatal: true }).decode(Buffer.concat(pieces)) };
  } catch {
    throw problem('the file is no text');
  }
}

/** The text with one replacement; a text that occurs more than once would not say which is meant. */
export function edited(text: string, old: string, replacement: string): string {
  const at = old === '' ? -1 : text.indexOf(old);
  if (at === -1) throw problem('old does not occur in the file');
  if (text.indexOf(old, at + 1) !== -1) throw problem('old occurs more than once in the file');
  return text.slice(0, at) + replacement + text.slice(at + old.length);
}

function problem(message: string): GatewayError {
  return new GatewayError('invalid-request', message);
}
