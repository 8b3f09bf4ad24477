import type { ItemStatus } from '../../ir/items.ts';
import type { JsonObject } from '../../kit/json/json.ts';
import { stringAt, textAt } from '../../kit/json/members.ts';
import { freeTextOf, type ToolIdentity } from '../shared/tools/tool-names.ts';
import type { ItemWriter } from './decode-content.ts';
import { callIdOf } from './ids.ts';
import { PartialArguments } from './partial-arguments.ts';
import { encryptedSeal, signatureSeal } from './reasoning.ts';

/** A call whose arguments still come. */
interface OpenCall {
  readonly item: number;
  readonly identity: ToolIdentity;
  readonly pieces: PartialArguments;
  /** Arguments in one piece, where they came so after all. */
  whole: string | undefined;
}

/** Reads the calls of one answer. They come one after the other: whole, or one in pieces until the next begins. */
export class CallReader {
  readonly #writer: ItemWriter;
  readonly #identify: (name: string) => ToolIdentity;
  /** An id for the call at a place among the calls whose upstream gave it none. */
  readonly #makeId: (place: number) => string;
  #count = 0;
  #open: OpenCall | undefined;

  constructor(
    writer: ItemWriter,
    identify: (name: string) => ToolIdentity,
    makeId: (place: number) => string,
  ) {
    this.#writer = writer;
    this.#identify = identify;
    this.#makeId = makeId;
  }

  get hasCalls(): boolean {
    return this.#count > 0;
  }

  get isWriting(): boolean {
    return this.#open !== undefined;
  }

  /** Takes a call, or a piece of one; false when its arguments are more than a call could hold. */
  read(call: JsonObject, signature: string | undefined): boolean {
    const name = textAt(call, 'name');
    if (name !== undefined) this.#begin(name, call, signature);
    const open = this.#open;
    if (open === undefined) return true;
    if (!open.pieces.read(call)) return false;
    open.whole = argumentsIn(call) ?? open.whole;
    if (call.willContinue !== true) this.end('completed');
    return true;
  }

  /** Ends the call that is being written, if any. */
  end(status: ItemStatus): void {
    const open = this.#open;
    if (open === undefined) return;
    this.#open = undefined;
    const text = open.whole ?? open.pieces.toString();
    const input = open.identity.kind === 'custom' ? freeTextOf(text) : text;
    if (input !== '') this.#writer.emit({ type: 'tool-input-delta', item: open.item, text: input });
    this.#writer.endItem(open.item, status);
  }

  /** The signature of a call is told twice: see the table of seals. */
  #begin(name: string, call: JsonObject, signature: string | undefined): void {
    this.end('completed');
    const callId = callIdOf(textAt(call, 'id')) ?? this.#makeId(this.#count);
    this.#count++;
    if (signature !== undefined) this.#writer.writeSeal(encryptedSeal(signature), callId);
    const identity = this.#identify(name);
    const item = this.#writer.beginItem({ type: 'tool-call', ...identity, callId });
    if (signature !== undefined) {
      this.#writer.emit({ type: 'seal', item, seal: signatureSeal(signature) });
    }
    this.#open = { item, identity, pieces: new PartialArguments(), whole: undefined };
  }
}

/** Arguments are an object; a call without any may leave it out. */
function argumentsIn(call: JsonObject): string | undefined {
  const { args } = call;
  if (args === undefined || args === null) return undefined;
  return stringAt(call, 'args') ?? JSON.stringify(args);
}
