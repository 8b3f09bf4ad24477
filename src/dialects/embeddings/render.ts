import type { GenerationRequest } from '../../ir/request.ts';
import type { JsonObject } from '../../kit/json/json.ts';
import { NO_HEADERS, type RenderedRequest, type RenderTarget } from '../dialect.ts';
import { reportPassedOn } from '../shared/report/passed-on-fields.ts';
import { Report } from '../shared/report/report.ts';
import { relayBody } from '../shared/requests/relay.ts';
import { GATEWAY_FIELDS } from './wire.ts';

/**
 * Fields that not every upstream takes. The gateway encodes vectors itself if an upstream does not: that is no loss.
 */
const OPTIONAL_FIELDS: readonly { readonly name: string; readonly isLoss: boolean }[] = [
  { name: 'encoding_format', isLoss: false },
  { name: 'input_type', isLoss: true },
];

export function renderRequest(request: GenerationRequest, target: RenderTarget): RenderedRequest {
  const report = new Report(request);
  const { supportedParameters, quirks } = target;
  const changes: JsonObject = { model: target.model };
  if (request.user !== undefined) changes.user = target.hashUser(request.user);
  for (const { name, isLoss } of OPTIONAL_FIELDS) {
    const isGiven = request.body[name] !== undefined && request.body[name] !== null;
    if (!isGiven || supportedParameters?.has(name) !== false) continue;
    changes[name] = undefined;
    if (isLoss) report.dropped(name, 'the endpoint does not take it');
  }
  for (const name of quirks?.refusedFields ?? []) {
    if (request.body[name] === undefined || request.body[name] === null) continue;
    changes[name] = undefined;
    report.dropped(name, 'the provider does not take it');
  }
  for (const name of request.unknownFields) {
    if (GATEWAY_FIELDS.has(name)) report.dropped(name, 'it has no effect on embeddings');
  }
  const body = relayBody(request, GATEWAY_FIELDS, changes);
  reportPassedOn(request, body, report);
  return { body, headers: NO_HEADERS, report: report.entries };
}
