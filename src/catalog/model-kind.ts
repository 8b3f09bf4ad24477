import type { Model } from './catalog.ts';

/** The output modality of vectors. */
const EMBEDDINGS = 'embeddings';

export function makesVectors({ outputModalities }: Pick<Model, 'outputModalities'>): boolean {
  return outputModalities.includes(EMBEDDINGS);
}

/** True for models that only `POST /embeddings` can use. */
export function makesVectorsOnly({ outputModalities }: Pick<Model, 'outputModalities'>): boolean {
  return outputModalities.length === 1 && outputModalities[0] === EMBEDDINGS;
}
