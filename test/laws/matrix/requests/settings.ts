import {
  chat,
  everywhere,
  messages,
  type RequestChapter,
  responses,
  row,
  says,
  settings,
  user,
  type Wire,
} from '../request-feature.ts';

const SCHEMA = {
  type: 'object',
  properties: { answer: { type: 'string' } },
  required: ['answer'],
  additionalProperties: false,
};
const NAMED = { name: 'reply', schema: SCHEMA, strict: true };

export const ANSWER_SHAPE: RequestChapter = {
  title: 'Form of the answer',
  features: [
    row({
      title: 'Structured output (JSON schema)',
      asked: settings({
        responses: { text: { format: { type: 'json_schema', ...NAMED } } },
        messages: { output_config: { format: { type: 'json_schema', schema: SCHEMA } } },
        chat: { response_format: { type: 'json_schema', json_schema: NAMED } },
      }),
      arrives: {
        responses: (body) => body.text.format.schema.required[0] === 'answer',
        messages: (body) => body.output_config.format.schema.required[0] === 'answer',
        chat: (body) => body.response_format.json_schema.schema.required[0] === 'answer',
        gemini: (body) => body.generationConfig.responseJsonSchema.required[0] === 'answer',
        bedrock: (body) => says('answer')(body.outputConfig.textFormat.structure.jsonSchema.schema),
      },
      verdicts: {
        messages: 'kept    kept kept kept    kept',
        responses: 'adapted kept kept adapted kept',
        chat: 'adapted kept kept adapted kept',
      },
    }),
    row({
      title: 'Any JSON object',
      asked: settings({
        responses: { text: { format: { type: 'json_object' } } },
        chat: { response_format: { type: 'json_object' } },
      }),
      arrives: {
        responses: (body) => body.text.format.type === 'json_object',
        messages: (body) => says('JSON')(body.system),
        chat: (body) => body.response_format.type === 'json_object',
        gemini: (body) => body.generationConfig.responseMimeType === 'application/json',
        bedrock: (body) => says('JSON')(body.system),
      },
      verdicts: {
        messages: '-       -    -    -    -',
        responses: 'adapted kept kept kept adapted',
        chat: 'adapted kept kept kept adapted',
      },
    }),
    row({
      title: 'Output limit',
      asked: settings({
        responses: { max_output_tokens: 777 },
        messages: { max_tokens: 777 },
        chat: { max_tokens: 777 },
      }),
      arrives: {
        responses: (body) => body.max_output_tokens === 777,
        messages: (body) => body.max_tokens === 777,
        chat: (body) => body.max_tokens === 777 || body.max_completion_tokens === 777,
        gemini: (body) => body.generationConfig.maxOutputTokens === 777,
        bedrock: (body) => body.inferenceConfig.maxTokens === 777,
      },
    }),
    row({
      title: 'Stop sequences',
      asked: settings({ messages: { stop_sequences: ['END'] }, chat: { stop: ['END'] } }),
      arrives: {
        responses: says('END'),
        messages: (body) => body.stop_sequences[0] === 'END',
        chat: (body) => says('END')(body.stop),
        gemini: (body) => body.generationConfig.stopSequences[0] === 'END',
        bedrock: (body) => body.inferenceConfig.stopSequences[0] === 'END',
      },
      verdicts: {
        messages: 'kept dropped kept kept kept',
        responses: '-    -       -    -    -',
        chat: 'kept dropped kept kept kept',
      },
    }),
    row({
      title: 'Verbosity',
      asked: settings({ responses: { text: { verbosity: 'low' } }, chat: { verbosity: 'low' } }),
      arrives: {
        ...everywhere(says('"low"')),
        responses: (body) => body.text.verbosity === 'low',
        chat: (body) => body.verbosity === 'low',
      },
      verdicts: {
        messages: '-       -    -    -       -',
        responses: 'dropped kept kept dropped dropped',
        chat: 'dropped kept kept dropped dropped',
      },
    }),
    row({
      title: 'Verbosity beyond `high` (`xhigh`, `max`)',
      asked: settings({ responses: { text: { verbosity: 'max' } }, chat: { verbosity: 'xhigh' } }),
      arrives: {
        ...everywhere(says('"high"')),
        responses: (body) => body.text.verbosity === 'high',
        chat: (body) => body.verbosity === 'high',
      },
      verdicts: {
        messages: '-       -       -       -       -',
        responses: 'dropped adapted adapted dropped dropped',
        chat: 'dropped adapted adapted dropped dropped',
      },
    }),
    row({
      title: 'Log probabilities',
      asked: settings({
        responses: { include: ['message.output_text.logprobs'], top_logprobs: 3 },
        chat: { logprobs: true, top_logprobs: 3 },
      }),
      arrives: {
        ...everywhere(says('logprobs')),
        responses: (body) => body.include.includes('message.output_text.logprobs') && body.top_logprobs === 3,
        chat: (body) => body.logprobs === true && body.top_logprobs === 3,
        gemini: (body) =>
          body.generationConfig.responseLogprobs === true && body.generationConfig.logprobs === 3,
      },
      verdicts: {
        messages: '-       -    -    -    -',
        responses: 'dropped kept kept kept dropped',
        chat: 'dropped kept kept kept dropped',
      },
    }),
    row({
      title: 'Image output',
      asked: settings({
        responses: { modalities: ['text', 'image'] },
        chat: { modalities: ['text', 'image'] },
      }),
      arrives: {
        ...everywhere(says('image')),
        gemini: (body) => body.generationConfig.responseModalities.join() === 'TEXT,IMAGE',
      },
      verdicts: {
        messages: '-       -    -    -    -',
        responses: 'dropped kept kept kept dropped',
        chat: 'dropped kept kept kept dropped',
      },
    }),
    row({
      title: 'Format of images (`image_config`)',
      asked: settings({
        responses: { image_config: { aspect_ratio: '16:9' } },
        chat: { image_config: { aspect_ratio: '16:9' } },
      }),
      arrives: everywhere(says('16:9')),
      verdicts: {
        messages: '-       -    -    -    -',
        responses: 'dropped kept kept kept dropped',
        chat: 'dropped kept kept kept dropped',
      },
    }),
  ],
};

export const THINKING: RequestChapter = {
  title: 'Amount of reasoning',
  features: [
    row({
      title: 'Effort',
      note: 'If the upstream needs a budget in tokens, effort becomes a share of the output limit. Claude models without a budget (Opus 4.7 and later) get `thinking: {type: adaptive}` and `output_config.effort`, at Bedrock `outputConfig.effort`.',
      asked: settings({
        responses: { reasoning: { effort: 'high' } },
        messages: { output_config: { effort: 'high' } },
        chat: { reasoning_effort: 'high' },
      }),
      arrives: {
        responses: (body) => body.reasoning.effort === 'high',
        messages: (body) => body.output_config?.effort === 'high' || body.thinking.budget_tokens > 1000,
        chat: (body) => body.reasoning_effort === 'high',
        gemini: (body) => body.generationConfig.thinkingConfig.thinkingLevel === 'high',
        bedrock: ({ additionalModelRequestFields: fields, outputConfig }) =>
          outputConfig?.effort === 'high' || fields.thinking.budget_tokens > 1000,
      },
    }),
    row({
      title: "Effort above the upstream's highest (`max`)",
      note: 'OpenAI goes up to `xhigh`, most chat upstreams up to `high`. If the efforts of a model are known, the nearest is sent.',
      asked: settings({
        responses: { reasoning: { effort: 'max' } },
        messages: { output_config: { effort: 'max' } },
        chat: { reasoning_effort: 'max' },
      }),
      arrives: {
        responses: (body) => body.reasoning.effort === 'xhigh',
        messages: (body) => body.output_config?.effort === 'max' || body.thinking.budget_tokens > 1000,
        chat: (body) => body.reasoning_effort === 'high',
        gemini: (body) => body.generationConfig.thinkingConfig.thinkingLevel === 'high',
        bedrock: ({ additionalModelRequestFields: fields, outputConfig }) =>
          outputConfig?.effort === 'max' || fields.thinking.budget_tokens > 1000,
      },
      verdicts: {
        messages: 'kept adapted adapted adapted kept',
        responses: 'kept adapted adapted adapted kept',
        chat: 'kept adapted adapted adapted kept',
      },
    }),
    row({
      title: 'Budget in tokens',
      note: 'If the upstream needs a word, the effort with the nearest share of the output limit is sent.',
      asked: settings({
        responses: { reasoning: { max_tokens: 2000 }, max_output_tokens: 4000 },
        messages: { thinking: { type: 'enabled', budget_tokens: 2000 }, max_tokens: 4000 },
        chat: { reasoning: { max_tokens: 2000 }, max_tokens: 4000 },
      }),
      arrives: {
        responses: (body) => body.reasoning.effort === 'medium',
        messages: (body) => body.thinking.budget_tokens === 2000,
        chat: (body) => body.reasoning_effort === 'medium' || body.reasoning.max_tokens === 2000,
        gemini: (body) => body.generationConfig.thinkingConfig.thinkingLevel === 'medium',
        bedrock: (body) => body.additionalModelRequestFields.thinking.budget_tokens === 2000,
      },
      verdicts: {
        messages: 'kept adapted adapted adapted kept',
        responses: 'kept adapted adapted adapted kept',
        chat: 'kept adapted adapted adapted kept',
      },
    }),
    row({
      title: 'Amount left to the model (`adaptive`)',
      asked: settings({ messages: { thinking: { type: 'adaptive' } } }),
      arrives: {
        responses: (body) => body.reasoning !== undefined,
        messages: (body) => body.thinking.type === 'adaptive',
        chat: (body) => body.reasoning_effort !== undefined || body.reasoning !== undefined,
        gemini: (body) => body.generationConfig.thinkingConfig.includeThoughts === true,
        bedrock: (body) => body.additionalModelRequestFields.thinking.type === 'adaptive',
      },
      verdicts: {
        messages: 'kept adapted dropped kept kept',
        responses: '-    -       -       -    -',
        chat: '-    -       -       -    -',
      },
    }),
    row({
      title: 'No reasoning',
      asked: settings({
        responses: { reasoning: { effort: 'none' } },
        messages: { thinking: { type: 'disabled' } },
        chat: { reasoning_effort: 'none' },
      }),
      arrives: {
        responses: (body) => body.reasoning.effort === 'none',
        messages: (body) => body.thinking === undefined || body.thinking.type === 'disabled',
        chat: (body) => body.reasoning_effort === 'none',
        gemini: (body) => body.generationConfig.thinkingConfig.thinkingLevel === 'minimal',
        bedrock: (body) => (body.additionalModelRequestFields?.thinking?.type ?? 'disabled') === 'disabled',
      },
      verdicts: {
        messages: 'kept kept kept adapted kept',
        responses: 'kept kept kept adapted kept',
        chat: 'kept kept kept adapted kept',
      },
    }),
    row({
      title: 'Summary of the reasoning',
      asked: settings({
        responses: { reasoning: { effort: 'high', summary: 'detailed' } },
        chat: { reasoning: { effort: 'high', summary: 'detailed' } },
      }),
      arrives: everywhere(says('detailed')),
      verdicts: {
        messages: '-       -    -       -       -',
        responses: 'dropped kept dropped dropped dropped',
        chat: 'dropped kept dropped dropped dropped',
      },
    }),
  ],
};

const MARK = { type: 'ephemeral', ttl: '1h' };

/** Cache marks of a body. */
const marks = (body: Wire) => JSON.stringify(body).match(/"(cache_control|cachePoint)":/g)?.length ?? 0;

export const CACHING: RequestChapter = {
  title: 'Caching',
  features: [
    row({
      title: 'Cache mark on a block',
      asked: {
        responses: responses([
          user([
            { type: 'input_text', text: 'Long.', cache_control: MARK },
            { type: 'input_text', text: 'Short.' },
          ]),
        ]),
        messages: messages([
          user([
            { type: 'text', text: 'Long.', cache_control: MARK },
            { type: 'text', text: 'Short.' },
          ]),
        ]),
        chat: chat([
          user([
            { type: 'text', text: 'Long.', cache_control: MARK },
            { type: 'text', text: 'Short.' },
          ]),
        ]),
      },
      arrives: {
        ...everywhere((body) => marks(body) > 0),
        messages: (body) => body.messages[0].content[0].cache_control.ttl === '1h' && marks(body) === 1,
        chat: (body) => body.messages[0].content[0].cache_control.ttl === '1h',
        bedrock: (body) => body.messages[0].content[1].cachePoint.ttl === '1h' && marks(body) === 1,
      },
      verdicts: {
        messages: 'kept dropped dropped dropped kept',
        responses: 'kept dropped dropped dropped kept',
        chat: 'kept dropped kept    dropped kept',
      },
    }),
    row({
      title: 'Cache mark on a tool',
      asked: {
        messages: messages([user()], {
          tools: [{ name: 'weather', input_schema: { type: 'object' }, cache_control: MARK }],
        }),
        chat: chat([user()], {
          tools: [{ type: 'function', function: { name: 'weather' }, cache_control: MARK }],
        }),
      },
      arrives: {
        ...everywhere((body) => marks(body) > 0),
        messages: (body) => body.tools[0].cache_control.ttl === '1h',
        bedrock: (body) => body.toolConfig.tools[1].cachePoint.ttl === '1h',
      },
      verdicts: {
        messages: 'kept dropped dropped dropped kept',
        responses: '-    -       -       -       -',
        chat: 'kept dropped kept    dropped kept',
      },
    }),
    row({
      title: 'Automatic caching (`cache_control` of the request)',
      asked: settings({
        responses: { cache_control: { type: 'ephemeral' } },
        messages: { cache_control: { type: 'ephemeral' } },
        chat: { cache_control: { type: 'ephemeral' } },
      }),
      arrives: {
        ...everywhere((body) => marks(body) > 0),
        messages: (body) => body.messages[0].content[0].cache_control.type === 'ephemeral',
        bedrock: (body) => body.messages[0].content[1].cachePoint.type === 'default',
      },
      verdicts: {
        messages: 'kept dropped dropped dropped kept',
        responses: 'kept dropped dropped dropped kept',
        chat: 'kept dropped dropped dropped kept',
      },
    }),
    row({
      title: 'Cache key',
      asked: settings({
        responses: { prompt_cache_key: 'thread-7' },
        chat: { prompt_cache_key: 'thread-7' },
      }),
      arrives: everywhere(says('thread-7')),
      verdicts: {
        messages: '-       -    -    -       -',
        responses: 'dropped kept kept dropped dropped',
        chat: 'dropped kept kept dropped dropped',
      },
    }),
  ],
};

export const OTHER_SETTINGS: RequestChapter = {
  title: 'Other settings',
  features: [
    row({
      title: 'Temperature',
      asked: settings({
        responses: { temperature: 0.3 },
        messages: { temperature: 0.3 },
        chat: { temperature: 0.3 },
      }),
      arrives: {
        ...everywhere((body) => body.temperature === 0.3),
        gemini: (body) => body.generationConfig.temperature === 0.3,
        bedrock: (body) => body.inferenceConfig.temperature === 0.3,
      },
    }),
    row({
      title: 'Temperature above 1',
      asked: settings({
        responses: { temperature: 1.7 },
        messages: { temperature: 1.7 },
        chat: { temperature: 1.7 },
      }),
      arrives: {
        ...everywhere((body) => body.temperature === 1.7),
        messages: (body) => body.temperature === 1,
        gemini: (body) => body.generationConfig.temperature === 1.7,
        bedrock: (body) => body.inferenceConfig.temperature === 1,
      },
      verdicts: {
        messages: 'adapted kept kept kept adapted',
        responses: 'adapted kept kept kept adapted',
        chat: 'adapted kept kept kept adapted',
      },
    }),
    row({
      title: '`top_k`',
      asked: settings({ responses: { top_k: 40 }, messages: { top_k: 40 }, chat: { top_k: 40 } }),
      arrives: {
        ...everywhere((body) => body.top_k === 40),
        gemini: (body) => body.generationConfig.topK === 40,
        bedrock: (body) => body.additionalModelRequestFields.top_k === 40,
      },
      verdicts: {
        messages: 'kept dropped kept kept kept',
        responses: 'kept kept    kept kept kept',
        chat: 'kept dropped kept kept kept',
      },
    }),
    row({
      title: 'Penalties',
      asked: settings({ responses: { frequency_penalty: 0.7 }, chat: { frequency_penalty: 0.7 } }),
      arrives: everywhere(says('0.7')),
      verdicts: {
        messages: '-       -    -    -    -',
        responses: 'dropped kept kept kept dropped',
        chat: 'dropped kept kept kept dropped',
      },
    }),
    row({
      title: 'Seed',
      asked: settings({ chat: { seed: 4711 } }),
      arrives: everywhere(says('4711')),
      verdicts: {
        messages: '-       -       -    -    -',
        responses: '-       -       -    -    -',
        chat: 'dropped dropped kept kept dropped',
      },
    }),
    row({
      title: 'Service tier',
      asked: settings({
        responses: { service_tier: 'priority' },
        messages: { service_tier: 'priority' },
        chat: { service_tier: 'priority' },
      }),
      arrives: {
        ...everywhere((body) => body.service_tier === 'priority'),
        messages: (body) => body.speed === 'fast',
        gemini: (body) => body.serviceTier === 'priority',
        bedrock: (body) => body.serviceTier.type === 'priority',
      },
      verdicts: {
        messages: 'kept kept kept kept kept',
        responses: 'kept kept kept kept kept',
        chat: 'kept kept kept kept kept',
      },
    }),
    row({
      title: 'Speed (`speed: fast`)',
      asked: settings({ messages: { speed: 'fast' } }),
      arrives: {
        ...everywhere((body) => body.service_tier === 'priority'),
        messages: (body) => body.speed === 'fast',
        gemini: (body) => body.serviceTier === 'priority',
        bedrock: (body) => body.serviceTier.type === 'priority',
      },
      verdicts: {
        messages: 'kept kept kept kept kept',
        responses: '-    -    -    -       -',
        chat: '-    -    -    -       -',
      },
    }),
    row({
      title: 'End-user id',
      note: 'Leaves the gateway only as a keyed hash, and only if the dialect has a field for it; never in the report.',
      asked: settings({
        responses: { user: 'jo' },
        messages: { metadata: { user_id: 'jo' } },
        chat: { user: 'jo' },
      }),
      arrives: everywhere((body) => !says('"jo"')(body)),
    }),
    row({
      title: 'Labels (`metadata`)',
      asked: settings({ responses: { metadata: { team: 'red' } }, chat: { metadata: { team: 'red' } } }),
      arrives: everywhere(says('red')),
      verdicts: {
        messages: '-       -    -       -       -',
        responses: 'dropped kept dropped dropped kept',
        chat: 'dropped kept kept    dropped kept',
      },
    }),
    row({
      title: 'Context management',
      asked: settings({
        messages: { context_management: { edits: [{ type: 'clear_tool_uses_20250919' }] } },
      }),
      arrives: everywhere(says('clear_tool_uses_20250919')),
      verdicts: {
        messages: 'kept dropped dropped dropped dropped',
        responses: '-    -       -       -       -',
        chat: '-    -       -       -       -',
      },
    }),
    row({
      title: 'Predicted output',
      asked: settings({ chat: { prediction: { type: 'content', content: 'As before.' } } }),
      arrives: everywhere(says('As before.')),
      verdicts: {
        messages: '-       -       -    -       -',
        responses: '-       -       -    -       -',
        chat: 'dropped dropped kept dropped dropped',
      },
    }),
    row({
      title: 'Undocumented fields',
      note: 'Relayed to upstreams of the same format, with an entry too.',
      asked: settings({
        responses: { flux_capacity: 88 },
        messages: { flux_capacity: 88 },
        chat: { flux_capacity: 88 },
      }),
      arrives: everywhere((body) => body.flux_capacity === 88),
      verdicts: {
        messages: 'kept    dropped dropped dropped dropped',
        responses: 'dropped kept    dropped dropped dropped',
        chat: 'dropped dropped kept    dropped dropped',
      },
    }),
  ],
};
