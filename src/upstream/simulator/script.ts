import { GatewayError } from '../../ir/errors.ts';
import type { Event, Finish, ItemHead, PartKind } from '../../ir/events.ts';
import type { GenerationRequest } from '../../ir/request.ts';
import { NO_USAGE, type Usage } from '../../ir/usage.ts';
import { type Answer, type Draft, wordsOf } from './answer.ts';

/** A token of the simulator: four characters, counted the same way everywhere. */
const CHARACTERS_PER_TOKEN = 4;
const CHARACTERS_PER_ARGUMENT_PIECE = 12;

export function simulatedTokens(text: string): number {
  return Math.ceil(text.length / CHARACTERS_PER_TOKEN);
}

/**
 * An answer as the pieces in which it arrives, each of them the events of one network chunk. Obeys the request's
 * output limit and stop strings. The last piece holds the usage and the terminal event.
 */
export function scriptOf(answer: Answer, request: GenerationRequest, model: string): Event[][] {
  const shortened = shorten(answer, request);
  const pieces: Event[][] = [[{ type: 'start', upstreamModel: model }]];
  let item = 0;
  for (const draft of shortened.drafts) {
    if (draft.type === 'hidden-thought') continue;
    pieces.push(...piecesOf(draft, item, shortened.cutAt === draft ? 'incomplete' : 'completed'));
    item += 1;
  }
  pieces.push(endOf(answer, shortened, request));
  return pieces;
}

interface Shortened {
  readonly drafts: readonly Draft[];
  /** The draft at which the output limit was reached. */
  readonly cutAt?: Draft | undefined;
  readonly stopSequence?: string | undefined;
}

function shorten(answer: Answer, request: GenerationRequest): Shortened {
  const { drafts, stopSequence } = stopped(answer.drafts, request.sampling.stop ?? []);
  let left = request.requestedOutputTokens ?? Number.POSITIVE_INFINITY;
  const kept: Draft[] = [];
  for (const draft of drafts) {
    const tokens = draftTokens(draft);
    if (tokens > left) {
      const rest = cutDraft(draft, left * CHARACTERS_PER_TOKEN);
      return rest === undefined ? { drafts: kept, cutAt: draft } : { drafts: [...kept, rest], cutAt: rest };
    }
    kept.push(draft);
    left -= tokens;
  }
  return { drafts: kept, stopSequence };
}

/** The drafts up to the first stop string that a text holds. */
function stopped(
  drafts: readonly Draft[],
  stops: readonly string[],
): Pick<Shortened, 'drafts' | 'stopSequence'> {
  if (stops.length > MAX_STOPS || stops.some((stop) => stop.length > MAX_STOP_CHARACTERS)) {
    throw new GatewayError(
      'invalid-request',
      `The simulator takes no more than ${MAX_STOPS} stop sequences of ${MAX_STOP_CHARACTERS} characters`,
    );
  }
  for (const [index, draft] of drafts.entries()) {
    if (draft.type !== 'text') continue;
    const hits = stops
      .map((stop) => ({ stop, at: stop === '' ? -1 : draft.text.indexOf(stop) }))
      .filter(({ at }) => at !== -1);
    const [first] = hits.sort((one, other) => one.at - other.at);
    if (first === undefined) continue;
    const text = draft.text.slice(0, first.at);
    return { drafts: [...drafts.slice(0, index), { ...draft, text }], stopSequence: first.stop };
  }
  return { drafts };
}

/** Each is searched for in the whole answer, at worst in time proportional to the product of both lengths. */
const MAX_STOPS = 16;
const MAX_STOP_CHARACTERS = 256;

/** The first `characters` of a draft; undefined when nothing of it is left or it cannot be cut. */
function cutDraft(draft: Draft, characters: number): Draft | undefined {
  if (draft.type === 'image' || characters < 1) return undefined;
  return draft.type === 'call'
    ? { ...draft, input: draft.input.slice(0, characters) }
    : { ...draft, text: draft.text.slice(0, characters).replace(/[\uD800-\uDBFF]$/, '') };
}

function draftTokens(draft: Draft): number {
  switch (draft.type) {
    case 'image':
      return draft.tokens;
    case 'call':
      return simulatedTokens(draft.name + draft.input);
    default:
      return simulatedTokens(draft.text);
  }
}

function piecesOf(
  draft: Exclude<Draft, { type: 'hidden-thought' }>,
  item: number,
  status: 'completed' | 'incomplete',
): Event[][] {
  const end: Event = { type: 'item-end', item, status };
  switch (draft.type) {
    case 'thought': {
      const kind = draft.isSummary ? 'summary' : 'thought';
      const seal: Event = { type: 'seal', item, seal: draft.seal };
      return textPieces({ type: 'reasoning' }, kind, draft.text, item, [seal, end]);
    }
    case 'text':
    case 'refusal':
      return textPieces({ type: 'message' }, draft.type, draft.text, item, [end]);
    case 'call':
      return callPieces(draft, item, end);
    case 'image':
      return [
        [
          { type: 'item-start', item, head: { type: 'image' } },
          {
            type: 'image-data',
            item,
            source: { kind: 'base64', mediaType: draft.mediaType, data: draft.data },
          },
          end,
        ],
      ];
  }
}

function textPieces(head: ItemHead, kind: PartKind, text: string, item: number, after: Event[]): Event[][] {
  const words = text.match(/\s*\S+\s*|\s+/g) ?? [];
  return [
    [
      { type: 'item-start', item, head },
      { type: 'part-start', item, part: 0, kind },
    ],
    ...words.map((word): Event[] => [{ type: 'text-delta', item, part: 0, kind, text: word }]),
    [{ type: 'part-end', item, part: 0, kind }, ...after],
  ];
}

function callPieces(draft: Extract<Draft, { type: 'call' }>, item: number, end: Event): Event[][] {
  const { kind, callId, name, namespace, input } = draft;
  const head: ItemHead = {
    type: 'tool-call',
    kind,
    callId,
    name,
    ...(namespace !== undefined && { namespace }),
  };
  const pieces = input.match(new RegExp(`.{1,${CHARACTERS_PER_ARGUMENT_PIECE}}`, 'gsu')) ?? [];
  return [
    [{ type: 'item-start', item, head }],
    ...pieces.map((text): Event[] => [{ type: 'tool-input-delta', item, text }]),
    [end],
  ];
}

function endOf(answer: Answer, shortened: Shortened, request: GenerationRequest): Event[] {
  const usage = usageOf(shortened, request);
  const finish: Finish = {
    type: 'finish',
    reason: shortened.cutAt === undefined ? answer.reason : 'length',
    ...(shortened.stopSequence !== undefined && { stopSequence: shortened.stopSequence }),
    ...(answer.explanation !== undefined && { explanation: answer.explanation }),
    settled: { usage, bill: { totalNanos: 0n, inputNanos: 0n, outputNanos: 0n, isByok: false } },
  };
  return [{ type: 'usage', usage }, finish];
}

function usageOf({ drafts }: Shortened, request: GenerationRequest): Usage {
  const count = (...types: readonly Draft['type'][]) =>
    drafts.filter(({ type }) => types.includes(type)).reduce((sum, draft) => sum + draftTokens(draft), 0);
  const prompt = [...request.items.map(wordsOf), ...request.tools.map((tool) => JSON.stringify(tool))];
  return {
    ...NO_USAGE,
    inputTokens: Math.max(simulatedTokens(prompt.join(' ')), 1),
    outputTokens: Math.max(
      drafts.reduce((sum, draft) => sum + draftTokens(draft), 0),
      1,
    ),
    reasoningTokens: count('thought', 'hidden-thought'),
    imageTokens: count('image'),
    source: 'measured',
  };
}
