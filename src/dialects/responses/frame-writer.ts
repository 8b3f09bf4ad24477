import type { PartKind } from '../../ir/events.ts';
import type { ToolKind } from '../../ir/items.ts';
import { writeSseFrame } from '../../kit/frames/sse.ts';
import type { JsonObject } from '../../kit/json/json.ts';
import type { Placement } from './encode-relay.ts';
import { INPUT_CHANNELS, TEXT_CHANNELS, type TextChannel } from './event-types.ts';

/** What ends every stream of this format. */
export const END_MARKER = writeSseFrame('[DONE]');

/** Writes the events of one stream, numbered from 0 without a gap. */
export class FrameWriter {
  #sequence = 0;
  /** The place of the last piece of text, as it is written: nearly always that of the next one. */
  #place: { readonly at: Placement; readonly part: number; readonly text: string } | undefined;

  /** The number of the next event, which the caller writes itself. */
  take(): number {
    return this.#sequence++;
  }

  write(type: string, fields: JsonObject): string {
    return writeSseFrame(JSON.stringify({ type, sequence_number: this.take(), ...fields }), type);
  }

  item(step: 'added' | 'done', at: Placement, item: JsonObject): string {
    return this.write(`response.output_item.${step}`, { output_index: at.index, item });
  }

  imageStep(step: 'in_progress' | 'generating' | 'completed', at: Placement): string {
    return this.write(`response.image_generation_call.${step}`, placeOf(at));
  }

  partAdded(at: Placement, kind: PartKind, part: number): string {
    const channel = TEXT_CHANNELS[kind];
    return this.write(channel.partAdded, { ...placeOf(at), [channel.index]: part, part: partOf(kind, '') });
  }

  delta(at: Placement, kind: PartKind, part: number, delta: string, logprobs: JsonObject[] = []): string {
    const channel = TEXT_CHANNELS[kind];
    if (kind === 'text' && logprobs.length === 0) return this.#plainDelta(at, channel, part, delta);
    const fields = { ...placeOf(at), [channel.index]: part, delta };
    return this.write(channel.delta, kind === 'text' ? { ...fields, logprobs } : fields);
  }

  /** What `delta` writes of text without log probabilities: most of what a stream has to say. */
  #plainDelta(at: Placement, { delta: type, index }: TextChannel, part: number, delta: string): string {
    const place = this.#placeOf(at, index, part);
    return writeSseFrame(
      `{"type":"${type}","sequence_number":${this.take()},${place},"delta":${JSON.stringify(delta)},"logprobs":[]}`,
      type,
    );
  }

  #placeOf(at: Placement, index: string, part: number): string {
    if (this.#place?.at === at && this.#place.part === part) return this.#place.text;
    const text = `"item_id":${JSON.stringify(at.id)},"output_index":${at.index},"${index}":${part}`;
    this.#place = { at, part, text };
    return text;
  }

  /** The end of a part: its whole text, then the whole part. */
  partDone(at: Placement, kind: PartKind, part: number, text: string, whole: JsonObject): string {
    const channel = TEXT_CHANNELS[kind];
    const place = { ...placeOf(at), [channel.index]: part };
    const logprobs = kind === 'text' && { logprobs: whole.logprobs ?? [] };
    return (
      this.write(channel.done, { ...place, [channel.doneField]: text, ...logprobs }) +
      this.write(channel.partDone, { ...place, part: whole })
    );
  }

  annotation(at: Placement, part: number, index: number, annotation: JsonObject): string {
    return this.write('response.output_text.annotation.added', {
      ...placeOf(at),
      content_index: part,
      annotation_index: index,
      annotation,
    });
  }

  inputDelta(at: Placement, kind: ToolKind, delta: string): string {
    return this.write(INPUT_CHANNELS[kind].delta, { ...placeOf(at), delta });
  }

  inputDone(at: Placement, kind: ToolKind, input: string): string {
    const { done, field } = INPUT_CHANNELS[kind];
    const name = kind === 'function' && { name: at.name };
    return this.write(done, { ...placeOf(at), ...name, [field]: input });
  }
}

/** The members by which an event says what item it is about. */
export function placeOf(at: Placement): JsonObject {
  return { item_id: at.id, output_index: at.index };
}

/** A part with nothing but its text. */
export function partOf(kind: PartKind, text: string): JsonObject {
  const { partType, partField } = TEXT_CHANNELS[kind];
  return kind === 'text'
    ? { type: partType, text, annotations: [], logprobs: [] }
    : { type: partType, [partField]: text };
}
