import type { Model } from '../../catalog/catalog.ts';
import type { CodexModel } from '../../contract/catalog/codex-model.ts';
import type { Effort } from '../../ir/settings.ts';
import { parametersOf } from './catalog-objects.ts';

/** Efforts that Codex offers to choose from, with what it shows of each. */
const EFFORTS: Readonly<Partial<Record<Effort, string>>> = {
  minimal: 'Hardly any reasoning',
  low: 'Little reasoning, quick answers',
  medium: 'A balance of speed and reasoning',
  high: 'More reasoning for difficult work',
  xhigh: 'Much reasoning for very difficult work',
  max: 'As much reasoning as the model can do',
};

const INPUTS: ReadonlySet<string> = new Set(['text', 'image']);

/** What Codex keeps of the output of a command. It assumes the same of models that it does not know. */
const TRUNCATION = { mode: 'bytes', limit: 10_000 };

/** Codex gives a model of a list these instructions in place of those it has for models that it does not know. */
const INSTRUCTIONS = `You are a coding agent that works in a repository on the user's machine through Codex.

Work until the request is done, then stop:
- Read the code that a change touches before you change it. Follow the conventions of the repository, and the
  instructions of its AGENTS.md files; those nearer to a file win.
- Search with rg and rg --files. Read only what you need.
- Change as little as solves the cause. Do not mend unrelated faults; mention them.
- Never undo changes that you did not make. Do not commit, create branches or delete files unless asked.
- Run the tests that cover your change, and what formats or checks it, if they exist. Say what you could not run.
- If several steps are needed, keep a short plan and say which step you are at.
- Commands run in a sandbox. If one fails because of it, ask for approval with a reason.

Answer briefly: what you changed, in which files, how it was checked, and what is left to decide. Name files with
their path and line. Do not print files that you wrote. For a question or a review, answer it before anything else;
in a review list the faults first, the worst on top.`;

/** The models that call tools, as Codex reads them, in the order of its list. */
export function codexModels(models: readonly Model[]): CodexModel[] {
  return models
    .filter((model) => parametersOf(model).includes('tools'))
    .map((model, index) => codexModel(model, index));
}

function codexModel(model: Model, priority: number): CodexModel {
  const { reasoning } = model;
  const efforts = (reasoning?.supportedEfforts ?? []) as readonly Effort[];
  const { defaultEffort } = reasoning ?? {};
  return {
    slug: model.id,
    display_name: model.name,
    description: model.description,
    ...(defaultEffort !== undefined &&
      EFFORTS[defaultEffort as Effort] !== undefined && { default_reasoning_level: defaultEffort }),
    supported_reasoning_levels: efforts.flatMap((effort) => {
      const description = EFFORTS[effort];
      return description === undefined ? [] : [{ effort, description }];
    }),
    shell_type: 'default',
    visibility: 'list',
    supported_in_api: true,
    priority,
    base_instructions: INSTRUCTIONS,
    support_verbosity: parametersOf(model).includes('verbosity'),
    truncation_policy: TRUNCATION,
    ...(model.contextLength !== undefined && { context_window: model.contextLength }),
    input_modalities: model.inputModalities.filter((kind) => INPUTS.has(kind)),
    experimental_supported_tools: [],
  };
}
