import type { Item, Part, Source } from '../../ir/items.ts';
import type { GenerationRequest } from '../../ir/request.ts';
import type { Json } from '../../kit/json/json.ts';

/**
 * All texts that the caller has a model read: messages of every role, text files, calls of tools and their results,
 * reasoning, texts inside items that are not modelled, inputs of embeddings. Empty ones are left out.
 */
export function* textsOf({ items, embedding }: GenerationRequest): Generator<string, void, undefined> {
  for (const input of embedding?.inputs ?? []) if (typeof input === 'string' && input !== '') yield input;
  for (const item of items) for (const text of textsOfItem(item)) if (text !== '') yield text;
}

function* textsOfItem(item: Item): Generator<string, void, undefined> {
  switch (item.type) {
    case 'message':
    case 'tool-result':
      for (const part of item.content) yield* textsOfPart(part);
      return;
    case 'reasoning':
      yield* item.text;
      yield* item.summary;
      return;
    case 'tool-call':
      yield item.input;
      return;
    case 'opaque':
      yield* stringsIn(item.value);
      return;
    case 'image':
      return;
  }
}

function* textsOfPart(part: Part): Generator<string, void, undefined> {
  switch (part.type) {
    case 'text':
      yield part.text;
      return;
    case 'refusal':
      yield part.refusal;
      return;
    case 'file':
      yield* textOfFile(part.source);
      return;
    case 'opaque':
      yield* stringsIn(part.value);
      return;
    default:
      return;
  }
}

function* textOfFile(source: Source): Generator<string, void, undefined> {
  if (source.kind === 'text') yield source.text;
  else if (source.kind === 'base64' && source.mediaType.startsWith('text/')) {
    yield Buffer.from(source.data, 'base64').toString();
  }
}

function* stringsIn(value: Json): Generator<string, void, undefined> {
  if (typeof value === 'string') yield value;
  else if (typeof value === 'object' && value !== null) {
    for (const member of Object.values(value)) yield* stringsIn(member as Json);
  }
}
