import { GatewayError, invalidRequest } from '../../../ir/errors.ts';
import type { TranslationEntry } from '../../../ir/metadata.ts';
import type { JsonObject } from '../../../kit/json/json.ts';
import { textAt, withoutNulls } from '../../../kit/json/members.ts';
import { MAX_REQUEST_PIECES, tooManyPieces } from '../requests/request-pieces.ts';
import { type FileKind, type InlineFile, kindOf } from './inline-file.ts';

/** Description of members that name a file, for schemas. */
export const FILE_ID_DESCRIPTION =
  'A file of this gateway (`file_...`), whose content is sent, or one that the upstream keeps under an id of another form.';

/** Reference to a file in a part. */
export interface FileNaming {
  readonly fileId: string;
  /** The member that names it, as a path below the part. */
  readonly member: string;
  /** Kinds of files that it accepts; empty = none. */
  readonly takes: readonly FileKind[];
  /** Members of the part that have content of their own. */
  readonly rivals: readonly string[];
}

/** Replacement of a part, and the members that it cannot carry. */
export interface WrittenPart {
  readonly part: JsonObject;
  readonly lost: readonly string[];
}

/** Returns the replacement of a part; `place` returns its path in the caller's body. */
export type PartChange = (part: JsonObject, place: () => string) => JsonObject;

/** How requests of one format name files. */
export interface FileParts {
  /** Maps all parts that may name a file. Returns the same body if nothing changes. */
  changeEach(body: JsonObject, change: PartChange): JsonObject;
  /** Undefined for parts that name none. */
  namingOf(part: JsonObject): FileNaming | undefined;
  write(part: JsonObject, file: InlineFile): WrittenPart;
}

export interface StoredFileNaming extends FileNaming {
  readonly path: string;
}

/** The file id of a part of unknown type. Such a part accepts no stored file, so naming one is refused. */
export function bareNaming(part: JsonObject): FileNaming | undefined {
  const fileId = textAt(part, 'file_id');
  return fileId === undefined ? undefined : { fileId, member: 'file_id', takes: [], rivals: [] };
}

/** True for ids of this gateway; providers store files under ids of other forms. */
export function isStoredFileId(id: string): boolean {
  return id.startsWith('file_');
}

/**
 * The places in a body that name stored files, in order. Throws 400 for places that accept none, whether or not the
 * file exists.
 */
export function storedFilesIn(body: JsonObject, parts: FileParts): StoredFileNaming[] {
  const namings: StoredFileNaming[] = [];
  let visited = 0;
  parts.changeEach(body, (part, place) => {
    if (++visited > MAX_REQUEST_PIECES) throw tooManyPieces(place());
    const naming = storedNamingOf(part, parts);
    if (naming !== undefined) namings.push(standing(naming, `${place()}.${naming.member}`));
    return part;
  });
  return namings;
}

function storedNamingOf(part: JsonObject, { namingOf }: FileParts): FileNaming | undefined {
  const naming = namingOf(part);
  return naming !== undefined && isStoredFileId(naming.fileId) ? naming : undefined;
}

function standing(naming: FileNaming, path: string): StoredFileNaming {
  const [rival] = naming.rivals;
  if (naming.takes.length === 0) {
    const message = 'names a stored file: those can stand only in messages and in the results of tools';
    throw invalidRequest([{ path, message }]);
  }
  if (rival !== undefined) throw invalidRequest([{ path, message: `cannot be combined with ${rival}` }]);
  return { ...naming, path };
}

/** Refuses a file that its part does not accept. */
export function refuseMisplaced({ path, takes }: StoredFileNaming, mediaType: string): void {
  if (takes.includes(kindOf(mediaType))) return;
  const kinds = takes.map((kind) => PLURALS[kind]).join(', ');
  throw invalidRequest([{ path, message: `names a file of type ${mediaType}: this part takes ${kinds}` }]);
}

const PLURALS: Readonly<Record<FileKind, string>> = {
  image: 'images',
  document: 'documents',
  audio: 'audio',
  text: 'text',
};

/** The error for a file that does not exist, or is in another workspace. */
export function fileNotFound({ path }: StoredFileNaming): GatewayError {
  return new GatewayError('not-found', `${path}: there is no such file in the workspace of this key`);
}

export interface FilledBody {
  readonly body: JsonObject;
  readonly report: readonly TranslationEntry[];
}

export function placeFiles(
  body: JsonObject,
  parts: FileParts,
  files: ReadonlyMap<string, InlineFile>,
): FilledBody {
  const report: TranslationEntry[] = [];
  const filled = parts.changeEach(body, (part, place) => {
    const file = files.get(storedNamingOf(part, parts)?.fileId ?? '');
    if (file === undefined) return part;
    const written = parts.write(part, file);
    report.push(...changesOf(part, written, place()));
    return written.part;
  });
  return { body: filled, report };
}

function changesOf(
  part: JsonObject,
  { part: written, lost }: WrittenPart,
  place: string,
): TranslationEntry[] {
  const type = String(written.type);
  const dropped = lost.map((member) => ({
    field: `${place}.${member}`,
    action: 'dropped' as const,
    detail: `the file is sent as ${type}, which has no such field`,
  }));
  if (type === part.type) return dropped;
  return [{ field: place, action: 'coerced', detail: `the file is sent as ${type}` }, ...dropped];
}

/** Members of a part whose type changes. */
export interface MemberFates {
  /** Members that become members of the new part under other names. */
  readonly read: readonly string[];
  /** Members that the new part has too. */
  readonly carried: readonly string[];
}

/** A part of another type that replaces a part. */
export function retyped(part: JsonObject, made: JsonObject, { read, carried }: MemberFates): WrittenPart {
  const given = Object.entries(withoutNulls(part));
  const known = new Set(['type', ...read, ...carried]);
  return {
    part: { ...made, ...Object.fromEntries(given.filter(([name]) => carried.includes(name))) },
    lost: given.flatMap(([name]) => (known.has(name) ? [] : [name])),
  };
}
