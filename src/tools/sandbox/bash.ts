import { stringAt } from '../../kit/json/members.ts';
import { type ServerTool, toolFailure } from '../server-tool.ts';
import { SANDBOX_PARAMETERS } from './parameters.ts';
import { runCode, sandboxIssue } from './run-code.ts';

export const bash: ServerTool = {
  name: 'bash',
  parameters: SANDBOX_PARAMETERS,
  unavailable: sandboxIssue,
  runsAlone: () => true,
  declare: () => ({
    description: 'Runs a command of bash in a sandbox that keeps its files between calls.',
    parameters: {
      type: 'object',
      properties: { command: { type: 'string', minLength: 1 } },
      required: ['command'],
    },
  }),
  async run({ arguments: asked, parameters }, context) {
    const command = stringAt(asked, 'command') ?? '';
    const { result, nanos } = await runCode({ language: 'bash', code: command }, parameters, context);
    if (typeof result === 'string') return { ...toolFailure(result, { command }), nanos };
    if (result.exitCode === null) return { ...toolFailure('the command took too long', { command }), nanos };
    const shown = { command, ...result };
    return { output: JSON.stringify(shown), shown, nanos };
  },
};
