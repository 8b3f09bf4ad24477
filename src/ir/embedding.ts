/** The input of one vector: a text, or the ids of its tokens. */
export type EmbeddingInput = string | readonly number[];

/** How vectors are written: numbers, or the base64 of little-endian 32-bit floats. */
export type VectorEncoding = 'float' | 'base64';

export type Vector = readonly number[] | string;

export interface EmbeddingSettings {
  /** In the order of the vectors; at least one. */
  readonly inputs: readonly EmbeddingInput[];
  /** Numbers in each vector; absent = as many as the model gives. */
  readonly dimensions?: number;
  readonly encoding: VectorEncoding;
  /** Purpose of the vectors: `search_query`, `search_document`, ...; absent = not said. */
  readonly inputType?: string;
}

/** The longest input, by characters or tokens. */
export function longestOf(inputs: readonly EmbeddingInput[]): EmbeddingInput {
  return inputs.reduce((longest, input) => (input.length > longest.length ? input : longest), '');
}
