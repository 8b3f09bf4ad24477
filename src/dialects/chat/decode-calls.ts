import type { Event } from '../../ir/events.ts';
import type { ItemStatus } from '../../ir/items.ts';
import { type ExactNumbers, stringifyExactly } from '../../kit/json/exact-numbers.ts';
import type { JsonObject } from '../../kit/json/json.ts';
import { JsonProgress } from '../../kit/json/json-progress.ts';
import { layOver } from '../../kit/json/lay-over.ts';
import { membersBeyond, numberAt, objectAt, textAt } from '../../kit/json/members.ts';
import { freeTextOf, NO_ARGUMENTS, type ToolIdentity } from '../shared/tools/tool-names.ts';

export interface CallsContext {
  readonly emit: (event: Event) => void;
  /** Ends all other open items and returns the position of a new one. */
  readonly beginItem: () => number;
  readonly identify: (name: string) => ToolIdentity;
  /** An id for a call that the upstream sent without one. */
  readonly makeId: (position: number) => string;
  /** Long numbers, whose digits are kept in arguments that come as an object. */
  readonly numbers?: ExactNumbers | undefined;
}

/** One call while its pieces arrive. */
interface Call {
  readonly index: number | undefined;
  id: string | undefined;
  name: string | undefined;
  isCustom: boolean;
  readonly progress: JsonProgress;
  /** Input that could not be forwarded yet. */
  held: string;
  /** Set once the name is known and the item has begun. */
  item: number | undefined;
  callId: string | undefined;
  /**
   * True if the upstream knows the tool as a function with one argument: its text is sent at the end, in one piece.
   */
  isFlattened: boolean;
  isEnded: boolean;
  /** Members of the call that we do not model, and those that arrived after its start. */
  ext: JsonObject | undefined;
  lateExt: JsonObject | undefined;
}

const ENTRY_FIELDS: ReadonlySet<string> = new Set(['index', 'id', 'type', 'function', 'custom']);

/**
 * Assembles tool calls from deltas of any style: by index or by id, in pieces or whole, interleaved, with the name
 * only at the start or in every piece.
 */
export class ToolCallReader {
  readonly #context: CallsContext;
  readonly #calls: Call[] = [];
  /** The last call of each index and of each id. */
  readonly #byIndex = new Map<number, Call>();
  readonly #byId = new Map<string, Call>();
  /** Open calls: by call id, their number, and those with complete input. */
  readonly #running = new Map<string, Call>();
  #runningCount = 0;
  readonly #whole = new Set<Call>();
  #hasCalls = false;

  constructor(context: CallsContext) {
    this.#context = context;
  }

  get hasCalls(): boolean {
    return this.#hasCalls;
  }

  get hasOpenCalls(): boolean {
    return this.#runningCount > 0;
  }

  itemOf(callId: string): number | undefined {
    return this.#running.get(callId)?.item;
  }

  read(entry: JsonObject): void {
    const custom = objectAt(entry, 'custom');
    const body = custom ?? objectAt(entry, 'function');
    const id = textAt(entry, 'id');
    const name = textAt(body, 'name');
    const call = this.#callFor(numberAt(entry, 'index'), id, name);
    if (call.isEnded) return;
    if (call.id === undefined && id !== undefined) {
      call.id = id;
      this.#byId.set(id, call);
    }
    call.name ??= name;
    call.isCustom ||= custom !== undefined;
    keepExt(call, membersBeyond(entry, ENTRY_FIELDS));
    const member = custom === undefined ? 'arguments' : 'input';
    this.#addInput(call, inputIn(body, member, this.#context.numbers));
  }

  /** Takes the legacy `function_call`: one call without an id. */
  readLegacy(call: JsonObject): void {
    this.read({ index: 0, function: call });
  }

  endComplete(): void {
    for (const call of this.#whole) this.#end(call, 'completed');
  }

  /** Ends every call; the one that is being written gets `lastStatus`. */
  endAll(lastStatus: ItemStatus): void {
    const open = this.#calls.filter(({ isEnded }) => !isEnded);
    for (const call of open) this.#end(call, call === open.at(-1) ? lastStatus : 'completed');
  }

  #callFor(index: number | undefined, id: string | undefined, name: string | undefined): Call {
    const known = this.#knownCall(index, id);
    return known === undefined || isAnotherCall(known, id, name) ? this.#add(index) : known;
  }

  #knownCall(index: number | undefined, id: string | undefined): Call | undefined {
    if (index !== undefined) return this.#byIndex.get(index);
    return id === undefined ? this.#calls.at(-1) : this.#byId.get(id);
  }

  #add(index: number | undefined): Call {
    const call: Call = {
      index,
      id: undefined,
      name: undefined,
      isCustom: false,
      progress: new JsonProgress(),
      held: '',
      item: undefined,
      callId: undefined,
      isFlattened: false,
      isEnded: false,
      ext: undefined,
      lateExt: undefined,
    };
    this.#calls.push(call);
    if (index !== undefined) this.#byIndex.set(index, call);
    return call;
  }

  #addInput(call: Call, text: string): void {
    call.progress.add(text);
    if (call.item === undefined || call.isFlattened) call.held += text;
    else if (text !== '') this.#context.emit({ type: 'tool-input-delta', item: call.item, text });
    if (call.item === undefined && call.name !== undefined) this.#begin(call, call.name);
    if (call.item !== undefined && isWhole(call)) this.#whole.add(call);
    else this.#whole.delete(call);
  }

  #begin(call: Call, name: string): void {
    const identity: ToolIdentity = call.isCustom ? { kind: 'custom', name } : this.#context.identify(name);
    const item = this.#context.beginItem();
    call.item = item;
    call.callId = call.id ?? this.#context.makeId(item);
    call.isFlattened = identity.kind === 'custom' && !call.isCustom;
    this.#hasCalls = true;
    this.#runningCount++;
    this.#running.set(call.callId, call);
    this.#context.emit({
      type: 'item-start',
      item,
      head: {
        type: 'tool-call',
        ...identity,
        callId: call.callId,
        ...(call.ext !== undefined && { ext: { chat: call.ext } }),
      },
    });
    if (call.held === '' || call.isFlattened) return;
    this.#context.emit({ type: 'tool-input-delta', item, text: call.held });
    call.held = '';
  }

  #end(call: Call, status: ItemStatus): void {
    if (call.isEnded) return;
    call.isEnded = true;
    this.#whole.delete(call);
    const { item, callId } = call;
    if (item === undefined || callId === undefined) return;
    this.#runningCount--;
    if (this.#running.get(callId) === call) this.#running.delete(callId);
    if (call.isFlattened) {
      const text = freeTextOf(call.held);
      if (text !== '') this.#context.emit({ type: 'tool-input-delta', item, text });
    } else if (!call.isCustom && call.progress.isEmpty && status === 'completed') {
      this.#context.emit({ type: 'tool-input-delta', item, text: NO_ARGUMENTS });
    }
    const ext = call.lateExt === undefined ? {} : { ext: { chat: { ...call.ext, ...call.lateExt } } };
    this.#context.emit({ type: 'item-end', item, status, ...ext });
  }
}

/** Members that arrived before the item began are part of its start; later ones are part of its end. */
function keepExt(call: Call, ext: JsonObject | undefined): void {
  if (ext === undefined) return;
  if (call.item === undefined) call.ext ??= {};
  else call.lateExt ??= {};
  layOver(call.lateExt ?? call.ext ?? {}, ext);
}

/** Some upstreams send every call whole under the same index: another id with a name begins another call. */
function isAnotherCall(known: Call, id: string | undefined, name: string | undefined): boolean {
  if (name === undefined || known.name === undefined) return false;
  const hasOtherId = id === undefined ? known.index === undefined && known.id === undefined : id !== known.id;
  return hasOtherId && (known.progress.isEmpty || isWhole(known));
}

/** False for free text, which is never known to be complete. */
function isWhole(call: Call): boolean {
  return !call.isCustom && call.progress.isWhole;
}

/** Arguments are text; some upstreams send the object itself. */
function inputIn(body: JsonObject | undefined, member: string, numbers: ExactNumbers | undefined): string {
  const value = body?.[member];
  if (typeof value === 'string') return value;
  return value === undefined || value === null ? '' : stringifyExactly(value, numbers);
}
