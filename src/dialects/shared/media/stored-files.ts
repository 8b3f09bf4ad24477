import { GatewayError, invalidRequest } from '../../../ir/errors.ts';
import type { TranslationEntry } from '../../../ir/metadata.ts';
import type { JsonObject } from '../../../kit/json/json.ts';
import { textAt, withoutNulls } from '../../../kit/json/members.ts';
import { MAX_REQUEST_PIECES, tooManyPieces } from '../requests/request-pieces.ts';
import { type FileKind, type InlineFile, kindOf } from './inline-file.ts';

/** What the schemas say about members that name a file. */
export const FILE_ID_DESCRIPTION =
  'A file of this gateway (`file_...`), whose content is sent, or one that the upstream keeps under an id of another form.';

/** What a part says about a file. */
export interface FileNaming {
  readonly fileId: string;
  /** The member that names it, as a path below the part. */
  readonly member: string;
  /** What the file may be; empty where the content of none can stand. */
  readonly takes: readonly FileKind[];
  /** Members of the part that bring content of their own. */
  readonly rivals: readonly string[];
}

/** What is written instead of a part, and which of its members have no place there. */
export interface WrittenPart {
  readonly part: JsonObject;
  readonly lost: readonly string[];
}

/** Gives what shall stand instead of a part; `place`: where the caller wrote it. */
export type PartChange = (part: JsonObject, place: () => string) => JsonObject;

/** How requests of one format name files. */
export interface FileParts {
  /** Visits everything that may name a file. The body itself where nothing is changed. */
  changeEach(body: JsonObject, change: PartChange): JsonObject;
  /** Undefined for what names none. */
  namingOf(part: JsonObject): FileNaming | undefined;
  /** A part with the content of the file that it names. */
  write(part: JsonObject, file: InlineFile): WrittenPart;
}

/** A place of a body that names a stored file. */
export interface StoredFileNaming extends FileNaming {
  /** Of the member that names it, in the caller's body. */
  readonly path: string;
}

/** The file that a part names which is not known to take any: its id must not go out unseen. */
export function bareNaming(part: JsonObject): FileNaming | undefined {
  const fileId = textAt(part, 'file_id');
  return fileId === undefined ? undefined : { fileId, member: 'file_id', takes: [], rivals: [] };
}

/** True for ids of the form that this gateway gives; providers keep files under ids of other forms. */
export function isStoredFileId(id: string): boolean {
  return id.startsWith('file_');
}

/** Where a body names stored files, in order. Throws 400 for places where none can stand, whether it is there or not. */
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

/** Refuses a file that the part which names it cannot hold. */
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

/** The answer for a file that is not there, and for one of another workspace. */
export function fileNotFound({ path }: StoredFileNaming): GatewayError {
  return new GatewayError('not-found', `${path}: there is no such file in the workspace of this key`);
}

/** A body in which files stand where they were named, and what that changed. */
export interface FilledBody {
  readonly body: JsonObject;
  readonly report: readonly TranslationEntry[];
}

/** Puts stored files, by their ids, where a body names them. */
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

/** What becomes of the members of a part when its type changes. */
export interface MemberFates {
  /** Those that say what the new part says. */
  readonly read: readonly string[];
  /** Those that the new part has too. */
  readonly carried: readonly string[];
}

/** A part of another type that stands for a part. */
export function retyped(part: JsonObject, made: JsonObject, { read, carried }: MemberFates): WrittenPart {
  const given = Object.entries(withoutNulls(part));
  const known = new Set(['type', ...read, ...carried]);
  return {
    part: { ...made, ...Object.fromEntries(given.filter(([name]) => carried.includes(name))) },
    lost: given.flatMap(([name]) => (known.has(name) ? [] : [name])),
  };
}
