import { invalidRequest } from '../ir/errors.ts';
import type { Format, Source } from '../ir/items.ts';
import type { GenerationRequest } from '../ir/request.ts';
import type { Issue } from '../kit/validate.ts';

/**
 * Refuses images that no upstream can read: bytes that are no base64, and addresses that nobody fetches from. Throws 400
 * that names each of them.
 */
export function checkImages({
  items,
  format,
  places,
}: Pick<GenerationRequest, 'items' | 'format' | 'places'>): void {
  const issues: Issue[] = [];
  const check = (owner: object, source: Source, members: SourceMembers) => {
    const message = problemOf(source);
    const path = message === undefined ? undefined : places.of(owner);
    if (message === undefined || path === undefined) return;
    issues.push({ path: `${path}.${members[format][source.kind] ?? ''}`, message });
  };
  for (const item of items) {
    if (item.type === 'image') check(item, item.source, MADE_IMAGE_MEMBERS);
    if (item.type !== 'message' && item.type !== 'tool-result') continue;
    for (const part of item.content) if (part.type === 'image') check(part, part.source, IMAGE_MEMBERS);
  }
  if (issues.length > 0) throw invalidRequest(issues);
}

/** The member that holds a source, by what kind of source it is. */
type SourceMembers = Readonly<Record<Format, Readonly<Partial<Record<Source['kind'], string>>>>>;

const CHAT_MEMBERS = { url: 'image_url.url', base64: 'image_url.url' } as const;

/** Of the parts of a message or of a tool result. */
const IMAGE_MEMBERS: SourceMembers = {
  responses: { url: 'image_url', base64: 'image_url' },
  messages: { url: 'source.url', base64: 'source.data' },
  chat: CHAT_MEMBERS,
};

/** Of images that a model made. The messages format has no block for them, so they stand in a text. */
const MADE_IMAGE_MEMBERS: SourceMembers = {
  responses: { url: 'result', base64: 'result' },
  messages: { base64: 'text' },
  chat: CHAT_MEMBERS,
};

/** What is wrong with an image; undefined when nothing is. */
function problemOf(source: Source): string | undefined {
  switch (source.kind) {
    case 'base64':
      return source.data === '' ? 'holds no image' : isBase64(source.data) ? undefined : NO_BASE64;
    case 'url':
      return problemOfAddress(source.url);
    default:
      return undefined;
  }
}

const NO_BASE64 = 'is no valid base64';

/** What upstreams fetch images from: the web, and the stores of two providers. */
const FETCHED = new Set(['http:', 'https:', 'gs:', 's3:']);

function problemOfAddress(address: string): string | undefined {
  if (/^data:/i.test(address)) return 'a data URL must hold base64: data:image/png;base64,...';
  const url = URL.canParse(address) ? new URL(address) : undefined;
  return url !== undefined && FETCHED.has(url.protocol) && url.hostname !== ''
    ? undefined
    : 'must be an address that begins with https:// or a data URL in base64';
}

/** Images of up to so many characters are looked at as a whole. */
const MOST_AT_ONCE = 1024;

/** Larger ones in samples: they may have millions of characters, and nobody else is served meanwhile. */
const SAMPLE = { length: 128, every: 16_384 } as const;

/** Lines may be broken as in mails. */
const MIDDLE = /^[A-Za-z0-9+/\r\n]*$/;
const END = /^[A-Za-z0-9+/\r\n]*={0,2}[\r\n]*$/;

/** Whether a text can be base64. Damage inside a large one may go unseen. */
function isBase64(data: string): boolean {
  const end = data.slice(-MOST_AT_ONCE);
  if (!END.test(end)) return false;
  const hasLines = end.includes('\n') || data.slice(0, MOST_AT_ONCE).includes('\n');
  if (!hasLines && data.length % 4 !== 0) return false;
  const rest = data.length - end.length;
  for (let start = 0; start < rest; start += SAMPLE.every) {
    if (!MIDDLE.test(data.slice(start, Math.min(start + SAMPLE.length, rest)))) return false;
  }
  return true;
}
