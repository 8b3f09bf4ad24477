import { readdirSync } from 'node:fs';
import { type Agent, COMMAND, callHosted, environmentOf, inClients } from './agent.ts';
import type { WorkPlace } from './agent-loop.ts';
import { runProgram } from './run-program.ts';

/** Anthropic's coding agent. Speaks the messages format. */
export const claudeCode: Agent = {
  name: 'Claude Code',
  package: '@anthropic-ai/claude-code',
  thoughts: 'hidden',
  choose: (tools) => {
    const shell = tools.find(({ name }) => name === 'Bash');
    return shell && { name: shell.name, arguments: { command: COMMAND, description: 'Copy the note' } };
  },
  search: {
    choose: (tools) => {
      const call = (name: string, query: string) =>
        tools.some((tool) => tool.name === name) ? { name, arguments: { query } } : undefined;
      // Its own tool is found by another, and asks in a request of its own for the search that the provider runs.
      return (
        callHosted(tools) ?? call('WebSearch', 'word of the day') ?? call('ToolSearch', 'select:WebSearch')
      );
    },
    native: 'anthropic-messages',
  },
  async run(task) {
    const allowed = task.searches ? 'WebSearch' : 'Bash';
    const flags = ['--output-format', 'json', '--allowedTools', allowed];
    const printed = await runProgram(claudeProgram(), ['-p', task.prompt, ...flags], {
      cwd: task.folder,
      env: claudeEnvironment(task),
    });
    const { result, usage } = JSON.parse(printed.trim().split('\n').at(-1) ?? '');
    return { text: result, usage: { input: usage.input_tokens, output: usage.output_tokens } };
  },
};

/** Its settings: the gateway, and nothing else of the network. */
export function claudeEnvironment(task: WorkPlace['task']): Record<string, string> {
  return {
    ...environmentOf(task),
    ANTHROPIC_BASE_URL: `${task.origin}/api`,
    ANTHROPIC_AUTH_TOKEN: task.apiKey,
    ANTHROPIC_MODEL: task.model,
    ANTHROPIC_DEFAULT_HAIKU_MODEL: task.model,
    CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
    CLAUDE_CODE_MAX_RETRIES: '0',
  };
}

/** The binary for this machine, which comes in a package of its own; there is one per C library too. */
export function claudeProgram(): string {
  const prefix = `claude-code-${process.platform}-${process.arch}`;
  const folder = readdirSync(inClients('@anthropic-ai')).find((name) => name.startsWith(prefix));
  if (folder === undefined) throw new Error(`${prefix} is not installed`);
  return inClients('@anthropic-ai', folder, 'claude');
}
