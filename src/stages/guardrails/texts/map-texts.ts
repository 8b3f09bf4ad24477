import { type EncodedText, encodedText } from './encoded-text.ts';
import { dataUrlOf, isMark, isNamedByCaller, type Vocabulary, vocabularyOf } from './protocol-marks.ts';
import { mapNumber } from './tool-input.ts';

/** Returns what a text is replaced by, or the text itself. `member`: the name of the member that holds it. */
export type ChangeText = (text: string, member: string) => string;

/** Called when an object was replaced by a changed copy. */
export type Moved = (from: object, to: object) => void;

/** Where a value stands. */
interface Spot {
  readonly member: string;
  readonly vocabulary: Vocabulary;
}

const NOWHERE: Spot = { member: '', vocabulary: 'protocol' };

/**
 * The value with every text in it replaced by what `change` returns: strings at any depth, the content of encoded text
 * files, names that the caller chose, and long numbers beside them. Marks of the protocol are left out. The same value
 * if nothing changes.
 */
export function mapTexts<T>(value: T, change: ChangeText, moved: Moved = ignore, member = ''): T {
  return mapped(value, spotOf(member, NOWHERE), change, moved) as T;
}

function spotOf(member: string, outer: Spot): Spot {
  return { member, vocabulary: vocabularyOf(member, outer) };
}

function mapped(value: unknown, spot: Spot, change: ChangeText, moved: Moved): unknown {
  if (typeof value === 'string') return mappedText(value, spot, change);
  if (typeof value === 'number' && spot.vocabulary === 'own') {
    return mapNumber(value, (text) => change(text, spot.member));
  }
  if (Array.isArray(value)) {
    let copy: unknown[] | undefined;
    for (let index = 0; index < value.length; index++) {
      const element = mapped(value[index], spot, change, moved);
      if (element === value[index]) continue;
      copy ??= [...value];
      copy[index] = element;
    }
    return copy ?? value;
  }
  if (typeof value !== 'object' || value === null) return value;
  const copy = mappedMembers(value as Members, spot, change, moved);
  if (copy !== value) moved(value, copy);
  return copy;
}

type Members = Readonly<Record<string, unknown>>;

function mappedMembers(object: Members, spot: Spot, change: ChangeText, moved: Moved): Members {
  const file = textFileIn(object);
  if (file !== undefined) {
    const changed = change(file.text, 'data');
    return changed === file.text ? object : { ...object, data: file.write(changed) };
  }
  const isNaming = isNamedByCaller(spot.member, spot.vocabulary);
  let copy: Record<string, unknown> | undefined;
  let isRenamed = false;
  for (const name of Object.keys(object)) {
    const value = mapped(object[name], spotOf(name, spot), change, moved);
    if (value !== object[name]) {
      copy ??= { ...object };
      copy[name] = value;
    }
    if (isNaming && name !== '' && change(name, '') !== name) isRenamed = true;
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

function mappedText(text: string, { member, vocabulary }: Spot, change: ChangeText): string {
  if (text === '' || isMark(member, text, vocabulary)) return text;
  const url = dataUrlOf(text);
  if (url === undefined) return change(text, member);
  const file = encodedText(url.data, url.mediaType);
  if (file === undefined) return text;
  const changed = change(file.text, 'data');
  return changed === file.text ? text : text.slice(0, text.indexOf(',') + 1) + file.write(changed);
}

/** The text of an object that is an encoded text file. */
function textFileIn(object: Members): EncodedText | undefined {
  const mediaType = object.mediaType ?? object.media_type;
  const { data } = object;
  const isEncoded = object.kind === 'base64' || object.type === 'base64';
  if (!isEncoded || typeof mediaType !== 'string' || typeof data !== 'string') return undefined;
  return encodedText(data, mediaType);
}

function ignore(): void {}
