import type { GenerationRequest } from '../../ir/request.ts';
import type { JsonObject } from '../../kit/json/json.ts';
import type { Workspace } from '../../ports/tenancy.ts';

/** A body with the workspace's own model where it names none. */
export function withDefaultModel(body: JsonObject, { defaultTextModel }: Workspace): JsonObject {
  const isNamed = (body.model ?? body.models) !== undefined && (body.model ?? body.models) !== null;
  return defaultTextModel === null || isNamed ? body : { ...body, model: defaultTextModel };
}

/** A request with the workspace's own way to sort endpoints where it says nothing about their order. */
export function withDefaultSort(
  request: GenerationRequest,
  { defaultProviderSort: sort }: Workspace,
): GenerationRequest {
  const { provider } = request.wishes;
  if (sort === null || provider.sort !== undefined || provider.order !== undefined) return request;
  return { ...request, wishes: { ...request.wishes, provider: { ...provider, sort } } };
}
