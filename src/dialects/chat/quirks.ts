import { createHash } from 'node:crypto';
import { NO_QUIRKS, type Quirks } from '../../ir/quirks.ts';
import type { GenerationRequest } from '../../ir/request.ts';
import type { JsonObject } from '../../kit/json/json.ts';
import type { RenderTarget } from '../dialect.ts';
import type { Report } from '../shared/report/report.ts';
import { callersName } from './render-losses.ts';

/** Report detail of a field that a provider answers with an error. */
const REFUSED = 'the provider refuses it';

/** Fields that the gateway adds, or that change nothing if absent: left out without a report entry. */
const UNREPORTED: ReadonlySet<string> = new Set(['stream_options', 'user', 'safety_identifier']);

/** The body without fields that the provider refuses, and with its names for the others. */
export function withQuirks(
  body: JsonObject,
  request: GenerationRequest,
  { quirks = NO_QUIRKS }: RenderTarget,
  report: Report,
): JsonObject {
  if (quirks === NO_QUIRKS) return body;
  const { refusedFields = [], renamedFields = {} } = quirks;
  const refused = refusedFields.filter((field) => body[field] !== undefined);
  const renamed = Object.keys(renamedFields).filter((field) => body[field] !== undefined);
  if (refused.length + renamed.length === 0) return body;
  for (const field of refused) {
    const name = UNREPORTED.has(field) ? undefined : callersName(field, request, report);
    if (name !== undefined) report.dropped(name, REFUSED);
  }
  const entries = Object.entries(body).filter(([field]) => !refusedFields.includes(field));
  return Object.fromEntries(entries.map(([field, value]) => [renamedFields[field] ?? field, value]));
}

const MAX_STOP_SEQUENCES = 4;

export function withFewerStops(body: JsonObject, { quirks = {} }: RenderTarget, report: Report): JsonObject {
  const { stop } = body;
  if (!Array.isArray(stop)) return body;
  const { mostStopSequences: most = MAX_STOP_SEQUENCES, refusedFields = [] } = quirks;
  if (stop.length <= most || refusedFields.includes('stop')) return body;
  report.coerced(
    report.name('stop'),
    `the provider takes ${most} stop sequences: the first ${most} are sent`,
  );
  return { ...body, stop: stop.slice(0, most) };
}

const NINE_ALPHANUMERICS = /^[A-Za-z0-9]{9}$/;

/** The id of a tool call in the provider's form: the same for a call and its result. */
export function toolCallId(id: string, { toolCallIds }: Quirks): string {
  if (toolCallIds === undefined || NINE_ALPHANUMERICS.test(id)) return id;
  const digest = createHash('sha256').update(id).digest('base64');
  return digest.replace(/[^A-Za-z0-9]/g, '').slice(0, 9);
}
