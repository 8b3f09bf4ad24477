import type { Gateway } from '../gateway/gateway.ts';
import type { GenerationInput, Timing } from '../gateway/request/generation-input.ts';
import type { DecisionForm } from '../ir/decision.ts';
import { GatewayError, toGatewayError } from '../ir/errors.ts';
import { type IdSource, requestIdOf } from '../kit/ids.ts';
import { boundedText } from '../kit/json/bounded-json.ts';
import type { Nanos } from '../kit/money.ts';
import type { Clock } from '../kit/time/clock.ts';
import type { CallerDirectory } from '../manage/keys/caller-directory.ts';
import type { Classifier } from '../ports/following/classifiers.ts';
import type { Caller } from '../ports/tenancy/caller.ts';
import { type FailedAsk, failureOf } from './ask-failure.ts';
import { callerOfClassifier, keyOfClassifier, type RunScope } from './classifier-caller.ts';
import { decisionBody } from './questions.ts';
import { readVerdict, type Verdict } from './verdict.ts';

export interface Answered {
  readonly kind: 'answered';
  readonly verdict: Verdict;
  readonly generationId: string;
  /** Charged to credits. */
  readonly costNanos: Nanos;
}

export interface Asked {
  readonly transcript: string;
  /** The key whose guardrails read the transcript, as they read the request; undefined = none. */
  readonly keyHash?: string | undefined;
  /** The run that pays besides; undefined = none. */
  readonly run?: RunScope | undefined;
}

export interface AskModelDependencies {
  readonly gateway: Pick<Gateway, 'complete'>;
  readonly callers: Pick<CallerDirectory, 'behind' | 'findByHash'>;
  /** The form in which a model answers decisions itself; undefined = it does not. */
  readonly decisionFormOf: (model: string) => DecisionForm | undefined;
  readonly ids: IdSource;
  readonly clock: Clock;
  readonly deadlineMs?: number;
}

const DEADLINE_MS = 60_000;

/** The most that a model writes, thoughts included: what is reserved for it is not there for others. */
const MAX_OUTPUT_TOKENS = 4_096;

const MAX_PROBLEM_CHARACTERS = 500;

/** Asks the models of classifiers, through the gateway like every other request. */
export class AskModel {
  readonly #dependencies: AskModelDependencies;

  constructor(dependencies: AskModelDependencies) {
    this.#dependencies = dependencies;
  }

  /** Rejects with the reason of the signal if that is aborted. */
  async ask(classifier: Classifier, asked: Asked, signal: AbortSignal): Promise<Answered | FailedAsk> {
    const { gateway, clock, ids, deadlineMs = DEADLINE_MS } = this.#dependencies;
    const caller = await this.#callerOf(classifier, asked);
    if (caller === undefined) return { kind: 'lost', problem: 'the workspace was deleted' };
    const ending = new AbortController();
    const abort = (reason: unknown) => ending.abort(reason);
    const stop = () => abort(new GatewayError('overloaded', 'the gateway ends'));
    const timer = setTimeout(
      () => abort(new GatewayError('deadline', 'the model did not answer in time')),
      deadlineMs,
    );
    signal.addEventListener('abort', stop, { once: true });
    const acceptedAtMs = clock.now();
    const generationId = requestIdOf('gen', acceptedAtMs, ids.token(20));
    const { decisionFormOf } = this.#dependencies;
    const form = decisionFormOf(classifier.model) ?? 'openai';
    const input: GenerationInput = {
      format: 'decisions',
      caller,
      body: { ...decisionBody(classifier, asked.transcript, form), max_output_tokens: MAX_OUTPUT_TOKENS },
      generationId,
      acceptedAtMs,
      wantsMetadata: false,
      header: () => {},
      signal: ending.signal,
      replied: async () => {},
      timing: NO_TIMING,
    };
    try {
      const { result, context } = await gateway.complete(input);
      const { decision } = context.request;
      if (decision === undefined) throw new Error('the request asked for no decisions');
      return {
        kind: 'answered',
        verdict: readVerdict(classifier, decision, result),
        generationId,
        costNanos: result.settled?.bill.totalNanos ?? 0n,
      };
    } catch (error) {
      signal.throwIfAborted();
      const failed = failureOf(toGatewayError(error));
      return { ...failed, problem: boundedText(failed.problem, MAX_PROBLEM_CHARACTERS) };
    } finally {
      clearTimeout(timer);
      signal.removeEventListener('abort', stop);
    }
  }

  /** The guardrails of a key that is no longer there are those of its workspace. */
  async #callerOf(classifier: Classifier, { keyHash, run }: Asked): Promise<Caller | undefined> {
    const { callers } = this.#dependencies;
    const [caller, guarded] = await Promise.all([
      callers.behind(keyOfClassifier(classifier)),
      keyHash === undefined ? undefined : callers.findByHash(keyHash),
    ]);
    return caller && callerOfClassifier(caller, guarded?.guardrails, run);
  }
}

const NO_TIMING: Timing = { mark: () => {}, awaitUpstream: () => {}, answered: () => {} };
