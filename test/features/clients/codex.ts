import { readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  type Agent,
  COMMAND,
  callHosted,
  environmentOf,
  inClients,
  type Outcome,
  type Task,
} from './agent.ts';
import type { WorkPlace } from './agent-loop.ts';
import { runProgram } from './run-program.ts';

/** OpenAI's coding agent. Speaks the responses format. */
export const codex: Agent = {
  name: 'Codex',
  package: '@openai/codex',
  thoughts: 'shown',
  choose: (tools) => {
    const shell = tools.find(({ schema }) => schema?.properties?.cmd !== undefined);
    return shell && { name: shell.name, arguments: { cmd: COMMAND } };
  },
  search: { choose: callHosted, native: 'openai-responses' },
  async run(task) {
    writeCodexSettings(task);
    // The commands are the tests' own, and not every machine that runs tests allows a sandbox.
    const flags = ['--json', '--skip-git-repo-check', '--sandbox', 'danger-full-access'];
    const printed = await runProgram(codexProgram(), ['exec', ...flags, '-C', task.folder, task.prompt], {
      cwd: task.folder,
      env: codexEnvironment(task),
    });
    return outcomeOf(printed.split('\n').flatMap((line) => (line.startsWith('{') ? [JSON.parse(line)] : [])));
  },
};

export function codexEnvironment(task: WorkPlace['task']): Record<string, string> {
  return { ...environmentOf(task), CODEX_HOME: task.home };
}

/** Features that would call other hosts are switched off. `more` goes to the end of the file. */
export function writeCodexSettings(
  { origin, model, home, searches = false }: Omit<Task, 'prompt' | 'searches'> & { searches?: boolean },
  more = '',
): void {
  const text = `
model = "${model}"
model_provider = "signalbox"
web_search = "${searches ? 'live' : 'disabled'}"
check_for_update_on_startup = false

[model_providers.signalbox]
name = "Signalbox"
base_url = "${origin}/api/v1"
env_key = "SIGNALBOX_KEY"
wire_api = "responses"
request_max_retries = 0
stream_max_retries = 0

[analytics]
enabled = false

[features]
plugins = false
apps = false
${more}
`;
  writeFileSync(join(home, 'config.toml'), text);
}

function outcomeOf(events: readonly any[]): Outcome {
  const said = events.filter(({ type, item }) => type === 'item.completed' && item.type === 'agent_message');
  const usage = events.find(({ type }) => type === 'turn.completed')?.usage;
  return {
    text: said.at(-1)?.item.text ?? '',
    ...(usage && { usage: { input: usage.input_tokens, output: usage.output_tokens } }),
  };
}

/** The binary for this machine, which comes in a package of its own. */
export function codexProgram(): string {
  const platform = inClients('@openai', `codex-${process.platform}-${process.arch}`, 'vendor');
  const [target = ''] = readdirSync(platform);
  return join(platform, target, 'bin', 'codex');
}
