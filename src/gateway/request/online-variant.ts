import type { Catalog } from '../../catalog/catalog.ts';
import { invalidRequest } from '../../ir/errors.ts';
import type { GenerationRequest } from '../../ir/request.ts';
import { WEB } from '../../ir/web-notes.ts';
import { isJsonObject } from '../../kit/json/json.ts';
import { parseModelId } from '../../routing/resolve/model-id.ts';

/**
 * The request with the plugin `web` if a model of it has the variant `:online`. A plugin `web` in the body says how to
 * search, or that nothing is searched.
 */
export function withOnlineVariant(request: GenerationRequest, { resolve }: Catalog): GenerationRequest {
  const { models, wishes, body, embedding } = request;
  const isOnline = models.some(
    (id) => id.includes(':online') && parseModelId(id).isOnline && resolve(id) === undefined,
  );
  if (!isOnline) return request;
  if (embedding !== undefined) {
    throw invalidRequest([{ path: 'model', message: 'the variant ":online" has no meaning for embeddings' }]);
  }
  const isSaid =
    Array.isArray(body.plugins) && body.plugins.some((plugin) => isJsonObject(plugin) && plugin.id === WEB);
  return isSaid ? request : { ...request, wishes: { ...wishes, plugins: [...wishes.plugins, { id: WEB }] } };
}
