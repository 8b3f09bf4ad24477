/** What a generation can have besides text, in the order of their names in a text. */
export const MODALITIES = ['image', 'image_output', 'audio', 'tool_calling'] as const;

export type Modality = (typeof MODALITIES)[number];

/** A set of modalities as one text, so that it can be grouped by: their names in the order of the table, a plus between them; empty for text alone. */
export function modalitiesText(has: Readonly<Partial<Record<Modality, boolean>>>): string {
  return MODALITIES.filter((name) => has[name] === true).join('+');
}
