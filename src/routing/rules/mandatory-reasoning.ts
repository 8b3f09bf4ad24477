import type { Model } from '../../catalog/catalog.ts';
import { effortPath, isSwitchedOff, leastEffort } from '../../dialects/fit/fit-reasoning.ts';
import { invalidRequest } from '../../ir/errors.ts';
import type { GenerationRequest } from '../../ir/request.ts';
import type { Rejection } from './candidate.ts';

/** A model and the name by which the caller asked for it. */
export interface NamedModel {
  readonly name: string;
  readonly model: Model;
}

/** The models that can do what is asked of their thinking, and the endpoints of those that cannot. */
export interface ReasoningChoice<Named extends NamedModel> {
  readonly models: readonly Named[];
  readonly rejected: readonly Rejection[];
}

/** A caller that asks for the newest model of a family does not know how it thinks. */
const LATEST = /^~.+-latest$/;

/**
 * Leaves out models that always think when the request asks for no thinking; 400 when that is all of them. Not so
 * where the caller cannot have meant it: a family's newest model, and the messages format, in which `disabled` is the
 * default. Those get the least effort, and the translation report says so.
 */
export function refuseOff<Named extends NamedModel>(
  request: GenerationRequest,
  named: readonly Named[],
): ReasoningChoice<Named> {
  const mayRefuse = request.formatFacts.reasoning.isOffByDefault !== true && isSwitchedOff(request);
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

function isMandatory({ name, model }: NamedModel): boolean {
  return model.reasoning?.mandatory === true && !LATEST.test(name);
}

function reasonOf({ id, reasoning }: Model): string {
  const least = reasoning === undefined ? '' : `; its least effort is ${leastEffort(reasoning)}`;
  return `${id} always thinks and cannot be told not to${least}`;
}
