import type { ClassifierTrialObject, TestClassifier } from '../contract/classifiers/trial.ts';
import { isBlocked } from '../following/guardrail-entries.ts';
import { GatewayError, invalidRequest } from '../ir/errors.ts';
import { usdOf } from '../kit/money.ts';
import type { Classifiers } from '../manage/classifiers/classifiers.ts';
import type { Generations } from '../manage/generations/generations.ts';
import type { ContentStore } from '../ports/content/content.ts';
import type { Classifier } from '../ports/following/classifiers.ts';
import type { Asked, AskModel } from './ask-model.ts';
import { transcriptOf, transcriptOfText } from './transcript.ts';

export interface ClassifierTrialsDependencies {
  readonly classifiers: Pick<Classifiers, 'get'>;
  readonly generations: Pick<Generations, 'get'>;
  readonly contents: Pick<ContentStore, 'get'>;
  readonly model: Pick<AskModel, 'ask'>;
}

/** Tries classifiers. What they say is not kept; what they spend is charged. */
export class ClassifierTrials {
  readonly #dependencies: ClassifierTrialsDependencies;

  constructor(dependencies: ClassifierTrialsDependencies) {
    this.#dependencies = dependencies;
  }

  /** Throws 400, 404 or 409. Rejects with the reason of the signal if that is aborted. */
  async test(
    accountId: string,
    id: string,
    { text, generation_id: generationId }: TestClassifier,
    signal: AbortSignal,
  ): Promise<ClassifierTrialObject> {
    const { classifiers, model } = this.#dependencies;
    const classifier = await classifiers.get(accountId, id);
    if ((text === undefined) === (generationId === undefined)) {
      const message =
        text === undefined ? 'is required without generation_id' : 'cannot stand beside generation_id';
      throw invalidRequest([{ path: 'text', message }]);
    }
    const asked =
      generationId === undefined
        ? { transcript: transcriptOfText(text ?? '') }
        : await this.#generation(classifier, generationId);
    const said = await model.ask(classifier, asked, signal);
    const { transcript } = asked;
    if (said.kind !== 'answered') {
      return { tags: {}, problem: said.problem, generation_id: null, cost: 0, transcript };
    }
    const { verdict, costNanos } = said;
    return {
      tags: { ...verdict.tags },
      problem: verdict.problem,
      generation_id: said.generationId,
      cost: usdOf(costNanos),
      transcript,
    };
  }

  async #generation({ accountId, workspaceId }: Classifier, id: string): Promise<Asked> {
    const { generations, contents } = this.#dependencies;
    const { scopes, row } = await generations.get({ accountId, keyHash: null }, id);
    if (scopes.workspace !== workspaceId) {
      throw invalidRequest([{ path: 'generation_id', message: 'is of another workspace' }]);
    }
    const content = isBlocked(row) ? undefined : await contents.get(accountId, id);
    if (content === undefined) {
      throw new GatewayError('conflict', 'generation_id: prompt and answer of this generation are not kept');
    }
    return { transcript: transcriptOf(content), keyHash: scopes.key };
  }
}
