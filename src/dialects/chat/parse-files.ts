import type { JsonObject } from '../../kit/json/json.ts';
import { objectAt, objectsAt, textAt } from '../../kit/json/members.ts';
import { headedText, type InlineFile, inputAudioOf } from '../shared/media/inline-file.ts';
import {
  bareNaming,
  type FileNaming,
  type FileParts,
  type PartChange,
  retyped,
  type WrittenPart,
} from '../shared/media/stored-files.ts';
import { messageIndex } from '../shared/presets/preset-message.ts';
import { withEach } from '../shared/requests/with-each.ts';

/** How requests of the chat format name files: in `file` parts by `file.file_id`. */
export const fileParts: FileParts = { changeEach, namingOf, write };

// --- Where files are named ------------------------------------------------------------------------------------------

function changeEach(body: JsonObject, change: PartChange): JsonObject {
  const place = (at: number) => `messages[${messageIndex(objectsAt(body, 'messages'), at)}]`;
  return withEach(body, 'messages', (message, at) =>
    Array.isArray(message.content)
      ? withEach(message, 'content', (part, index) => change(part, () => `${place(at)}.content[${index}]`))
      : message,
  );
}

// --- What names a file ----------------------------------------------------------------------------------------------

function namingOf(part: JsonObject): FileNaming | undefined {
  if (part.type !== 'file') return bareNaming(part);
  const file = objectAt(part, 'file');
  const fileId = textAt(file, 'file_id');
  if (fileId === undefined) return undefined;
  return {
    fileId,
    member: 'file.file_id',
    takes: ['image', 'document', 'audio', 'text'],
    rivals: textAt(file, 'file_data') === undefined ? [] : ['file.file_data'],
  };
}

// --- What replaces it -----------------------------------------------------------------------------------------------

function write(part: JsonObject, file: InlineFile): WrittenPart {
  return WRITERS[file.kind](part, file);
}

const WRITERS: Readonly<Record<InlineFile['kind'], FileParts['write']>> = {
  document: (part, file) => {
    const { file_id: _fileId, ...rest } = objectAt(part, 'file') ?? {};
    const content = { ...rest, filename: givenName(part) ?? file.filename, file_data: file.content };
    return { part: { ...part, file: content }, lost: [] };
  },
  image: (part, file) =>
    nameless(part, { type: 'image_url', image_url: { url: file.content } }, ['cache_control']),
  text: (part, file) =>
    retyped(
      part,
      { type: 'text', text: headedText(givenName(part) ?? file.filename, file) },
      { read: ['file'], carried: ['cache_control'] },
    ),
  audio: (part, file) => nameless(part, { type: 'input_audio', input_audio: inputAudioOf(file) }, []),
};

/** Parts of other types cannot carry the caller's file name. */
function nameless(part: JsonObject, made: JsonObject, carried: readonly string[]): WrittenPart {
  const written = retyped(part, made, { read: ['file'], carried });
  return givenName(part) === undefined ? written : { ...written, lost: [...written.lost, 'file.filename'] };
}

function givenName(part: JsonObject): string | undefined {
  return textAt(objectAt(part, 'file'), 'filename');
}
