import { copyFileSync, readFileSync } from 'node:fs';
import { OpenRouter, tool } from '@openrouter/agent';
import { z } from 'zod';

const { SIGNALBOX_ORIGIN, SIGNALBOX_KEY, SIGNALBOX_MODEL, SIGNALBOX_PROMPT } = process.env;

const copyFile = tool({
  name: 'copy_file',
  description: 'Copies a file and gives what is in it.',
  inputSchema: z.object({ from: z.string(), to: z.string() }),
  execute: async ({ from, to }) => {
    copyFileSync(from, to);
    return { content: readFileSync(to, 'utf8') };
  },
});

const client = new OpenRouter({
  apiKey: SIGNALBOX_KEY,
  serverURL: `${SIGNALBOX_ORIGIN}/api/v1`,
  retryConfig: { strategy: 'none' },
});
const result = client.callModel({
  model: SIGNALBOX_MODEL,
  input: SIGNALBOX_PROMPT,
  reasoning: { effort: 'low', summary: 'auto' },
  include: ['reasoning.encrypted_content'],
  tools: [copyFile],
});
let text = '';
for await (const delta of result.getTextStream()) text += delta;
if (text !== (await result.getText())) throw new Error(`the stream says otherwise than the whole: ${text}`);
console.log(JSON.stringify({ text }));
