import type { Frame } from '../../../../src/kit/frames/frames.ts';
import type { JsonObject } from '../../../../src/kit/json/json.ts';
import type { WireAnswer } from './wire-answer.ts';

const USAGE = { inputTokens: 9, outputTokens: 4, totalTokens: 13 };

/** A message with the given blocks. */
export function bedrockAnswer(
  content: readonly JsonObject[],
  end: JsonObject = {},
  usage: JsonObject = USAGE,
  more: JsonObject = {},
): WireAnswer {
  const stop = { stopReason: 'end_turn', ...end };
  return {
    body: {
      output: { message: { role: 'assistant', content: [...content] } },
      ...stop,
      usage,
      metrics: { latencyMs: 1 },
      ...more,
    },
    frames: [
      frame('messageStart', { role: 'assistant' }),
      ...content.flatMap(blockFrames),
      frame('messageStop', stop),
      frame('metadata', { usage, metrics: { latencyMs: 1 }, ...more }),
    ],
  };
}

function frame(event: string, payload: JsonObject): Frame {
  return { event, data: JSON.stringify(payload) };
}

function blockFrames(block: JsonObject, contentBlockIndex: number): Frame[] {
  const { start, deltas } = opened(block);
  return [
    ...(start === undefined ? [] : [frame('contentBlockStart', { contentBlockIndex, start })]),
    ...deltas.map((delta) => frame('contentBlockDelta', { contentBlockIndex, delta })),
    frame('contentBlockStop', { contentBlockIndex }),
  ];
}

/** How a block is announced, if it is, and the pieces that it comes in. */
function opened(block: any): { start?: JsonObject; deltas: JsonObject[] } {
  if (block.toolUse !== undefined) {
    const { input, ...start } = block.toolUse;
    const text = typeof input === 'string' ? input : JSON.stringify(input);
    return { start: { toolUse: start }, deltas: [{ toolUse: { input: text } }] };
  }
  if (block.reasoningContent?.reasoningText !== undefined) {
    const { text, signature } = block.reasoningContent.reasoningText;
    return { deltas: [{ reasoningContent: { text } }, { reasoningContent: { signature } }] };
  }
  if (block.citationsContent !== undefined) {
    const { content, citations } = block.citationsContent;
    return { deltas: [...content, ...citations.map((citation: JsonObject) => ({ citation }))] };
  }
  return { deltas: [block] };
}
