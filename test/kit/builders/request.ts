import { DIALECTS } from '../../../src/dialects/dialects.ts';
import { Places } from '../../../src/ir/places.ts';
import type { GenerationRequest } from '../../../src/ir/request.ts';

/** A small valid request in the representation; name only what the test is about. */
export function requestOf(changes: Partial<GenerationRequest> = {}): GenerationRequest {
  return {
    format: 'responses',
    formatFacts: DIALECTS[changes.format ?? 'responses'].facts.request,
    body: { model: 'acme/large', input: 'Hello' },
    models: ['acme/large'],
    hasFallbackModels: false,
    items: [{ type: 'message', role: 'user', content: [{ type: 'text', text: 'Hello' }] }],
    tools: [],
    sampling: {},
    stream: true,
    echoUpstreamBody: false,
    wishes: { provider: {}, plugins: [] },
    ext: {},
    places: new Places(),
    unknownFields: [],
    ...changes,
  };
}
