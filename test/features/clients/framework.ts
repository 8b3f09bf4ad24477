import { copyFileSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type Agent, COPY, callHosted, environmentOf, inClients, NOTE } from './agent.ts';
import { runProgram } from './run-program.ts';

interface Row extends Pick<Agent, 'name' | 'package' | 'thoughts' | 'search'> {
  /** Ours, in `programs/`: an agent with one tool, which copies a file and gives what is in it. */
  readonly program: string;
  /** The format to speak, for programs that know more than one. */
  readonly format?: string;
}

const ROWS: readonly Row[] = [
  {
    name: 'OpenAI Agents',
    package: '@openai/agents',
    program: 'openai-agents.mjs',
    thoughts: 'shown',
    search: { choose: callHosted, native: 'openai-responses' },
  },
  {
    name: 'OpenRouter Agent',
    package: '@openrouter/agent',
    program: 'openrouter-agent.mjs',
    thoughts: 'shown',
  },
  {
    name: 'LangChain in chat',
    package: 'langchain',
    program: 'langchain.mjs',
    format: 'chat',
    thoughts: 'lost',
  },
  {
    name: 'LangChain in messages',
    package: 'langchain',
    program: 'langchain.mjs',
    format: 'messages',
    thoughts: 'shown',
  },
];

/** Libraries that agents are built with. */
export const FRAMEWORKS: readonly Agent[] = ROWS.map(({ program, format = '', ...row }) => ({
  ...row,
  choose: (tools) => {
    const tool = tools.find(({ name }) => name === 'copy_file');
    return tool && { name: tool.name, arguments: { from: NOTE, to: COPY } };
  },
  async run(task) {
    const file = join(task.home, program);
    copyFileSync(fileURLToPath(new URL(`programs/${program}`, import.meta.url)), file);
    // Packages are looked for beside the program.
    symlinkSync(inClients(), join(task.home, 'node_modules'));
    const printed = await runProgram(process.execPath, [file], {
      cwd: task.folder,
      env: {
        ...environmentOf(task),
        SIGNALBOX_ORIGIN: task.origin,
        SIGNALBOX_MODEL: task.model,
        SIGNALBOX_PROMPT: task.prompt,
        SIGNALBOX_FORMAT: format,
        SIGNALBOX_SEARCHES: task.searches ? '1' : '',
      },
    });
    return JSON.parse(printed.trim().split('\n').at(-1) ?? '');
  },
}));
