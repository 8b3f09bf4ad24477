import { expect } from 'vitest';
import type { Expectations } from './expectations.ts';

/** An id that the gateway makes, because the upstream gives none. */
const MADE = expect.stringMatching(/^call_[\w-]+$/);

/**
 * What each recording of a real upstream says, read from the recording itself. One that is not listed is held to what
 * holds for all.
 */
export const EXPECTED: Expectations = {
  'openai-chat/vercel-ai__openai-text.chunks.txt': [
    {
      dialect: 'chat',
      text: '**Holiday Name:** Ha… 1724 53b2d9e5',
      end: 'stop',
      usage: { inputTokens: 16, outputTokens: 300 },
    },
  ],
  'openai-chat/vercel-ai__anthropic-fallback-tool-call.sse': [
    {
      dialect: 'chat',
      text: 'Reading it.',
      calls: [{ name: 'read_file', callId: 'toolu_sanitized', input: '{"path": "a.txt"}' }],
      end: 'tool-calls',
    },
  ],
  'openai-responses/vercel-ai__openai-reasoning-encrypted-content.1.chunks.txt': [
    {
      dialect: 'responses',
      reasoning: ['**Calculating step-b… 163 e8c4cd89'],
      encrypted: ['gAAAAABpPDIVOKrsHNZ0… 1060 b82eda9f'],
      calls: [
        { name: 'calculator', callId: 'call_AB6AaRZ1FYZB2RwS6A5vbdqn', input: '{"a":12,"b":7,"op":"add"}' },
      ],
      end: 'tool-calls',
      usage: { inputTokens: 134, outputTokens: 28 },
    },
    {
      dialect: 'responses',
      calls: [
        {
          name: 'calculator',
          callId: 'call_Q6pW65MUgW9vF59BmItYGos3',
          input: '{"a":19,"b":3,"op":"multiply"}',
        },
      ],
      end: 'tool-calls',
      usage: { inputTokens: 221, outputTokens: 26 },
    },
    {
      dialect: 'responses',
      calls: [
        {
          name: 'calculator',
          callId: 'call_Zl5vIMnD7dVAjgU6FkhmiCZh',
          input: '{"a":57,"b":10,"op":"multiply"}',
        },
      ],
      end: 'tool-calls',
      usage: { inputTokens: 260, outputTokens: 26 },
    },
    {
      dialect: 'responses',
      text: 'The final result is **570**.',
      end: 'stop',
      usage: { inputTokens: 299, outputTokens: 12 },
    },
  ],
  'openai-responses/vercel-ai__openai-phase.1.chunks.txt': [
    {
      dialect: 'responses',
      text: 'Got it — I’ll quickl… 1638 421a0728',
      phases: ['commentary', 'final_answer'],
      end: 'stop',
      usage: { inputTokens: 7112, cachedTokens: 3072, outputTokens: 463, reasoningTokens: 64 },
    },
  ],
  'openai-responses/vercel-ai__openai-error.1.chunks.txt': [
    {
      dialect: 'responses',
      end: 'rate-limited',
      message: 'You exceeded your cu… 191 edbf0739',
      code: 'insufficient_quota',
    },
  ],
  'openai-responses/vercel-ai__openai-custom-tool.1.chunks.txt': [
    {
      dialect: 'responses',
      calls: [
        {
          name: 'write_sql',
          callId: 'call_custom_sql_001',
          input: 'SELECT * FROM users WHERE age > 25',
          kind: 'custom',
        },
      ],
      end: 'tool-calls',
      usage: { inputTokens: 50, outputTokens: 20 },
    },
  ],
  'openai-responses/vercel-ai__openai-web-search-tool.1.chunks.txt': [
    {
      dialect: 'responses',
      text: 'I checked today’s te… 3645 d24e6afa',
      sources: [
        'https://techcrunch.c… 114 cd8ebc30',
        'https://techcrunch.c… 118 72295844',
        'https://techcrunch.c… 144 1410f8a0',
        'https://techcrunch.c… 120 2b3c80a4',
        'https://www.wired.co… 74 8b300f6a',
        'https://techcrunch.c… 114 cd8ebc30',
        'https://techcrunch.c… 118 72295844',
        'https://techcrunch.c… 144 1410f8a0',
        'https://techcrunch.c… 120 2b3c80a4',
        'https://www.wired.co… 74 8b300f6a',
        'https://techstartups… 127 010e38d3',
        'https://finance.yaho… 95 66e341ae',
      ],
      opaque: [
        'web_search_call',
        'web_search_call',
        'web_search_call',
        'web_search_call',
        'web_search_call',
        'web_search_call',
      ],
      end: 'stop',
      usage: {
        inputTokens: 31073,
        cachedTokens: 3712,
        outputTokens: 4416,
        reasoningTokens: 3712,
        webSearchRequests: 2,
      },
    },
  ],
  'openai-responses/vercel-ai__github-copilot-id-rotation.1.chunks.txt': [
    {
      dialect: 'responses',
      text: 'There are **3** lett… 138 2b565af7',
      phases: ['final_answer'],
      reasoning: ['**Counting character occurrences**'],
      end: 'stop',
      usage: { inputTokens: 19, outputTokens: 105, reasoningTokens: 44 },
    },
  ],
  'anthropic/vercel-ai__anthropic-text.chunks.txt': [
    {
      dialect: 'messages',
      text: "Hello! I'm doing wel… 108 3ff17711",
      end: 'stop',
      usage: { inputTokens: 12, outputTokens: 30 },
    },
  ],
  'anthropic/vercel-ai__anthropic-tool-no-args.chunks.txt': [
    {
      dialect: 'messages',
      text: "I'll update the issue list for you.",
      calls: [{ name: 'updateIssueList', callId: 'toolu_01QE1WLsSVp5hy5Q3GmGTmjP', input: '{}' }],
      end: 'tool-calls',
      usage: { inputTokens: 565, outputTokens: 48 },
    },
  ],
  'anthropic/vercel-ai__anthropic-refusal.chunks.txt': [
    {
      dialect: 'messages',
      end: 'refusal',
      message: 'This request trigger… 110 cbe0f297',
      category: 'cyber',
      usage: { inputTokens: 18, outputTokens: 5 },
    },
  ],
  'anthropic/vercel-ai__anthropic-clear-thinking.1.chunks.txt': [
    {
      dialect: 'messages',
      text: '925 ÷ 5 = 185',
      reasoning: ['The previous result … 75 9367a725'],
      signatures: ['EvQBCkYICxgCKkAxhD4N… 332 fac2ba54'],
      end: 'stop',
      usage: { inputTokens: 69, outputTokens: 53 },
    },
  ],
  'anthropic/vercel-ai__anthropic-message-delta-input-tokens.chunks.txt': [
    { dialect: 'messages', text: 'pong', end: 'stop', usage: { inputTokens: 61, outputTokens: 2 } },
  ],
  'anthropic/vercel-ai__duplicate-message-start.chunks.txt': [
    {
      dialect: 'messages',
      text: 'Hello, World!',
      end: 'stop',
      usage: { inputTokens: 17, outputTokens: 227 },
    },
  ],
  'gemini/vercel-ai__google-text.chunks.txt': [
    {
      dialect: 'gemini',
      text: 'There are **3** "r"s… 55 47f9afd1',
      encrypted: ['EqsFCqgFAb4+9vvtAF5n… 916 e5bb5ce6'],
      end: 'stop',
      usage: { inputTokens: 9, outputTokens: 208, reasoningTokens: 185 },
    },
  ],
  'gemini/vercel-ai__google-tool-call-gemini3.chunks.txt': [
    {
      dialect: 'gemini',
      encrypted: ['EpEgCo4gAb4+9vvWwdN+… 5488 1470f82f'],
      calls: [
        {
          name: 'weather',
          callId: MADE,
          input: '{"location":"San Francisco"}',
          signature: 'EpEgCo4gAb4+9vvWwdN+… 5488 1470f82f',
        },
      ],
      end: 'tool-calls',
      usage: { inputTokens: 29, outputTokens: 819, reasoningTokens: 804 },
    },
  ],
  'gemini/vercel-ai__google-reasoning-gemini3.chunks.txt': [
    {
      dialect: 'gemini',
      text: 'There are **3** "r"s… 55 cf114c23',
      encrypted: ['EpAICo0IAb4+9vuku3oD… 1392 2879a7fa'],
      end: 'stop',
      usage: { inputTokens: 9, outputTokens: 325, reasoningTokens: 302 },
    },
  ],
  'gemini/vercel-ai__google-stream-tool-call-arguments.chunks.txt': [
    {
      dialect: 'gemini',
      encrypted: ['CiMBjz1rX25KieIB4d4A… 1032 d1f61815'],
      calls: [
        {
          name: 'getWeather',
          callId: MADE,
          input: '{"location":"Boston"}',
          signature: 'CiMBjz1rX25KieIB4d4A… 1032 d1f61815',
        },
        { name: 'getWeather', callId: MADE, input: '{"location":"San Francisco"}' },
      ],
      end: 'tool-calls',
      usage: { inputTokens: 26, outputTokens: 155, reasoningTokens: 132 },
    },
  ],
  'gemini/vercel-ai__google-429-retry-info.json': [
    {
      dialect: 'gemini',
      end: 'rate-limited',
      message: 'You exceeded your cu… 56 f5c6298e',
      code: 'RESOURCE_EXHAUSTED',
      retryAfterSeconds: 35,
    },
  ],
  'bedrock/vercel-ai__amazon-bedrock-text.chunks.txt': [
    {
      dialect: 'bedrock',
      text: 'Let me count the "r"… 109 f0241711',
      end: 'stop',
      usage: { inputTokens: 22, outputTokens: 55 },
    },
  ],
  'bedrock/vercel-ai__amazon-bedrock-reasoning.chunks.txt': [
    {
      dialect: 'bedrock',
      text: "There are **3** r's … 63 148d9e7b",
      reasoning: ["Let me count the r's… 116 e1a54c70"],
      signatures: ['Ep0CCkgICxABGAIqQOWP… 388 427f9139'],
      end: 'stop',
      usage: { inputTokens: 51, outputTokens: 94 },
    },
  ],
  'bedrock/vercel-ai__amazon-bedrock-tool-call.1.chunks.txt': [
    {
      dialect: 'bedrock',
      calls: [{ name: 'test-tool', callId: 'tool-use-id', input: '{"value":"Sparkle Day"}' }],
      end: 'tool-calls',
      usage: { inputTokens: 125, outputTokens: 45 },
    },
  ],
  'bedrock/vercel-ai__amazon-bedrock-tool-no-args.chunks.txt': [
    {
      dialect: 'bedrock',
      text: "I'll update the issue list for you.",
      calls: [{ name: 'updateIssueList', callId: 'tool-use-id', input: '{}' }],
      end: 'tool-calls',
      usage: { inputTokens: 100, outputTokens: 25 },
    },
  ],
  'mistral/vercel-ai__mistral-reasoning.chunks.txt': [
    {
      dialect: 'chat',
      text: '2 + 2 = 4',
      reasoning: ['The user is asking f… 60 3ee98375'],
      end: 'stop',
      usage: { inputTokens: 10, outputTokens: 46 },
    },
  ],
  'mistral/vercel-ai__mistral-incremental-tool-call.chunks.txt': [
    {
      dialect: 'chat',
      calls: [
        {
          name: 'webSearchTool',
          callId: 'chatcmpl-tool-9f149c74c42f265b',
          input: '{"query": "current Berlin weather"}',
        },
      ],
      end: 'tool-calls',
      usage: { inputTokens: 171, cachedTokens: 128, outputTokens: 14 },
    },
  ],
  'mistral/vercel-ai__mistral-tool-call.chunks.txt': [
    {
      dialect: 'chat',
      calls: [{ name: 'weather', callId: 'gSIMJiOkT', input: '{"location": "San Francisco"}' }],
      end: 'tool-calls',
      usage: { inputTokens: 124, outputTokens: 22 },
    },
  ],
  'deepseek/vercel-ai__deepseek-tool-call.chunks.txt': [
    {
      dialect: 'chat',
      reasoning: ['The user is asking f… 191 e9e5190a'],
      calls: [
        {
          name: 'weather',
          callId: 'call_00_ioIn7yN9p1ZOMNpDLwd4MgAF',
          input: '{"location": "San Francisco"}',
        },
      ],
      end: 'tool-calls',
      usage: { inputTokens: 339, cachedTokens: 320, outputTokens: 83, reasoningTokens: 39 },
    },
  ],
  'groq/vercel-ai__groq-tool-call.chunks.txt': [
    {
      dialect: 'chat',
      calls: [{ name: 'weather', callId: 'tk85n1k4m', input: '{}' }],
      end: 'tool-calls',
      usage: { inputTokens: 210, outputTokens: 15 },
    },
  ],
  'xai/vercel-ai__xai-tool-call.chunks.txt': [
    {
      dialect: 'chat',
      reasoning: ['First, the user is'],
      calls: [{ name: 'weather', callId: 'call_55117580', input: '{"location":"San Francisco"}' }],
      end: 'tool-calls',
      usage: { inputTokens: 291, cachedTokens: 290, outputTokens: 222, reasoningTokens: 196 },
    },
  ],
  'cohere/vercel-ai__cohere-tool-call.chunks.txt': [
    {
      dialect: 'chat',
      reasoning: ['I will use the weath… 131 77ed443b'],
      calls: [
        { name: 'weather', callId: 'weather_e8p4pn45zt0t', input: '{"location": "San Francisco"}' },
        {
          name: 'cityAttractions',
          callId: 'cityAttractions_pyxssbwnq9fq',
          input: '{"city": "San Francisco"}',
        },
      ],
      end: 'tool-calls',
      usage: { inputTokens: 1549, cachedTokens: 1504, outputTokens: 95 },
    },
  ],
  'cohere/vercel-ai__cohere-reasoning.chunks.txt': [
    {
      dialect: 'chat',
      text: 'The answer to 2 + 2 is 4.',
      reasoning: ['The user is asking f… 162 e66c8ec0'],
      end: 'stop',
      usage: { inputTokens: 1394, cachedTokens: 1360, outputTokens: 54 },
    },
  ],
  'anthropic/anthropic-sdk__basic_response.txt': [
    { dialect: 'messages', text: 'Hello there!', end: 'stop', usage: { inputTokens: 11, outputTokens: 6 } },
  ],
  'anthropic/anthropic-sdk__tool_use_response.txt': [
    {
      dialect: 'messages',
      text: "I'll check the curre… 48 7f9902d6",
      calls: [
        { name: 'get_weather', callId: 'toolu_01NRLabsLyVHZPKxbKvkfSMn', input: '{"location": "Paris"}' },
      ],
      end: 'tool-calls',
      usage: { inputTokens: 377, outputTokens: 65 },
    },
  ],
  'anthropic/anthropic-sdk__incomplete_partial_json_response.txt': [
    {
      dialect: 'messages',
      text: "I'll create a compre… 135 4d0a033a",
      calls: [
        {
          name: 'make_file',
          callId: 'toolu_01EKqbqmZrGRXy18eN7m9kvY',
          input: '{"filename": "taxes.… 149 1fb86d98',
        },
      ],
      end: 'length',
      usage: { inputTokens: 450, outputTokens: 124 },
    },
  ],
  'reference-gateway/pydantic-ai__test_openai_responses_raw_cot_stream_openrouter.sse': [
    {
      dialect: 'responses',
      text: '4',
      reasoning: ['The user asks: "What… 85 613098ac'],
      end: 'stop',
      usage: { inputTokens: 78, outputTokens: 37, reasoningTokens: 22 },
    },
  ],
  'reference-gateway/pydantic-ai__test_openrouter_responses_prompt_cache_e2e.1.json': [
    {
      dialect: 'responses',
      text: 'OK',
      phases: ['final_answer'],
      end: 'stop',
      usage: { inputTokens: 4020, cacheWriteTokens: 4012, outputTokens: 5 },
    },
  ],
  'reference-gateway/pydantic-ai__test_openrouter_stream_error.sse': [
    {
      dialect: 'chat',
      reasoning: ['We need to respond t… 42 2366fab4'],
      end: 'upstream-unavailable',
      message: 'Token limit reached',
      code: '400',
      usage: { inputTokens: 43, outputTokens: 10, reasoningTokens: 10 },
    },
  ],
  'reference-gateway/pydantic-ai__test_openrouter_errors_raised.1.json': [
    { dialect: 'chat', end: 'rate-limited', message: 'Provider returned error', code: '429' },
  ],
  'reference-gateway/pydantic-ai__test_openrouter_streaming_reasoning.sse': [
    {
      dialect: 'chat',
      text: '2 + 2 = 4',
      reasoning: ['This is a simple ari… 51 b66dc085'],
      signatures: ['Et0BCkgIChACGAIqQA2s… 304 580932f6'],
      end: 'stop',
      usage: { inputTokens: 43, outputTokens: 36, reasoningTokens: 13 },
    },
  ],
  'reference-gateway/pydantic-ai__test_openrouter_tool_calling.json': [
    {
      dialect: 'chat',
      calls: [{ name: 'divide', callId: '3sniiMddS', input: '{"numerator": 123, "… 60 d8c592ae' }],
      end: 'tool-calls',
      usage: { inputTokens: 134, outputTokens: 43 },
    },
  ],
  'reference-gateway/pydantic-ai__test_openrouter_web_search_annotations_stream.sse': [
    {
      dialect: 'chat',
      text: 'The URL for Pydantic… 90 11ddbdd3',
      sources: [
        'https://github.com/pydantic/pydantic-ai',
        'https://pydantic.dev/pydantic-ai',
        'https://github.com/p… 59 6e8dd180',
        'https://pydantic.dev/docs/ai/overview/',
        'https://github.com/p… 62 15b18c85',
      ],
      end: 'stop',
      usage: { inputTokens: 2317, outputTokens: 53, webSearchRequests: 1 },
    },
  ],
  'reference-gateway/pydantic-ai__test_openrouter_cache_streaming_e2e.sse': [
    { dialect: 'chat', text: 'Hello!', end: 'stop', usage: { inputTokens: 254, outputTokens: 5 } },
  ],
  'openai-responses/pydantic-ai__test_openai_responses_stream.1.sse': [
    {
      dialect: 'responses',
      calls: [
        { name: 'get_capital', callId: 'call_kL0PCQV7M2WMoVX8V8OtYSAL', input: '{"country":"France"}' },
      ],
      end: 'tool-calls',
      usage: { inputTokens: 255, outputTokens: 16 },
    },
  ],
  'openai-chat/pydantic-ai__test_run_stream_sync_streams_real_model.1.sse': [
    {
      dialect: 'chat',
      calls: [{ name: 'get_capital', callId: 'call_ZR5UUuTt3pf61kjwAJIYdVMj', input: '{"country":"UK"}' }],
      end: 'tool-calls',
      usage: { inputTokens: 53, outputTokens: 15 },
    },
  ],
  'anthropic/pydantic-ai__test_anthropic_model_thinking_part_stream.sse': [
    {
      dialect: 'messages',
      text: 'Here are the basic s… 1021 1b0c432c',
      reasoning: ['This is a straightfo… 202 18c2c6e0'],
      signatures: ['EvMCCkYICxgCKkCHP2cS… 504 e2385f74'],
      end: 'stop',
      usage: { inputTokens: 43, outputTokens: 282 },
    },
  ],
  'anthropic/pydantic-ai__test_anthropic_model_thinking_part_redacted_stream.sse': [
    {
      dialect: 'messages',
      text: "I notice that you've… 359 33e0d169",
      encrypted: ['EqkECkYIBxgCKkA8AZ4n… 744 a5fcad0d', 'EtgBCkYIBxgCKkDQfGkw… 296 f2ba8544'],
      end: 'stop',
      usage: { inputTokens: 92, outputTokens: 189 },
    },
  ],
  'anthropic/pydantic-ai__test_mid_conversation_system_prompt_inline-system-supported_.json': [
    {
      dialect: 'messages',
      text: "I'll follow that gui… 1064 6d6ea30d",
      end: 'stop',
      usage: { inputTokens: 68, outputTokens: 355 },
    },
  ],
  'gemini/pydantic-ai__test_google_model_iter_stream.3.sse': [
    {
      dialect: 'gemini',
      text: 'The temperature in Paris is 30°C.\n',
      end: 'stop',
      usage: { inputTokens: 79, outputTokens: 12 },
    },
  ],
  'gemini/pydantic-ai__test_google_streaming_tool_call_thought_signature.1.sse': [
    {
      dialect: 'gemini',
      encrypted: ['EpwICpkIAXLI2nxlU6gs… 1408 5d9ba8d7'],
      calls: [
        { name: 'get_country', callId: MADE, input: '{}', signature: 'EpwICpkIAXLI2nxlU6gs… 1408 5d9ba8d7' },
      ],
      end: 'tool-calls',
      usage: { inputTokens: 29, outputTokens: 212, reasoningTokens: 202 },
    },
  ],
  'bedrock/pydantic-ai__test_bedrock_model_stream.bin': [
    {
      dialect: 'bedrock',
      text: 'The capital of Franc… 375 eab28e46',
      end: 'stop',
      usage: { inputTokens: 13, outputTokens: 82 },
    },
  ],
  'bedrock/pydantic-ai__test_bedrock_model_thinking_part_redacted_stream.bin': [
    {
      dialect: 'bedrock',
      text: "I notice you've sent… 359 38f03db0",
      encrypted: ['EtkECkgIBxABGAIqQJTf… 808 c4f31f2a', 'EqADCkgIBxABGAIqQB3h… 564 ae8acb8c'],
      end: 'stop',
      usage: { inputTokens: 92, outputTokens: 253 },
    },
  ],
  'deepseek/pydantic-ai__test_deepseek_model_thinking_stream.sse': [
    {
      dialect: 'chat',
      text: 'Hello there! 😊 How … 41 cf0e6027',
      reasoning: ['Hmm, the user just s… 882 d29146ea'],
      end: 'stop',
      usage: { inputTokens: 6, outputTokens: 212, reasoningTokens: 198 },
    },
  ],
  'deepseek/pydantic-ai__test_deepseek_responses_function_tool_stream_.1.sse': [
    {
      dialect: 'responses',
      reasoning: ['The user asks about … 61 840c3f3a'],
      calls: [
        { name: 'get_temperature', callId: 'call_00_xjY8Z2BvSlzgEmmw0DtH0464', input: '{"city": "Tokyo"}' },
      ],
      end: 'tool-calls',
      usage: { inputTokens: 366, cachedTokens: 256, outputTokens: 59, reasoningTokens: 14 },
    },
  ],
  'groq/pydantic-ai__test_tool_use_failed_error.1.json': [
    {
      dialect: 'chat',
      end: 'invalid-request',
      message: 'Tool call validation… 198 1464819a',
      code: 'tool_use_failed',
    },
  ],
  'cohere/pydantic-ai__test_cohere_model_thinking_part.1.json': [
    {
      dialect: 'responses',
      text: "I'm happy to help wi… 1881 e5ec8fdb",
      reasoning: ['**Exploring street c… 1746 c5590de6'],
      encrypted: ['gAAAAABou18w-tnw3PeR… 440 cf403265'],
      end: 'stop',
      usage: { inputTokens: 13, outputTokens: 2241, reasoningTokens: 1856 },
    },
  ],
  'openai-chat/envoy-aigw__chat-streaming.sse': [
    { dialect: 'chat', text: 'Hi there! How can I … 209 e00e582d', end: 'stop' },
  ],
  'openai-chat/envoy-aigw__chat-parallel-tools.json': [
    {
      dialect: 'chat',
      calls: [
        {
          name: 'get_current_weather',
          callId: 'call_Xc4Aiih37EUJvqjoZlu4Vdoi',
          input: '{"location":"San Francisco, CA"}',
        },
      ],
      end: 'tool-calls',
      usage: { inputTokens: 162, outputTokens: 219, reasoningTokens: 192 },
    },
  ],
  'openai-chat/envoy-aigw__chat-bad-request.json': [
    {
      dialect: 'chat',
      end: 'invalid-request',
      message: 'Unsupported paramete… 106 2fee8ed3',
      code: 'unsupported_parameter',
    },
  ],
  'openai-chat/envoy-aigw__chat-unknown-model.json': [
    {
      dialect: 'chat',
      end: 'not-found',
      message: 'The model `gpt-4.1-n… 78 de98fd1b',
      code: 'model_not_found',
    },
  ],
};
