import { GatewayError } from '../../ir/errors.ts';
import type { GenerationRequest } from '../../ir/request.ts';
import { andThen, orElse } from '../../kit/loop/and-then.ts';
import { wishAgainst } from '../../routing/rules/service-wishes.ts';
import { mustKeepNothing } from '../../routing/rules/zero-retention.ts';
import { ActiveStages, type StageContext } from '../../stages/stage.ts';
import { hardMaxCostOf } from '../../stages/tool-loop/stop-conditions.ts';
import { Prompt } from '../../tokens/prompt.ts';
import { GenerationReservation } from '../admission/reservation.ts';
import { largestContext } from '../plan/context-length.ts';
import { planCompressed } from '../plan/plan-compressed.ts';
import { catalogFor } from '../plan/plan-leg.ts';
import { acceptedRow } from '../record/generation-row.ts';
import { refusalOfInput } from '../record/refused-row.ts';
import { type AcceptedRequest, acceptRequest } from '../request/accept-request.ts';
import type { ContentRoom, ContentShare } from '../request/content-room.ts';
import type { GenerationInput } from '../request/generation-input.ts';
import type { GatewaySettings } from '../request/settings.ts';
import { toldTraceOf } from '../request/told-trace.ts';
import type { GatewayDependencies } from './gateway-dependencies.ts';
import { unservedGeneration } from './unserved.ts';

/** An accepted request with its stages and its reservation. */
export interface AcceptedGeneration extends AcceptedRequest {
  readonly input: GenerationInput;
  readonly settings: GatewaySettings;
  /** Memory of the request's content: closed by the step that ends the generation. */
  readonly content: ContentShare;
  readonly reservation: GenerationReservation;
  readonly stages: ActiveStages;
}

/** Accepts a request, mostly at once: parses its body and finds its active stages. */
export function acceptGeneration(
  input: GenerationInput,
  room: ContentRoom,
  dependencies: GatewayDependencies,
): AcceptedGeneration | Promise<AcceptedGeneration> {
  const settings = dependencies.settings(input.caller);
  const content = room.open(input.replied);
  const maxPromptTokens = async (parse: () => Promise<GenerationRequest>) => {
    const request = await parse();
    const byok = await dependencies.byokCredentials.of(input.caller);
    return largestContext(request, catalogFor(byok, settings.catalog));
  };
  return orElse<AcceptedGeneration>(
    () =>
      andThen(
        acceptRequest(input, settings, { content, maxPromptTokens }, dependencies),
        ({ request, prompt, report }) => {
          const { stages, reservation } = stagesFor(input, request, settings, dependencies);
          return { input, settings, content, request, prompt, report, stages, reservation };
        },
      ),
    (error) => {
      void content.close();
      dependencies.refusals?.note(refusalOfInput(input), error);
      throw error;
    },
  );
}

/** The active stages of a request, and the reservation that they may charge. */
export function stagesFor(
  input: GenerationInput,
  request: GenerationRequest,
  settings: GatewaySettings,
  dependencies: GatewayDependencies,
): Pick<AcceptedGeneration, 'stages' | 'reservation'> {
  const { generationId, caller, format, body, cache, signal, header } = input;
  const { region } = settings;
  const now = () => dependencies.clock.now();
  const maxNanos = hardMaxCostOf(request.wishes);
  const reservation = new GenerationReservation(input, { ledger: dependencies.ledger, now, maxNanos });
  const row = () =>
    acceptedRow(
      unservedGeneration({ input, request, region, reservation, notes: [] }, request.models[0] ?? ''),
    );
  const stages = new ActiveStages(dependencies.stages, request, {
    generationId,
    caller,
    workspace: caller.workspace,
    settings,
    noteToolCalls: (calls, begun) => reservation.noteToolCalls(calls, begun),
    used: () => ({
      tokens: reservation.usedTokens,
      nanos: reservation.spent.creditNanos,
      dearestLegNanos: reservation.dearestLegNanos,
    }),
    charge: (kind, nanos) => reservation.charge(row, kind, nanos),
    writeOff: (writeOff) => reservation.writeOff(writeOff),
    isUnlimited: () => reservation.hasNoLimit(row),
    endpointsFor: (asked) => endpointsFor(asked, input, settings, dependencies),
    wishAgainst,
    hasZeroRetention: (asked, models) => mustKeepNothing(asked, caller, () => models),
    format,
    body,
    cache,
    signal,
    toldTrace: toldTraceOf(input, request, settings),
    header,
    now,
    log: { warn: dependencies.warn },
  });
  return { stages, reservation };
}

/** The endpoints of a plan that is not carried out. */
async function endpointsFor(
  request: GenerationRequest,
  input: GenerationInput,
  settings: GatewaySettings,
  dependencies: GatewayDependencies,
): ReturnType<StageContext['endpointsFor']> {
  try {
    const asked = { request, prompt: new Prompt(request), report: [] };
    const { plan } = await planCompressed(asked, input, settings, false, dependencies);
    return plan.candidates.map(({ endpoint }) => endpoint);
  } catch (error) {
    if (error instanceof GatewayError) return [];
    throw error;
  }
}
