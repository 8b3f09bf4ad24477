import type { AnswerName, Lane } from './lanes.ts';
import type { StartedProcess } from './workbench.ts';

/** What is measured: a server that answers the requests of the load. */
export interface Subject {
  readonly name: string;
  readonly process: StartedProcess;
  readonly port: number;
  /** What comes before the path of a format. */
  readonly basePath: string;
  /** Headers beyond those that every request has. */
  readonly headers: Readonly<Record<string, string>>;
  /** Keys that callers send, one a line. */
  readonly keysFile?: string;
  /** The name that callers use for the model with this answer. */
  model(lane: Lane, answer: AnswerName): string;
}

/** The upstream's name of an answer, which a plain proxy is asked for directly. */
export function upstreamModel(answer: AnswerName): string {
  return `bench-${answer}`;
}
