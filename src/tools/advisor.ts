import Type from 'typebox';
import type { Item } from '../ir/items.ts';
import { isJsonObject, type JsonObject, readJson } from '../kit/json/json.ts';
import { numberAt, stringAt } from '../kit/json/members.ts';
import { closed, nullish } from '../kit/json/schema.ts';
import { answerOf, instanceName, MODEL_PARAMETERS, message, nestedRequest } from './nested-request.ts';
import { type ServerTool, toolFailure } from './server-tool.ts';
import { transcriptOf } from './transcript.ts';

/** Asks another model for advice. Its earlier advice in the conversation is its memory. */
export const advisor: ServerTool = {
  name: 'advisor',
  hostedTypes: /^advisor_\d{8}$/,
  // The base format's advisor reads the whole conversation.
  ofHosted: ({ model, max_uses }) => ({
    ...(model !== undefined && { model }),
    ...(max_uses !== undefined && { max_uses }),
    forward_transcript: true,
  }),
  hostedMembers: { model: true, max_uses: true },
  unused: ({ stream }, _, { showsServerCalls }) =>
    stream === true && showsServerCalls !== true ? ['stream'] : [],
  callsModels: true,
  isTimedByLegs: true,
  instance: instanceName,
  parameters: closed({
    ...MODEL_PARAMETERS,
    forward_transcript: nullish(Type.Boolean()),
    stream: nullish(Type.Boolean()),
    max_uses: nullish(Type.Integer({ minimum: 1 })),
  }),
  declare(parameters) {
    const name = instanceName(parameters);
    const model = stringAt(parameters, 'model');
    const sees =
      parameters.forward_transcript === true
        ? 'It reads the conversation so far.'
        : 'It sees only your prompt, so give it all the context that it needs.';
    return {
      ...(name !== '' && { name: `advisor_${name}` }),
      description: `Asks an adviser${name === '' ? '' : ` (${name})`}, another model, for advice. ${sees}`,
      parameters: {
        type: 'object',
        properties: {
          prompt: { type: 'string', minLength: 1, description: 'The question' },
          ...(model === undefined && { model: { type: 'string', description: 'Id of the model to ask' } }),
        },
        required: ['prompt'],
      },
    };
  },
  async run({ arguments: asked, parameters, uses }, { request, signal, leg, tell }) {
    const name = instanceName(parameters);
    const prompt = stringAt(asked, 'prompt') ?? '';
    const model = stringAt(parameters, 'model') ?? stringAt(asked, 'model');
    const instance = name === '' ? {} : { instance_name: name };
    const shown = { prompt, ...(model !== undefined && { model }), ...instance };
    if (uses >= (numberAt(parameters, 'max_uses') ?? Number.POSITIVE_INFINITY)) {
      return toolFailure('the adviser may not be asked again', shown, 'max_uses_exceeded');
    }
    const result = await leg(
      nestedRequest(request, {
        models: model === undefined ? request.models : [model],
        parameters,
        items: [...adviceSoFar(request.items, name), question(prompt, request.items, parameters)],
      }),
      { kind: 'advisor', signal, ...(parameters.stream === true && { onText: tell }) },
    );
    const answer = answerOf(result);
    if ('error' in answer) return toolFailure(answer.error, shown);
    const advice = { ...shown, model: model ?? request.models[0] ?? '', advice: answer.text };
    const told = { status: 'ok', model: advice.model, advice: answer.text, ...instance };
    return { output: JSON.stringify(told), shown: advice };
  },
};

function question(prompt: string, items: readonly Item[], { forward_transcript }: JsonObject): Item {
  if (forward_transcript !== true) return message('user', prompt);
  return message('user', `<transcript>\n${transcriptOf(items)}\n</transcript>\n\n${prompt}`);
}

/** Earlier questions to this adviser, and what it said. */
export function adviceSoFar(items: readonly Item[], instance: string): readonly Item[] {
  const prompts = new Map<string, string>();
  const memory: Item[] = [];
  for (const item of items) {
    if (item.type === 'tool-call') {
      const prompt = stringAt(objectOf(item.input), 'prompt');
      if (prompt !== undefined) prompts.set(item.callId, prompt);
    }
    if (item.type !== 'tool-result') continue;
    const prompt = prompts.get(item.callId);
    const told = objectOf(item.content.map((part) => (part.type === 'text' ? part.text : '')).join(''));
    const advice = stringAt(told, 'advice');
    if (prompt === undefined || advice === undefined) continue;
    if ((stringAt(told, 'instance_name') ?? '') !== instance) continue;
    memory.push(message('user', prompt), message('assistant', advice));
  }
  return memory;
}

function objectOf(text: string): JsonObject | undefined {
  const reading = readJson(text);
  return reading.ok && isJsonObject(reading.value) ? reading.value : undefined;
}
