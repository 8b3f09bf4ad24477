import type { CommandName } from './commands.ts';

/** What a command says to a running gateway: one line of JSON. */
export interface ControlQuestion {
  readonly command: CommandName;
  readonly input: unknown;
}

/** What comes back: one line of JSON. The problem is for people. */
export type ControlReply =
  | { readonly ok: true; readonly output: unknown }
  | { readonly ok: false; readonly problem: string };
