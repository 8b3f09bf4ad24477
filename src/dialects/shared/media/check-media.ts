import { invalidRequest } from '../../../ir/errors.ts';
import type { Part, Source } from '../../../ir/items.ts';
import type { GenerationRequest } from '../../../ir/request.ts';
import type { JsonObject } from '../../../kit/json/json.ts';
import type { Issue } from '../../../kit/json/validate.ts';
import { parseDataUrl } from './data-url.ts';
import { type MediaKind, mediaProblem } from './media-problem.ts';

/**
 * Refuses images, files, audio and video that no upstream can read: invalid base64, bytes of another kind, and
 * addresses that no upstream fetches from. Throws 400 that names each of them.
 */
export function checkMedia(
  { items, places }: Pick<GenerationRequest, 'items' | 'places'>,
  media: MediaMembers,
): void {
  const issues: Issue[] = [];
  const check = (owner: object, { kind, source, members, inside = '' }: Medium) => {
    const message = mediaProblem(source, kind);
    const path = message === undefined ? undefined : places.of(owner);
    if (message === undefined || path === undefined) return;
    issues.push({ path: `${path}${inside}.${memberOf(source, members)}`, message });
  };
  for (const item of items) {
    if (item.type === 'image') {
      check(item, { kind: 'image', source: item.source, members: media.madeImage });
    }
    if (item.type !== 'message' && item.type !== 'tool-result') continue;
    for (const part of item.content) for (const medium of mediaOf(part, media)) check(part, medium);
  }
  if (issues.length > 0) throw invalidRequest(issues);
}

export interface Medium {
  readonly kind: MediaKind;
  readonly source: Source;
  readonly members: SourceMembers;
  /** Path inside the part, if it is not the part itself. */
  readonly inside?: string;
}

/** The member with an address, and the one with bytes. */
export interface SourceMembers {
  readonly url?: string;
  readonly base64?: string;
  /** Member with data URLs without base64; absent = the one with addresses. */
  readonly dataUrl?: string;
}

export interface MediaMembers {
  /** In the parts of a message or of a tool result. */
  readonly parts: Readonly<Record<MediaKind, SourceMembers>>;
  /** In an image that a model made. */
  readonly madeImage: SourceMembers;
  /** Media inside parts that the representation does not model. */
  inOpaque?(value: JsonObject): readonly Medium[];
}

/** One member for both addresses and bytes. */
export const both = (member: string): SourceMembers => ({ url: member, base64: member });

function mediaOf(part: Part, { parts, inOpaque }: MediaMembers): readonly Medium[] {
  switch (part.type) {
    case 'image':
    case 'file':
      return [{ kind: part.type, source: part.source, members: parts[part.type] }];
    case 'audio': {
      const source = { kind: 'base64', mediaType: `audio/${part.format}`, data: part.data } as const;
      return [{ kind: 'audio', source, members: parts.audio }];
    }
    case 'video': {
      const source = parseDataUrl(part.url) ?? ({ kind: 'url', url: part.url } as const);
      return [{ kind: 'video', source, members: parts.video }];
    }
    case 'opaque':
      return inOpaque?.(part.value) ?? [];
    default:
      return [];
  }
}

function memberOf(source: Source, { url = '', base64 = '', dataUrl = url }: SourceMembers): string {
  if (source.kind !== 'url') return base64;
  return /^data:/i.test(source.url) ? dataUrl : url;
}
