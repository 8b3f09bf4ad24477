import type { Item, MessageItem } from '../../ir/items.ts';
import type { Report } from '../shared/report/report.ts';
import { isSystem, LAST_SYSTEM_AS_USER, SYSTEM_BETWEEN_TURNS } from '../shared/requests/system-messages.ts';
import { pairCalls } from './pair-calls.ts';
import type { Piece, Turn } from './piece.ts';
import type { RenderContext } from './render-context.ts';
import { NO_FIELD } from './render-losses.ts';
import { BlockRenderer } from './render-parts.ts';
import { type Speaker, textBlock, type WireRole } from './wire.ts';

/** The conversation as an upstream of this dialect takes it, cache points still to be set. */
export interface RenderedConversation {
  readonly system: readonly Piece[];
  readonly turns: readonly Turn[];
}

/** System prompts at the front become `system`; everything else becomes turns. */
export function renderConversation(context: RenderContext): RenderedConversation {
  const { items } = context.request;
  const firstTurn = items.findIndex((item) => !isSystem(item));
  const lead = firstTurn === -1 ? items : items.slice(0, firstTurn);
  const prompts = lead.filter(isSystem);
  const turns = new Turns(context);
  const last = firstTurn === -1 ? prompts.pop() : undefined;
  const system: Piece[] = [];
  for (const prompt of prompts) {
    for (const piece of turns.systemPieces(prompt)) system.push(piece);
  }
  if (last !== undefined) turns.addPromptAsUser(last);
  for (const item of firstTurn === -1 ? [] : items.slice(firstTurn)) {
    turns.add(item);
  }
  return { system, turns: turns.finished() };
}

/** Collects pieces into turns of alternating roles. */
class Turns {
  readonly #turns: { readonly role: WireRole; readonly pieces: Piece[] }[] = [];
  readonly #blocks: BlockRenderer;
  readonly #context: RenderContext;
  readonly #report: Report;

  constructor(context: RenderContext) {
    this.#blocks = new BlockRenderer(context);
    this.#context = context;
    this.#report = context.report;
  }

  add(item: Item): void {
    this.#push(...this.#turnOf(item));
  }

  /** A conversation of system prompts alone needs a turn: the last of them speaks as the user. */
  addPromptAsUser(prompt: MessageItem): void {
    const pieces = this.#messagePieces(prompt, 'user');
    if (pieces.length > 0) {
      this.#report.coerced(this.#report.place(prompt, 'items'), LAST_SYSTEM_AS_USER);
    }
    this.#push('user', pieces);
  }

  systemPieces(prompt: MessageItem): Piece[] {
    return this.#messagePieces(prompt, 'system');
  }

  /** All turns, calls paired with their results, and nothing that the upstream demands left out. */
  finished(): Turn[] {
    const paired = pairCalls(this.#turns, this.#context);
    return this.#begunByUser(paired).map(withTextBesideDocuments);
  }

  #push(role: WireRole, pieces: readonly Piece[]): void {
    if (pieces.length === 0) return;
    const last = this.#turns.at(-1);
    if (last?.role === role) for (const piece of pieces) last.pieces.push(piece);
    else this.#turns.push({ role, pieces: [...pieces] });
  }

  #turnOf(item: Item): [WireRole, Piece[]] {
    switch (item.type) {
      case 'message':
        return this.#messageTurn(item);
      case 'reasoning':
        return ['assistant', this.#blocks.reasoning(item)];
      case 'tool-call':
        return ['assistant', this.#blocks.toolUse(item)];
      case 'tool-result':
        return ['user', this.#blocks.toolResult(item)];
      case 'image':
        return ['assistant', this.#blocks.image(item)];
      case 'opaque':
        return ['assistant', this.#blocks.opaque(item)];
    }
  }

  #messageTurn(item: MessageItem): [WireRole, Piece[]] {
    const { role } = item;
    if (role === 'user' || role === 'assistant') return [role, this.#messagePieces(item, role)];
    const pieces = this.#messagePieces(item, 'user');
    if (pieces.length === 0) return ['user', []];
    this.#report.coerced(this.#report.place(item, 'items'), SYSTEM_BETWEEN_TURNS);
    return ['user', [pieceOf('<system>'), ...pieces, pieceOf('</system>')]];
  }

  /** Ids and states of messages mean nothing to an upstream that keeps none. */
  #messagePieces(item: MessageItem, speaker: Speaker): Piece[] {
    this.#blocks.reportForeignMembers(item);
    if (item.phase !== undefined) {
      this.#report.dropped(this.#report.place(item, 'items', 'phase'), NO_FIELD);
    }
    return this.#blocks.parts(item.content, speaker);
  }

  /** The upstream demands that the user speaks first. */
  #begunByUser(turns: readonly Turn[]): readonly Turn[] {
    if (turns[0]?.role !== 'assistant') return turns;
    this.#report.coerced(
      this.#report.name('items'),
      'a user turn was put in front: the upstream wants one first',
    );
    return [{ role: 'user', pieces: [pieceOf(FIRST_WORDS)] }, ...turns];
  }
}

/** What the user is made to say where the conversation begins with the assistant. */
const FIRST_WORDS = 'Continue.';

/** The upstream demands some text in a message with documents. Nothing is lost by it, so nothing is told. */
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
