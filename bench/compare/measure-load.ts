import { ANSWERS, type AnswerName, FORMATS, type Lane } from './lanes.ts';
import type { NativeProgram } from './native-program.ts';
import { processorTime, untilQuiet } from './process-cost.ts';
import { requestBody } from './request-body.ts';
import type { Subject } from './subject.ts';
import type { StartedProcess, Workbench } from './workbench.ts';

/** What is sent, and how: back to back over connections, or at a rate. */
export interface LoadShape {
  readonly answer: AnswerName;
  readonly promptBytes: number;
  readonly connections: number;
  /** Requests a second, independent of the time of answers. */
  readonly rate?: number;
  /** The first requests begin within so many milliseconds. */
  readonly staggerMs?: number;
  /** Refusals with Retry-After are no errors. */
  readonly maybeRefused?: true;
  /** Lower bound; a shorter time on the command line is raised to it. */
  readonly leastSeconds?: number;
}

/** What the load saw. Times in microseconds; those of the first event are 0 where nothing streams. */
export interface LoadReport {
  readonly requests: number;
  readonly events: number;
  readonly errors: number;
  readonly firstError: string;
  readonly seconds: number;
  readonly p50: number;
  readonly p99: number;
  readonly firstP50: number;
  readonly firstP99: number;
  readonly refusals: number;
  readonly refusalP99: number;
  /** Requests that were due but not sent, because no connection was free. */
  readonly unsent: number;
}

/** One round of one subject. */
export interface Sample extends LoadReport {
  /** Microseconds of processor time that the subject used, with what it put off until afterwards. */
  readonly processorMicros: number;
}

/** Starts loads, for as long as a run lasts. */
export interface LoadTools {
  readonly workbench: Workbench;
  readonly load: NativeProgram;
}

/** Requests that a subject has had: the next load goes on with the key after the last. */
const requestsBefore = new WeakMap<Subject, number>();

/** Loads a subject for a while. Throws where anything but whole, right answers came back. */
export async function measureLoad(
  tools: LoadTools,
  subject: Subject,
  lane: Lane,
  shape: LoadShape,
  seconds: number,
): Promise<Sample> {
  const { pid } = subject.process;
  const before = processorTime(pid);
  const started = startLoad(tools, subject, lane, shape, [
    `seconds=${Math.max(seconds, shape.leastSeconds ?? 0)}`,
    `first=${requestsBefore.get(subject) ?? 0}`,
  ]);
  const report = await reportOf(started, subject);
  requestsBefore.set(subject, (requestsBefore.get(subject) ?? 0) + report.requests);
  await untilQuiet(pid);
  return { ...report, processorMicros: (processorTime(pid) - before) / 1000 };
}

/** Starts the load and does not wait for it. */
export function startLoad(
  { workbench, load }: LoadTools,
  subject: Subject,
  lane: Lane,
  shape: LoadShape,
  more: readonly string[],
): StartedProcess {
  const format = FORMATS[lane.format];
  const { streams, events } = ANSWERS[shape.answer];
  const model = subject.model(lane, shape.answer);
  const words = [
    `port=${subject.port}`,
    `connections=${shape.connections}`,
    `head=${workbench.write('request-head', headOf(subject, format.path))}`,
    `body=${workbench.write('request-body', requestBody(lane, model, shape.answer, shape.promptBytes))}`,
    `end=${streams ? format.end : '"usage"'}`,
    ...(streams ? [`event=${format.event}`, `events=${events}`] : []),
    ...(subject.keysFile === undefined ? [] : [`keys=${subject.keysFile}`]),
    ...(shape.rate === undefined ? [] : [`rate=${shape.rate}`]),
    ...(shape.maybeRefused === undefined ? [] : ['refusals=1']),
    ...(shape.staggerMs === undefined ? [] : [`stagger=${shape.staggerMs}`]),
  ];
  return workbench.start('load', [...load.command, ...words, ...more], {
    place: 'driving',
    readsLines: true,
  });
}

/** Reads what a load says last. Throws where it saw an error. */
export async function reportOf(started: StartedProcess, subject: Subject): Promise<LoadReport> {
  const { value } = await started.lines.next();
  if (value === undefined) throw new Error(`the load on ${subject.name} ended without a word`);
  const report = JSON.parse(value) as LoadReport;
  if (report.errors > 0)
    throw new Error(`${subject.name}: ${report.errors} requests failed, the first with ${report.firstError}`);
  return report;
}

function headOf({ basePath, headers }: Subject, path: string): string {
  const lines = {
    Host: '127.0.0.1',
    'Content-Type': 'application/json',
    Authorization: 'Bearer {key}',
    'User-Agent': 'signalbox-bench',
    Accept: '*/*',
    ...headers,
    'Content-Length': '{length}',
  };
  const fields = Object.entries(lines).map(([name, value]) => `${name}: ${value}\r\n`);
  return `POST ${basePath}${path} HTTP/1.1\r\n${fields.join('')}\r\n`;
}
