import type { Source } from '../../../ir/items.ts';
import { urlOf } from '../../../kit/net/url-of.ts';

export type MediaKind = 'image' | 'file' | 'audio' | 'video';

interface MediaRule {
  readonly types: RegExp;
  readonly example: string;
}

const RULES: Readonly<Record<MediaKind, MediaRule>> = {
  image: { types: /^image\/./i, example: 'data:image/png;base64,...' },
  file: { types: /./, example: 'data:application/pdf;base64,...' },
  audio: { types: /^audio\//i, example: 'data:audio/wav;base64,...' },
  video: { types: /^video\/./i, example: 'data:video/mp4;base64,...' },
};

/** Why no upstream can read a source; undefined if some may. */
export function mediaProblem(source: Source, kind: MediaKind): string | undefined {
  switch (source.kind) {
    case 'base64':
      return problemOfBytes(source, kind);
    case 'url':
      return problemOfAddress(source.url, kind);
    default:
      return undefined;
  }
}

function problemOfBytes(
  { mediaType, data }: Extract<Source, { kind: 'base64' }>,
  kind: MediaKind,
): string | undefined {
  const { types, example } = RULES[kind];
  if (!types.test(mediaType)) return `must have the media type of its kind: ${example}`;
  if (data === '') return `holds no ${kind}`;
  return isBase64(data) ? undefined : 'is no valid base64';
}

/** Schemes that upstreams fetch from: the web, and the stores of two providers. */
const FETCHED: ReadonlySet<string> = new Set(['http:', 'https:', 'gs:', 's3:']);

function problemOfAddress(address: string, kind: MediaKind): string | undefined {
  if (/^data:[^,]*;base64,/i.test(address.slice(0, MAX_WHOLE_CHARACTERS))) {
    return 'must be an address: bytes go into a source of type base64';
  }
  if (/^data:/i.test(address)) return `a data URL must hold base64: ${RULES[kind].example}`;
  const isTrimmed = !/^\s|\s$/.test(address);
  const url = isTrimmed ? urlOf(address) : undefined;
  return url !== undefined && FETCHED.has(url.protocol) && url.hostname !== ''
    ? undefined
    : 'must be an address that begins with https:// or a data URL in base64';
}

/** Base64 of up to so many characters is checked as a whole. */
const MAX_WHOLE_CHARACTERS = 1024;

/** Longer base64 is checked in samples: millions of characters would block the event loop. */
const SAMPLE_CHARACTERS = 128;
const CHARACTERS_PER_SAMPLE = 16_384;

/** Line breaks are allowed, as in mails. */
const MIDDLE = /^[A-Za-z0-9+/\r\n]*$/;
const END = /^[A-Za-z0-9+/\r\n]*={0,2}[\r\n]*$/;

/** True if a text may be base64. Damage inside a long one may go unnoticed. */
function isBase64(data: string): boolean {
  const end = data.slice(-MAX_WHOLE_CHARACTERS);
  if (!END.test(end)) return false;
  const hasLines = end.includes('\n') || data.slice(0, MAX_WHOLE_CHARACTERS).includes('\n');
  if (!hasLines && data.length % 4 !== 0) return false;
  const rest = data.length - end.length;
  for (let start = 0; start < rest; start += CHARACTERS_PER_SAMPLE) {
    if (!MIDDLE.test(data.slice(start, Math.min(start + SAMPLE_CHARACTERS, rest)))) return false;
  }
  return true;
}
