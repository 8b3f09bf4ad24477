import type { GenerationRequest } from '../../ir/request.ts';
import type { JsonObject } from '../../kit/json/json.ts';
import { NO_HEADERS, type RenderedRequest, type RenderTarget } from '../dialect.ts';
import { reportPassedOn } from '../shared/report/passed-on-fields.ts';
import { Report } from '../shared/report/report.ts';
import { relayBody } from '../shared/requests/relay.ts';
import { GATEWAY_FIELDS } from './wire.ts';

/** The caller's own body for an upstream that answers decisions itself. */
export function renderRequest(request: GenerationRequest, target: RenderTarget): RenderedRequest {
  const report = new Report(request);
  const changes: JsonObject = { model: target.model };
  for (const name of ['user', 'safety_identifier'] as const) {
    const id = request.body[name];
    if (typeof id === 'string') changes[name] = target.hashUser(id);
  }
  for (const name of request.unknownFields) {
    if (GATEWAY_FIELDS.has(name)) report.dropped(name, 'it has no effect on decisions');
  }
  if (request.requestedOutputTokens !== undefined) {
    report.dropped('max_output_tokens', 'the upstream writes no text');
  }
  const body = relayBody(request, GATEWAY_FIELDS, changes);
  reportPassedOn(request, body, report);
  return { body, headers: NO_HEADERS, report: report.entries };
}
