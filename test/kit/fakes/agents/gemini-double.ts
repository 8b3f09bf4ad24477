import { COUNTED, eventBytes, piecesOf, type UpstreamDouble } from './upstream-double.ts';

const MODEL = 'gemini-3.5-pro';

/** The vendor's placeholder for a call without a signature. */
const NO_SEAL = 'skip_thought_signature_validator';

/** generateContent of a generation that refuses calls which come back without their thought signature. */
export const geminiDouble: UpstreamDouble = {
  dialect: 'google-gemini',
  model: MODEL,
  path: `/models/${MODEL}:streamGenerateContent?alt=sse`,
  mediaType: 'text/event-stream',
  keyHeader: (key) => ['x-goog-api-key', key],
  hidesThoughts: ({ generationConfig }) => generationConfig?.thinkingConfig?.includeThoughts !== true,
  toolsOf: (body) =>
    body.tools.flatMap(({ functionDeclarations = [] }: any) =>
      functionDeclarations.map(({ name, parameters, parametersJsonSchema }: any) => ({
        name,
        schema: parametersJsonSchema ?? parameters,
      })),
    ),
  stepStream: ({ thoughts, seal, says = '', call }) =>
    stream([
      ...piecesOf(thoughts).map((text) => [{ text, thought: true }]),
      ...piecesOf(says).map((text) => [{ text }]),
      [
        {
          functionCall: { id: call.id, name: call.name, args: call.arguments },
          thoughtSignature: seal,
        },
      ],
    ]),
  textStream: (text) => stream(piecesOf(text).map((piece) => [{ text: piece }])),
  stepsOf: ({ contents }) =>
    contents.flatMap(({ role, parts }: any, index: number) => {
      if (role !== 'model') return [];
      const next = contents[index + 1];
      const answers: any[] = next?.role === 'user' ? next.parts : [];
      const thoughts = parts
        .filter((part: any) => part.thought === true)
        .map((part: any) => part.text)
        .join('');
      return parts
        .filter((part: any) => part.functionCall !== undefined)
        .map(({ functionCall: { id, name, args }, thoughtSignature }: any, place: number) => {
          if (thoughtSignature === undefined) throw new Error(`${name} has no thoughtSignature`);
          const answer = answers[place]?.functionResponse;
          const isAnswer = answer !== undefined && answer.id === id && answer.name === name;
          return {
            thoughts: thoughts || undefined,
            seal: thoughtSignature === NO_SEAL ? undefined : thoughtSignature,
            call: { id, name, arguments: args },
            output: isAnswer ? JSON.stringify(answer.response) : undefined,
          };
        });
    }),
};

function stream(turns: readonly object[][]): Uint8Array {
  return eventBytes(
    turns.map((parts, index) => {
      const isLast = index === turns.length - 1;
      return {
        data: {
          candidates: [
            { content: { role: 'model', parts }, index: 0, ...(isLast && { finishReason: 'STOP' }) },
          ],
          usageMetadata: {
            promptTokenCount: COUNTED.input,
            ...(isLast && { candidatesTokenCount: COUNTED.output }),
            totalTokenCount: COUNTED.input + (isLast ? COUNTED.output : 0),
          },
          modelVersion: MODEL,
          responseId: 'response-double',
        },
      };
    }),
  );
}
