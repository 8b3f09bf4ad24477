import type { Model } from '../../catalog/catalog.ts';
import { effortPath, isSwitchedOff, leastEffort } from '../../dialects/fit/fit-reasoning.ts';
import { invalidRequest } from '../../ir/errors.ts';
import { conversationForm } from '../../ir/format-facts.ts';
import type { GenerationRequest } from '../../ir/request.ts';
import type { Rejection } from './candidate.ts';

export interface AskedModel {
  readonly name: string;
  readonly model: Model;
}

/** The models that stay, and the endpoints of those that were rejected. */
export interface ReasoningChoice<Named extends AskedModel> {
  readonly models: readonly Named[];
  readonly rejected: readonly Rejection[];
}

/** Ids of the newest model of a family. */
const LATEST = /^~.+-latest$/;

/**
 * If a request switches reasoning off, rejects models whose reasoning is mandatory; throws 400 if that is all of them.
 * Two exceptions, in which the caller cannot have meant it: the newest model of a family, and the messages format, in
 * which `disabled` is the default. Those get the least effort, which the translation report says.
 */
export function refuseReasoningOff<Named extends AskedModel>(
  request: GenerationRequest,
  named: readonly Named[],
): ReasoningChoice<Named> {
  const mayRefuse =
    isSwitchedOff(request) && conversationForm(request.formatFacts).reasoning.isOffByDefault !== true;
  const refused = mayRefuse ? named.filter(isMandatory) : [];
  if (refused.length === 0) return { models: named, rejected: [] };
  if (refused.length === named.length) {
    throw invalidRequest(
      refused.map(({ model }) => ({ path: effortPath(request), message: reasonOf(model) })),
    );
  }
  return {
    models: named.filter((each) => !refused.includes(each)),
    rejected: refused.flatMap(({ model }) =>
      model.endpoints.map((endpoint) => ({ endpoint, filter: 'reasoning', reason: reasonOf(model) })),
    ),
  };
}

function isMandatory({ name, model }: AskedModel): boolean {
  return model.reasoning?.mandatory === true && !LATEST.test(name);
}

function reasonOf({ id, reasoning }: Model): string {
  const least = reasoning === undefined ? '' : `; its least effort is ${leastEffort(reasoning)}`;
  return `${id} always thinks and cannot be told not to${least}`;
}
