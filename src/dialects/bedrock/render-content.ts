import type { ToolCallItem } from '../../ir/items.ts';
import type { JsonObject } from '../../kit/json/json.ts';
import { objectAt, objectsAt } from '../../kit/json/members.ts';
import { digestedId } from '../shared/answers/digested-id.ts';
import { alternatingTurns } from '../shared/blocks/alternating-turns.ts';
import type { Report } from '../shared/report/report.ts';
import { flatArguments } from '../shared/tools/tool-names.ts';
import type { Piece, RenderContext, Turn } from './render-context.ts';
import { PartRenderer } from './render-parts.ts';
import { MAX_ID_CHARACTERS, textBlock } from './wire.ts';

/** The conversation for an upstream of this dialect, before cache points are set. */
export interface RenderedConversation {
  readonly system: readonly Piece[];
  readonly turns: readonly Turn[];
}

/** System prompts at the front become `system`; everything else becomes turns, calls paired with their results. */
export function renderConversation(context: RenderContext): RenderedConversation {
  const { request, report } = context;
  const { system, turns } = alternatingTurns(request.items, new PartRenderer(context), report);
  const paired = begunByUser(pairTurns(turns, context), report);
  return { system, turns: paired.map(withTextBesideDocuments) };
}

/** The upstream requires that the user speaks first. */
function begunByUser(turns: readonly Turn[], report: Report): readonly Turn[] {
  if (turns[0]?.role !== 'assistant') return turns;
  report.coerced(report.name('items'), 'a user turn was put in front: the upstream wants one first');
  return [{ role: 'user', pieces: [pieceOf(FIRST_WORDS)] }, ...turns];
}

/** Text of the user turn that is added if the conversation begins with the assistant. */
const FIRST_WORDS = 'Continue.';

/** The upstream requires text in a message with documents. No report entry, because nothing is lost. */
function withTextBesideDocuments(turn: Turn): Turn {
  const needsText =
    turn.pieces.some(({ block }) => block.document !== undefined) &&
    !turn.pieces.some(({ block }) => block.text !== undefined);
  return needsText ? { ...turn, pieces: [...turn.pieces, pieceOf(BESIDE_DOCUMENTS)] } : turn;
}

const BESIDE_DOCUMENTS = 'See the document.';

function pieceOf(text: string): Piece {
  return { block: textBlock(text) };
}

// --- Calls ----------------------------------------------------------------------------------------------------------

/**
 * The upstream requires a result for every call at the beginning of the next turn, and no other results. Calls without
 * a result get one that says so; results without a call become plain content. An endpoint without tools gets both as
 * plain content.
 */
export function pairTurns(turns: readonly Turn[], context: RenderContext): Turn[] {
  const ids = new CallIds();
  const paired: Turn[] = [];
  let open = new OpenCalls();
  function answer(pieces: readonly Piece[]): void {
    const user = answered(pieces, open, context);
    if (user.length > 0) paired.push({ role: 'user', pieces: user });
    open = new OpenCalls();
  }
  for (const { role, pieces } of turns) {
    if (role === 'user') {
      answer(pieces);
      continue;
    }
    const said = pieces.flatMap((piece) => [identified(piece, ids, open, context)]);
    paired.push({ role, pieces: said });
  }
  answer([]);
  return paired;
}

interface OpenCall {
  readonly id: string;
  readonly item: ToolCallItem;
}

/** Calls of the last turn without a result so far. */
class OpenCalls {
  readonly #open = new Set<OpenCall>();
  /** Open calls by the caller's id, which several calls may share: they are answered in order. */
  readonly #byCallId = new Map<string, { readonly calls: OpenCall[]; answered: number }>();

  add(id: string, item: ToolCallItem): void {
    const call = { id, item };
    this.#open.add(call);
    const namesakes = this.#byCallId.get(item.callId);
    if (namesakes === undefined) this.#byCallId.set(item.callId, { calls: [call], answered: 0 });
    else namesakes.calls.push(call);
  }

  /** The upstream's id of the open call that a result answers. */
  close(callId: string): string | undefined {
    const namesakes = this.#byCallId.get(callId);
    const call = namesakes?.calls[namesakes.answered];
    if (namesakes === undefined || call === undefined) return undefined;
    namesakes.answered++;
    this.#open.delete(call);
    return call.id;
  }

  rest(): readonly OpenCall[] {
    return [...this.#open];
  }
}

function identified(piece: Piece, ids: CallIds, open: OpenCalls, context: RenderContext): Piece {
  const { call, block, mark } = piece;
  if (call === undefined) return piece;
  if (!context.takesTools) return { block: callAsText(call, context), ...(mark !== undefined && { mark }) };
  const toolUseId = ids.take(call.callId);
  open.add(toolUseId, call);
  return { ...piece, block: { toolUse: { toolUseId, ...objectAt(block, 'toolUse') } } };
}

function callAsText(call: ToolCallItem, { names, report }: RenderContext): JsonObject {
  report.coerced(report.place(call, 'items'), 'became text: the endpoint takes no tools');
  return textBlock(`[Called the tool ${names.nameOf(call)} with ${flatArguments(call)}]`);
}

const PLAIN_ID = /^[a-zA-Z0-9_-]+$/;

/**
 * Gives calls their ids. The same id always maps to the same one, whatever else the conversation has, so that prompt
 * caches still match; only a repeated id gets another.
 */
class CallIds {
  readonly #taken = new Set<string>();
  readonly #numbers = new Map<string, number>();

  take(callId: string): string {
    let id = plainId(callId);
    let number = this.#numbers.get(callId) ?? 2;
    for (; this.#taken.has(id); number++) id = digestedId(callId, `${callId} ${number}`);
    this.#numbers.set(callId, number);
    this.#taken.add(id);
    return id;
  }
}

function plainId(callId: string): string {
  return callId.length <= MAX_ID_CHARACTERS && PLAIN_ID.test(callId) ? callId : digestedId(callId, callId);
}

// --- Results of calls -----------------------------------------------------------------------------------------------

/** A user turn that answers the open calls, results first. */
function answered(pieces: readonly Piece[], open: OpenCalls, context: RenderContext): readonly Piece[] {
  const results: Piece[] = [];
  const rest: Piece[] = [];
  for (const piece of pieces) {
    const { result } = piece;
    const toolUseId = result === undefined ? undefined : open.close(result.callId);
    if (toolUseId !== undefined) {
      results.push({
        ...piece,
        block: { toolResult: { toolUseId, ...objectAt(piece.block, 'toolResult') } },
      });
    } else {
      rest.push(...(result === undefined ? [piece] : asContent(piece, context)));
    }
  }
  for (const { id, item } of open.rest()) {
    results.push({ block: missingResult(id, item, context) });
  }
  return [...results, ...rest];
}

/** The content of a result that answers no call of the previous turn. */
function asContent({ block, result, mark }: Piece, { report, takesTools }: RenderContext): Piece[] {
  const detail = takesTools
    ? 'answers no call of the turn before: sent as plain content'
    : 'sent as plain content: the endpoint takes no tools';
  if (result !== undefined) report.coerced(report.place(result, 'items'), detail);
  const content = objectsAt(objectAt(block, 'toolResult'), 'content').map(
    (inner): Piece => ({ block: inner }),
  );
  const last = content.pop();
  return [
    { block: textBlock('[Result of a tool call]') },
    ...content,
    ...(last === undefined ? [] : [{ ...last, ...(mark !== undefined && { mark }) }]),
  ];
}

function missingResult(toolUseId: string, call: ToolCallItem, { report, traits }: RenderContext): JsonObject {
  report.coerced(
    report.place(call, 'items'),
    'has no result in the turn after it: one that says so was put in',
  );
  const status = traits.hasResultStatus === true ? { status: 'error' } : {};
  return { toolResult: { toolUseId, content: [textBlock('No result was given.')], ...status } };
}
