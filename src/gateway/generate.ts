import type { ReplyContext } from '../dialects/dialect.ts';
import { BATCH_POINT } from '../kit/loop/cohort.ts';
import { SHARED, siteOf } from '../routing/rules/candidate.ts';
import { LearntLengths } from './admission/learnt-lengths.ts';
import { LearntThoughts } from './admission/learnt-thoughts.ts';
import type { AnswerState } from './answer/answer-dependencies.ts';
import { OneLeg } from './answer/one-leg.ts';
import { OpenWork } from './answer/open-work.ts';
import { SeveralLegs } from './answer/several-legs.ts';
import type { Underway } from './answer/underway.ts';
import { explainRequest } from './explain.ts';
import type { Gateway } from './gateway.ts';
import { acceptGeneration } from './generation/accepted-generation.ts';
import { countTokens } from './generation/count-tokens.ts';
import type { GatewayDependencies } from './generation/gateway-dependencies.ts';
import { ModelAnswer } from './generation/model-answer.ts';
import { planGeneration } from './generation/plan-generation.ts';
import { reserveGeneration } from './generation/reserve-generation.ts';
import type { ServedGeneration } from './generation/served-generation.ts';
import { recordServed, runStagesBefore } from './generation/stages-before.ts';
import { passedTools, runToolGeneration } from './generation/tool-generation.ts';
import { CredentialOpener } from './leg/credentials.ts';
import { Drains } from './leg/upstream-reading.ts';
import { planWhole } from './plan/plan-compressed.ts';
import { reachableModels } from './plan/plan-leg.ts';
import { SettledAnswer } from './record/settle.ts';
import { settingsOfRequest } from './request/accept-request.ts';
import { ContentRoom } from './request/content-room.ts';
import type { GenerationInput } from './request/generation-input.ts';

export function createGateway(dependencies: GatewayDependencies): Gateway {
  const state: AnswerState = {
    credentials: new CredentialOpener(dependencies.warn),
    learnt: new LearntLengths(),
    thoughts: new LearntThoughts(),
    drains: new Drains(),
    open: new OpenWork(),
  };
  const room = new ContentRoom();
  /** A request that only counts tokens is no generation, and has no row if it is refused. */
  const withoutRefusals = { ...dependencies, refusals: undefined };

  /**
   * One generation, from its body to its answer:
   *
   * 1. **accept**: presets, items, files and defaults are filled in, the dialect parses the body
   * 2. **stages.before**: guardrails check the prompt, plugins add to it; the response cache may answer
   * 3. **plan**: the candidates in order; each is the fallback of those before it
   * 4. **reserve**: money for the worst cost, or as much of it as the limits leave
   * 5. **stages.around**: one leg, or several where stages run them: tools ask the model again, guardrails and plugins
   *    change its answer. `Attempts` calls the candidates of a leg until one brings content
   * 6. **settle**: usage, cost and one record, before the terminal event passes
   * 7. **stages.after**: the cache keeps the answer
   *
   * The last three happen while `read` pulls the answer. `BATCH_POINT`: the requests of a turn take each step together.
   */
  async function generate<T>(
    input: GenerationInput,
    read: (answer: ModelAnswer | ServedGeneration) => Promise<T>,
  ): Promise<T> {
    let planned: Underway;
    const endOfPlanning = timePlanning(input);
    try {
      const accepting = acceptGeneration(input, room, dependencies);
      const accepted = accepting instanceof Promise ? await accepting : accepting;
      const staged = accepted.stages.isEmpty ? accepted : await runStagesBefore(accepted, dependencies);
      if ('served' in staged) return await read(await recordServed(accepted, staged.served, dependencies));
      await BATCH_POINT;
      const planning = planGeneration(staged, dependencies);
      planned = planning instanceof Promise ? await planning : planning;
    } finally {
      endOfPlanning();
    }
    await BATCH_POINT;
    const { underway, admission } = await reserveGeneration(planned, dependencies, state);
    const legs = underway.stages.runsLegs
      ? new SeveralLegs(underway, admission, dependencies, state)
      : new OneLeg(underway, admission, dependencies, state);
    return await read(new ModelAnswer(underway, new SettledAnswer(legs.flow(), legs), dependencies));
  }

  /** Times what comes before the first upstream call, for `Server-Timing`. */
  function timePlanning({ timing }: GenerationInput): () => void {
    const started = dependencies.clock.monotonic();
    return () => timing.mark('plan', dependencies.clock.monotonic() - started);
  }

  return {
    stream: (input) => generate(input, (answer) => answer.stream()),

    complete: (input) => generate(input, (answer) => answer.complete()),

    async countTokens(input): Promise<number> {
      const endOfPlanning = timePlanning(input);
      const planned = await planGeneration(
        await acceptGeneration(input, room, withoutRefusals),
        withoutRefusals,
        planWhole,
      );
      endOfPlanning();
      return countTokens(input, planned, state.credentials, dependencies);
    },

    explain: (input) => explainRequest(input, room, dependencies),

    callTool: (input, call) => runToolGeneration(input, call, dependencies),
    passedTools: (input, tools) => passedTools(input, tools, dependencies),

    modelsFor: (caller) => reachableModels(caller, dependencies.settings(caller).catalog, dependencies),

    serviceOf(endpoint) {
      const site = siteOf(endpoint, SHARED);
      return { ...dependencies.health.statistics(site), state: dependencies.health.of(site).state };
    },

    contextWithoutEndpoint(input): ReplyContext {
      const settings = dependencies.settings(input.caller);
      const request = settingsOfRequest(input, settings, dependencies);
      return {
        vendor: settings.vendor,
        request,
        generationId: input.generationId,
        createdAtMs: input.acceptedAtMs,
        now: () => dependencies.clock.now(),
        model: request.models[0] ?? '',
        provider: '',
        serviceTier: 'default',
      };
    },

    settled: () => state.open.done(),
  };
}
