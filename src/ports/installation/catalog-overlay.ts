/** Stores what an operator added to the catalogue, as one text. */
export interface CatalogOverlayStore {
  /** `read` refuses a longer text. */
  readonly maxBytes: number;
  /** Undefined when nothing was ever stored. */
  read(): string | undefined;
  /** Replaces the text atomically: after a crash it is the old one or the new one. */
  write(text: string): void;
}
