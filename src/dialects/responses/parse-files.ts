import { lookUp } from '../../kit/collections/lookup.ts';
import type { JsonObject } from '../../kit/json/json.ts';
import { objectAt, stringAt, stringsAt, textAt } from '../../kit/json/members.ts';
import { headedText, type InlineFile, inputAudioOf } from '../shared/media/inline-file.ts';
import {
  bareNaming,
  type FileNaming,
  type FileParts,
  isStoredFileId,
  type PartChange,
  retyped,
  type WrittenPart,
} from '../shared/media/stored-files.ts';
import { inPlaceOf } from '../shared/presets/prompt-template.ts';
import { withEach } from '../shared/requests/with-each.ts';
import { inputPlace } from './parse-content.ts';

/** How requests of the responses format name files: in parts by `file_id`, and in the settings of two tools. */
export const fileParts: FileParts = { changeEach, namingOf, write };

// --- Where files are named ------------------------------------------------------------------------------------------

function changeEach(body: JsonObject, change: PartChange): JsonObject {
  const input = withEach(body, 'input', (item, index) =>
    changeItem(item, change, () => inputPlace(body, index)),
  );
  return withEach(input, 'tools', (tool, index) => change(tool, () => `tools[${index}]`));
}

/** Lists in items whose members may name files. */
const LISTS = ['content', 'output', 'tools'];

function changeItem(item: JsonObject, change: PartChange, place: () => string): JsonObject {
  let changed = item;
  for (const field of LISTS) {
    changed = withEach(changed, field, (part, index) => change(part, () => `${place()}.${field}[${index}]`));
  }
  // A computer screenshot is one part, not a list.
  const shown = objectAt(changed, 'output');
  const output = shown && change(shown, () => `${place()}.output`);
  if (output !== shown) changed = { ...changed, output };
  return changed === item ? item : inPlaceOf(item, changed);
}

// --- What names a file ----------------------------------------------------------------------------------------------

const NAMINGS: Readonly<Record<string, (part: JsonObject) => FileNaming | undefined>> = {
  input_image: (part) => named(part, ['image'], ['image_url']),
  computer_screenshot: (part) => named(part, ['image'], ['image_url']),
  input_file: (part) => named(part, ['image', 'document', 'audio', 'text'], ['file_data', 'file_url']),
  image_generation: (tool) => named(objectAt(tool, 'input_image_mask'), [], [], 'input_image_mask.file_id'),
  code_interpreter: (tool) => {
    const fileId = stringsAt(objectAt(tool, 'container'), 'file_ids')?.find(isStoredFileId);
    return fileId === undefined ? undefined : { fileId, member: 'container.file_ids', takes: [], rivals: [] };
  },
};

function namingOf(part: JsonObject): FileNaming | undefined {
  return (lookUp(NAMINGS, stringAt(part, 'type') ?? '') ?? bareNaming)(part);
}

function named(
  holder: JsonObject | undefined,
  takes: FileNaming['takes'],
  sources: readonly string[],
  member = 'file_id',
): FileNaming | undefined {
  const fileId = textAt(holder, 'file_id');
  if (fileId === undefined) return undefined;
  return { fileId, member, takes, rivals: sources.filter((name) => textAt(holder, name) !== undefined) };
}

// --- What replaces it -----------------------------------------------------------------------------------------------

/** Members for the source of the content. */
const SOURCES = ['file_id', 'file_data', 'file_url'];

function write(part: JsonObject, file: InlineFile): WrittenPart {
  if (part.type !== 'input_file') {
    const { file_id: _fileId, ...rest } = part;
    return { part: { ...rest, image_url: file.content }, lost: [] };
  }
  return WRITERS[file.kind](part, file);
}

const WRITERS: Readonly<Record<InlineFile['kind'], FileParts['write']>> = {
  document: (part, file) => {
    const { file_id: _fileId, file_url: _fileUrl, ...rest } = part;
    return { part: { ...rest, filename: nameOf(part, file), file_data: file.content }, lost: [] };
  },
  image: (part, file) =>
    retyped(
      part,
      { type: 'input_image', image_url: file.content, detail: 'auto' },
      { read: SOURCES, carried: ['cache_control'] },
    ),
  text: (part, file) =>
    retyped(
      part,
      { type: 'input_text', text: headedText(nameOf(part, file), file) },
      { read: [...SOURCES, 'filename'], carried: ['cache_control'] },
    ),
  audio: (part, file) =>
    retyped(part, { type: 'input_audio', input_audio: inputAudioOf(file) }, { read: SOURCES, carried: [] }),
};

function nameOf(part: JsonObject, { filename }: InlineFile): string {
  return textAt(part, 'filename') ?? filename;
}
