import { lookUp } from '../../kit/collections/lookup.ts';
import type { JsonObject } from '../../kit/json/json.ts';
import { objectAt, stringAt, textAt } from '../../kit/json/members.ts';
import { base64OfFile, type InlineFile } from '../shared/media/inline-file.ts';
import {
  bareNaming,
  type FileNaming,
  type FileParts,
  type PartChange,
  retyped,
  type WrittenPart,
} from '../shared/media/stored-files.ts';
import { withEach } from '../shared/requests/with-each.ts';

/** How requests of the messages format name files: in sources of type `file`. `container_upload` takes no content. */
export const fileParts: FileParts = { changeEach, namingOf, write };

// --- Where files are named ------------------------------------------------------------------------------------------

function changeEach(body: JsonObject, change: PartChange): JsonObject {
  return withEach(body, 'messages', (message, at) =>
    withEach(message, 'content', (block, index) =>
      changeBlock(block, change, () => `messages[${at}].content[${index}]`),
    ),
  );
}

/** A block and the blocks inside it: tool results and documents may have blocks. */
function changeBlock(block: JsonObject, change: PartChange, place: () => string): JsonObject {
  const inside = (holder: JsonObject, path: string) =>
    withEach(holder, 'content', (inner, index) =>
      changeBlock(inner, change, () => `${place()}${path}.content[${index}]`),
    );
  if (block.type === 'tool_result') return inside(block, '');
  const source = block.type === 'document' ? objectAt(block, 'source') : undefined;
  if (source?.type !== 'content') return change(block, place);
  const changed = inside(source, '.source');
  return changed === source ? block : { ...block, source: changed };
}

// --- What names a file ----------------------------------------------------------------------------------------------

/** Kinds of files by type of block. */
const TAKES: Readonly<Record<string, FileNaming['takes']>> = {
  image: ['image'],
  document: ['image', 'document', 'text'],
};

function namingOf(block: JsonObject): FileNaming | undefined {
  const source = objectAt(block, 'source');
  if (source?.type !== 'file') return bareNaming(block);
  return {
    fileId: stringAt(source, 'file_id') ?? '',
    member: 'source.file_id',
    takes: lookUp(TAKES, stringAt(block, 'type') ?? '') ?? [],
    rivals: [],
  };
}

// --- What replaces it -----------------------------------------------------------------------------------------------

function write(block: JsonObject, file: InlineFile): WrittenPart {
  return WRITERS[file.kind](block, file);
}

const WRITERS: Readonly<Record<InlineFile['kind'], FileParts['write']>> = {
  document: (block, file) => documentOf(block, file, bytesOf(file)),
  text: (block, file) =>
    documentOf(block, file, { type: 'text', media_type: 'text/plain', data: file.content }),
  image: (block, file) =>
    block.type === 'image'
      ? { part: { ...block, source: bytesOf(file) }, lost: [] }
      : retyped(
          block,
          { type: 'image', source: bytesOf(file) },
          { read: ['source'], carried: ['cache_control'] },
        ),
  audio: () => {
    throw new Error('no block of the messages format takes sound');
  },
};

function documentOf(block: JsonObject, { filename }: InlineFile, source: JsonObject) {
  return { part: { ...block, source, title: textAt(block, 'title') ?? filename }, lost: [] };
}

function bytesOf(file: InlineFile): JsonObject {
  return { type: 'base64', media_type: file.mediaType, data: base64OfFile(file) };
}
