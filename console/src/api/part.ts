/** What a view lacks if a question fails whose failure it does not show in its own place. */
export interface PartMeta {
  /** At the beginning of a sentence, such as "The share of spend". */
  readonly part: string;
  /** Path of the only view that lacks it; absent = every view that asks. */
  readonly onlyAt?: string;
  /** Path of a view that shows the failure itself. */
  readonly exceptAt?: string;
}

/** The `meta` of such a question. */
export function partMeta(part: string, where: Omit<PartMeta, 'part'> = {}): Record<string, unknown> {
  return { ...where, part };
}

/** Reads the `meta` of a question; undefined = the view shows its failure. */
export function partOf(meta: Record<string, unknown> | undefined): PartMeta | undefined {
  return typeof meta?.part === 'string' ? (meta as unknown as PartMeta) : undefined;
}
