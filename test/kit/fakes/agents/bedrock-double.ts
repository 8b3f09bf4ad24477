import { awsStream } from '../../fixtures/bedrock/aws-events.ts';
import { COUNTED, piecesOf, type UpstreamDouble } from './upstream-double.ts';

const MODEL = 'us.anthropic.claude-fake-1-v1:0';

/** Converse, in the binary event stream of AWS. */
export const bedrockDouble: UpstreamDouble = {
  dialect: 'aws-bedrock',
  model: MODEL,
  path: `/model/${encodeURIComponent(MODEL)}/converse-stream`,
  mediaType: 'application/vnd.amazon.eventstream',
  keyHeader: (key) => ['authorization', `Bearer ${key}`],
  hidesThoughts: ({ additionalModelRequestFields: fields }) => fields?.thinking?.display === 'omitted',
  toolsOf: (body) =>
    body.toolConfig.tools.flatMap(({ toolSpec }: any) =>
      toolSpec === undefined ? [] : [{ name: toolSpec.name, schema: toolSpec.inputSchema.json }],
    ),
  stepStream: ({ thoughts, seal, says, call }) =>
    stream('tool_use', [
      {
        deltas: [
          ...piecesOf(thoughts).map((text) => ({ reasoningContent: { text } })),
          { reasoningContent: { signature: seal } },
        ],
      },
      ...(says === undefined ? [] : [textBlock(says)]),
      {
        start: { toolUse: { toolUseId: call.id, name: call.name } },
        deltas: piecesOf(JSON.stringify(call.arguments)).map((input) => ({ toolUse: { input } })),
      },
    ]),
  textStream: (text) => stream('end_turn', [textBlock(text)]),
  stepsOf: ({ messages }) =>
    messages.flatMap(({ role, content }: any, index: number) => {
      if (role !== 'assistant') return [];
      const thinking = content.find((block: any) => block.reasoningContent !== undefined)?.reasoningContent;
      const next = messages[index + 1];
      const answers: any[] = next?.role === 'user' ? next.content : [];
      return content
        .filter((block: any) => block.toolUse !== undefined)
        .map(({ toolUse }: any) => {
          const answer = answers.find(({ toolResult }) => toolResult?.toolUseId === toolUse.toolUseId);
          return {
            thoughts: thinking?.reasoningText?.text || undefined,
            seal: thinking?.reasoningText?.signature,
            call: { id: toolUse.toolUseId, name: toolUse.name, arguments: toolUse.input },
            output: answer?.toolResult.content
              .map(({ text, json }: any) => text ?? JSON.stringify(json))
              .join(''),
          };
        });
    }),
};

function textBlock(text: string) {
  return { deltas: piecesOf(text).map((piece) => ({ text: piece })) };
}

function stream(
  stopReason: string,
  blocks: readonly { start?: object; deltas: readonly object[] }[],
): Uint8Array {
  return awsStream([
    { messageStart: { role: 'assistant' } },
    ...blocks.flatMap(({ start, deltas }, contentBlockIndex) => [
      ...(start === undefined ? [] : [{ contentBlockStart: { contentBlockIndex, start } }]),
      ...deltas.map((delta) => ({ contentBlockDelta: { contentBlockIndex, delta } })),
      { contentBlockStop: { contentBlockIndex } },
    ]),
    { messageStop: { stopReason } },
    {
      metadata: {
        usage: {
          inputTokens: COUNTED.input,
          outputTokens: COUNTED.output,
          totalTokens: COUNTED.input + COUNTED.output,
        },
        metrics: { latencyMs: 12 },
      },
    },
  ] as Parameters<typeof awsStream>[0]);
}
