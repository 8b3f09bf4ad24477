import type { Stop } from './route-stops.ts';

/** The track of a request: which endpoint served it, which failed, which was a spare, which was left out. */
export function RouteRail({ stops, label }: { readonly stops: readonly Stop[]; readonly label: string }) {
  const end = lastOnTrack(stops);
  return (
    <ol class="rail" aria-label={label}>
      {stops.map((stop, index) => (
        <li key={`${stop.title}-${index}`} class={`${stop.kind} ${index === end ? 'end' : ''}`}>
          <div class="ln1">
            <span>
              {stop.kind === 'served' ? <b>{stop.title}</b> : stop.title}
              {stop.change !== undefined && <span class="tag warn">{stop.change}</span>}
            </span>
            {stop.aside !== undefined && (
              <span class={stop.kind === 'failed' ? 'bad' : ''}>{stop.aside}</span>
            )}
          </div>
          {stop.note !== undefined && <p class="t3">{stop.note}</p>}
        </li>
      ))}
    </ol>
  );
}

/** Where the solid line ends: at the endpoint that served, else at the last one that was tried. */
function lastOnTrack(stops: readonly Stop[]): number {
  const served = stops.findIndex(({ kind }) => kind === 'served');
  return served >= 0 ? served : stops.findLastIndex(({ kind }) => kind === 'via' || kind === 'failed');
}
