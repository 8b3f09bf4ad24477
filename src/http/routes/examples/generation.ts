import type { Static } from 'typebox';
import type { explanationSchema } from '../../../contract/catalog/explanation.ts';
import type {
  chatResultSchema,
  compactionResultSchema,
  decisionsResultSchema,
  embeddingsResultSchema,
  inputTokensSchema,
  messagesResultSchema,
  responsesResultSchema,
  tokenCountSchema,
} from '../../../contract/generations/generation-results.ts';
import type { RouteExample } from '../../route.ts';

/** A model that every installation can switch on, so that each of these requests can be tried. */
const MODEL = 'simulator/standard';

const QUESTION = { role: 'user', content: 'Say hello.' };

const ANSWER =
  'This is a simulated answer: no model was asked. You said: "Say hello.". A real model would answer it here.';

/** The members of a reply with decisions beside its answers. */
const DECIDED = {
  model: MODEL,
  provider: 'Simulator',
  usage: {
    input_tokens: 88,
    input_tokens_details: { cached_tokens: 0, cache_write_tokens: 0 },
    output_tokens: 19,
    output_tokens_details: { reasoning_tokens: 0 },
    total_tokens: 107,
    cost: 0.000164,
    is_byok: false,
    cost_details: {},
  },
};

/** A model that calls the first tool that it is offered. */
const TOOL_MODEL = 'simulator/tools';

/** Requests with tools that the gateway runs, by operation. */
export function toolBodies(vendor: string): Readonly<Record<string, RouteExample['otherBodies']>> {
  const advisor = {
    type: `${vendor}:advisor`,
    parameters: { name: 'lawyer', model: MODEL, instructions: 'You are a lawyer.' },
  };
  const datetime = { type: `${vendor}:datetime`, parameters: { timezone: 'Europe/Berlin' } };
  return {
    createResponse: {
      'A tool that the gateway runs': { model: TOOL_MODEL, input: 'What time is it?', tools: [datetime] },
      'Advice of another model': { model: TOOL_MODEL, input: 'May I?', tools: [advisor] },
    },
    createMessage: {
      'A tool that the gateway runs': {
        model: TOOL_MODEL,
        max_tokens: 256,
        messages: [QUESTION],
        tools: [datetime],
      },
      'Advice of another model': {
        model: TOOL_MODEL,
        max_tokens: 256,
        messages: [QUESTION],
        tools: [{ type: 'advisor_20260301', name: 'advisor', model: MODEL }],
      },
      'Tools of an MCP server of the configuration': {
        model: MODEL,
        max_tokens: 256,
        messages: [QUESTION],
        mcp_servers: [{ type: 'url', name: 'docs', tool_configuration: { allowed_tools: ['search'] } }],
      },
    },
    createChatCompletion: {
      'A tool that the gateway runs': { model: TOOL_MODEL, messages: [QUESTION], tools: [datetime] },
      'Advice of another model': { model: TOOL_MODEL, messages: [QUESTION], tools: [advisor] },
    },
  };
}

/** Requests that the simulator answers, and its answers. */
export const GENERATION_EXAMPLES = {
  createResponse: {
    client: { library: 'openai', method: 'responses.create' },
    body: { model: MODEL, input: 'Say hello.' },
    answer: {
      id: 'resp_IPIVRscXbl4hIH4w9GXj',
      object: 'response',
      created_at: 1794892623,
      completed_at: 1794892623,
      status: 'completed',
      model: MODEL,
      output: [
        {
          id: 'msg_kqylzzmshwi6x69gdt7m_0',
          type: 'message',
          role: 'assistant',
          status: 'completed',
          content: [{ type: 'output_text', text: ANSWER, annotations: [], logprobs: [] }],
        } as { type: string },
      ],
      error: null,
      incomplete_details: null,
      usage: {
        input_tokens: 4,
        input_tokens_details: { cached_tokens: 0, cache_write_tokens: 0 },
        output_tokens: 27,
        output_tokens_details: { reasoning_tokens: 0 },
        total_tokens: 31,
        cost: 0.000112,
        is_byok: false,
      },
      instructions: null,
      metadata: {},
      parallel_tool_calls: true,
      temperature: 1,
      top_p: 1,
      presence_penalty: 0,
      frequency_penalty: 0,
      tool_choice: 'auto',
      tools: [],
      service_tier: 'default',
    } satisfies Static<typeof responsesResultSchema>,
  },
  createMessage: {
    client: { library: 'anthropic', method: 'messages.create' },
    body: { model: MODEL, max_tokens: 256, messages: [QUESTION] },
    answer: {
      id: 'msg_5G4CNIGMm0kBlNihpS1c',
      type: 'message',
      role: 'assistant',
      model: MODEL,
      provider: 'Simulator',
      content: [{ type: 'text', text: ANSWER, citations: [] } as { type: string }],
      container: null,
      stop_reason: 'end_turn',
      stop_sequence: null,
      stop_details: null,
      usage: {
        input_tokens: 4,
        output_tokens: 27,
        cache_creation: { ephemeral_5m_input_tokens: 0, ephemeral_1h_input_tokens: 0 },
        cache_creation_input_tokens: 0,
        cache_read_input_tokens: 0,
        inference_geo: null,
        output_tokens_details: { thinking_tokens: 0 },
        server_tool_use: null,
        service_tier: 'standard',
        cost: 0.000112,
        is_byok: false,
      },
    } satisfies Static<typeof messagesResultSchema>,
  },
  compactResponse: {
    client: { library: 'openai', method: 'responses.compact' },
    body: { model: MODEL, input: [QUESTION, { role: 'assistant', content: 'Hello.' }] },
    answer: {
      id: 'resp_6l9r2DXYGDJmKWOZUQd3',
      object: 'response.compaction',
      created_at: 1794892624,
      output: [
        {
          id: 'msg_6l9r2DXYGDJmKWOZUQd3_0',
          type: 'message',
          role: 'user',
          status: 'completed',
          content: [{ type: 'input_text', text: QUESTION.content }],
        },
        {
          id: 'cmp_6l9r2DXYGDJmKWOZUQd3',
          type: 'compaction',
          encrypted_content: 'sealed.v1.eyJmb3JtYXQiOiJ4In0',
        },
      ],
      usage: {
        input_tokens: 140,
        input_tokens_details: { cached_tokens: 0, cache_write_tokens: 0 },
        output_tokens: 27,
        output_tokens_details: { reasoning_tokens: 0 },
        total_tokens: 167,
        cost: 0.00025,
        is_byok: false,
        cost_details: {
          upstream_inference_cost: null,
          upstream_inference_input_cost: 0.000115,
          upstream_inference_output_cost: 0.000135,
        },
      },
    } satisfies Static<typeof compactionResultSchema>,
  },
  countResponseTokens: {
    client: { library: 'openai', method: 'responses.inputTokens.count' },
    body: { model: MODEL, input: QUESTION.content },
    answer: {
      object: 'response.input_tokens',
      input_tokens: 7,
    } satisfies Static<typeof inputTokensSchema>,
  },
  countMessageTokens: {
    client: { library: 'anthropic', method: 'messages.countTokens' },
    body: { model: MODEL, messages: [QUESTION] },
    answer: { input_tokens: 7 } satisfies Static<typeof tokenCountSchema>,
  },
  createChatCompletion: {
    client: { library: 'openai', method: 'chat.completions.create' },
    body: { model: MODEL, messages: [QUESTION] },
    answer: {
      id: 'gen-1794892624-6l9r2DXYGDJmKWOZUQd3',
      object: 'chat.completion',
      created: 1794892624,
      model: MODEL,
      choices: [
        {
          index: 0,
          message: { role: 'assistant', content: ANSWER, refusal: null, reasoning: null },
          finish_reason: 'stop',
          logprobs: null,
        },
      ],
      usage: { prompt_tokens: 4, completion_tokens: 27, total_tokens: 31, cost: 0.000112 },
      service_tier: 'default',
      system_fingerprint: null,
    } satisfies Static<typeof chatResultSchema>,
  },
  createEmbeddings: {
    client: { library: 'openai', method: 'embeddings.create' },
    body: {
      model: 'simulator/embedding',
      input: ['a cat on a mat'],
      dimensions: 3,
      encoding_format: 'float',
    },
    answer: {
      object: 'list',
      data: [{ object: 'embedding', index: 0, embedding: [0.6, -0.64, 0.48] }],
      model: 'simulator/embedding',
      id: 'gen-1794892625-0a1b2c3d4e5f6g7h8i9j',
      provider: 'Simulator',
      usage: { prompt_tokens: 5, total_tokens: 5, cost: 0.0000001, is_byok: false, cost_details: {} },
    } satisfies Static<typeof embeddingsResultSchema>,
  },
  createDecision: {
    client: { library: 'openai', method: 'decisions.create' },
    body: {
      model: MODEL,
      input: 'My parcel is late again. I want my money back.',
      questions: [
        { type: 'predicate', name: 'refund', instructions: 'The customer asks for a refund.' },
        {
          type: 'choice',
          name: 'team',
          instructions: 'Which team should answer?',
          choices: [{ value: 'shipping' }, { value: 'billing', description: 'invoices and refunds' }],
        },
      ],
    },
    answer: {
      id: 'gen-1794892626-1b2c3d4e5f6g7h8i9j0k',
      answers: [
        { type: 'predicate', name: 'refund', probability: 0.75 },
        {
          type: 'choice',
          name: 'team',
          choice: 'shipping',
          confidence: 0.75,
          probabilities: [
            { value: 'shipping', probability: 0.75 },
            { value: 'billing', probability: 0.25 },
          ],
        },
      ],
      ...DECIDED,
    } satisfies Static<typeof decisionsResultSchema>,
  },
  createSystemOneDecision: {
    body: {
      model: MODEL,
      state: { message: 'My parcel is late again.', orders: 3 },
      questions: {
        refund: { type: 'noul', instructions: 'The customer asks for a refund.' },
        anger: {
          type: 'score',
          instructions: 'How angry is the customer?',
          criteria: ['calm', 'annoyed', 'furious'],
        },
      },
    },
    answer: {
      id: 'gen-1794892627-2c3d4e5f6g7h8i9j0k1l',
      answers: {
        refund: { type: 'noul', noul: 0.75 },
        anger: {
          type: 'score',
          score: 0,
          confidence: 0.75,
          probabilities: { '0': 0.75, '1': 0.125, '2': 0.125 },
          legend: { '0': 'calm', '1': 'annoyed', '2': 'furious' },
        },
      },
      ...DECIDED,
    } satisfies Static<typeof decisionsResultSchema>,
  },
  explainRouting: {
    body: { format: 'chat', model: MODEL, messages: [QUESTION] },
    otherBodies: {
      'A request to /responses: without format': { model: MODEL, input: 'Say hello.' },
      'A request to /messages': { format: 'messages', model: MODEL, max_tokens: 100, messages: [QUESTION] },
      'A request to /embeddings': {
        format: 'embeddings',
        model: 'simulator/embedding',
        input: ['A signal box.'],
      },
      'A request to /decisions': {
        format: 'decisions',
        model: MODEL,
        input: 'A signal box.',
        questions: [{ type: 'predicate', instructions: 'It is about railways.' }],
      },
      'A request to /responses/compact': { format: 'compaction', model: MODEL, input: [QUESTION] },
    },
    answer: {
      data: {
        requested: MODEL,
        strategy: 'direct',
        candidates: [
          {
            rank: 1,
            provider: 'Simulator',
            tag: 'simulator',
            model: MODEL,
            credential: 'shared',
            lane: 'relay',
            price: { prompt: '0.000001', completion: '0.000004' },
            weight: null,
            sticky: false,
            health: { state: 'ok', failures: 0, latency_p50_ms: 36.6, throughput_p50: 714.9 },
            translation: [],
          },
        ],
        rejected: [],
        estimate: { prompt_tokens: 7, max_output_tokens: 16000, max_cost_usd: 0.064007 },
      },
    } satisfies Static<typeof explanationSchema>,
  },
} as const satisfies Record<string, RouteExample>;
