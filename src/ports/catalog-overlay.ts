/** Keeps what an operator brought into the catalogue, as one text. */
export interface CatalogOverlayStore {
  /** A longer text cannot be read again. */
  readonly maxBytes: number;
  /** Undefined when nothing was ever kept. */
  read(): string | undefined;
  /** Replaces what was kept: afterwards it is the old text or the new one, whatever happens. */
  write(text: string): void;
}
