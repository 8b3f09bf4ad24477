import type { JsonObject } from '../../kit/json/json.ts';
import { stringAt } from '../../kit/json/members.ts';
import { type ServerTool, toolFailure } from '../server-tool.ts';
import { SANDBOX_PARAMETERS } from './parameters.ts';
import { runCode, sandboxIssue } from './run-code.ts';

/** Runs Python in the sandbox. */
export const codeInterpreter: ServerTool = {
  name: 'code_interpreter',
  hostedTypes: /^code_interpreter$/,
  ofHosted: ({ container }, { tools: { sandbox } }) => {
    if (sandbox === undefined) return undefined;
    const environment: JsonObject =
      typeof container === 'string' ? { type: 'container_reference', container_id: container } : {};
    return { environment };
  },
  hostedMembers: { container: { type: true } },
  parameters: SANDBOX_PARAMETERS,
  unavailable: sandboxIssue,
  runsAlone: () => true,
  declare: () => ({
    description:
      'Runs a program in Python, in a sandbox that keeps its files between calls. Print what you need.',
    parameters: {
      type: 'object',
      properties: { code: { type: 'string', minLength: 1 } },
      required: ['code'],
    },
  }),
  async run({ arguments: asked, parameters }, context) {
    const language = 'python';
    const code = stringAt(asked, 'code') ?? '';
    const { result, nanos } = await runCode({ language, code }, parameters, context);
    if (typeof result === 'string') return { ...toolFailure(result, { code, language }), nanos };
    if (result.exitCode === null) {
      return { ...toolFailure('the program took too long', { code, language }), nanos };
    }
    return { output: JSON.stringify(result), shown: { code, language, ...result }, nanos };
  },
};
