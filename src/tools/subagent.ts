import { stringAt } from '../kit/json/members.ts';
import { closed } from '../kit/json/schema.ts';
import { answerOf, instanceName, MODEL_PARAMETERS, message, nestedRequest } from './nested-request.ts';
import { type ServerTool, toolFailure } from './server-tool.ts';

/** Gives a task to another model, which sees nothing else. */
export const subagent: ServerTool = {
  name: 'subagent',
  callsModels: true,
  isTimedByLegs: true,
  instance: instanceName,
  parameters: closed(MODEL_PARAMETERS),
  declare(parameters) {
    const name = instanceName(parameters);
    return {
      ...(name !== '' && { name: `subagent_${name}` }),
      description:
        `Gives a task to a worker${name === '' ? '' : ` (${name})`}, another model, and returns its outcome. ` +
        'The worker sees only the name and the description of the task: write down all that it needs.',
      parameters: {
        type: 'object',
        properties: {
          task_name: { type: 'string', minLength: 1, description: 'A few words' },
          task_description: {
            type: 'string',
            minLength: 1,
            description: 'All that the worker needs to know',
          },
        },
        required: ['task_name', 'task_description'],
      },
    };
  },
  async run({ arguments: asked, parameters }, { request, signal, leg }) {
    const task = {
      task_name: stringAt(asked, 'task_name') ?? '',
      task_description: stringAt(asked, 'task_description') ?? '',
    };
    const model = stringAt(parameters, 'model');
    const name = instanceName(parameters);
    const shown = {
      ...task,
      model: model ?? request.models[0] ?? '',
      ...(name !== '' && { instance_name: name }),
    };
    const result = await leg(
      nestedRequest(request, {
        models: model === undefined ? request.models : [model],
        parameters,
        items: [message('user', `${task.task_name}\n\n${task.task_description}`)],
      }),
      { kind: 'subagent', signal },
    );
    const answer = answerOf(result);
    if ('error' in answer) return toolFailure(answer.error, shown);
    const { model: used, task_name } = shown;
    return {
      output: JSON.stringify({ status: 'ok', model: used, task_name, outcome: answer.text }),
      shown: { ...shown, outcome: answer.text },
    };
  },
};
