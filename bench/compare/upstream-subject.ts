import type { NativeProgram } from './native-program.ts';
import { type Subject, upstreamModel } from './subject.ts';
import type { StartedProcess, Workbench } from './workbench.ts';

/**
 * Starts the fake upstream. Loaded directly, it shows its own headroom and the share of time that is not the
 * gateway's.
 */
export async function startUpstream(workbench: Workbench, program: NativeProgram): Promise<Subject> {
  const started = workbench.start('upstream', [...program.command, '0'], {
    place: 'driving',
    readsLines: true,
  });
  return forwarding('upstream, directly', started, await portSaid(started, 'the fake upstream'));
}

/** A subject that is asked exactly as the upstream is. */
export function forwarding(name: string, started: StartedProcess, port: number): Subject {
  return {
    name,
    process: started,
    port,
    basePath: '/v1',
    headers: {},
    model: (_lane, answer) => upstreamModel(answer),
  };
}

/** The port of a program that says `listening PORT` first. */
export async function portSaid(started: StartedProcess, name: string): Promise<number> {
  const { value } = await started.lines.next();
  const port = Number(/^listening (\d+)$/.exec(value ?? '')?.[1]);
  if (port > 0) return port;
  throw new Error(`${name} did not say where it listens`);
}
