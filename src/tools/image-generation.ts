import Type from 'typebox';
import type { Source } from '../ir/items.ts';
import type { Result } from '../ir/result.ts';
import type { JsonObject } from '../kit/json/json.ts';
import { membersBeyond, stringAt } from '../kit/json/members.ts';
import { nullish } from '../kit/json/schema.ts';
import { answerOf, message, nestedRequest } from './nested-request.ts';
import { type ServerTool, type ToolSettings, toolFailure } from './server-tool.ts';

const IMAGE = 'image';

const OWN_PARAMETERS = new Set(['model']);

/** Members of the responses format's own tool that image models know. */
const HOSTED_MEMBERS = ['background', 'moderation', 'output_compression', 'output_format', 'quality', 'size'];

/** Has an image drawn by a model with image output. */
export const imageGeneration: ServerTool = {
  name: 'image_generation',
  isTimedByLegs: true,
  hostedTypes: /^image_generation$/,
  ofHosted: (hosted, { tools: { imageModel } }) => {
    if (imageModel === undefined) return undefined;
    const members = HOSTED_MEMBERS.flatMap((key) => (hosted[key] === undefined ? [] : [[key, hosted[key]]]));
    return Object.fromEntries(members) as JsonObject;
  },
  hostedMembers: Object.fromEntries(HOSTED_MEMBERS.map((name) => [name, true])),
  parameters: Type.Object({ model: nullish(Type.String({ minLength: 1, maxLength: 256 })) }),
  unavailable(parameters, settings) {
    const named = stringAt(parameters, 'model');
    const model = modelOf(parameters, settings);
    const path = named === undefined ? 'type' : 'parameters.model';
    if (model === undefined) {
      return { path, message: 'no image model is configured (tools.image_generation.model)' };
    }
    if (settings.catalog.resolve(model)?.outputModalities.includes(IMAGE) === true) return undefined;
    return { path, message: `there is no model ${model} with image output` };
  },
  declare: () => ({
    description: 'Draws an image from a description, and shows it to the user.',
    parameters: {
      type: 'object',
      properties: { prompt: { type: 'string', minLength: 1, description: 'What the image shows' } },
      required: ['prompt'],
    },
  }),
  async run({ arguments: asked, parameters }, { request, settings, signal, leg }) {
    const prompt = stringAt(asked, 'prompt') ?? '';
    const config = membersBeyond(parameters, OWN_PARAMETERS);
    const drawing = nestedRequest(request, {
      models: [modelOf(parameters, settings) ?? ''],
      parameters: {},
      items: [message('user', prompt)],
    });
    const result = await leg(
      {
        ...drawing,
        // The simulator answers in the format of the request, and that of messages has no images.
        format: 'chat',
        modalities: [IMAGE, 'text'],
        ...(config !== undefined && { imageConfig: config }),
      },
      { kind: 'subagent', signal },
    );
    const image = imageIn(result);
    if (image === undefined) {
      const answer = answerOf(result);
      return toolFailure('error' in answer ? answer.error : 'the model wrote no image', {
        prompt,
        result: null,
      });
    }
    // The bytes of an image are no text for a model.
    const told = { ...(image.isUrl && { imageUrl: image.value }), note: 'The image is shown to the user.' };
    return {
      output: JSON.stringify({ status: 'ok', ...told }),
      shown: { result: image.value, ...(image.isUrl && { imageUrl: image.value }), prompt },
      image: image.source,
    };
  },
};

function modelOf(parameters: JsonObject, { tools }: ToolSettings): string | undefined {
  return stringAt(parameters, 'model') ?? tools.imageModel;
}

function imageIn({
  items,
}: Result): { readonly value: string; readonly isUrl: boolean; readonly source: Source } | undefined {
  for (const item of items) {
    if (item.type !== 'image') continue;
    const value = shownSource(item.source);
    if (value !== undefined) return { ...value, source: item.source };
  }
  return undefined;
}

/** An image as its address, or as its bytes in base64. */
export function shownSource(source: Source): { readonly value: string; readonly isUrl: boolean } | undefined {
  if (source.kind === 'base64') return { value: source.data, isUrl: false };
  if (source.kind !== 'url') return undefined;
  const data = /^data:[^,]*;base64,/.exec(source.url);
  if (data !== null) return { value: source.url.slice(data[0].length), isUrl: false };
  return { value: source.url, isUrl: true };
}
