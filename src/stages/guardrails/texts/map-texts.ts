import { dataUrlOf, isMark, isTextMedia } from './protocol-marks.ts';

/** Returns what a text is replaced by, or the text itself. `member`: the name of the member that holds it. */
export type ChangeText = (text: string, member: string) => string;

/** Called when an object was replaced by a changed copy. */
export type Moved = (from: object, to: object) => void;

/** Members whose own members are named by the caller. */
const NAMING_MEMBERS: ReadonlySet<string> = new Set(['properties', '$defs', 'definitions', 'metadata']);

/**
 * The value with every text in it replaced by what `change` returns: strings at any depth, the content of encoded text
 * files, and names that the caller chose. Marks of the protocol are left out. The same value if nothing changes.
 */
export function mapTexts<T>(value: T, change: ChangeText, moved: Moved = ignore, member = ''): T {
  return mapped(value, member, change, moved) as T;
}

function mapped(value: unknown, member: string, change: ChangeText, moved: Moved): unknown {
  if (typeof value === 'string') return mappedText(value, member, change);
  if (Array.isArray(value)) {
    let copy: unknown[] | undefined;
    for (let index = 0; index < value.length; index++) {
      const element = mapped(value[index], member, change, moved);
      if (element === value[index]) continue;
      copy ??= [...value];
      copy[index] = element;
    }
    return copy ?? value;
  }
  if (typeof value !== 'object' || value === null) return value;
  const copy = mappedMembers(value as Members, member, change, moved);
  if (copy !== value) moved(value, copy);
  return copy;
}

type Members = Readonly<Record<string, unknown>>;

function mappedMembers(object: Members, member: string, change: ChangeText, moved: Moved): Members {
  const file = textFileIn(object);
  if (file !== undefined) {
    const text = decoded(file.data);
    const changed = change(text, 'data');
    return changed === text ? object : { ...object, [file.member]: encoded(changed) };
  }
  const isNaming = NAMING_MEMBERS.has(member);
  let copy: Record<string, unknown> | undefined;
  let isRenamed = false;
  for (const name of Object.keys(object)) {
    const value = mapped(object[name], name, change, moved);
    if (value !== object[name]) {
      copy ??= { ...object };
      copy[name] = value;
    }
    if (isNaming && change(name, '') !== name) isRenamed = true;
  }
  const result = copy ?? object;
  return isRenamed ? renamed(result, change) : result;
}

function renamed(object: Members, change: ChangeText): Members {
  const copy: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(object)) {
    const changed = change(name, '');
    let free = changed;
    for (let count = 2; free in copy; count++) free = `${changed}_${count}`;
    copy[free] = value;
  }
  return copy;
}

function mappedText(text: string, member: string, change: ChangeText): string {
  if (text === '' || isMark(member, text)) return text;
  const url = dataUrlOf(text);
  if (url === undefined) return change(text, member);
  if (!isTextMedia(url.mediaType)) return text;
  const content = decoded(url.data);
  const changed = change(content, 'data');
  return changed === content ? text : text.slice(0, text.indexOf(',') + 1) + encoded(changed);
}

/** The base64 member of an object that is an encoded text file. */
function textFileIn(object: Members): { readonly member: string; readonly data: string } | undefined {
  const mediaType = object.mediaType ?? object.media_type;
  const { data } = object;
  const isEncoded = object.kind === 'base64' || object.type === 'base64';
  if (!isEncoded || typeof mediaType !== 'string' || typeof data !== 'string') return undefined;
  return isTextMedia(mediaType) ? { member: 'data', data } : undefined;
}

function decoded(data: string): string {
  return Buffer.from(data, 'base64').toString('utf8');
}

function encoded(text: string): string {
  return Buffer.from(text, 'utf8').toString('base64');
}

function ignore(): void {}
