import { encodedText } from './encoded-text.ts';
import {
  contentOfData,
  dataUrlOf,
  isBinary,
  isCommonMediaType,
  isMark,
  isNameText,
  isSeal,
  type Surroundings,
  type Vocabulary,
  vocabularyOf,
  vocabularyOfField,
  vocabularyOfObject,
} from './protocol-marks.ts';
import { renamed } from './renamed.ts';
import { mapNumber } from './tool-input.ts';

/** Returns what a text is replaced by, or the text itself. `member`: the name of the member that holds it. */
export type ChangeText = (text: string, member: string) => string;

/** Called when an object was replaced by a changed copy. */
export type Moved = (from: object, to: object) => void;

interface Spot {
  readonly member: string;
  readonly vocabulary: Vocabulary;
}

/**
 * The value with every text in it replaced by what `change` returns: strings at any depth, the content of encoded text
 * files, names that no format documents, and long numbers under them. Marks of the protocol are left out. The same
 * value if nothing changes. The texts come in the same order each time, each name once.
 */
export function mapTexts<T>(value: T, change: ChangeText, moved: Moved = ignore, member = ''): T {
  return mapped(value, { member, vocabulary: vocabularyOfField(member) }, change, moved) as T;
}

function spotOf(member: string, outer: Surroundings): Spot {
  return { member, vocabulary: vocabularyOf(member, outer) };
}

function mapped(value: unknown, spot: Spot, change: ChangeText, moved: Moved): unknown {
  if (typeof value === 'string') return mappedText(value, spot, change);
  if (typeof value === 'number' && (spot.vocabulary === 'own' || spot.vocabulary === 'unlisted')) {
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

function mappedMembers(
  object: Members,
  { member, vocabulary }: Spot,
  change: ChangeText,
  moved: Moved,
): Members {
  const { type } = object;
  const inside: Surroundings = { member, vocabulary: vocabularyOfObject(type, vocabulary), type };
  let copy: Record<string, unknown> | undefined;
  let names: Map<string, string> | undefined;
  for (const name of Object.keys(object)) {
    const given = object[name];
    const spot = spotOf(name, inside);
    const value =
      name === 'data' && typeof given === 'string'
        ? mappedData(given, object, { ...spot, member }, change)
        : mapped(given, spot, change, moved);
    if (value !== given) {
      copy ??= { ...object };
      copy[name] = value;
    }
    if (name === '' || !isNameText(name, inside)) continue;
    const changed = change(name, '');
    if (changed === name) continue;
    names ??= new Map();
    names.set(name, changed);
  }
  const result = copy ?? object;
  return names === undefined ? result : renamed(result, names);
}

/** The member `data`. `spot.member`: where the object stands that has it. */
function mappedData(data: string, object: Members, { member, vocabulary }: Spot, change: ChangeText): string {
  const content = contentOfData(object, member);
  const isListed = vocabulary === 'protocol';
  if (data === '' || (content === 'seal' && isListed && isSeal(data))) return data;
  if (content !== 'bytes') return mappedText(data, { member: 'data', vocabulary }, change);
  const mediaType = object.mediaType ?? object.media_type ?? object.mimeType ?? object.mime_type;
  return (
    mappedBytes(data, typeof mediaType === 'string' ? mediaType : '', isListed, change) ??
    // Not the text of a file, which goes on in the texts beside it.
    change(data, 'bytes')
  );
}

/**
 * The bytes of a file in base64, its text replaced if it is a text file; undefined = they are to be scanned as they
 * stand. `isListed`: the place is one that is documented for files.
 */
function mappedBytes(
  data: string,
  mediaType: string,
  isListed: boolean,
  change: ChangeText,
): string | undefined {
  const file = encodedText(data, mediaType);
  if (file === undefined) return isListed && isBinary(data) ? data : undefined;
  const changed = change(file.text, 'data');
  if (changed !== file.text) return file.write(changed);
  return file.isReadable || (isListed && isBinary(data)) ? data : undefined;
}

function mappedText(text: string, { member, vocabulary }: Spot, change: ChangeText): string {
  if (text === '' || isMark(member, text, vocabulary)) return text;
  const url = dataUrlOf(text);
  if (url === undefined) return change(text, member);
  const data = mappedBytes(url.data, url.mediaType, true, change);
  if (data === undefined) return change(text, member);
  const type = isCommonMediaType(url.type) ? url.type : change(url.type, member);
  return data === url.data && type === url.type ? text : `data:${type};base64,${data}`;
}

function ignore(): void {}
