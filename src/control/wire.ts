import type { CommandName } from './commands.ts';

/** Limit of data for `catalog refresh`. */
export const MAX_CATALOG_BYTES = 4_000_000;

/** Request to a running gateway: one line of JSON. */
export interface ControlRequest {
  readonly command: CommandName;
  readonly input: unknown;
}

/** Reply: one line of JSON. `problem` is shown to the operator. */
export type ControlReply =
  | { readonly ok: true; readonly output: unknown }
  | { readonly ok: false; readonly problem: string };
