/**
 * What a fake upstream needs to know of its wire format to hold up its end of a tool loop. Written from the vendors'
 * formats and from nothing in `src`, so that a mistake there is not repeated here. Streams only: an agent that falls
 * back to whole answers pays twice, and fails here.
 */
export interface UpstreamDouble {
  /** The dialect as the configuration names it. */
  readonly dialect: string;
  /** The upstream's own name of its model. */
  readonly model: string;
  /** Where streams are asked for, below the base address, the query included. */
  readonly path: string;
  /** Media type of the stream. */
  readonly mediaType: string;
  /** The header that carries the provider's key, with its value. */
  keyHeader(key: string): readonly [name: string, value: string];
  /** The request asks that thoughts be sealed but not shown. */
  hidesThoughts(body: any): boolean;
  /** The tools that a request offers, in its order. */
  toolsOf(body: any): OfferedTool[];
  /** A stream in which the model thinks, seals its thoughts and calls a tool. */
  stepStream(step: Step): Uint8Array;
  /** A stream in which the model says something and is done. */
  textStream(text: string, isChecked?: boolean): Uint8Array;
  /** The steps in a request's history, as the format puts them. Read strictly: a missing part is undefined. */
  stepsOf(body: any): ReturnedStep[];
}

/** A tool as the upstream gets it. */
export interface OfferedTool {
  readonly name: string;
  /** The group that it stands in, in the dialect that has groups. */
  readonly namespace?: string;
  /** JSON schema of its arguments. */
  readonly schema: any;
}

/** A call with the thoughts before it. */
export interface Step {
  /** The upstream has found nothing against the call, as `safeguards` asked; in the dialect that has them. */
  readonly isChecked?: boolean;
  /** Empty when they are not shown. */
  readonly thoughts: string;
  /** Proof over the thoughts, opaque. */
  readonly seal: string;
  /** What the model says before it calls. */
  readonly says?: string;
  readonly call: {
    readonly id: string;
    readonly name: string;
    /** As the tool was offered. */
    readonly namespace?: string;
    readonly arguments: Record<string, unknown>;
  };
}

/** A step as it comes back, with what became of the call. */
export interface ReturnedStep {
  /** Undefined when there are none, or empty ones. */
  readonly thoughts: string | undefined;
  readonly seal: string | undefined;
  readonly call: { readonly id: string | undefined; readonly name: string; readonly arguments: unknown };
  /** What the tool gave, where the format wants it: behind the call and paired with it. */
  readonly output: string | undefined;
}

/** Tokens that every double says it counted. */
export const COUNTED = { input: 1200, output: 34 } as const;

/** A text in three pieces or fewer. */
export function piecesOf(text: string): string[] {
  const size = Math.max(Math.ceil(text.length / 3), 1);
  return Array.from({ length: Math.ceil(text.length / size) }, (_, index) =>
    text.slice(index * size, (index + 1) * size),
  );
}

/** The bytes of server-sent events: each a value, or a name and a value. */
export function eventBytes(events: readonly { event?: string; data: unknown }[]): Uint8Array {
  return Buffer.from(
    events
      .map(({ event, data }) => {
        const line = `data: ${typeof data === 'string' ? data : JSON.stringify(data)}\n\n`;
        return event === undefined ? line : `event: ${event}\n${line}`;
      })
      .join(''),
  );
}
