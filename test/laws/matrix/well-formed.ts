import type { DialectName, Format } from '../../../src/ir/items.ts';
import type { JsonObject } from '../../../src/kit/json/json.ts';
import { issuesOf } from './judge-request.ts';
import type { Wire } from './request-feature.ts';

/** Problems of a body that would make the upstream refuse it. */
export function problemsOf(upstream: DialectName, body: JsonObject): readonly unknown[] {
  if (isFormat(upstream)) return issuesOf(upstream, body);
  const { fields, turns, parts } = SHAPES[upstream];
  const conversation = body[turns] as Wire[];
  return [
    ...Object.keys(body)
      .filter((field) => !fields.has(field))
      .map((field) => `${field}: not a field of this dialect`),
    ...(conversation[0].role === 'user' ? [] : ['the user does not begin']),
    ...conversation.flatMap((turn, index) => (turn[parts].length === 0 ? [`turn ${index} is empty`] : [])),
    ...conversation.flatMap((turn, index) =>
      turn.role === conversation[index - 1]?.role && turn.role !== 'user'
        ? [`turn ${index} has the role of the one before`]
        : [],
    ),
  ];
}

function isFormat(upstream: DialectName): upstream is Format {
  return upstream !== 'gemini' && upstream !== 'bedrock';
}

const SHAPES = {
  gemini: {
    fields: new Set([
      'contents',
      'systemInstruction',
      'tools',
      'toolConfig',
      'generationConfig',
      'serviceTier',
    ]),
    turns: 'contents',
    parts: 'parts',
  },
  bedrock: {
    fields: new Set([
      'messages',
      'system',
      'inferenceConfig',
      'toolConfig',
      'additionalModelRequestFields',
      'additionalModelResponseFieldPaths',
      'outputConfig',
      'requestMetadata',
      'serviceTier',
    ]),
    turns: 'messages',
    parts: 'content',
  },
} as const;
