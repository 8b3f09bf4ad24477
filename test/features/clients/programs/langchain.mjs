import { copyFileSync, readFileSync } from 'node:fs';
import { ChatAnthropic } from '@langchain/anthropic';
import { ChatOpenAI } from '@langchain/openai';
import { createAgent, tool } from 'langchain';
import { z } from 'zod';

const { SIGNALBOX_ORIGIN, SIGNALBOX_KEY, SIGNALBOX_MODEL, SIGNALBOX_PROMPT, SIGNALBOX_FORMAT } = process.env;

const settings = { model: SIGNALBOX_MODEL, apiKey: SIGNALBOX_KEY, maxRetries: 0 };

const models = {
  chat: () =>
    new ChatOpenAI({
      ...settings,
      configuration: { baseURL: `${SIGNALBOX_ORIGIN}/api/v1` },
      useResponsesApi: false,
    }),
  messages: () =>
    new ChatAnthropic({
      ...settings,
      anthropicApiUrl: `${SIGNALBOX_ORIGIN}/api`,
      maxTokens: 8000,
      thinking: { type: 'enabled', budget_tokens: 2000 },
    }),
};

const copyFile = tool(
  ({ from, to }) => {
    copyFileSync(from, to);
    return readFileSync(to, 'utf8');
  },
  {
    name: 'copy_file',
    description: 'Copies a file and gives what is in it.',
    schema: z.object({ from: z.string(), to: z.string() }),
  },
);

const agent = createAgent({ model: models[SIGNALBOX_FORMAT](), tools: [copyFile] });
// With `messages` among the modes the model is asked for streams; the last value is the whole conversation.
const steps = await agent.stream(
  { messages: [{ role: 'user', content: SIGNALBOX_PROMPT }] },
  { streamMode: ['messages', 'values'] },
);
let messages = [];
for await (const [mode, step] of steps) if (mode === 'values') messages = step.messages;
const counts = messages.flatMap((message) => message.usage_metadata ?? []);
const sum = (name) => counts.reduce((total, count) => total + count[name], 0);
const usage = {
  // In the messages format it believes the opening event alone, which most upstreams cannot tell the input count for.
  ...(SIGNALBOX_FORMAT === 'chat' && { input: sum('input_tokens') }),
  output: sum('output_tokens'),
};
console.log(JSON.stringify({ text: messages.at(-1).text, usage }));
