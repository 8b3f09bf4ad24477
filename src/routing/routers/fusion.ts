import { FUSION, type FusionPreset, fusionTeam } from '../../catalog/fusion-team.ts';
import { unknownModelMessage } from '../../catalog/knowledge/model-hint.ts';
import { GatewayError } from '../../ir/errors.ts';
import { findModelById } from '../resolve/model-id.ts';
import { NoModelToChoose } from '../resolve/no-model-to-choose.ts';
import { pluginSettings } from './plugin-settings.ts';
import { NO_MODEL_LEFT, type Router } from './router.ts';

/**
 * `<vendor>/fusion`: the judge of a fusion, which also writes the answer. The tool loop runs the panel before it.
 * Unless the request names the judge, a model of the panel takes its place if it cannot answer.
 */
export function fusionRouter(preset: FusionPreset | undefined): Router {
  return {
    strategy: 'fusion',
    choose({ request, context: { fusion, catalog } }) {
      const { values } = pluginSettings(request, FUSION);
      const { panel, judge } = fusionTeam(
        preset === undefined ? values : { preset, ...values },
        fusion,
        catalog,
      );
      if (judge === '') throw new NoModelToChoose(NO_MODEL_LEFT, { strategy: 'fusion' });
      const ids = typeof values.model === 'string' ? [judge] : [judge, ...panel];
      const models = new Set(ids.flatMap((id) => findModelById(id, catalog) ?? []));
      if (models.size === 0) {
        throw new GatewayError('invalid-request', unknownModelMessage(judge, judge, catalog));
      }
      return { models: [...models], pipeline: [], report: [] };
    },
  };
}
