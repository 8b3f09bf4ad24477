import type { GenerationRequest } from '../../ir/request.ts';
import type { JsonObject } from '../../kit/json/json.ts';
import type { Workspace } from '../../ports/tenancy/tenancy.ts';

/** Adds the workspace's default model to a body that names none. */
export function withDefaultModel(body: JsonObject, { defaultTextModel }: Workspace): JsonObject {
  const isNamed = (body.model ?? body.models) !== undefined && (body.model ?? body.models) !== null;
  return defaultTextModel === null || isNamed ? body : { ...body, model: defaultTextModel };
}

/** Adds the workspace's default sort order to a request that names none. */
export function withDefaultSort(
  request: GenerationRequest,
  { defaultProviderSort: sort }: Workspace,
): GenerationRequest {
  const { provider } = request.wishes;
  if (sort === null || provider.sort !== undefined || provider.order !== undefined) return request;
  return { ...request, wishes: { ...request.wishes, provider: { ...provider, sort } } };
}
