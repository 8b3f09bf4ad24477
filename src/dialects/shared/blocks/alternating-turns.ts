import type {
  Item,
  MessageItem,
  OpaqueItem,
  ReasoningItem,
  ToolCallItem,
  ToolResultItem,
} from '../../../ir/items.ts';
import type { Report } from '../report/report.ts';
import {
  LAST_SYSTEM_AS_USER,
  SYSTEM_BETWEEN_TURNS,
  splitSystemPrompts,
} from '../requests/system-messages.ts';

export interface AlternatingTurn<Role, Piece> {
  readonly role: Role | 'user' | 'assistant';
  readonly pieces: readonly Piece[];
  /** Present on a system turn: the item that it is made from. */
  readonly prompt?: MessageItem;
}

/** A conversation of blocks; a piece is a block, or a block with notes for later steps. */
export interface AlternatingTurns<Role, Piece> {
  readonly system: Piece[];
  readonly turns: readonly AlternatingTurn<Role, Piece>[];
}

/** Renders the pieces of a dialect; none, and a report entry, for what its upstreams do not take. */
export interface PieceRenderer<Role, Piece> {
  /** `speaker`: role of the message. */
  message(item: MessageItem, speaker: 'user' | 'assistant' | 'system'): Piece[];
  reasoning(item: ReasoningItem): Piece[];
  toolUse(item: ToolCallItem): Piece[];
  toolResult(item: ToolResultItem): Piece[];
  image(item: Item): Piece[];
  opaque(item: OpaqueItem): Piece[];
  roleOfOpaque(item: OpaqueItem): Role;
  text(text: string): Piece;
}

/**
 * System prompts at the front become `system`; everything else becomes turns of alternating roles. `systemRole`: the
 * role of system turns, for upstreams that take them.
 */
export function alternatingTurns<Role, Piece>(
  items: readonly Item[],
  renderer: PieceRenderer<Role, Piece>,
  report: Report,
  systemRole?: Role,
): AlternatingTurns<Role, Piece> {
  const split = splitSystemPrompts(items);
  // A prompt with settings of its own needs a turn.
  const own = systemRole === undefined ? -1 : split.prompts.findIndex(({ ext }) => ext !== undefined);
  const prompts = own === -1 ? split.prompts : split.prompts.slice(0, own);
  const rest = own === -1 ? split.turns : [...split.prompts.slice(own), ...split.turns];
  const { asUser } = split;
  const turns = new TurnCollector(renderer, report, systemRole);
  const system: Piece[] = [];
  for (const prompt of prompts) {
    for (const piece of renderer.message(prompt, 'system')) system.push(piece);
  }
  if (asUser !== undefined) turns.addPromptAsUser(asUser);
  for (const item of rest) turns.add(item);
  return { system, turns: turns.turns };
}

class TurnCollector<Role, Piece> {
  readonly turns: {
    readonly role: Role | 'user' | 'assistant';
    readonly pieces: Piece[];
    readonly prompt?: MessageItem;
  }[] = [];
  readonly #renderer: PieceRenderer<Role, Piece>;
  readonly #report: Report;
  readonly #systemRole: Role | undefined;

  constructor(renderer: PieceRenderer<Role, Piece>, report: Report, systemRole: Role | undefined) {
    this.#renderer = renderer;
    this.#report = report;
    this.#systemRole = systemRole;
  }

  add(item: Item): void {
    switch (item.type) {
      case 'message':
        this.#addMessage(item);
        return;
      case 'reasoning':
        this.#push('assistant', this.#renderer.reasoning(item));
        return;
      case 'tool-call':
        this.#push('assistant', this.#renderer.toolUse(item));
        return;
      case 'tool-result':
        this.#push('user', this.#renderer.toolResult(item));
        return;
      case 'image':
        this.#push('assistant', this.#renderer.image(item));
        return;
      case 'opaque':
        this.#push(this.#renderer.roleOfOpaque(item), this.#renderer.opaque(item));
        return;
    }
  }

  /** A conversation of system prompts alone needs a turn: the last one is sent as the user's. */
  addPromptAsUser(prompt: MessageItem): void {
    const pieces = this.#renderer.message(prompt, 'user');
    if (pieces.length > 0) this.#report.coerced(this.#report.place(prompt, 'items'), LAST_SYSTEM_AS_USER);
    this.#push('user', pieces);
  }

  #addMessage(item: MessageItem): void {
    const { role } = item;
    if (role === 'user' || role === 'assistant') {
      this.#push(role, this.#renderer.message(item, role));
      return;
    }
    if (this.#systemRole !== undefined) {
      const pieces = this.#renderer.message(item, 'system');
      // A turn may have settings of its own: it joins no other.
      if (pieces.length > 0 || item.ext !== undefined)
        this.turns.push({ role: this.#systemRole, pieces, prompt: item });
      return;
    }
    const pieces = this.#renderer.message(item, 'user');
    if (pieces.length === 0) return;
    this.#report.coerced(this.#report.place(item, 'items'), SYSTEM_BETWEEN_TURNS);
    this.#push('user', [this.#renderer.text('<system>'), ...pieces, this.#renderer.text('</system>')]);
  }

  #push(role: Role | 'user' | 'assistant', pieces: readonly Piece[]): void {
    if (pieces.length === 0) return;
    const last = this.turns.at(-1);
    if (last?.role === role && last.prompt === undefined) for (const piece of pieces) last.pieces.push(piece);
    else this.turns.push({ role, pieces: [...pieces] });
  }
}
