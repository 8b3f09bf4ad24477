import { GatewayError, invalidRequest } from '../../../ir/errors.ts';
import { pluginIn, pluginPlace } from '../../../ir/plugins.ts';
import type { GenerationRequest } from '../../../ir/request.ts';
import type { JsonObject } from '../../../kit/json/json.ts';
import { middleCut } from '../../../kit/text/middle-cut.ts';
import type { Egress } from '../../../net/egress/egress.ts';
import type { Stage, StageContext } from '../../stage.ts';
import { type ProviderService, usableProvider, wantedService } from '../provider-service.ts';
import { textsOf } from '../request-texts.ts';
import { flaggedAmong } from './judge-texts.ts';

export const MODERATION = 'moderation';

const FLAGGED_CHARACTERS = 100;

/** Has a moderation service judge all texts of a request before anything else reads them; refuses what it flags. */
export function moderationStage(egress: Pick<Egress, 'call'>): Stage {
  return {
    name: MODERATION,
    touches: 'nothing',
    isActive: (request) => pluginIn(request, MODERATION) !== undefined,
    async before(request, context) {
      const service = serviceFor(request, context);
      const beganMs = context.now();
      const flagged = await flaggedAmong(textsOf(request), service, context.signal, egress).catch(
        (error: unknown) => {
          if (error instanceof GatewayError)
            noteVerdict(context, beganMs, 'The service failed: nothing is sent', {});
          throw error;
        },
      );
      if (flagged === undefined) {
        noteVerdict(context, beganMs, 'Nothing was flagged', { flagged: false });
        return undefined;
      }
      const { reasons, text } = flagged;
      noteVerdict(context, beganMs, `Blocked: flagged as ${reasons.join(', ')}`, { flagged: true, reasons });
      const metadata = {
        reasons,
        flagged_input: middleCut(text, FLAGGED_CHARACTERS),
        provider_name: service.provider.name,
        model_slug: service.model,
      };
      throw new GatewayError('permission', `The input was flagged by moderation: ${reasons.join(', ')}`, {
        metadata,
      });
    },
  };
}

/** The configured service; 400 if there is none. */
function serviceFor(request: GenerationRequest, context: StageContext): ProviderService {
  const { moderation, catalog } = context.settings;
  const provider = moderation && usableProvider(moderation.provider, catalog);
  const plugin = pluginIn(request, MODERATION);
  if (moderation !== undefined && provider !== undefined) {
    return wantedService(request, plugin, { provider, model: moderation.model }, context);
  }
  const message =
    moderation === undefined
      ? 'moderation is not configured on this gateway (plugins.moderation)'
      : 'the gateway has no credential for the provider of plugins.moderation';
  throw invalidRequest([
    { path: `${plugin === undefined ? 'plugins' : pluginPlace(request, plugin)}.id`, message },
  ]);
}

function noteVerdict(
  { note, now }: StageContext,
  beganMs: number,
  summary: string,
  verdict: JsonObject,
): void {
  const latency_ms = Math.max(0, Math.round(now() - beganMs));
  note({ type: 'plugin', name: MODERATION, summary, data: { ...verdict, latency_ms } });
}
