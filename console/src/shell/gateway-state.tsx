import { useQuery } from '@tanstack/preact-query';
import { useLostSince } from '../api/reachability.ts';
import { reach } from '../api/request.ts';

interface Readiness {
  readonly status: string;
  readonly reason?: string;
}

/** How often the state of the gateway is asked for, milliseconds. */
const EVERY_MS = 15_000;
/** The same while it does not answer: its return shows soon. */
const WHILE_LOST_MS = 2_000;

async function readReadiness(): Promise<Readiness> {
  const response = await reach('/readyz');
  return (await response.json()) as Readiness;
}

async function readVersion(): Promise<string> {
  const response = await fetch('/', { headers: { Accept: 'application/json' } });
  return ((await response.json()) as { version: string }).version;
}

/** Whether the gateway serves, and its version. */
export function GatewayState() {
  const isLost = useLostSince() !== null;
  const readiness = useQuery({
    queryKey: ['readyz'],
    queryFn: readReadiness,
    retry: false,
    refetchInterval: isLost ? WHILE_LOST_MS : EVERY_MS,
  });
  const version = useQuery({
    queryKey: ['version'],
    queryFn: readVersion,
    staleTime: Number.POSITIVE_INFINITY,
  });
  const state = stateOf(readiness.data, isLost || readiness.isError);
  return (
    <div class="r tight" title={readiness.data?.reason}>
      <span class={`dot ${state.dot}`} />
      <span>{state.text}</span>
      <span class="push">{version.data}</span>
    </div>
  );
}

function stateOf(readiness: Readiness | undefined, isLost: boolean): { dot: string; text: string } {
  if (isLost) return { dot: 'bad', text: 'Does not answer' };
  if (readiness === undefined) return { dot: 'off', text: 'Asking' };
  return readiness.status === 'ok' ? { dot: 'ok', text: 'Serving' } : { dot: 'warn', text: 'Not ready' };
}
