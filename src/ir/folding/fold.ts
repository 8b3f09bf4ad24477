import type { JsonObject } from '../../kit/json/json.ts';
import { compact } from '../../kit/json/members.ts';
import { GrowingText } from '../../kit/text/growing-text.ts';
import { SampledText } from '../../kit/text/sampled-text.ts';
import type { Vector } from '../embedding.ts';
import type { GatewayError } from '../errors.ts';
import type { Event, Finish, ItemHead, PartKind, Seal } from '../events.ts';
import type {
  Annotation,
  Ext,
  ItemStatus,
  Logprobs,
  OutputItem,
  Part,
  ServerCallStatus,
  Source,
} from '../items.ts';
import type { Omission, OmittedText, Result } from '../result.ts';
import type { Usage } from '../usage.ts';

interface PartDraft {
  kind: PartKind;
  text: GrowingText;
  annotations: Annotation[] | undefined;
  logprobs: Logprobs[number][] | undefined;
  ext: Ext | undefined;
}

interface ItemDraft {
  head: ItemHead;
  parts: PartDraft[];
  summaries: PartDraft[];
  input: GrowingText | undefined;
  seal: Seal;
  source: Source | undefined;
  status: ItemStatus;
  value: JsonObject | undefined;
  served: Extract<Event, { type: 'server-result' }> | undefined;
  ext: Ext | undefined;
}

/** Text that was left out, as it comes. */
type Samples = Readonly<Record<keyof OmittedText, SampledText>>;

/** Annotations of a part where not all of its text is wanted: the others are as many as an upstream likes. */
const MAX_ANNOTATIONS = 1000;

/**
 * Builds the whole answer out of its events, and can show it at any moment. Snapshots, settlement and
 * non-streaming replies all fold with this.
 */
export class Fold {
  readonly #keepsAll: boolean;
  /** Characters of text that are still kept. */
  #room: number;
  #omitted: Samples | undefined;
  #drafts: ItemDraft[] = [];
  /** The part that was written to last: nearly always the next one too. */
  #recent: PartDraft | undefined;
  #recentItem = 0;
  #recentPart = 0;
  #finish: Finish | undefined;
  #failure: GatewayError | undefined;
  #usage: Usage | undefined;
  #settled: Result['settled'];
  #upstreamId: string | undefined;
  #upstreamModel: string | undefined;
  #relayed: JsonObject | undefined;
  #vectors: Vector[] | undefined;

  /** `room`: characters of text that are kept. Of what comes after them there is only a sample. */
  constructor(room = Number.POSITIVE_INFINITY) {
    this.#keepsAll = room === Number.POSITIVE_INFINITY;
    this.#room = room;
  }

  push(event: Event): void {
    switch (event.type) {
      case 'start':
        this.#upstreamId ??= event.upstreamId;
        this.#upstreamModel ??= event.upstreamModel;
        return;
      case 'item-start':
        this.#drafts = placed(this.#drafts, event.item, draftOf(event.head));
        this.#recent = undefined;
        return;
      case 'part-start':
        this.#partAt(event.item, event.part, event.kind).ext = event.ext;
        return;
      case 'text-delta': {
        const part = this.#partAt(event.item, event.part, event.kind);
        if (!this.#hasRoom(event.item, event.text)) return;
        part.text.add(event.text);
        if (event.logprobs !== undefined) addLogprobs(part, event.logprobs);
        return;
      }
      case 'annotation': {
        const part = this.#partAt(event.item, event.part, 'text');
        part.annotations ??= [];
        if (this.#keepsAll || part.annotations.length < MAX_ANNOTATIONS)
          part.annotations.push(event.annotation);
        return;
      }
      case 'tool-input-delta': {
        const draft = this.#draftAt(event.item);
        if (!this.#hasRoom(event.item, event.text)) return;
        draft.input ??= new GrowingText();
        draft.input.add(event.text);
        return;
      }
      case 'image-data':
        this.#draftAt(event.item).source = event.source;
        return;
      case 'server-result':
        this.#draftAt(event.item).served = event;
        return;
      case 'seal': {
        const draft = this.#draftAt(event.item);
        draft.seal = { ...draft.seal, ...event.seal };
        return;
      }
      case 'item-end': {
        const draft = this.#draftAt(event.item);
        draft.status = event.status ?? 'completed';
        draft.value = event.value ?? draft.value;
        draft.ext = event.ext ?? draft.ext;
        return;
      }
      case 'vectors':
        this.#vectors = (this.#vectors ?? []).concat(event.vectors);
        return;
      case 'usage':
        this.#usage = event.usage;
        return;
      case 'relay':
        if (event.whole === true) this.#relayed = event.value;
        for (const inner of event.events) this.push(inner);
        return;
      case 'finish':
        this.#finish = event;
        this.#settled = event.settled ?? this.#settled;
        return;
      case 'failure':
        this.#failure = event.error;
        this.#settled = event.settled ?? this.#settled;
        return;
      default:
        return;
    }
  }

  pushAll(events: readonly Event[]): this {
    for (const event of events) this.push(event);
    return this;
  }

  itemAt(item: number): OutputItem {
    return itemOf(this.#draftAt(item));
  }

  textAt(item: number, part: number, kind: PartKind): string {
    return this.#partAt(item, part, kind).text.toString();
  }

  inputAt(item: number): string {
    return inputOf(this.#draftAt(item));
  }

  result(): Result {
    return {
      items: this.#drafts.filter((draft) => draft !== undefined).map(itemOf),
      finish: this.#finish,
      failure: this.#failure,
      usage: this.#usage,
      settled: this.#settled,
      upstreamId: this.#upstreamId,
      upstreamModel: this.#upstreamModel,
      omitted: this.#omitted && omittedText(this.#omitted),
      relayed: this.#relayed,
      vectors: this.#vectors,
    };
  }

  /** Whether a piece of text is kept. After the first that is not none is: what is kept has no holes. */
  #hasRoom(item: number, text: string): boolean {
    this.#room -= text.length;
    if (this.#room >= 0) return true;
    this.#omitted ??= { reasoning: new SampledText(), other: new SampledText() };
    this.#omitted[this.#draftAt(item).head.type === 'reasoning' ? 'reasoning' : 'other'].add(text);
    return false;
  }

  #draftAt(item: number): ItemDraft {
    const draft = this.#drafts[item];
    if (draft === undefined) throw new Error(`event for item ${item} before its start`);
    return draft;
  }

  #partAt(item: number, part: number, kind: PartKind): PartDraft {
    const recent = this.#recent;
    const isSame = item === this.#recentItem && part === this.#recentPart && recent?.kind === kind;
    if (recent !== undefined && isSame) return recent;
    const found = this.#draftPart(item, part, kind);
    this.#recent = found;
    this.#recentItem = item;
    this.#recentPart = part;
    return found;
  }

  #draftPart(item: number, part: number, kind: PartKind): PartDraft {
    const draft = this.#draftAt(item);
    const member = kind === 'summary' ? 'summaries' : 'parts';
    const known = draft[member][part];
    if (known !== undefined) return known;
    const begun = partDraftOf(kind);
    draft[member] = placed(draft[member], part, begun);
    return begun;
  }
}

export function fold(events: readonly Event[]): Result {
  return new Fold().pushAll(events).result();
}

/**
 * The list with a value in its place. Of most answers it is the only one, and a list made for one takes less memory.
 */
function placed<T>(list: T[], index: number, value: T): T[] {
  if (index === 0 && list.length === 0) return [value];
  list[index] = value;
  return list;
}

function partDraftOf(kind: PartKind): PartDraft {
  return { kind, text: new GrowingText(), annotations: undefined, logprobs: undefined, ext: undefined };
}

const NO_SEAL: Seal = {};

function addLogprobs(part: PartDraft, logprobs: Logprobs): void {
  part.logprobs ??= [];
  for (const logprob of logprobs) part.logprobs.push(logprob);
}

function omittedText({ reasoning, other }: Samples): OmittedText {
  return { reasoning: omissionOf(reasoning), other: omissionOf(other) };
}

function omissionOf({ length, slices }: SampledText): Omission {
  return { characters: length, sample: slices };
}

function inputOf({ input }: ItemDraft): string {
  return input?.toString() ?? '';
}

function draftOf(head: ItemHead): ItemDraft {
  return {
    head,
    parts: [],
    summaries: [],
    input: undefined,
    seal: NO_SEAL,
    source: undefined,
    status: 'in_progress',
    value: undefined,
    served: undefined,
    ext: undefined,
  };
}

function itemOf(draft: ItemDraft): OutputItem {
  const { head, status, seal } = draft;
  switch (head.type) {
    case 'message':
      return compact({
        type: 'message',
        role: 'assistant',
        content: draft.parts.map(partOf),
        id: head.id,
        status,
        phase: head.phase,
        ext: mergeExt(head.ext, draft.ext),
      });
    case 'reasoning':
      return compact({
        type: 'reasoning',
        id: head.id,
        text: draft.parts.map((part) => part.text.toString()),
        summary: draft.summaries.map((part) => part.text.toString()),
        signature: seal.signature,
        encrypted: seal.encrypted,
        format: seal.format,
        givenBy: seal.givenBy,
        status,
        ext: mergeExt(head.ext, draft.ext),
      });
    case 'tool-call':
      return compact({
        type: 'tool-call',
        kind: head.kind,
        callId: head.callId,
        name: head.name,
        namespace: head.namespace,
        input: inputOf(draft),
        id: head.id,
        status,
        signature: seal.signature,
        signatureFormat: seal.signature === undefined ? undefined : seal.format,
        signatureGivenBy: seal.signature === undefined ? undefined : seal.givenBy,
        ext: mergeExt(head.ext, draft.ext),
      });
    case 'image':
      return compact({
        type: 'image',
        source: draft.source ?? { kind: 'url', url: '' },
        id: head.id,
        status,
        ext: mergeExt(head.ext, draft.ext),
      });
    case 'server-call': {
      const { served } = draft;
      return compact({
        ...head,
        output: served?.output,
        shown: served?.shown ?? head.shown ?? {},
        status: serverStatusOf(draft),
      });
    }
    case 'opaque':
      return draft.value === undefined ? head.item : { ...head.item, value: draft.value };
  }
}

/** A call without a result did not run to its end. */
function serverStatusOf({ status, served }: ItemDraft): ServerCallStatus {
  if (status === 'in_progress') return 'in_progress';
  return served?.isFailed === false ? 'completed' : 'failed';
}

function partOf(part: PartDraft): Part {
  if (part.kind === 'refusal')
    return compact({ type: 'refusal', refusal: part.text.toString(), ext: part.ext });
  return compact({
    type: 'text',
    text: part.text.toString(),
    annotations: part.annotations,
    logprobs: part.logprobs?.length === 0 ? undefined : part.logprobs,
    ext: part.ext,
  });
}

function mergeExt(first: Ext | undefined, second: Ext | undefined): Ext | undefined {
  return first === undefined ? second : second === undefined ? first : { ...first, ...second };
}
