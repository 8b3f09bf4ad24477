import type { ReplyContext } from '../../dialects/dialect.ts';
import { DIALECTS } from '../../dialects/dialects.ts';
import type { ItemReference, ItemReferences } from '../../dialects/shared/requests/item-references.ts';
import { GatewayError } from '../../ir/errors.ts';
import type { GenerationRequest } from '../../ir/request.ts';
import type { JsonObject } from '../../kit/json/json.ts';
import { JsonReader } from '../../kit/json/json-reader.ts';
import { objectsOf } from '../../kit/json/members.ts';
import { runInTurns } from '../../kit/loop/turns.ts';
import type { FoundItems, OutputItems } from '../../ports/shared/output-items.ts';
import { mustKeepNothing } from '../../routing/rules/zero-retention.ts';
import type { GenerationInput } from './generation-input.ts';

/** The key whose items a request may name, and limits. */
export interface ItemAccess {
  readonly keyHash: string;
  /** Characters of all references, as the items are written there. */
  readonly maxCharacters: number;
  /** Takes memory for the items; throws if there is too little. */
  readonly takeRoom: (bytes: number) => void;
}

/**
 * Replaces references by the output items themselves, if the key was given them. Other references stay, so that the
 * parser reports them with all other problems. Items that show calls of server tools get what the model got of them, as
 * far as it is kept and fits. Throws 413 if the body becomes too large, 503 if there is too little memory. Returns a
 * body without either, as nearly all are, at once and unchanged.
 */
export function withReferencedItems(
  body: JsonObject,
  references: ItemReferences | undefined,
  items: OutputItems,
  accessTo: () => ItemAccess,
): JsonObject | Promise<JsonObject> {
  if (references === undefined) return body;
  const named = references.find(body);
  const shown = references.shownCalls(body);
  if (named.length === 0 && shown.length === 0) return body;
  return withItems({ body, references, named, shown }, items, accessTo());
}

interface NamingBody {
  readonly body: JsonObject;
  readonly references: ItemReferences;
  readonly named: readonly ItemReference[];
  readonly shown: readonly string[];
}

async function withItems(
  { body, references, named, shown }: NamingBody,
  items: OutputItems,
  access: ItemAccess,
): Promise<JsonObject> {
  const { keyHash, maxCharacters, takeRoom } = access;
  const ids = new Set(named.map(({ id }) => id));
  const found = await items.find(keyHash, new Set([...ids, ...shown]));
  if (found.size === 0) return body;
  const ofNamed = charactersOf(named, found, maxCharacters);
  const { calls, characters } = fittingCalls(shown, found, maxCharacters - ofNamed);
  // One character beyond Latin-1 makes every character of a text take two bytes.
  takeRoom(2 * (ofNamed + characters));
  const parsed = await parseItems(new Map([...found].filter(([id]) => ids.has(id) || calls.has(id))));
  const completed = references.complete(body, new Map([...parsed].filter(([id]) => calls.has(id))));
  return references.replace(completed, parsed);
}

/** The newest calls whose kept items fit into so many characters together, counted as often as they stand there. */
function fittingCalls(shown: readonly string[], found: FoundItems, maxCharacters: number) {
  const counts = new Map<string, number>();
  for (const id of shown.toReversed()) counts.set(id, (counts.get(id) ?? 0) + 1);
  const calls = new Set<string>();
  let characters = 0;
  for (const [id, count] of counts) {
    const size = count * (found.get(id)?.length ?? 0);
    if (characters + size > maxCharacters) break;
    characters += size;
    calls.add(id);
  }
  return { calls, characters };
}

/** Counted before anything is read: a few bytes may name megabytes many times over. */
function charactersOf(named: readonly ItemReference[], found: FoundItems, maxCharacters: number): number {
  let characters = 0;
  for (const { id, path } of named) {
    characters += found.get(id)?.length ?? 0;
    if (characters <= maxCharacters) continue;
    throw new GatewayError(
      'payload-too-large',
      `${path}: with this item the items that the request names come to more than ${maxCharacters} bytes (server.max_body_bytes)`,
    );
  }
  return characters;
}

/** Parses all items as one list, so that the limits of a body apply to their sum. */
async function parseItems(found: FoundItems): Promise<ReadonlyMap<string, JsonObject>> {
  const reader = new JsonReader();
  let before = '[';
  for (const text of found.values()) {
    reader.push(before);
    reader.push(text);
    before = ',';
  }
  reader.push(found.size === 0 ? '[]' : ']');
  const reading = await runInTurns(reader.end());
  if (!reading.ok) {
    const problem = `The items that the request names are not acceptable in one body: ${reading.problem}`;
    throw new GatewayError('payload-too-large', problem);
  }
  const items = objectsOf(reading.value);
  return new Map([...found.keys()].map((id, index) => [id, items[index] ?? {}]));
}

/** Replaces an item if only the settings of a request matter. */
const STAND_IN: JsonObject = { type: 'message', role: 'assistant', content: '-' };

/** A body that can be parsed at once, for a reply that repeats its settings and not its input. */
export function withStandIns(body: JsonObject, references: ItemReferences | undefined): JsonObject {
  const named = references?.find(body) ?? [];
  if (references === undefined || named.length === 0) return body;
  return references.replace(body, new Map(named.map(({ id }) => [id, STAND_IN])));
}

/** Keeps the items of an answer for its key; undefined if zero retention forbids that. */
export function itemKeeper(
  {
    input,
    request,
    models,
  }: {
    readonly input: GenerationInput;
    readonly request: GenerationRequest;
    readonly models: () => readonly string[];
  },
  items: OutputItems,
): ReplyContext['keepItem'] {
  if (DIALECTS[input.format].inbound.itemReferences === undefined) return undefined;
  if (mustKeepNothing(request, input.caller, models)) return undefined;
  const { hash } = input.caller.key;
  return (item) => items.keep(hash, item);
}
