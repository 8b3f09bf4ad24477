import { copyFileSync, readFileSync } from 'node:fs';
import { Agent, OpenAIProvider, Runner, tool, webSearchTool } from '@openai/agents';
import { z } from 'zod';

const { SIGNALBOX_ORIGIN, SIGNALBOX_KEY, SIGNALBOX_MODEL, SIGNALBOX_PROMPT, SIGNALBOX_SEARCHES } =
  process.env;

const copyFile = tool({
  name: 'copy_file',
  description: 'Copies a file and gives what is in it.',
  parameters: z.object({ from: z.string(), to: z.string() }),
  execute: ({ from, to }) => {
    copyFileSync(from, to);
    return readFileSync(to, 'utf8');
  },
});

const runner = new Runner({
  modelProvider: new OpenAIProvider({
    apiKey: SIGNALBOX_KEY,
    baseURL: `${SIGNALBOX_ORIGIN}/api/v1`,
    useResponses: true,
  }),
  tracingDisabled: true,
});
const agent = new Agent({
  name: 'Copyist',
  instructions: 'Use the tools.',
  model: SIGNALBOX_MODEL,
  modelSettings: {
    store: false,
    reasoning: { effort: 'low', summary: 'auto' },
    providerData: { include: ['reasoning.encrypted_content'] },
  },
  tools: [SIGNALBOX_SEARCHES ? webSearchTool() : copyFile],
});
const result = await runner.run(agent, SIGNALBOX_PROMPT, { stream: true });
await result.completed;
const { inputTokens, outputTokens } = result.runContext.usage;
console.log(
  JSON.stringify({ text: result.finalOutput, usage: { input: inputTokens, output: outputTokens } }),
);
