import type { CommandName } from './commands.ts';

/** Data of the catalogue are refused above this size, in bytes. */
export const MAX_CATALOG_BYTES = 4_000_000;

/** What a command says to a running gateway: one line of JSON. */
export interface ControlQuestion {
  readonly command: CommandName;
  readonly input: unknown;
}

/** What comes back: one line of JSON. The problem is for people. */
export type ControlReply =
  | { readonly ok: true; readonly output: unknown }
  | { readonly ok: false; readonly problem: string };
