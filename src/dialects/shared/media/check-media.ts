import { invalidRequest } from '../../../ir/errors.ts';
import type { Format, Part, Source } from '../../../ir/items.ts';
import type { GenerationRequest } from '../../../ir/request.ts';
import type { JsonObject } from '../../../kit/json/json.ts';
import { objectAt, objectsAt, stringAt } from '../../../kit/json/members.ts';
import type { Issue } from '../../../kit/json/validate.ts';
import { parseDataUrl } from './data-url.ts';
import { type MediaKind, mediaProblem } from './media-problem.ts';

/**
 * Refuses images, files, audio and video that no upstream can read: bytes that are no base64 or not of their kind, and
 * addresses that nobody fetches from. Throws 400 that names each of them.
 */
export function checkMedia({
  items,
  format,
  places,
}: Pick<GenerationRequest, 'items' | 'format' | 'places'>): void {
  const issues: Issue[] = [];
  const check = (owner: object, { kind, source, members, inside = '' }: Medium) => {
    const message = mediaProblem(source, kind);
    const path = message === undefined ? undefined : places.of(owner);
    if (message === undefined || path === undefined) return;
    issues.push({ path: `${path}${inside}.${memberOf(source, members[format])}`, message });
  };
  for (const item of items) {
    if (item.type === 'image') {
      check(item, { kind: 'image', source: item.source, members: MADE_IMAGE_MEMBERS });
    }
    if (item.type !== 'message' && item.type !== 'tool-result') continue;
    for (const part of item.content) for (const medium of mediaOf(part)) check(part, medium);
  }
  if (issues.length > 0) throw invalidRequest(issues);
}

/** Something to see, read or hear. */
interface Medium {
  readonly kind: MediaKind;
  readonly source: Source;
  readonly members: Members;
  /** Where it stands inside the part, when it is not the part itself. */
  readonly inside?: string;
}

function mediaOf(part: Part): readonly Medium[] {
  switch (part.type) {
    case 'image':
    case 'file':
      return [{ kind: part.type, source: part.source, members: MEMBERS[part.type] }];
    case 'audio': {
      const source = { kind: 'base64', mediaType: `audio/${part.format}`, data: part.data } as const;
      return [{ kind: 'audio', source, members: MEMBERS.audio }];
    }
    case 'video': {
      const source = parseDataUrl(part.url) ?? ({ kind: 'url', url: part.url } as const);
      return [{ kind: 'video', source, members: MEMBERS.video }];
    }
    case 'opaque':
      return part.dialect === 'messages' ? imagesInDocument(part.value) : [];
    default:
      return [];
  }
}

/** The messages format has documents that are made of blocks. */
function imagesInDocument(block: JsonObject): Medium[] {
  return objectsAt(objectAt(block, 'source'), 'content').flatMap((inner, index) => {
    const source = inner.type === 'image' ? sourceIn(objectAt(inner, 'source')) : undefined;
    const inside = `.source.content[${index}]`;
    return source === undefined ? [] : [{ kind: 'image' as const, source, members: MEMBERS.image, inside }];
  });
}

function sourceIn(given: JsonObject | undefined): Source | undefined {
  const [url, data] = [stringAt(given, 'url'), stringAt(given, 'data')];
  if (url !== undefined) return { kind: 'url', url };
  if (data === undefined) return undefined;
  return { kind: 'base64', mediaType: stringAt(given, 'media_type') ?? '', data };
}

// --- Where formats write it ----------------------------------------------------------------------------------------------

/** The member that holds an address, and the one that holds bytes. */
interface SourceMembers {
  readonly url?: string;
  readonly base64?: string;
  /** Of data URLs without base64; absent = where addresses stand. */
  readonly dataUrl?: string;
}

type Members = Readonly<Record<Format, SourceMembers>>;

function memberOf(source: Source, { url = '', base64 = '', dataUrl = url }: SourceMembers): string {
  if (source.kind !== 'url') return base64;
  return /^data:/i.test(source.url) ? dataUrl : url;
}

const both = (member: string): SourceMembers => ({ url: member, base64: member });

const MESSAGES_MEMBERS: SourceMembers = { url: 'source.url', base64: 'source.data' };

/** Of the parts of a message or of a tool result. */
const MEMBERS: Readonly<Record<MediaKind, Members>> = {
  image: { responses: both('image_url'), messages: MESSAGES_MEMBERS, chat: both('image_url.url') },
  file: {
    responses: { url: 'file_url', base64: 'file_data', dataUrl: 'file_data' },
    messages: MESSAGES_MEMBERS,
    chat: both('file.file_data'),
  },
  audio: { responses: both('input_audio.data'), messages: {}, chat: both('input_audio.data') },
  video: { responses: both('video_url'), messages: {}, chat: both('video_url.url') },
};

/** Of images that a model made. The messages format has no block for them, so they stand in a text. */
const MADE_IMAGE_MEMBERS: Members = {
  responses: both('result'),
  messages: { base64: 'text' },
  chat: both('image_url.url'),
};
