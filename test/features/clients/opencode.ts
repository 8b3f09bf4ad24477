import { mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Agent, COMMAND, environmentOf, inClients, type Outcome } from './agent.ts';
import type { WorkPlace } from './agent-loop.ts';
import { runProgram } from './run-program.ts';
import type { ConversingAgent } from './session.ts';

interface Row extends Pick<Agent, 'name' | 'thoughts' | 'shownBy'> {
  /** The client for the gateway, as its settings name it. Both are part of the program. */
  readonly npm: string;
}

const ROWS: readonly Row[] = [
  {
    name: 'opencode in responses',
    npm: '@ai-sdk/openai',
    thoughts: 'hidden',
    shownBy: 'openai-responses',
  },
  { name: 'opencode in chat', npm: '@ai-sdk/openai-compatible', thoughts: 'lost' },
];

const PACKAGE = 'opencode-ai';
const PROVIDER = 'signalbox';

/** The coding agent opencode, in each format by which it may be told to speak to a provider of its user's. */
export const OPENCODES: readonly (Agent & ConversingAgent)[] = ROWS.map(({ npm, ...row }) => ({
  ...row,
  package: PACKAGE,
  model: 'double/agent',
  titleRequest: 'You are a title generator',
  summaryRequest: 'You are a context summarization agent',
  choose: (tools) => {
    const shell = tools.find(({ name }) => name === 'bash');
    return shell && { name: shell.name, arguments: { command: COMMAND, description: 'Copy the note' } };
  },
  async run(task) {
    writeSettings(task, npm);
    return outcomeOf(await runTurn(task, task.prompt));
  },
  async open(task) {
    writeSettings(task, npm);
    let continued: readonly string[] = [];
    return {
      async turn(prompt) {
        const events = await runTurn(task, prompt, continued);
        continued = ['--continue'];
        // After an overflow it sums up, goes on and answers.
        const last = events.findLast(({ type }) => type === 'error' || type === 'text');
        if (last?.type === 'text') return { status: 'completed', text: last.part.text };
        return { status: 'failed', text: JSON.stringify(last?.error) };
      },
      close() {},
    };
  },
}));

type Place = WorkPlace['task'];

/** The events of one run. */
async function runTurn(task: Place, input: string, args: readonly string[] = []): Promise<any[]> {
  const printed = await runProgram(program(), ['run', '--format', 'json', ...args], {
    cwd: task.folder,
    input,
    // 1 after any error, also if it went on and answered.
    codes: [0, 1],
    env: {
      ...environmentOf(task),
      OPENCODE_DISABLE_AUTOUPDATE: '1',
      OPENCODE_DISABLE_DEFAULT_PLUGINS: '1',
      OPENCODE_DISABLE_LSP_DOWNLOAD: '1',
      OPENCODE_DISABLE_MODELS_FETCH: '1',
    },
  });
  return printed.split('\n').flatMap((line) => (line.startsWith('{') ? [JSON.parse(line)] : []));
}

/** The model is said to have a larger context than any that the tests give it. */
function writeSettings({ origin, model, home }: Place, npm: string): void {
  const folder = join(home, '.config', 'opencode');
  // Stands for the package of plugins, which opencode would install here.
  mkdirSync(join(folder, 'node_modules'), { recursive: true });
  const lock = { packages: { '': { dependencies: { '@opencode-ai/plugin': '*' } } } };
  writeFileSync(join(folder, 'package-lock.json'), JSON.stringify(lock));
  const settings = {
    model: `${PROVIDER}/${model}`,
    small_model: `${PROVIDER}/${model}`,
    share: 'disabled',
    provider: {
      [PROVIDER]: {
        npm,
        options: { baseURL: `${origin}/api/v1`, apiKey: '{env:SIGNALBOX_KEY}' },
        models: { [model]: { reasoning: true, tool_call: true, limit: { context: 400_000, output: 8000 } } },
      },
    },
  };
  writeFileSync(join(folder, 'opencode.json'), JSON.stringify(settings));
}

function outcomeOf(events: readonly any[]): Outcome {
  const usage = { input: 0, output: 0 };
  for (const { type, part } of events) {
    if (type !== 'step_finish') continue;
    usage.input += part.tokens.input;
    usage.output += part.tokens.output + part.tokens.reasoning;
  }
  return { text: events.findLast(({ type }) => type === 'text')?.part.text ?? '', usage };
}

/** The binary for this machine, which comes in a package of its own. */
function program(): string {
  const prefix = `opencode-${process.platform}-${process.arch}`;
  const folders = readdirSync(inClients()).filter((name) => name.startsWith(prefix));
  // Older processors run the baseline only.
  const folder = folders.find((name) => name.includes('baseline')) ?? folders[0];
  if (folder === undefined) throw new Error(`${prefix} is not installed`);
  return inClients(folder, 'bin', 'opencode');
}
