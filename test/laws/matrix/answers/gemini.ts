import type { JsonObject } from '../../../../src/kit/json/json.ts';
import { nameless, type WireAnswer } from './wire-answer.ts';

const USAGE = { promptTokenCount: 9, candidatesTokenCount: 4, totalTokenCount: 13 };

/** An answer with the given parts. `end`: what stands beside the parts of the last chunk. */
export function geminiAnswer(
  parts: readonly JsonObject[],
  end: JsonObject = {},
  usageMetadata: JsonObject = USAGE,
): WireAnswer {
  const head = { modelVersion: 'gemini-3-flash', responseId: 'resp1' };
  const candidate = (given: readonly JsonObject[], more: JsonObject) => ({
    candidates: [{ index: 0, content: { role: 'model', parts: [...given] }, ...more }],
    ...head,
  });
  const last = { finishReason: 'STOP', ...end };
  return {
    body: { ...candidate(parts, last), usageMetadata },
    frames: nameless([
      ...parts.slice(0, -1).map((part) => candidate([part], {})),
      { ...candidate(parts.slice(-1), last), usageMetadata },
    ]),
  };
}
