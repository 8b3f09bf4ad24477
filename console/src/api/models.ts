import { useQuery } from '@tanstack/preact-query';
import type { ModelObject } from './contract.ts';
import { partMeta } from './part.ts';
import { ask } from './request.ts';

/** All models of the gateway. */
export function useAllModels(): readonly ModelObject[] {
  const { data } = useQuery({
    queryKey: ['models'],
    meta: partMeta('The list of models'),
    queryFn: () => ask<{ data: ModelObject[] }>('/models'),
    staleTime: 60_000,
  });
  return data?.data ?? [];
}

/** Models to choose from; `by`: the name that a choice is stored under. */
export function modelOptions(models: readonly ModelObject[], by: 'id' | 'canonical_slug' = 'id') {
  return models.map((model) => ({
    value: model[by],
    label: model.id,
    ...(model.name !== model.id && { detail: model.name }),
  }));
}

/** Models that can be asked; those that only make vectors cannot. */
export function useModels(): readonly ModelObject[] {
  return useAllModels().filter(({ architecture }) => !architecture.output_modalities.includes('embeddings'));
}
