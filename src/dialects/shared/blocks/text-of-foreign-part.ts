import type { Part } from '../../../ir/items.ts';
import { lookUp } from '../../../kit/collections/lookup.ts';
import type { JsonObject } from '../../../kit/json/json.ts';
import { booleanAt, objectAt, objectsAt, objectsOf, stringAt, textAt } from '../../../kit/json/members.ts';
import type { Report } from '../report/report.ts';
import { parseCacheMark } from '../requests/gateway-fields.ts';
import { textOfToolReference } from './tool-reference.ts';

type OpaquePart = Extract<Part, { type: 'opaque' }>;

/** Members with the text of a part of another dialect. */
interface Wording {
  /** Lines that precede the text. */
  readonly heading: (value: JsonObject) => (string | undefined)[];
  /** Path of the member with the text blocks, and the blocks. */
  readonly path: string;
  readonly blocks: (value: JsonObject) => JsonObject[];
}

/** Parts of other dialects that are mainly text, by their type. */
const WORDINGS: Readonly<Record<string, Wording>> = {
  search_result: {
    heading: (value) => [textAt(value, 'title'), textAt(value, 'source')],
    path: 'content',
    blocks: (value) => objectsAt(value, 'content'),
  },
  document: {
    heading: (value) => [textAt(value, 'title'), textAt(value, 'context')],
    path: 'source.content',
    blocks: (value) => {
      const source = objectAt(value, 'source');
      const text = textAt(source, 'content');
      return text === undefined ? objectsAt(source, 'content') : [{ type: 'text', text }];
    },
  },
  browser_state: {
    heading: ({ type: _type, cache_control: _mark, ...state }) => [JSON.stringify(state)],
    path: '',
    blocks: () => [],
  },
  tool_reference: {
    heading: (value) => [textOfToolReference(value)],
    path: '',
    blocks: () => [],
  },
};

/** Wording of a part whose type is not known here. */
const UNKNOWN_TYPE: Wording = {
  heading: (value) => [textIn(value) || undefined],
  path: '',
  blocks: () => [],
};

/** The readable text of a part: its title, its source, and every text in its content, each on lines of its own. */
export function textIn(value: JsonObject): string {
  const head = [stringAt(value, 'title'), stringAt(value, 'source')];
  const texts = [...head, ...textsOf(value), ...textsOf(objectAt(value, 'source') ?? {})];
  const hasContent = texts.slice(head.length).some((text) => text !== '');
  return hasContent ? texts.filter((text) => text !== undefined && text !== '').join('\n') : '';
}

function textsOf(value: JsonObject): string[] {
  const own = stringAt(value, 'text') ?? stringAt(value, 'content');
  return own === undefined ? objectsOf(value.content).flatMap(textsOf) : [own];
}

const NO_INNER_MARK = 'the upstream takes no cache marks here';

/**
 * A part of another dialect as text, with its losses reported; undefined if it has no text. `noField`: report detail
 * of a field that the dialect lacks.
 */
export function textOfForeignPart(
  part: OpaquePart,
  report: Report,
  noField: string,
): Extract<Part, { type: 'text' }> | undefined {
  const { value } = part;
  const type = textAt(value, 'type') ?? '';
  const wording = lookUp(WORDINGS, type) ?? UNKNOWN_TYPE;
  const blocks = wording.blocks(value);
  const texts = blocks.flatMap((block) => (block.type === 'text' ? (textAt(block, 'text') ?? []) : []));
  const lines = [...wording.heading(value).flatMap((line) => line ?? []), ...texts];
  if (lines.length === 0) return undefined;
  report.coerced(report.place(part, 'items'), `${type} sent as plain text`);
  for (const [position, block] of blocks.entries()) {
    const place = report.place(part, 'items', `${wording.path}[${position}]`);
    if (block.type !== 'text')
      report.dropped(place, `${textAt(block, 'type') ?? 'a block'} inside ${type} cannot be sent`);
    else if (parseCacheMark(block.cache_control) !== undefined) {
      report.dropped(`${place}.cache_control`, NO_INNER_MARK);
    }
  }
  if (booleanAt(objectAt(value, 'citations'), 'enabled') === true) {
    report.dropped(report.place(part, 'items', 'citations'), noField);
  }
  const cache = parseCacheMark(value.cache_control);
  return { type: 'text', text: lines.join('\n'), ...(cache !== undefined && { cache }) };
}
