import { guardrailEntries } from '../../following/guardrail-entries.ts';
import type { JsonObject } from '../../kit/json/json.ts';
import { numberAt, objectAt, stringsAt, textAt } from '../../kit/json/members.ts';
import { SPAN_KINDS, type Span } from '../otlp/messages.ts';
import { unixNano } from '../otlp/values.ts';
import { attributes } from './conventions.ts';
import type { RowTimes } from './row-times.ts';
import type { SpanPlace } from './span-place.ts';

/**
 * A span for each guardrail that found something, and for moderation. Nothing of what was found: that is text of the
 * caller or of the model. Most have no time of their own: those of the caller's texts stand at the beginning, the
 * others at the end.
 */
export function guardrailSpans(row: JsonObject, place: SpanPlace, times: RowTimes): Span[] {
  return guardrailEntries(row).map((entry, index) => {
    const data = objectAt(entry, 'data') ?? {};
    const direction = textAt(data, 'direction') ?? 'sent';
    const atMs = direction === 'sent' && data.added !== true ? times.startMs : times.endMs;
    const name = textAt(entry, 'name') ?? 'guardrail';
    return {
      ...place.child('guardrail', index),
      name: `guardrail ${name}`,
      kind: SPAN_KINDS.internal,
      startTimeUnixNano: unixNano(atMs),
      endTimeUnixNano: unixNano(atMs + Math.max(0, numberAt(data, 'latency_ms') ?? 0)),
      attributes: attributes({
        guardrailName: name,
        guardrailId: textAt(entry, 'guardrail_id'),
        guardrailScope: textAt(entry, 'guardrail_scope'),
        guardrailAction: textAt(data, 'action') ?? (data.flagged === true ? 'blocked' : 'passed'),
        guardrailDirection: direction,
        guardrailEngines: stringsAt(data, 'engines'),
      }),
    };
  });
}
