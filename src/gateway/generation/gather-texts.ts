import type { Event, EventBatch } from '../../ir/events.ts';

type Piece = Extract<Event, { type: 'text-delta' }>;

/**
 * The same batch for whoever keeps its texts: pieces of one text that follow each other are one. A piece by itself was cut
 * out of the bytes that it came in, and keeps all of them in memory for as long as it is kept.
 */
export function gatherTexts(batch: EventBatch): EventBatch {
  if (batch.length === 1) return batch;
  const gathered: Event[] = [];
  for (let from = 0; from < batch.length; ) {
    const first = batch[from] as Event;
    const piece = pieceIn(first);
    const to = piece === undefined ? from + 1 : endOfText(batch, from + 1, piece);
    gathered.push(piece === undefined || to === from + 1 ? first : together(batch, from, to, piece));
    from = to;
  }
  return gathered;
}

/** The piece of text that is all an event says. */
function pieceIn(event: Event): Piece | undefined {
  const told = event.type === 'relay' && event.form !== undefined ? event.events[0] : event;
  return told?.type === 'text-delta' && told.logprobs === undefined && told.text !== '' ? told : undefined;
}

function endOfText(batch: EventBatch, from: number, { item, part, kind }: Piece): number {
  let to = from;
  for (; to < batch.length; to++) {
    const next = pieceIn(batch[to] as Event);
    if (next === undefined || next.item !== item || next.part !== part || next.kind !== kind) break;
  }
  return to;
}

function together(batch: EventBatch, from: number, to: number, { item, part, kind }: Piece): Piece {
  const texts: string[] = [];
  let pieces = 0;
  for (let index = from; index < to; index++) {
    const piece = pieceIn(batch[index] as Event);
    texts.push(piece?.text ?? '');
    pieces += piece?.pieces ?? 1;
  }
  return { type: 'text-delta', item, part, kind, text: texts.join(''), pieces };
}
